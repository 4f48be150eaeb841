// What every benchmark shares: ratios against a reference that is measured in the same run, rounds
// in turn, and a database of its own.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'

/** Below 1 is faster, or smaller, than the reference. */
export interface Ratio {
  /** What was measured, in a few words. */
  readonly name: string
  readonly ours: number
  readonly reference: number
  /** Of both figures; milliseconds when left out. */
  readonly unit?: 'ms' | 'MB' | 'calls'
  /** Ours over the reference when left out; else the median of the ratios of rounds. */
  readonly ratio?: number
  /** The greatest ratio that will do. */
  readonly target: number
  /** What the reference is, and what else a reader needs to judge the figures. */
  readonly against: string
}

export interface Tools {
  /** Whatever a bench starts ends with it. */
  readonly stack: AsyncDisposableStack
  /** Creates a database on the server that DATABASE_URL names; resolves to its URL. */
  readonly newDatabase: () => Promise<string>
}

export type Bench = (tools: Tools) => Promise<readonly Ratio[]>

/** A figure that has a bound of its own. */
export const bounded = (name: string, ours: number, bound: number, note?: string): Ratio => ({
  name,
  ours,
  reference: bound,
  target: 1,
  against: note === undefined ? 'the bound' : `the bound; ${note}`,
})

/** Medians of figures that were measured in turn, and the median of the ratios of their rounds. */
export const compared = (ours: readonly number[], reference: readonly number[]) => ({
  ours: median(ours),
  reference: median(reference),
  ratio: median(ours.map((one, round) => one / (reference[round] ?? Number.NaN))),
})

type Measures = Readonly<Record<string, (round: number) => unknown>>

/**
 * What each measure returned in each round. They alternate, so that whatever else the machine does
 * slows all of them. The rounds before 0 do not count.
 */
export const inTurn = async <All extends Measures>(
  rounds: number,
  measures: All,
  warmUps = 1,
): Promise<{ readonly [Name in keyof All]: readonly Awaited<ReturnType<All[Name]>>[] }> => {
  const names: readonly (keyof All)[] = Object.keys(measures)
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [Name in keyof All]: Awaited<ReturnType<All[Name]>>[]
  }
  for (let round = -warmUps; round < rounds; round += 1)
    for (const name of names) {
      const result = await measures[name]?.(round)
      if (round >= 0) results[name].push(result as Awaited<ReturnType<All[keyof All]>>)
    }
  return results
}

export const timed = async <T>(work: () => T | Promise<T>) => {
  const startedAt = performance.now()
  const result = await work()
  return { ms: performance.now() - startedAt, result }
}

export const msOf = async (work: () => unknown): Promise<number> => (await timed(work)).ms

/** How long each of so many takes, one after the other. */
export const msOfEach = async (
  times: number,
  work: (index: number) => unknown,
): Promise<readonly number[]> => (await inTurn(times, { ms: (n) => msOf(() => work(n)) }, 0)).ms

/** Begins so many, evenly over the time, and waits for the end of each and of the time. */
export const paced = async (
  count: number,
  overMs: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> => {
  const startedAt = performance.now()
  const until = (at: number) => pause(Math.max(0, startedAt + at - performance.now()))
  const begun: Promise<unknown>[] = []
  for (let index = 0; index < count; index += 1) {
    await until((index * overMs) / count)
    begun.push(work(index))
  }
  await Promise.all([...begun, until(overMs)])
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** @param share 0.99 for the 99th percentile */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN

export const createDatabase = async (
  stack: AsyncDisposableStack,
  server: string,
): Promise<string> => {
  const name = `tradeport_bench_${randomBytes(6).toString('hex')}`
  await query(server, `create database ${name}`)
  stack.defer(async () => void (await query(server, `drop database ${name} with (force)`)))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Runs statements one after the other in one session; resolves to the rows of the last. */
export const query = async (
  connectionString: string,
  ...statements: readonly string[]
): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  } finally {
    await client.end()
  }
}
