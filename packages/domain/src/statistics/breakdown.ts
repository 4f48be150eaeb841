// The statistics of groups of trades.
import { statisticsOf, type TradeStatistics } from './trade-statistics.ts'
import type { Column, TradeResults } from './trade-results.ts'
import { resultSteps } from './result-steps.ts'
import { createLocalTime, type TimeZone } from './time-zone.ts'

/** What the records of trades are grouped by, and what follows from times. */
export const recordedKeys = ['symbol', 'side', 'account'] as const
const computedKeys = ['month', 'weekday', 'hour', 'weekday_hour', 'holding', 'result'] as const
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

/** The net profits of the trades of one key, in closing order. */
export interface KeyedProfits {
  readonly key: string
  readonly netProfits: Column
}

export const groupStatistics = (groups: readonly KeyedProfits[]): readonly TradeGroup[] =>
  groups.map(({ key, netProfits }) => ({
    key,
    ...statisticsOf(netProfits),
    enough: netProfits.length >= enoughTrades,
  }))

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

/** In which group a trade is, as a number in the order of the keys, and the keys of these numbers. */
interface Grouping {
  readonly placeOf: (index: number) => number
  readonly keyOf: (place: number) => string
}

const weekdayOf = (date: Date): number => date.getUTCDay() || 7
const twoDigits = (value: number): string => String(value).padStart(2, '0')

const byLocalTime =
  (place: (date: Date) => number, keyOf: (place: number) => string) =>
  ({ closedAt }: TradeResults, timeZone: TimeZone): Grouping => {
    const localTime = createLocalTime(timeZone)
    return { placeOf: (index) => place(localTime(closedAt[index] ?? 0)), keyOf }
  }

const groupings: {
  readonly [Key in ComputedKey]: (results: TradeResults, timeZone: TimeZone) => Grouping
} = {
  month: byLocalTime(
    (date) => 12 * date.getUTCFullYear() + date.getUTCMonth(),
    (place) => `${Math.floor(place / 12)}-${twoDigits((place % 12) + 1)}`,
  ),
  weekday: byLocalTime(weekdayOf, String),
  hour: byLocalTime((date) => date.getUTCHours(), String),
  weekday_hour: byLocalTime(
    (date) => 24 * weekdayOf(date) + date.getUTCHours(),
    (place) => `${Math.floor(place / 24)}_${twoDigits(place % 24)}`,
  ),
  holding: ({ holdingTimes: held }) => ({
    placeOf: (index) => holdingTimes.findLastIndex(([, seconds]) => (held[index] ?? 0) >= seconds),
    keyOf: (place) => holdingTimes[place]?.[0] ?? '',
  }),
  result: ({ netProfits }) => {
    const { placeOf, keyOf } = resultSteps(netProfits)
    return { placeOf: (index) => placeOf(netProfits[index] ?? 0), keyOf }
  },
}

/**
 * Trades by month (`2026-11`), weekday (`1`, Monday, to `7`), hour (`0` to `23`) or both (`1_09`) of
 * their closing in the zone, by how long they were held, or by their result. In the order of the
 * keys; groups without trades are left out.
 */
export const groupsOf = (
  results: TradeResults,
  by: ComputedKey,
  timeZone: TimeZone,
): readonly TradeGroup[] => {
  const { netProfits } = results
  const { placeOf, keyOf } = groupings[by](results, timeZone)
  return groupStatistics(
    [...Map.groupBy(netProfits.keys(), placeOf)]
      .toSorted(([one], [other]) => one - other)
      .map(([place, indexes]) => ({
        key: keyOf(place),
        netProfits: indexes.map((index) => netProfits[index] ?? 0),
      })),
  )
}
