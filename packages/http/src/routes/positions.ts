// Open positions: listed, read, changed and closed.
import { brokerOutcomeUnknown, formatPositionId } from '@tradeport/domain'
import type { AccountId, ClosedPosition, Position, PositionResult } from '@tradeport/domain'
import { exampleAccountId, examplePositionId, exampleTicket, exampleUserId } from '../examples.ts'
import { encodedOnce } from '../encoded-once.ts'
import { pageMeta, paginationShape } from '../pagination.ts'
import { accountId, paging, symbolFilter } from '../parameters.ts'
import { anyOf, routesOf } from '../route.ts'
import { anyText, decimal, input, list, named, nullable, oneOf, optional, record, seldom, text, time, uuid } from '../schema.ts'
import type { UseCases } from '../use-cases.ts'
import { sides } from './orders.ts'
import { brokerReadRefusals, provenanceShape } from './provenance.ts'

const position = record('Position', 'An open position, as its broker has it.', {
  id: text('Names it on other routes: send it unchanged.', examplePositionId),
  userId: text('The owner.', exampleUserId),
  accountId: uuid('The account.', exampleAccountId),
  brokerPositionId: text("The broker's ticket.", exampleTicket),
  symbol: text('The instrument, as the broker spells it.', 'EURUSD'),
  type: oneOf(sides, 'The direction.'),
  volume: decimal('Open lots.', 0.2),
  entryPrice: decimal('The price at which it was opened.', 1.0842),
  currentPrice: decimal('The price at which it would be closed now.', 1.08655),
  stopLoss: optional(decimal('Left out when it has none.', 1.08)),
  takeProfit: optional(decimal('Left out when it has none.', 1.095)),
  swap: decimal('Charges are negative.', -1.12),
  commission: decimal('Charges are negative.', -1.4),
  unrealizedPnl: decimal('Result of the open volume, before swap and commission.', 47),
  realizedPnl: decimal('Result of what was closed of it so far.', 0),
  marginUsed: nullable(
    decimal('Margin that the broker requires at the opening price; null when the provider could not compute it.', 216.84),
  ),
  openedAt: time('When it was opened.'),
})

const present = (open: Position) => ({
  ...open,
  id: formatPositionId(open.accountId, open.ticket),
  brokerPositionId: open.ticket,
  type: open.side,
})

const unlessFound =
  'null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later'

const closeResult = record('ClosePositionResult', 'The outcome of a close.', {
  id: text('The position that was closed, wholly or in part.', examplePositionId),
  accountId: uuid('The account.', exampleAccountId),
  brokerPositionId: text("The broker's ticket.", exampleTicket),
  brokerOrderId: nullable(text("The broker's number of the closing order; null when it gave none.", '46650112')),
  closedVolume: decimal('Lots that were closed.', 0.2),
  remainingVolume: decimal('Lots that stay open; 0 when all was closed.', 0),
  remainingPositionId: seldom(text('The id of the rest, when the broker gave it a new one.', examplePositionId)),
  closePrice: nullable(decimal(`Weighted by volume; ${unlessFound}.`, 1.0861)),
  realizedPnl: nullable(decimal(`Profit of the close, before commission and swap; ${unlessFound}.`, 38)),
  closedAt: nullable(time(`When it was closed; ${unlessFound}.`)),
})

const presentClosed = (closed: ClosedPosition) => ({
  ...closed,
  id: formatPositionId(closed.accountId, closed.ticket),
  brokerPositionId: closed.ticket,
  brokerOrderId: closed.orderId,
  remainingPositionId: closed.remainingTicket && formatPositionId(closed.accountId, closed.remainingTicket),
})

const level = named('MoveLevelRequest', input('The new level.', { value: decimal('A price.', 1.0825, { exclusiveMinimum: 0 }) }))
const close = named(
  'ClosePositionRequest',
  input('How much to close.', {
    volume: optional(decimal('Lots, at most those that are open; all when left out.', 0.1, { exclusiveMinimum: 0 })),
  }),
)

const route = routesOf<UseCases>()
const readers = anyOf('trading:read', 'positions:read')
const params = { id: anyText('The id of a position, as a list shows it.', examplePositionId) }
const onePosition = {
  reply: { data: position, provenance: provenanceShape },
  present: ({ position: open, provenance }: PositionResult) => ({ data: present(open), meta: { provenance } }),
}
const writing = { access: anyOf('trading:write', 'positions:write'), params }
const changeRefusals = [
  ...brokerReadRefusals,
  'AccountPurposeRestricted',
  'LiveAccountRestricted',
  'PositionNotFound',
  'TradeRejected',
  'BrokerOutcomeUnknown',
  'InternalTimeout',
] as const
const encodePositions = encodedOnce(position, present)

export const positionRoutes = [
  route('GET /positions', 'listPositions', 'List positions', {
    description: 'Open positions, oldest first, read from the broker.',
    access: readers,
    query: { accountId: optional(accountId), symbol: optional(symbolFilter), ...paging },
    refusals: [...brokerReadRefusals, 'AccountNotFound'],
    useCase: (useCases, caller, { query }) => useCases.listPositions(caller, query),
    reply: { data: list(position, 'Oldest first.'), provenance: provenanceShape, pagination: paginationShape },
    present: ({ page, provenance }) => ({ data: encodePositions(page.items), meta: { provenance, pagination: pageMeta(page) } }),
  }),
  route('GET /positions/:id', 'getPosition', 'Get a position', {
    access: readers,
    params,
    refusals: [...brokerReadRefusals, 'PositionNotFound'],
    useCase: (useCases, caller, { params: { id } }) => useCases.getPosition(caller, id),
    ...onePosition,
  }),
  route('PUT /positions/:id/sl', 'moveStopLoss', 'Move the stop loss', {
    description: 'Moves the stop loss of a position on a demo account for trading; its take profit stays.',
    ...writing,
    body: level,
    refusals: [...changeRefusals, 'InvalidPrice'],
    useCase: (useCases, caller, { params: { id }, body }) => useCases.moveStopLoss(caller, id, body.value),
    ...onePosition,
  }),
  route('PUT /positions/:id/tp', 'moveTakeProfit', 'Move the take profit', {
    description: 'Moves the take profit of a position on a demo account for trading; its stop loss stays.',
    ...writing,
    body: level,
    refusals: [...changeRefusals, 'InvalidPrice'],
    useCase: (useCases, caller, { params: { id }, body }) => useCases.moveTakeProfit(caller, id, body.value),
    ...onePosition,
  }),
  route('POST /positions/:id/close', 'closePosition', 'Close a position', {
    description: 'Closes a position on a demo account for trading, or a part of it. With an Idempotency-Key it is closed once.',
    ...writing,
    body: close,
    refusals: [...changeRefusals, 'InvalidVolume', 'IdempotencyInProgress'],
    whenUnknown: ({ id }) => brokerOutcomeUnknown(id.split(':')[0] as AccountId),
    useCase: (useCases, caller, { params: { id }, body, once }) => useCases.closePosition(caller, id, body.volume, once),
    reply: { data: closeResult, provenance: provenanceShape },
    present: ({ closed, provenance }) => ({ data: presentClosed(closed), meta: { provenance } }),
  }),
]
