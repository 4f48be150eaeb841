// The event of a position that became a trade.
import { sumExactly } from '../primitives/exact-sum.ts'
import { formatPositionId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { toIso } from '../primitives/instant.ts'
import type { ClosedTrade } from '../trades/closed-trade.ts'
import type { FoldedTrade } from '../trades/folded-trade.ts'
import type { EventOf } from './service-event.ts'

export const tradeClosed = (
  { accountId, trade }: Pick<ClosedTrade, 'accountId' | 'trade'>,
  now: Instant,
): EventOf<'trade.closed'> => {
  const id = formatPositionId(accountId, trade.positionId)
  return {
    type: 'trade.closed',
    key: `trade.closed ${id}`,
    data: {
      trade_id: id,
      position_id: id,
      account_id: accountId,
      symbol: trade.symbol,
      type: trade.side,
      volume: trade.volume,
      entry_price: trade.entryPrice,
      exit_price: trade.exitPrice,
      profit: trade.profit,
      profit_percentage: profitPercentage(trade),
      swap: trade.swap,
      commission: trade.commission,
      holding_time_seconds: trade.holdingTime,
      opened_at: toIso(trade.openedAt),
      closed_at: toIso(trade.closedAt),
    },
    at: now,
  }
}

/** How far the price went the trade's way, in percent of the price at which it was opened. */
export const profitPercentage = ({
  side,
  entryPrice,
  exitPrice,
}: Pick<FoldedTrade, 'side' | 'entryPrice' | 'exitPrice'>): number => {
  const moved =
    side === 'buy' ? sumExactly([exitPrice, -entryPrice]) : sumExactly([entryPrice, -exitPrice])
  return (moved * 100) / entryPrice
}
