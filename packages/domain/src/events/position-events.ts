// The events of a close that went through the service (section 6): the position that was closed or made smaller, and the trade that it then is.
import type { CloseOutcome } from '../positions/close.ts'
import type { ClosingFill } from '../positions/closing-deals.ts'
import type { BrokerPosition } from '../positions/position.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import { formatPositionId } from '../primitives/ids.ts'
import type { CloseId, PositionId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { toIso } from '../primitives/instant.ts'
import type { ClosedTrade } from '../trades/account-history.ts'
import type { FoldedTrade } from '../trades/folded-trade.ts'
import type { EventOf } from './service-event.ts'

/** A close that was made. */
export interface MadeClose {
  readonly closeId: CloseId
  readonly id: PositionId
  /** Before the close. */
  readonly position: Pick<BrokerPosition, 'symbol' | 'side' | 'entryPrice'>
  readonly outcome: Pick<CloseOutcome, 'closedVolume' | 'remainingVolume'>
  /** Null where its deals are not to be found. */
  readonly fill: ClosingFill | null
  /** When it was known that it was made. */
  readonly madeAt: Instant
}

/**
 * The close of a position or of a part of it. Price and profit are null where the closing deal is not to be found, and the time is then when the
 * close was known. What was told once of a deal is not told again, whichever close it is taken for.
 */
export const positionClosed = (close: MadeClose, now: Instant): EventOf<'position.closed'> => {
  const { closeId, id, position, outcome, fill, madeAt } = close
  const positionId = formatPositionId(id.accountId, id.ticket)
  const [deal] = fill?.deals ?? []
  return {
    type: 'position.closed',
    key: deal === undefined ? `position.closed ${closeId}` : `position.closed ${id.accountId} ${deal}`,
    data: {
      position_id: positionId,
      account_id: id.accountId,
      symbol: position.symbol,
      type: position.side,
      closed_volume: outcome.closedVolume,
      remaining_volume: outcome.remainingVolume,
      entry_price: position.entryPrice,
      exit_price: fill?.price ?? null,
      realized_pnl: fill?.profit ?? null,
      is_partial: outcome.remainingVolume > 0,
      closed_at: toIso(fill?.at ?? madeAt),
    },
    at: now,
  }
}

export const tradeClosed = ({ accountId, trade }: ClosedTrade, now: Instant): EventOf<'trade.closed'> => {
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
