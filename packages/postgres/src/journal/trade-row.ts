// A folded position as a row.
import type { AccountId, UserId } from '@tradeport/domain/primitives'
import {
  skipReasons,
  type ClosedTrade,
  type FoldedPosition,
  type FoldedTrade,
} from '@tradeport/domain/trades'
import * as t from 'io-ts'
import { ids, mapped, oneOf, tableOf } from '../connection/columns.ts'
import type { CopyValue } from '../connection/copy-rows.ts'
import { sql } from '../connection/sql.ts'

/** As the drivers give it, with `accounts` joined. */
export interface ClosedTradeRow {
  readonly account_id: AccountId
  readonly user_id: UserId
  readonly closing_deal_id: string
  readonly position_id: string
  readonly symbol: string
  readonly side: FoldedTrade['side']
  readonly volume: number
  readonly entry_price: number
  readonly exit_price: number
  readonly profit: number
  readonly commission: number
  readonly swap: number
  readonly net_profit: number
  readonly opened_at: number
  readonly closed_at: number
  readonly holding_time: number
  readonly volume_estimated: boolean | null
}

export const closedTradeColumns = sql`trades.*, accounts.user_id`

// Without a codec, which takes 3.6 microseconds a row: of 100 trades a twentieth of their request.
export const closedTradeOf = (row: ClosedTradeRow): ClosedTrade => ({
  accountId: row.account_id,
  userId: row.user_id,
  closingDealId: row.closing_deal_id,
  trade: {
    positionId: row.position_id,
    symbol: row.symbol,
    side: row.side,
    volume: row.volume,
    entryPrice: row.entry_price,
    exitPrice: row.exit_price,
    profit: row.profit,
    commission: row.commission,
    swap: row.swap,
    netProfit: row.net_profit,
    openedAt: row.opened_at,
    closedAt: row.closed_at,
    holdingTime: row.holding_time,
    ...(row.volume_estimated === true && { volumeEstimated: true }),
  },
})

export const skippedPositions = mapped(
  tableOf('trades', {
    accountId: ids.account,
    positionId: t.string,
    skipReason: oneOf('skip reason', skipReasons),
  }),
  ({ skipReason: reason, ...position }) => ({ ...position, reason }),
)

export const positionColumns = sql`status, skip_reason, volume_estimated, closing_deal_id,
  position_id, symbol, side, volume, entry_price, exit_price, profit, commission, swap, net_profit,
  opened_at, closed_at, holding_time`

/** As the drivers give it. */
export type PositionRow = Readonly<Record<string, CopyValue>>

/** In the order of `positionColumns`. */
export const rowOfPosition = (positionId: string, folded: FoldedPosition): readonly CopyValue[] => {
  const reason = folded.status === 'skipped' ? folded.position.reason : undefined
  const trade = folded.status === 'closed' ? folded.trade : undefined
  return [
    folded.status,
    reason,
    trade?.volumeEstimated,
    folded.status === 'closed' ? folded.closingDealId : undefined,
    positionId,
    trade?.symbol,
    trade?.side,
    trade?.volume,
    trade?.entryPrice,
    trade?.exitPrice,
    trade?.profit,
    trade?.commission,
    trade?.swap,
    trade?.netProfit,
    trade?.openedAt,
    trade?.closedAt,
    trade?.holdingTime,
  ]
}

const columnNames = positionColumns.text.split(/,\s+/)

export const isSamePosition = (
  stored: PositionRow,
  row: readonly CopyValue[] | undefined,
): boolean =>
  row !== undefined &&
  columnNames.every((name, at) => String(stored[name] ?? '') === String(row[at] ?? ''))
