// The promises of a soak over what was measured while the load rested: nothing is held on to, nothing grows that nobody clears.
import type { MinuteOf, Trend } from './latencies.ts'
import { trendOf } from './latencies.ts'
import type { Held } from './probe.ts'
import type { ServerState } from './server-state.ts'
import { keepingOf } from './table-keeping.ts'

/** What was measured when the load had ended for a while and all that it left was done. */
export interface Rest {
  /** Minutes of load before it. */
  readonly minute: number
  readonly held: readonly Held[]
  readonly state: ServerState
}

/** Of the heap without code. */
export const heapBound = 1.05
/** The engine goes on making code of functions for a long while; code that is made anew for every request would be far more. */
export const codeBound = 1.5
export const medianBound = 1.25
export const p99Bound = 1.5
/** So many more of a kind of handle than after the warm-up are connections that pools keep open for their next use. */
export const handleSlack = 10

/** @param rests the first is that after the warm-up */
export const judgeHeld = (rests: readonly Rest[]): readonly string[] => {
  const [first, last] = [rests.at(0), rests.at(-1)]
  if (first === undefined || last === undefined) return ['nothing was measured']
  if (first.held.length === 0 || first.held.length !== last.held.length) return ['not every instance was measured']
  return first.held.flatMap((before, index) => faultsOfInstance(`instance ${index + 1}`, before, last.held[index] ?? before))
}

const faultsOfInstance = (name: string, before: Held, after: Held): readonly string[] => {
  if (before.pid !== after.pid) return [`${name} is not the process that it was`]
  const ratio = withoutCode(after) / withoutCode(before)
  const codeRatio = after.code / before.code
  const kinds = [...new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])]
  const grown = kinds.filter((kind) => (after.resources[kind] ?? 0) > (before.resources[kind] ?? 0) + handleSlack)
  return [
    ...(ratio <= heapBound ? [] : [`${name} holds ${ratio.toFixed(3)} times the heap that it held after the warm-up, code aside`]),
    ...(codeRatio <= codeBound ? [] : [`${name} holds ${codeRatio.toFixed(2)} times the code that it held after the warm-up`]),
    ...(after.listeners <= before.listeners
      ? []
      : [`${name} has ${after.listeners} listeners of its process where it had ${before.listeners}`]),
    ...grown.map((kind) => `${name} has ${after.resources[kind]} of ${kind} where it had ${before.resources[kind] ?? 0}`),
  ]
}

const withoutCode = ({ heapUsed, code }: Held): number => heapUsed - code

export const judgeState = (rests: readonly Rest[], mostConnections: number, connections: readonly number[]): readonly string[] => {
  const [first, last] = [rests.at(0)?.state, rests.at(-1)?.state]
  if (first === undefined || last === undefined) return ['nothing was measured']
  const rowsBefore = new Map(first.tables.map(({ name, rows }) => [name, rows]))
  const grown = last.tables.filter(({ name, rows }) => rows > (rowsBefore.get(name) ?? 0))
  const most = Math.max(0, ...connections)
  return [
    ...grown
      .filter(({ name }) => keepingOf(name)?.grows !== true)
      .map(({ name, rows }) => `${name} has ${rows} rows where it had ${rowsBefore.get(name) ?? 0}, and nothing is known to clear it`),
    ...(most <= mostConnections ? [] : [`the instances had ${most} connections to the database, and may have ${mostConnections}`]),
    ...(last.redisKeysForGood === 0 ? [] : [`Redis holds ${last.redisKeysForGood} keys that never expire`]),
  ]
}

export interface Trends {
  readonly median: Trend
  readonly p99: Trend
}

export const trendsOf = (minutes: readonly MinuteOf[], warmUpMinutes: number): Trends => ({
  median: trendOf(minutes, warmUpMinutes, ({ medianMs }) => medianMs),
  p99: trendOf(minutes, warmUpMinutes, ({ p99Ms }) => p99Ms),
})

export const judgeLatencies = ({ median, p99 }: Trends): readonly string[] => [
  ...(median.ratio <= medianBound ? [] : [`the median of the last third is ${median.ratio.toFixed(2)} times that of the first`]),
  ...(p99.ratio <= p99Bound ? [] : [`the 99th percentile of the last third is ${p99.ratio.toFixed(2)} times that of the first`]),
]
