// Time and turns, which the pure rooms must not take for themselves.
import type * as T from 'fp-ts/lib/Task.js'
import type { Instant } from '../primitives/instant.ts'

export interface Clock {
  readonly now: () => Instant
}

export interface Stopwatch {
  /**
   * Milliseconds since some fixed moment of this process. They only grow, whatever happens to the
   * wall clock.
   */
  readonly elapsedMs: () => number
}

/**
 * Whether a trade may still be sent. The sender asks as its last step before it connects to the
 * broker and again before the first byte is written; once the answer is false, nothing is written.
 */
export type MaySend = () => boolean

export interface Breather {
  /** Lets everything else that waits have its turn; long work calls it between its steps. */
  readonly breathe: T.Task<void>
}

export interface Pauser {
  /** Settles after so many milliseconds. */
  readonly pause: (ms: number) => T.Task<void>
}
