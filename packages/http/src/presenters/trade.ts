// Closed trades as callers see them (2.5). volumeEstimated is undefined, which JSON leaves out, where every close reported its volume.
import { formatPositionId, toIso } from '@tradeport/domain'
import type { ClosedTrade } from '@tradeport/domain'

export const presentTrade = ({ accountId, userId, trade }: ClosedTrade): object => ({
  id: formatPositionId(accountId, trade.positionId),
  userId,
  accountId,
  positionId: trade.positionId,
  symbol: trade.symbol,
  type: trade.side,
  volume: trade.volume,
  entryPrice: trade.entryPrice,
  exitPrice: trade.exitPrice,
  swap: trade.swap,
  commission: trade.commission,
  profit: trade.profit,
  netProfit: trade.netProfit,
  holdingTime: trade.holdingTime,
  openedAt: toIso(trade.openedAt),
  closedAt: toIso(trade.closedAt),
  volumeEstimated: trade.volumeEstimated,
})
