// Orders as callers see them (2.3; decisions 21 and 22). What was not sent, or is not known, is undefined, which JSON leaves out.
import { formatPositionId, orderStatuses, toIso } from '@tradeport/domain'
import type { Fill, Order } from '@tradeport/domain'
import { always, choice, decimal, maybe, object, record, seldom, text, time, uuid } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleAccountId, exampleOrderId, examplePositionId, exampleUserId } from './examples.ts'

export const sides = ['buy', 'sell'] as const

export const orderShape = record('Order', 'A market order, from its being recorded to what the broker made of it.', {
  id: text('ord_ and an opaque suffix.', exampleOrderId),
  userId: text('Whose it is.', exampleUserId),
  accountId: uuid('The account it is for.', exampleAccountId),
  symbol: text('The instrument, as it was sent.', 'EURUSD'),
  type: choice(sides, 'Its side.', 'buy'),
  orderType: always('market', 'Only market orders are placed today.'),
  volume: decimal('Lots.', 0.2),
  price: seldom(decimal('As it was sent; it does not reach the broker.', 1.0842)),
  stopLoss: maybe(decimal('As it was sent.', 1.08)),
  takeProfit: maybe(decimal('As it was sent.', 1.095)),
  comment: seldom(text('As it was sent.', 'breakout')),
  clientId: maybe(text("The caller's own reference, as it was sent.", 'strategy-7-0042')),
  status: choice(
    orderStatuses,
    'pending until the broker decides, then filled, partially_filled or rejected. No order is open, cancelled or expired today.',
    'pending',
  ),
  fillPrice: seldom(decimal('The price of the execution, where the broker told it.', 1.0842)),
  filledVolume: seldom(decimal('Lots that were executed, where the broker told it.', 0.2)),
  filledAt: seldom(time('When it was executed, where the broker told it.')),
  positionId: seldom(text('The position that it made, as GET /positions/{id} takes it.', examplePositionId)),
  rejectReason: seldom(
    object('Why it was rejected.', {
      code: text(
        "BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, NOT_PROVISIONED or UNSUPPORTED_BROKER where the account turned out to be so before it was sent; FINISHED_BY_OPERATOR where an operator ended it; or ORDER_STATE_ and the state in which the broker ended it; any other is the broker's.",
        'TRADE_RETCODE_MARKET_CLOSED',
      ),
      message: text('The same in words.', 'Market is closed'),
    }),
  ),
  createdAt: time('When it was recorded.'),
  updatedAt: time('When its status last changed.'),
})

type PresentedOrder = Shown<typeof orderShape>

export const presentOrder = (order: Order): PresentedOrder => {
  const { id, owner, request, status, createdAt, updatedAt } = order
  return {
    id,
    userId: owner.userId,
    accountId: request.accountId,
    symbol: request.symbol,
    type: request.side,
    orderType: 'market',
    volume: request.volume,
    price: request.price,
    stopLoss: request.stopLoss,
    takeProfit: request.takeProfit,
    comment: request.comment,
    clientId: request.clientId,
    status,
    ...outcomeOf(order),
    createdAt: toIso(createdAt),
    updatedAt: toIso(updatedAt),
  }
}

const outcomeOf = (order: Order): Pick<PresentedOrder, 'rejectReason'> | PresentedFill => {
  switch (order.status) {
    case 'pending':
      return {}
    case 'filled':
    case 'partially_filled':
      return presentFill(order, order.fill)
    case 'rejected':
      return { rejectReason: { code: order.reason.code, message: order.reason.message } }
  }
}

type PresentedFill = Pick<PresentedOrder, 'fillPrice' | 'filledVolume' | 'filledAt' | 'positionId'>

// The position's id as GET /positions/:id takes it (2.4).
const presentFill = ({ request }: Order, { price, volume, at, positionId }: Fill): PresentedFill => ({
  fillPrice: price,
  filledVolume: volume,
  filledAt: at === undefined ? undefined : toIso(at),
  positionId: positionId === undefined ? undefined : formatPositionId(request.accountId, positionId),
})
