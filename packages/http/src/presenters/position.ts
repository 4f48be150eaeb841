// Open positions as callers see them (2.4). A level that the position does not have is undefined, which JSON leaves out.
import { formatPositionId, toIso } from '@tradeport/domain'
import type { Position } from '@tradeport/domain'

export const presentPosition = (position: Position): object => ({
  id: formatPositionId(position.accountId, position.ticket),
  userId: position.userId,
  accountId: position.accountId,
  brokerPositionId: position.ticket,
  symbol: position.symbol,
  type: position.side,
  volume: position.volume,
  entryPrice: position.entryPrice,
  currentPrice: position.currentPrice,
  stopLoss: position.stopLoss,
  takeProfit: position.takeProfit,
  swap: position.swap,
  commission: position.commission,
  unrealizedPnl: position.unrealizedPnl,
  realizedPnl: position.realizedPnl,
  marginUsed: position.marginUsed,
  openedAt: toIso(position.openedAt),
})
