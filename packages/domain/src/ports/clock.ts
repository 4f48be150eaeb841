// Time and turns, which the pure rooms must not take for themselves.
import type * as T from 'fp-ts/lib/Task.js'
import type { Instant } from '../primitives/instant.ts'

export interface Clock {
  readonly now: () => Instant
}

export interface Breather {
  /** Lets everything else that waits have its turn; long work calls it between its steps. */
  readonly breathe: T.Task<void>
}

export interface Pauser {
  /** Settles after so many milliseconds. */
  readonly pause: (ms: number) => T.Task<void>
}
