// GET /positions and /positions/:id, PUT /positions/:id/sl and /tp, POST /positions/:id/close (4.3).
import type { PositionResult, Scope } from '@tradeport/domain'
import { presentClosedPosition } from '../presenters/closed-position.ts'
import { presentPosition } from '../presenters/position.ts'
import { presentProvenance } from '../presenters/provenance.ts'
import { pageMeta } from '../replies/pagination.ts'
import type { DataReply } from '../replies/reply.ts'
import { writtenOnce } from '../replies/written-json.ts'
import { accountId, anyText, page, pageSize, symbol } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { closeBody, levelBody } from '../requests/position-bodies.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import type { UseCases } from '../use-cases.ts'

const readers: readonly Scope[] = ['trading:read', 'positions:read']
const writers: readonly Scope[] = ['trading:write', 'positions:write']

const id = anyText('The id of a position, as a list gives it.')

const writePositions = writtenOnce(presentPosition)

const presentResult = ({ position, provenance }: PositionResult): DataReply => ({
  kind: 'data',
  data: presentPosition(position),
  provenance: presentProvenance(provenance),
})

export const positionRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    method: 'GET',
    path: '/positions',
    summary: 'Open positions, oldest first, read from the broker.',
    anyOf: readers,
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
    anyOf: readers,
    params: { id },
    useCase: (useCases: UseCases, caller, { params }) => useCases.getPosition(caller, params.id),
    present: presentResult,
  }),
  scopedRoute({
    method: 'PUT',
    path: '/positions/:id/sl',
    summary: 'Moves the stop loss of a position on a demo account for trading; its take profit stays.',
    anyOf: writers,
    params: { id },
    body: levelBody,
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.moveStopLoss(caller, params.id, body.value),
    present: presentResult,
  }),
  scopedRoute({
    method: 'PUT',
    path: '/positions/:id/tp',
    summary: 'Moves the take profit of a position on a demo account for trading; its stop loss stays.',
    anyOf: writers,
    params: { id },
    body: levelBody,
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.moveTakeProfit(caller, params.id, body.value),
    present: presentResult,
  }),
  scopedRoute({
    method: 'POST',
    path: '/positions/:id/close',
    summary: 'Closes a position on a demo account for trading, or so many lots of it.',
    anyOf: writers,
    params: { id },
    body: closeBody,
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.closePosition(caller, params.id, body.volume),
    present: ({ closed, provenance }) => ({
      kind: 'data',
      data: presentClosedPosition(closed),
      provenance: presentProvenance(provenance),
    }),
  }),
]
