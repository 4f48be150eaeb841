// Time, yielding to others, and workers.
import type * as T from 'fp-ts/lib/Task.js'
import type { Instant } from '../primitives/instant.ts'

/** The wall clock. It may be wrong, or be set back. */
export interface Clock {
  readonly now: () => Instant
}

/** Measures durations. */
export interface Stopwatch {
  /**
   * Milliseconds since some fixed moment of this process. They only grow, whatever happens to the
   * wall clock.
   */
  readonly elapsedMs: () => number
}

/**
 * Whether a trade may still be sent. The sender calls it as its last step before it connects to the
 * broker and again before the first byte is written; once the answer is false, nothing is written.
 * True is remembered: from then on the trade may have been sent.
 */
export type MaySend = () => boolean

/** For calculations that would delay other requests. */
export interface EventLoopYield {
  /** Lets other work of this process run; long work calls it between its steps. */
  readonly yieldToEventLoop: T.Task<void>
}

/** Waits. */
export interface Pauser {
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => T.Task<void>
}

/**
 * A worker: calls `process` with every due job until `stop`, which waits for those under way, some
 * workers only for a while.
 */
export type Work<Job, Outcome = void> = (
  process: (job: Job) => Promise<Outcome>,
) => Promise<{ readonly stop: () => Promise<void> }>
