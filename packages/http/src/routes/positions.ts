// Open positions: listed, read, changed and closed.
import { refuse } from '@tradeport/domain/errors'
import { type AccountId, formatPositionId } from '@tradeport/domain/primitives'
import type { Position } from '@tradeport/domain/positions'
import type { CloseAttempt, ClosedPosition } from '@tradeport/domain/use-cases'
import * as E from 'fp-ts/lib/Either.js'
import {
  accountId,
  brokerReadRefusals,
  instant,
  lots,
  optionalErrorText,
  paginationShape,
  paging,
  positionFields,
  positionId,
  positive,
  provenanceShape,
  side,
  stopLoss,
  symbolFilter,
  takeProfit,
  ticket,
} from '../fields.ts'
import { errorReply } from '../errors.ts'
import { anyOf, type IsOn, onlyIf } from '../route.ts'
import {
  decimal,
  list,
  listOfCached,
  lotsToTrade,
  nullable,
  oneOf,
  optional,
  partial,
  record,
  request,
  text,
  time,
  withDescription,
} from '../schema.ts'
import { route } from '../use-cases.ts'

const position = record(
  'Position',
  'An open position, as its broker has it.',
  {
    ...positionFields,
    brokerPositionId: ticket,
    currentPrice: decimal('The price at which it would be closed now.', 1.08655),
    stopLoss,
    takeProfit,
    unrealizedPnl: decimal('Result of the open volume, before swap and commission.', 47),
    realizedPnl: decimal('Result of what was closed of it so far.', 0),
    marginUsed: nullable(
      decimal(
        'Margin that the broker requires at the opening price; null when the provider could not compute it.',
        216.84,
      ),
    ),
    openedAt: instant,
  },
  (open: Position) => ({
    ...open,
    id: formatPositionId(open.accountId, open.ticket),
    brokerPositionId: open.ticket,
    type: open.side,
  }),
)

const nullUntilFound =
  'null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later'

const closeFields = {
  brokerOrderId: nullable(
    text(
      "The broker's number of the closing order; null when it gave none, or its answer was lost.",
      '46650112',
    ),
  ),
  closedVolume: withDescription(lots, 'Lots that were closed.'),
  remainingVolume: decimal('Lots that stay open; 0 when all was closed.', 0),
  ...partial({
    remainingPositionId: withDescription(
      positionId,
      'The new id of the rest. On MT4 a rest without it was not found yet, or is one of several that are alike: GET /positions shows them.',
    ),
  }),
  closePrice: nullable(decimal(`Weighted by volume; ${nullUntilFound}.`, 1.0861)),
  realizedPnl: nullable(
    decimal(`Profit of the close, before commission and swap; ${nullUntilFound}.`, 38),
  ),
  closedAt: nullable(time(`When it was closed; ${nullUntilFound}.`)),
}

const presentClose = (closed: ClosedPosition) => ({
  ...closed,
  id: formatPositionId(closed.accountId, closed.ticket),
  brokerPositionId: closed.ticket,
  remainingPositionId:
    closed.remainingTicket && formatPositionId(closed.accountId, closed.remainingTicket),
})
const closeResult = record(
  'ClosePositionResult',
  'The outcome of a close.',
  {
    id: positionId,
    accountId,
    brokerPositionId: ticket,
    ...closeFields,
  },
  presentClose,
)

export const closeAttempt = record(
  'CloseAttempt',
  'The outcome of one of several closes.',
  {
    positionId,
    outcome: oneOf(
      ['closed', 'partially_closed', 'rejected', 'unknown'],
      'rejected: nothing was closed. unknown: it may have been closed; read the position before you try again.',
    ),
    ...partial(closeFields),
    ...optionalErrorText,
  },
  ({ accountId: account, ticket: number, result }: CloseAttempt) => {
    const id = formatPositionId(account, number)
    if (E.isRight(result)) {
      const outcome = result.right.remainingVolume === 0 ? 'closed' : 'partially_closed'
      return { ...presentClose(result.right), positionId: id, outcome } as const
    }
    const outcome = result.left._tag === 'BrokerOutcomeUnknown' ? 'unknown' : 'rejected'
    return { positionId: id, outcome, ...errorReply(result.left).error } as const
  },
)

const level = request('MoveLevelRequest', 'The new level.', { value: positive('A price.', 1.05) })
// What the reference page sends as it stands closes little.
const close = {
  ...request('ClosePositionRequest', 'How much to close.', {
    volume: optional(lotsToTrade('Lots, at most those that are open; all when left out.', 0.1)),
  }),
  example: { volume: 0.1 },
}

const bothLevels = {
  ...request(
    'ChangeLevelsRequest',
    'The new levels; one that is left out stays.',
    partial({
      stopLoss: nullable(positive('A price; null removes the stop loss.')),
      takeProfit: nullable(positive('A price; null removes the take profit.')),
    }),
    1,
  ),
  example: { stopLoss: 1.05, takeProfit: 1.3 },
}

const selection = {
  ...request(
    'ClosePositionsRequest',
    'Which positions to close: those that match everything that is given.',
    {
      accountId,
      ...partial({
        symbol: withDescription(
          symbolFilter,
          'An instrument, in capitals. With `market-data` it is found as that of an order: EURUSD closes what is open in EURUSD.r.',
        ),
        side,
        only: oneOf(['profit', 'loss'], 'Only those whose unrealizedPnl is above 0, or below 0.'),
      }),
    },
  ),
  example: { accountId: accountId.example, symbol: 'NZDUSD', only: 'loss' },
}

const access = anyOf('trading:read', 'positions:read')
const params = { id: positionId }
const meta = { provenance: provenanceShape }
const writers = anyOf('trading:write', 'positions:write')
const changeRoute = {
  access: writers,
  params,
  refusals: [
    ...brokerReadRefusals,
    'AccountPurposeRestricted',
    'LiveAccountRestricted',
    'PositionNotFound',
    'TradeRejected',
    'BrokerOutcomeUnknown',
    'InternalTimeout',
  ],
} as const
const moveRoute = {
  ...changeRoute,
  body: level,
  refusals: [...changeRoute.refusals, 'InvalidPrice'],
  data: position,
  meta,
} as const

export const positionRoutes = (isOn: IsOn) => [
  route('GET /positions', 'listPositions', 'Open positions, oldest first, read from the broker.', {
    access,
    query: { ...partial({ accountId, symbol: symbolFilter }), ...paging },
    refusals: [...brokerReadRefusals, 'AccountNotFound'],
    data: listOfCached(position, 'Oldest first.'),
    meta: { ...meta, pagination: paginationShape },
  }),
  route('GET /positions/:id', 'getPosition', 'Get a position.', {
    access,
    params,
    refusals: [...brokerReadRefusals, 'PositionNotFound'],
    data: position,
    meta,
  }),
  route(
    'PUT /positions/:id/sl',
    'moveStopLoss',
    'Moves the stop loss of a position on a demo account for trading; its take profit stays.',
    moveRoute,
  ),
  route(
    'PUT /positions/:id/tp',
    'moveTakeProfit',
    'Moves the take profit of a position on a demo account for trading; its stop loss stays.',
    {
      ...moveRoute,
      body: { ...level, example: { value: 1.3 } },
    },
  ),
  route(
    'PUT /positions/:id/levels',
    'changePositionLevels',
    'Moves, sets or removes the stop loss and take profit of a position on a demo account for trading, both at once.',
    {
      ...moveRoute,
      capability: 'trading-tools',
      body: bothLevels,
    },
  ),
  route(
    'POST /positions/:id/close',
    'closePosition',
    'Closes a position on a demo account for trading, or a part of it. With an Idempotency-Key it is closed once.',
    {
      ...changeRoute,
      body: close,
      refusals: [...changeRoute.refusals, 'InvalidVolume'],
      refusalIfOutcomeUnknown: ({ id }) =>
        refuse('BrokerOutcomeUnknown', { accountId: id.split(':')[0] as AccountId }),
      data: closeResult,
      meta,
    },
  ),
  route(
    'POST /positions/close',
    'closePositions',
    'Closes every matching position of a demo account for trading as a whole. Each is tried once, and one that fails does not keep the others from being closed; with an Idempotency-Key all are tried once.',
    {
      capability: 'trading-tools',
      access: writers,
      body: selection,
      refusals: [
        ...brokerReadRefusals,
        'AccountNotFound',
        'AccountPurposeRestricted',
        'LiveAccountRestricted',
        ...onlyIf(isOn('market-data'), 'SymbolAmbiguous'),
      ],
      data: list(closeAttempt, 'Oldest position first; empty where none matches.'),
    },
  ),
]
