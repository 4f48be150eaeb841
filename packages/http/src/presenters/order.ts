// Orders as callers see them (2.3; decisions 21 and 22). What was not sent, or is not known, is undefined, which JSON leaves out.
import { formatPositionId, toIso } from '@tradeport/domain'
import type { Fill, Order } from '@tradeport/domain'

export const presentOrder = (order: Order): object => {
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

const outcomeOf = (order: Order): object => {
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

// The position's id as GET /positions/:id takes it (2.4).
const presentFill = ({ request }: Order, { price, volume, at, positionId }: Fill): object => ({
  fillPrice: price,
  filledVolume: volume,
  filledAt: at === undefined ? undefined : toIso(at),
  positionId: positionId === undefined ? undefined : formatPositionId(request.accountId, positionId),
})
