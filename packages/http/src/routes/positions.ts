// GET /positions and /positions/:id (4.3).
import type { Scope } from '@tradeport/domain'
import { presentPosition } from '../presenters/position.ts'
import { presentProvenance } from '../presenters/provenance.ts'
import { pageMeta } from '../replies/pagination.ts'
import { writtenOnce } from '../replies/written-json.ts'
import { accountId, anyText, page, pageSize, symbol } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import type { UseCases } from '../use-cases.ts'

const anyOf: readonly Scope[] = ['trading:read', 'positions:read']

const writePositions = writtenOnce(presentPosition)

export const positionRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    method: 'GET',
    path: '/positions',
    summary: 'Open positions, oldest first, read from the broker.',
    anyOf,
    query: {
      accountId: optional(accountId),
      symbol: optional(symbol),
      page: withDefault(page, 1),
      limit: withDefault(pageSize(100), 20),
    },
    useCase: (useCases: UseCases, caller, { query }) => useCases.listPositions(caller, query),
    present: (result) => ({
      kind: 'data',
      data: writePositions(result.page.items),
      provenance: presentProvenance(result.provenance),
      pagination: pageMeta(result.page),
    }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/positions/:id',
    summary: 'One open position.',
    anyOf,
    params: { id: anyText('The id of a position, as a list gives it.') },
    useCase: (useCases: UseCases, caller, { params }) => useCases.getPosition(caller, params.id),
    present: ({ position, provenance }) => ({
      kind: 'data',
      data: presentPosition(position),
      provenance: presentProvenance(provenance),
    }),
  }),
]
