// What a benchmark is: ratios against a reference measured in the same run, each with its target.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { benchServer } from './server-database.ts'

export type Ratio = Judged & (Times | Sizes)

interface Judged {
  /** What was measured, in a few words. */
  readonly name: string
  /** Ours over the reference: below 1 is faster, or smaller. */
  readonly ratio: number
  /**
   * The greatest ratio that will do. Where ours has a bound of its own, the ratio at which it is
   * reached. Absent where the ratio only informs.
   */
  readonly target?: number
  /** What the reference is, and what else a reader needs to judge the figures. */
  readonly reference: string
}

interface Times {
  readonly oursMs: number
  readonly referenceMs: number
}

interface Sizes {
  /** Millions of bytes. */
  readonly oursMegabytes: number
  readonly referenceMegabytes: number
}

/** Why a bench was left out. */
export interface NotRun {
  readonly notRun: string
}

export type Outcome = readonly Ratio[] | NotRun

export const needsServer: NotRun = {
  notRun:
    'DATABASE_URL names no PostgreSQL server; it gets a database of its own there, dropped at the end',
}

export const isNotRun = (outcome: Outcome): outcome is NotRun => 'notRun' in outcome

export const isMet = ({ ratio, target = Infinity }: Ratio): boolean => ratio <= target

export interface Bench {
  readonly name: string
  readonly run: () => Promise<Outcome>
}

/** What a bench opens is closed in the end, the newest first. */
export type CloseLater = (close: () => Promise<unknown>) => void

export const closingAll = async <A>(work: (closeLater: CloseLater) => Promise<A>): Promise<A> => {
  const closers: (() => Promise<unknown>)[] = []
  try {
    return await work((close) => void closers.push(close))
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

/** A bench that needs the server that DATABASE_URL names. */
export const onServer = async (
  work: (server: string, closeLater: CloseLater) => Promise<Outcome>,
): Promise<Outcome> => {
  const server = benchServer()
  return server === undefined ? needsServer : closingAll((closeLater) => work(server, closeLater))
}

export const newFolder = async (closeLater: CloseLater): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  closeLater(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export interface Timed<T> {
  readonly medianMs: number
  readonly last: T
}

/** After a collection its threads still work for a while, which the reference must not pay for. */
const sweepMs = 200

/**
 * Times two things in turn, so that whatever else the machine does befalls both: `rounds` runs each
 * after two that do not count.
 *
 * What ours leaves behind is collected straight after it, where Node allows it, and never after the
 * reference: V8 sets the heap's limit by how fast a program allocates and takes one that waits for
 * work outside of its heap for idle. The limit would then stand just above what is held, and each
 * run of ours would begin to mark all of that once more.
 */
export const timeAlternately = async <A, B>(
  rounds: number,
  ours: () => A | Promise<A>,
  reference: () => B | Promise<B>,
): Promise<readonly [Timed<A>, Timed<B>]> => {
  const [oursMs, referenceMs]: [number[], number[]] = [[], []]
  let lasts: readonly [A, B] = [await ours(), await reference()]
  for (let round = -1; round < rounds; round++) {
    const [ourTime, ourLast] = await time(ours)
    globalThis.gc?.()
    await setTimeout(sweepMs)
    const [referenceTime, referenceLast] = await time(reference)
    lasts = [ourLast, referenceLast]
    if (round < 0) continue
    oursMs.push(ourTime)
    referenceMs.push(referenceTime)
  }
  return [
    { medianMs: median(oursMs), last: lasts[0] },
    { medianMs: median(referenceMs), last: lasts[1] },
  ]
}

const time = async <T>(work: () => T | Promise<T>): Promise<readonly [ms: number, result: T]> => {
  const start = performance.now()
  const result = await work()
  return [performance.now() - start, result]
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
