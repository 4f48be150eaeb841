// The statistics of groups of trades.
import { statisticsOf, type TradeStatistics } from './trade-statistics.ts'
import type { Column, TradeResults } from './trade-results.ts'
import { createLocalTime, type TimeZone } from './time-zone.ts'

/** What the records of trades are grouped by, and what follows from times. */
export const recordedKeys = ['symbol', 'side', 'account'] as const
const computedKeys = ['month', 'weekday', 'hour', 'holding'] as const
export type RecordedKey = (typeof recordedKeys)[number]
export type ComputedKey = (typeof computedKeys)[number]
export const breakdownKeys = [...recordedKeys, ...computedKeys]
export type BreakdownKey = (typeof breakdownKeys)[number]

/** Fewer trades say little. */
const enoughTrades = 30

export interface TradeGroup extends TradeStatistics {
  readonly key: string
  /** Whether there are 30 trades or more. */
  readonly enough: boolean
}

export const groupOf = (key: string, netProfits: Column): TradeGroup => ({
  key,
  ...statisticsOf(netProfits),
  enough: netProfits.length >= enoughTrades,
})

/** Each begins with as many seconds, the first includes all below. */
const holdingTimes: readonly (readonly [key: string, seconds: number])[] = [
  ['under_1m', -Infinity],
  ['1m_5m', 60],
  ['5m_1h', 300],
  ['1h_4h', 3_600],
  ['4h_1d', 14_400],
  ['1d_1w', 86_400],
  ['over_1w', 604_800],
]

/**
 * Trades by month (`2026-11`), weekday (`1`, Monday, to `7`), hour (`0` to `23`) of their closing in
 * the zone, or by how long they were held. In the order of the keys; groups without trades are left
 * out.
 */
export const groupsOf = (
  { netProfits, closedAt, holdingTimes: held }: TradeResults,
  by: ComputedKey,
  timeZone: TimeZone,
): readonly TradeGroup[] => {
  const localTime = createLocalTime(timeZone)
  /** A number in the order of the keys. */
  const placeOf = {
    month: (index: number) => {
      const date = localTime(closedAt[index] ?? 0)
      return 12 * date.getUTCFullYear() + date.getUTCMonth()
    },
    weekday: (index: number) => localTime(closedAt[index] ?? 0).getUTCDay() || 7,
    hour: (index: number) => localTime(closedAt[index] ?? 0).getUTCHours(),
    holding: (index: number) =>
      holdingTimes.findLastIndex(([, seconds]) => (held[index] ?? 0) >= seconds),
  }[by]
  const groups = new Map<number, number[]>()
  for (let index = 0; index < netProfits.length; index++) {
    const place = placeOf(index)
    const group = groups.get(place)
    if (group === undefined) groups.set(place, [netProfits[index] ?? 0])
    else group.push(netProfits[index] ?? 0)
  }
  return [...groups]
    .toSorted(([one], [other]) => one - other)
    .map(([place, ofGroup]) => groupOf(keyTexts[by](place), ofGroup))
}

const keyTexts: { readonly [Key in ComputedKey]: (place: number) => string } = {
  month: (place) => `${Math.floor(place / 12)}-${String((place % 12) + 1).padStart(2, '0')}`,
  weekday: String,
  hour: String,
  holding: (place) => holdingTimes[place]?.[0] ?? '',
}
