// Locks of positions within one process, as a fake of the port; they pass the same contract as the database's. Nothing happens by itself:
// time passes when the test says so.
import * as E from 'fp-ts/lib/Either.js'
import { internalTimeout } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'

interface Holder {
  /** When what it holds is free again although it never let go; never, for one that lives. */
  readonly lapsesAt: Instant
}

interface Waiter {
  readonly lapsesInMs: number
  readonly givesUpAt: Instant
  /** `undefined` says that it waited for too long. */
  readonly enter: (holder: Holder | undefined) => void
}

interface Lane {
  holder: Holder | undefined
  waiting: readonly Waiter[]
}

export interface FakePositionLocks extends PositionLocks {
  /** The same locks as a process sees them that dies at its work: it never lets go. */
  readonly dying: PositionLocks
  /** The same locks for those who give up after a second. */
  readonly impatient: PositionLocks
  /** Looks at the clock: what the dead held becomes free, and who waited for too long gives up. */
  readonly tick: () => void
}

const leaseMs = 10 * secondMs
const patienceMs = 30 * secondMs

/** @param clock by which one waits; it stands still when left out */
export const createFakePositionLocks = (clock: Clock = { now: () => 0 }): FakePositionLocks => {
  const lanes = new Map<string, Lane>()

  const laneOf = (key: string): Lane => {
    const lane = lanes.get(key) ?? { holder: undefined, waiting: [] }
    lanes.set(key, lane)
    return lane
  }

  const admit = (lane: Lane): void => {
    const now = clock.now()
    for (const { givesUpAt, enter } of lane.waiting) if (givesUpAt <= now) enter(undefined)
    lane.waiting = lane.waiting.filter(({ givesUpAt }) => givesUpAt > now)
    if (lane.holder !== undefined && lane.holder.lapsesAt > now) return
    const [next, ...waiting] = lane.waiting
    lane.holder = next && { lapsesAt: now + next.lapsesInMs }
    lane.waiting = waiting
    next?.enter(lane.holder)
  }

  const locksOf = (limits: { readonly lapsesInMs: number; readonly givesUpInMs: number; readonly letsGo: boolean }): PositionLocks => ({
    holding:
      ({ tenantId, userId }, { accountId, ticket }) =>
      (work) =>
      async () => {
        const lane = laneOf(JSON.stringify([tenantId, userId, accountId, ticket]))
        const holder = await new Promise<Holder | undefined>((enter) => {
          lane.waiting = [...lane.waiting, { lapsesInMs: limits.lapsesInMs, givesUpAt: clock.now() + limits.givesUpInMs, enter }]
          admit(lane)
        })
        if (holder === undefined) return E.left(internalTimeout)
        try {
          return await work()
        } finally {
          if (limits.letsGo && lane.holder === holder) lane.holder = undefined
          admit(lane)
        }
      },
  })

  return {
    ...locksOf({ lapsesInMs: Infinity, givesUpInMs: patienceMs, letsGo: true }),
    dying: locksOf({ lapsesInMs: leaseMs, givesUpInMs: patienceMs, letsGo: false }),
    impatient: locksOf({ lapsesInMs: Infinity, givesUpInMs: secondMs, letsGo: true }),
    tick: () => {
      for (const lane of lanes.values()) admit(lane)
    },
  }
}
