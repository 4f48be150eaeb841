// GET /positions and /positions/:id, PUT /positions/:id/sl and /tp, POST /positions/:id/close (4.3).
import type { PositionResult, Scope } from '@tradeport/domain'
import { closedPositionShape, presentClosedPosition } from '../presenters/closed-position.ts'
import { examplePositionId } from '../presenters/examples.ts'
import { positionShape, presentPosition } from '../presenters/position.ts'
import { presentProvenance, provenanceShape } from '../presenters/provenance.ts'
import { pageMeta, paginationShape } from '../replies/pagination.ts'
import type { DataReply } from '../replies/reply.ts'
import type { DataReplyShape } from '../replies/reply-shapes.ts'
import { writtenOnce } from '../replies/written-json.ts'
import { accountId, anyText, page, pageSize, symbol } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { closeBody, levelBody } from '../requests/position-bodies.ts'
import { positionChangeRefusals, brokerReadRefusals } from '../routing/route-refusals.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import { list } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import type { UseCases } from '../use-cases.ts'

const readers: readonly Scope[] = ['trading:read', 'positions:read']
const writers: readonly Scope[] = ['trading:write', 'positions:write']

const id = anyText('The id of a position, as a list gives it.', examplePositionId)

const writePositions = writtenOnce(presentPosition)

type ShownPosition = Shown<typeof positionShape>

const onePosition: DataReplyShape<ShownPosition> = { kind: 'data', data: positionShape, provenance: provenanceShape }

const presentResult = ({ position, provenance }: PositionResult): DataReply<ShownPosition> => ({
  kind: 'data',
  data: presentPosition(position),
  provenance: presentProvenance(provenance),
})

export const positionRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    operationId: 'listPositions',
    method: 'GET',
    path: '/positions',
    summary: 'List positions',
    description: 'Open positions, oldest first, read from the broker.',
    anyOf: readers,
    query: {
      accountId: optional(accountId),
      symbol: optional(symbol),
      page: withDefault(page, 1),
      limit: withDefault(pageSize(100), 20),
    },
    refusals: [...brokerReadRefusals, 'AccountNotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { query }) => useCases.listPositions(caller, query),
    reply: { kind: 'data', data: list(positionShape, 'Oldest first.'), provenance: provenanceShape, pagination: paginationShape },
    present: (result) => ({
      kind: 'data',
      data: writePositions(result.page.items),
      provenance: presentProvenance(result.provenance),
      pagination: pageMeta(result.page),
    }),
  }),
  scopedRoute({
    operationId: 'getPosition',
    method: 'GET',
    path: '/positions/:id',
    summary: 'Get a position',
    description: 'One open position.',
    anyOf: readers,
    params: { id },
    refusals: [...brokerReadRefusals, 'PositionNotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.getPosition(caller, params.id),
    reply: onePosition,
    present: presentResult,
  }),
  scopedRoute({
    operationId: 'moveStopLoss',
    method: 'PUT',
    path: '/positions/:id/sl',
    summary: 'Move the stop loss',
    description: 'Moves the stop loss of a position on a demo account for trading; its take profit stays.',
    anyOf: writers,
    params: { id },
    body: levelBody,
    refusals: [...positionChangeRefusals, 'InvalidPrice'],
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.moveStopLoss(caller, params.id, body.value),
    reply: onePosition,
    present: presentResult,
  }),
  scopedRoute({
    operationId: 'moveTakeProfit',
    method: 'PUT',
    path: '/positions/:id/tp',
    summary: 'Move the take profit',
    description: 'Moves the take profit of a position on a demo account for trading; its stop loss stays.',
    anyOf: writers,
    params: { id },
    body: levelBody,
    refusals: [...positionChangeRefusals, 'InvalidPrice'],
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.moveTakeProfit(caller, params.id, body.value),
    reply: onePosition,
    present: presentResult,
  }),
  scopedRoute({
    operationId: 'closePosition',
    method: 'POST',
    path: '/positions/:id/close',
    summary: 'Close a position',
    description: 'Closes a position on a demo account for trading, or so many lots of it.',
    anyOf: writers,
    params: { id },
    body: closeBody,
    refusals: [...positionChangeRefusals, 'InvalidVolume'],
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.closePosition(caller, params.id, body.volume),
    reply: { kind: 'data', data: closedPositionShape, provenance: provenanceShape },
    present: ({ closed, provenance }) => ({
      kind: 'data',
      data: presentClosedPosition(closed),
      provenance: presentProvenance(provenance),
    }),
  }),
]
