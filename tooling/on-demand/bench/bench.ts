// What a benchmark is: ratios against a reference measured in the same run, each with its target.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** What a bench opens is closed in the end, the newest first. */
export type CloseLater = (close: () => Promise<unknown>) => void

export interface Bench {
  readonly name: string
  /** Whether it needs the PostgreSQL server that DATABASE_URL names. */
  readonly needsServer: boolean
  /** @param server '' where none is named */
  readonly run: (server: string, closeLater: CloseLater) => Promise<readonly Ratio[]>
}

export const closingAll = async <A>(work: (closeLater: CloseLater) => Promise<A>): Promise<A> => {
  const closers: (() => Promise<unknown>)[] = []
  try {
    return await work((close) => closers.push(close))
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

export const newFolder = async (closeLater: CloseLater): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  closeLater(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** @returns the URL of a database of the bench's own on the server */
export const createDatabase = async (server: string, closeLater: CloseLater): Promise<string> => {
  const name = `tradeport_bench_${randomBytes(6).toString('hex')}`
  await withClient(server, (client) => client.query(`create database ${name}`))
  closeLater(() =>
    withClient(server, (client) => client.query(`drop database ${name} with (force)`)),
  )
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export const withClient = async <A>(
  connectionString: string,
  work: (client: Client) => Promise<A>,
): Promise<A> => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** After a collection its threads still work for a while, which the reference must not pay for. */
const sweepMs = 200

/**
 * The median times of two things in turn, so that whatever else the machine does slows both:
 * `rounds` runs each after two that do not count.
 *
 * What ours leaves behind is collected right after it, where Node allows it, and never after the
 * reference: V8 sets the heap's limit by how fast a program allocates, and takes one that waits for
 * native code for idle. The limit would then be just above what is held, and each run of ours would
 * begin to mark all of that once more.
 */
export const timeAlternately = async <A, B>(
  rounds: number,
  ours: () => A | Promise<A>,
  reference: () => B | Promise<B>,
): Promise<{ readonly ours: Timed<A>; readonly reference: Timed<B> }> => {
  const times: { ours: Timed<A>; reference: Timed<B> }[] = []
  for (let round = -2; round < rounds; round += 1) {
    const oursTimed = await timed(ours)
    globalThis.gc?.()
    await pause(sweepMs)
    const both = { ours: oursTimed, reference: await timed(reference) }
    if (round >= 0) times.push(both)
  }
  const byTime = <T>(all: readonly Timed<T>[]): Timed<T> =>
    all.toSorted((a, b) => a.ms - b.ms)[all.length >> 1] as Timed<T>
  return {
    ours: byTime(times.map((both) => both.ours)),
    reference: byTime(times.map((both) => both.reference)),
  }
}

export interface Timed<T> {
  readonly ms: number
  readonly result: T
}

export const timed = async <T>(work: () => T | Promise<T>): Promise<Timed<T>> => {
  const startedAt = performance.now()
  const result = await work()
  return { ms: performance.now() - startedAt, result }
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** @param share 0.99 for the 99th percentile */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN
