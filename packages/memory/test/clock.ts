import type { Clock } from '@tradeport/domain/ports'

/** A clock that the test moves. */
export const createMovableClock = (): Clock & { readonly advance: (ms: number) => void } => {
  let now = 1_000_000
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}

/** Lets everything continue that waits for a ended promise. */
export const ended = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
