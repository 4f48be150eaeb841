// The statistics of groups of trades.
import { statisticsOf, type TradeStatistics } from './trade-statistics.ts'
import type { Column, TradeResults } from './trade-results.ts'
import { createLocalTime, type TimeZone } from './time-zone.ts'

/** What the records of trades are grouped by, and what follows from times. */
const recordedKeys = ['symbol', 'side', 'account'] as const
const computedKeys = ['month', 'weekday', 'hour', 'weekday_hour', 'holding', 'result'] as const
export type RecordedKey = (typeof recordedKeys)[number]
export type ComputedKey = (typeof computedKeys)[number]
export const breakdownKeys = [...recordedKeys, ...computedKeys]
/** What trades can be grouped by. */
export type BreakdownKey = (typeof breakdownKeys)[number]

/** Fewer trades say little. */
const enoughTrades = 30

/** The statistics of the trades with one value of a key. */
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
const holdingBounds: readonly (readonly [key: string, seconds: number])[] = [
  ['under_1m', -Infinity],
  ['1m_5m', 60],
  ['5m_1h', 300],
  ['1h_4h', 3_600],
  ['4h_1d', 14_400],
  ['1d_1w', 86_400],
  ['over_1w', 604_800],
]

/**
 * In which group a trade is, as a number in the order of the keys, and the keys of these numbers.
 */
interface Grouping {
  readonly groupOf: (index: number) => number
  readonly keyOf: (group: number) => string
}

const weekdayOf = (date: Date): number => date.getUTCDay() || 7
const twoDigits = (value: number): string => String(value).padStart(2, '0')

const byLocalTime =
  (group: (date: Date) => number, keyOf: (group: number) => string) =>
  ({ closedAt }: TradeResults, timeZone: TimeZone): Grouping => {
    const localTime = createLocalTime(timeZone)
    return { groupOf: (index) => group(localTime(closedAt[index] ?? 0)), keyOf }
  }

const groupings: {
  readonly [Key in ComputedKey]: (results: TradeResults, timeZone: TimeZone) => Grouping
} = {
  month: byLocalTime(
    (date) => 12 * date.getUTCFullYear() + date.getUTCMonth(),
    (group) => `${Math.floor(group / 12)}-${twoDigits((group % 12) + 1)}`,
  ),
  weekday: byLocalTime(weekdayOf, String),
  hour: byLocalTime((date) => date.getUTCHours(), String),
  weekday_hour: byLocalTime(
    (date) => 24 * weekdayOf(date) + date.getUTCHours(),
    (group) => `${Math.floor(group / 24)}_${twoDigits(group % 24)}`,
  ),
  holding: ({ holdingTimes }) => ({
    groupOf: (index) =>
      holdingBounds.findLastIndex(([, seconds]) => (holdingTimes[index] ?? 0) >= seconds),
    keyOf: (group) => holdingBounds[group]?.[0] ?? '',
  }),
  result: ({ netProfits }) => resultSteps(netProfits),
}

/**
 * Trades by month (`2026-11`), weekday (`1`, Monday, to `7`), hour (`0` to `23`) or both (`1_09`)
 * of their closing in the zone, by how long they were held, or by their result. In the order of the
 * keys; groups without trades are left out.
 */
export const groupsOf = (
  results: TradeResults,
  by: ComputedKey,
  timeZone: TimeZone,
): readonly TradeGroup[] => {
  const { netProfits } = results
  const { groupOf, keyOf } = groupings[by](results, timeZone)
  return groupStatistics(
    [...Map.groupBy(netProfits.keys(), groupOf)]
      .toSorted(([one], [other]) => one - other)
      .map(([group, indexes]) => ({
        key: keyOf(group),
        netProfits: indexes.map((index) => netProfits[index] ?? 0),
      })),
  )
}

// --- steps of equal size, for a histogram of results ---

/** Below this share of the results are one group at either end; the others are divided. */
const outerShare = 0.02
const mostSteps = 40

/**
 * A step is 1, 2 or 5 times a power of ten, at least the width of Freedman and Diaconis (1981),
 * twice the interquartile range over the cube root of the number. A result on an edge is in the
 * lower step, so that 0 is among the losses. Keys are such as `-20_-10`: above -20, up to -10;
 * `under_-200`: up to -200; `over_400`: above 400.
 */
const resultSteps = (results: Column): Grouping => {
  const sorted = Float64Array.from(results).toSorted()
  const quantile = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  const outer = Math.floor(outerShare * (sorted.length - 1))
  const [low, high] = [sorted[outer] ?? 0, sorted.at(-1 - outer) ?? 0]
  const width = Math.max(
    (2 * (quantile(0.75) - quantile(0.25))) / Math.cbrt(sorted.length),
    (high - low) / mostSteps,
  )
  const [factor, exponent] = roundUp(width || Math.abs(high) || 1)
  // The decimal itself, which a product of doubles would miss.
  const edge = (group: number): number => Number(`${group * factor}e${exponent}`)
  const stepOf = (result: number): number => {
    const group = Math.ceil(result / (factor * 10 ** exponent)) - 1
    // On an edge the quotient may be above the whole number that it is, as of -0.29 and 0.01.
    return result <= edge(group) ? group - 1 : group
  }
  const [first, last] = [stepOf(low), stepOf(high)]
  return {
    groupOf: (index) => Math.min(last + 1, Math.max(first - 1, stepOf(results[index] ?? 0))),
    keyOf: (group) => {
      if (group < first) return `under_${edge(first)}`
      return group > last ? `over_${edge(group)}` : `${edge(group)}_${edge(group + 1)}`
    },
  }
}

/** The next 1, 2 or 5 times a power of ten, as factor and exponent. */
const roundUp = (value: number): readonly [factor: number, exponent: number] => {
  const exponent = Math.floor(Math.log10(value))
  const factor = [1, 2, 5].find((one) => one * 10 ** exponent >= value * (1 - 1e-9))
  return factor === undefined ? [1, exponent + 1] : [factor, exponent]
}
