// A folded position as a row.
import { skipReasons } from '@tradeport/domain/trades'
import type { ClosedTrade, FoldedPosition, SkippedOnAccount } from '@tradeport/domain/trades'
import * as t from 'io-ts'
import * as column from '../connection/columns.ts'
import { decodeRow, toText } from '../connection/columns.ts'

const closedRow = t.strict({
  account_id: column.accountId,
  user_id: column.userId,
  position_id: t.string,
  symbol: t.string,
  side: column.oneOf('side', ['buy', 'sell'] as const),
  volume: t.number,
  entry_price: t.number,
  exit_price: t.number,
  profit: t.number,
  commission: t.number,
  swap: t.number,
  net_profit: t.number,
  opened_at: t.number,
  closed_at: t.number,
  holding_time: t.number,
  volume_estimated: column.orAbsent(t.boolean),
  closing_deal_id: t.string,
})

const { account_id: _, user_id: __, ...figures } = closedRow.type.props

export const tradeColumns = Object.keys(figures)

const decodeClosedRow = decodeRow('trades', closedRow)

export const closedTradeOfRow = (row: unknown): ClosedTrade => {
  const stored = decodeClosedRow(row)
  return {
    accountId: stored.account_id,
    userId: stored.user_id,
    closingDealId: stored.closing_deal_id,
    trade: {
      positionId: stored.position_id,
      symbol: stored.symbol,
      side: stored.side,
      volume: stored.volume,
      entryPrice: stored.entry_price,
      exitPrice: stored.exit_price,
      profit: stored.profit,
      commission: stored.commission,
      swap: stored.swap,
      netProfit: stored.net_profit,
      openedAt: stored.opened_at,
      closedAt: stored.closed_at,
      holdingTime: stored.holding_time,
      ...(stored.volume_estimated === true && { volumeEstimated: true }),
    },
  }
}

const skippedRow = t.strict({
  account_id: column.accountId,
  position_id: t.string,
  skip_reason: column.oneOf('skip reason', skipReasons),
})

const decodeSkippedRow = decodeRow('trades', skippedRow)

export const skippedOfRow = (row: unknown): SkippedOnAccount => {
  const {
    account_id: accountId,
    position_id: positionId,
    skip_reason: reason,
  } = decodeSkippedRow(row)
  return { accountId, positionId, reason }
}

/** Every column of a position, and their types in JSON. */
export const positionColumns = [...tradeColumns, 'status', 'skip_reason'] as const

export const positionRecord = `position_id text, status text, skip_reason text, symbol text, side text, volume float8, entry_price float8,
  exit_price float8, profit float8, commission float8, swap float8, net_profit float8, opened_at float8, closed_at float8, holding_time float8,
  volume_estimated boolean, closing_deal_id text`

export type PositionRow = Readonly<Record<string, string | boolean | undefined>>

export const rowOfPosition = (positionId: string, folded: FoldedPosition): PositionRow => {
  const base = { position_id: toText(positionId), status: folded.status }
  if (folded.status === 'skipped') return { ...base, skip_reason: folded.position.reason }
  if (folded.status === 'open') {
    const { symbol, side, volume, entryPrice, openedAt } = folded.position
    return {
      ...base,
      symbol,
      side,
      volume: toFloat(volume),
      entry_price: toFloat(entryPrice),
      opened_at: toFloat(openedAt),
    }
  }
  const { trade, closingDealId } = folded
  return {
    ...base,
    symbol: trade.symbol,
    side: trade.side,
    volume: toFloat(trade.volume),
    entry_price: toFloat(trade.entryPrice),
    exit_price: toFloat(trade.exitPrice),
    profit: toFloat(trade.profit),
    commission: toFloat(trade.commission),
    swap: toFloat(trade.swap),
    net_profit: toFloat(trade.netProfit),
    opened_at: toFloat(trade.openedAt),
    closed_at: toFloat(trade.closedAt),
    holding_time: toFloat(trade.holdingTime),
    volume_estimated: trade.volumeEstimated,
    closing_deal_id: closingDealId,
  }
}

export type StoredPosition = Readonly<Record<string, string | number | boolean | null>>

export const isSamePosition = (stored: StoredPosition, row: PositionRow | undefined): boolean =>
  row !== undefined &&
  positionColumns.every((name) => String(stored[name] ?? '') === String(row[name] ?? ''))

// As text, since JSON has no infinity, which a sum beyond the largest double is.
const toFloat = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)
