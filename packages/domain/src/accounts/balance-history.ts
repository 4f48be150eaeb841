// Balance snapshots: when one is kept and how many are shown (docs/behaviour.md#accounts).
import type { Instant } from '../primitives/instant.ts'
import { minuteMs } from '../primitives/instant.ts'
import type { AccountReading } from './account.ts'

/** Money in the account's currency. */
export interface BalanceSnapshot {
  readonly timestamp: Instant
  readonly balance: number
  readonly equity: number
  readonly margin: number
  readonly freeMargin: number | null
}

export const historyIntervals = ['1h', '1d', '1w'] as const
export type HistoryInterval = (typeof historyIntervals)[number]

export const snapshotSpacingMs = 5 * minuteMs

const capByInterval: Readonly<Record<HistoryInterval, number>> = { '1h': 168, '1d': 365, '1w': 104 }

/** How many snapshots a reply holds at most; the interval caps the count and does not aggregate. */
export const snapshotCap = (interval: HistoryInterval = '1d'): number => capByInterval[interval]

/**
 * The snapshot that a live read leaves, when five minutes have passed since the last one or the
 * balance has changed; else null.
 */
export const snapshotOf = (
  last: BalanceSnapshot | null,
  reading: AccountReading,
): BalanceSnapshot | null => {
  const { balance, equity, margin, freeMargin } = reading.figures
  const isDue =
    last === null ||
    last.balance !== balance ||
    reading.readAt - last.timestamp >= snapshotSpacingMs
  return isDue ? { timestamp: reading.readAt, balance, equity, margin, freeMargin } : null
}
