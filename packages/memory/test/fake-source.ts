// A clock that the test moves, and reads that settle when the test says so.
import type { Clock } from '@tradeport/domain/ports'

export interface MovableClock extends Clock {
  readonly advance: (ms: number) => void
}

export const createMovableClock = (): MovableClock => {
  let now = 1_000_000
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}

/** Lets everything that waits for a settled promise have its turn. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
