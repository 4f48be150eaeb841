// Time that passes when nothing else goes on: whoever pauses is woken at once, in the order of
// their times, once everybody else waits as well.
import type { Clock, Pauser } from '../../src/ports/clock.ts'
import type { Instant } from '../../src/primitives/instant.ts'

export interface TestTime extends Pauser {
  readonly clock: Clock
  readonly wait: (ms: number) => void
}

interface Sleeper {
  readonly wakesAt: Instant
  readonly wake: () => void
}

export const createTestTime = (start: Instant): TestTime => {
  let now = start
  let sleepers: readonly Sleeper[] = []
  const wakeNext = (): void => {
    const [next, ...others] = sleepers.toSorted((a, b) => a.wakesAt - b.wakesAt)
    sleepers = others
    if (next === undefined) return
    now = Math.max(now, next.wakesAt)
    next.wake()
    if (others.length > 0) setImmediate(wakeNext)
  }
  return {
    clock: { now: () => now },
    wait: (ms) => {
      now += ms
    },
    pause: (ms) => () =>
      new Promise((wake) => {
        if (sleepers.length === 0) setImmediate(wakeNext)
        sleepers = [...sleepers, { wakesAt: now + ms, wake }]
      }),
  }
}
