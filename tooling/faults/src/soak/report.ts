// What a soak prints of its measurements.
import { say } from '../fleet.ts'
import type { Rest, Trends } from './judge.ts'
import { trendOf } from './latencies.ts'
import type { Latencies, MinuteOf } from './latencies.ts'
import type { ServerState } from './server-state.ts'
import { keepingOf } from './table-keeping.ts'

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)

export const printLatencies = (minutes: readonly MinuteOf[], { median, p99 }: Trends): void => {
  say('minute: requests, median ms, 99th percentile ms')
  for (const { minute, count, medianMs, p99Ms } of minutes) say(`  ${minute + 1}: ${count}, ${ms(medianMs)}, ${ms(p99Ms)}`)
  say(`median: first third ${ms(median.firstMs)} ms, last third ${ms(median.lastMs)} ms, ratio ${median.ratio.toFixed(2)}`)
  say(`99th percentile: first third ${ms(p99.firstMs)} ms, last third ${ms(p99.lastMs)} ms, ratio ${p99.ratio.toFixed(2)}`)
}

export const printRoutes = (byRoute: ReadonlyMap<string, Latencies>, warmUpMinutes: number): void => {
  say('route: requests, median ms of the first and of the last third')
  for (const [route, latencies] of [...byRoute].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const minutes = latencies.minutes()
    const { firstMs, lastMs } = trendOf(minutes, warmUpMinutes, ({ medianMs }) => medianMs)
    say(`  ${route}: ${minutes.reduce((sum, { count }) => sum + count, 0)}, ${ms(firstMs)}, ${ms(lastMs)}`)
  }
}

export const printRests = (start: ServerState, rests: readonly Rest[], connections: readonly number[]): void => {
  for (const { minute, held, state } of rests) {
    say(`after minute ${minute}, at rest: ${state.connections} connections to the database, ${state.redisKeys} keys in Redis`)
    for (const [index, { heapUsed, code, rss, external, listeners, resources }] of held.entries()) {
      const kinds = Object.entries(resources).map(([kind, count]) => `${kind} ${count}`)
      say(
        `  instance ${index + 1}: heap ${megabytes(heapUsed)} MB (${megabytes(code)} MB of it code), RSS ${megabytes(rss)} MB, external ${megabytes(external)} MB, listeners ${listeners}, ${kinds.join(', ')}`,
      )
    }
  }
  say(`connections to the database under load, every ten seconds: ${connections.join(' ')}`)
  printTables(
    [start, rests.at(0)?.state, rests.at(Math.floor(rests.length / 2))?.state, rests.at(-1)?.state].filter((state) => state !== undefined),
  )
}

/** @param states at the start, after the warm-up, in the middle and at the end */
const printTables = (states: readonly ServerState[]): void => {
  say('table: rows (kB) at the start, after the warm-up, in the middle, at the end; what becomes of them')
  for (const { name } of states.at(-1)?.tables ?? []) {
    const own = states.map(({ tables }) => tables.find((table) => table.name === name))
    const cells = own.map((table) => (table === undefined ? '-' : `${table.rows} (${Math.round(table.bytes / 1_000)})`))
    say(`  ${name}: ${cells.join(', ')}; ${keepingOf(name)?.why ?? 'not known'}`)
  }
  say(
    `jobs at the end: ${
      Object.entries(states.at(-1)?.jobs ?? {})
        .map(([name, count]) => `${name} ${count}`)
        .join(', ') || 'none'
    }`,
  )
}
