// The events of a close that went through the service (section 6): the position that was closed or made smaller, and the trade that it then is.
import type { CloseOutcome } from '../positions/close.ts'
import type { BrokerPosition } from '../positions/position.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import { formatPositionId } from '../primitives/ids.ts'
import type { PositionId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { toIso } from '../primitives/instant.ts'
import type { ClosedTrade } from '../trades/account-history.ts'
import type { FoldedTrade } from '../trades/folded-trade.ts'
import type { ServiceEvent } from './service-event.ts'

/** A close as it is known at its end; what its deal was not found for is null. */
export interface MadeClose extends Pick<CloseOutcome, 'closedVolume' | 'remainingVolume'> {
  readonly id: PositionId
  /** Before the close. */
  readonly position: BrokerPosition
  readonly closePrice: number | null
  readonly realizedPnl: number | null
  /** Null where the deal does not tell it. */
  readonly closedAt: Instant | null
  readonly sentAt: Instant
}

/**
 * The close of a position or of a part of it. Price and profit are null where the closing deal was not found in time (decision 32), and the time is
 * then when the close was known. A position can be closed in several parts, one after another, which the times of their sending and what they leave tell apart.
 */
export const positionClosed = (close: MadeClose, now: Instant): ServiceEvent => {
  const { id, position, closedVolume, remainingVolume, closePrice, realizedPnl, closedAt, sentAt } = close
  const positionId = formatPositionId(id.accountId, id.ticket)
  return {
    type: 'position.closed',
    key: `position.closed ${positionId} ${sentAt} ${remainingVolume}`,
    data: {
      position_id: positionId,
      account_id: id.accountId,
      symbol: position.symbol,
      type: position.side,
      closed_volume: closedVolume,
      remaining_volume: remainingVolume,
      entry_price: position.entryPrice,
      exit_price: closePrice,
      realized_pnl: realizedPnl,
      is_partial: remainingVolume > 0,
      closed_at: toIso(closedAt ?? now),
    },
    at: now,
  }
}

export const tradeClosed = ({ accountId, trade }: ClosedTrade, now: Instant): ServiceEvent => {
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
export const profitPercentage = ({ side, entryPrice, exitPrice }: Pick<FoldedTrade, 'side' | 'entryPrice' | 'exitPrice'>): number => {
  const moved = side === 'buy' ? sumExactly([exitPrice, -entryPrice]) : sumExactly([entryPrice, -exitPrice])
  return (moved * 100) / entryPrice
}
