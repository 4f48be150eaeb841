// Position locks of one process in memory. They pass the same contract as the database's. Time passes only when the test says so.
import * as E from 'fp-ts/lib/Either.js'
import { brokerUnavailable, internalTimeout } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { maxChangesPerAccount } from '../ports/position-locks.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'

interface Holder {
  /** Infinity where the lock is renewed. */
  readonly expiresAt: Instant
}

interface Waiter {
  readonly leaseMs: number
  readonly givesUpAt: Instant
  /** Called with undefined when it waited for too long. */
  readonly start: (holder: Holder | undefined) => void
}

interface Lock {
  holder: Holder | undefined
  waiting: readonly Waiter[]
}

export interface FakePositionLocks extends PositionLocks {
  /** The same locks for a process that dies at its work: it neither renews nor releases them. */
  readonly dying: PositionLocks
  /** The same locks for callers that give up after a second. */
  readonly impatient: PositionLocks
  /** Reads the clock: expired locks become free, and callers that waited for too long give up. */
  readonly tick: () => void
}

const leaseMs = 10 * secondMs
const patienceMs = 30 * secondMs

/** @param clock stands still when left out */
export const createFakePositionLocks = (clock: Clock = { now: () => 0 }): FakePositionLocks => {
  const locks = new Map<string, Lock>()
  const changesOfAccount = new Map<string, number>()

  const lockOf = (key: string): Lock => {
    const lock = locks.get(key) ?? { holder: undefined, waiting: [] }
    locks.set(key, lock)
    return lock
  }

  const isHeld = (holder: Holder | undefined): boolean => holder !== undefined && holder.expiresAt > clock.now()

  const startNext = (lock: Lock): void => {
    const now = clock.now()
    for (const { givesUpAt, start } of lock.waiting) if (givesUpAt <= now) start(undefined)
    lock.waiting = lock.waiting.filter(({ givesUpAt }) => givesUpAt > now)
    if (isHeld(lock.holder)) return
    const [next, ...waiting] = lock.waiting
    lock.holder = next && { expiresAt: now + next.leaseMs }
    lock.waiting = waiting
    next?.start(lock.holder)
  }

  const locksOf = (limits: { readonly leaseMs: number; readonly patienceMs: number; readonly releases: boolean }): PositionLocks => ({
    holding:
      ({ owner, accountId, providerAccountId }, ticket) =>
      (work) =>
      async () => {
        const accountKey = JSON.stringify([owner.tenantId, providerAccountId])
        const changes = changesOfAccount.get(accountKey) ?? 0
        if (changes >= maxChangesPerAccount) return E.left(brokerUnavailable(accountId, 'too many changes at once'))
        changesOfAccount.set(accountKey, changes + 1)
        const lock = lockOf(JSON.stringify([accountKey, ticket]))
        const holder = await new Promise<Holder | undefined>((start) => {
          lock.waiting = [...lock.waiting, { leaseMs: limits.leaseMs, givesUpAt: clock.now() + limits.patienceMs, start }]
          startNext(lock)
        })
        try {
          if (holder === undefined) return E.left(internalTimeout)
          return await work(() => lock.holder === holder && isHeld(holder))()
        } finally {
          changesOfAccount.set(accountKey, (changesOfAccount.get(accountKey) ?? 0) - 1)
          if (limits.releases && lock.holder === holder) lock.holder = undefined
          startNext(lock)
        }
      },
  })

  return {
    ...locksOf({ leaseMs: Infinity, patienceMs, releases: true }),
    dying: locksOf({ leaseMs, patienceMs, releases: false }),
    impatient: locksOf({ leaseMs: Infinity, patienceMs: secondMs, releases: true }),
    tick: () => {
      for (const lock of locks.values()) startNext(lock)
    },
  }
}
