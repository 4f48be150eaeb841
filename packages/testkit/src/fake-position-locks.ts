// Position locks of one process in memory. Time passes only when the test says so.
import * as E from 'fp-ts/lib/Either.js'
import { refuse } from '@tradeport/domain/errors'
import type { Clock, PositionLocks } from '@tradeport/domain/ports'
import { secondMs, type Instant } from '@tradeport/domain/primitives'

interface Holder {
  readonly expiresAt: Instant
}

export interface FakePositionLocks extends PositionLocks {
  /** The same locks for a process that dies at its work: it neither renews nor releases them. */
  readonly dying: PositionLocks
  /** Reads the clock: expired locks become free, and callers that waited for too long give up. */
  readonly tick: () => void
}

const leaseMs = 10 * secondMs
const patienceMs = 30 * secondMs

export const createFakePositionLocks = (clock: Clock): FakePositionLocks => {
  const holders = new Map<string, Holder>()
  /** Each says whether it waits no more. */
  let waiting: (() => boolean)[] = []
  const tick = (): void => {
    waiting = waiting.filter((attempt) => !attempt())
  }
  const locksOf = (lifetimeMs: number): PositionLocks => ({
    holding:
      ({ owner, providerAccountId }, ticket) =>
      (work) =>
      async () => {
        const key = JSON.stringify([owner.tenantId, providerAccountId, ticket])
        const givesUpAt = clock.now() + patienceMs
        const isFree = (): boolean => (holders.get(key)?.expiresAt ?? 0) <= clock.now()
        const holder = await new Promise<Holder | undefined>((resolve) => {
          waiting.push(() => {
            const next = isFree() ? { expiresAt: clock.now() + lifetimeMs } : undefined
            if (next === undefined && clock.now() < givesUpAt) return false
            if (next !== undefined) holders.set(key, next)
            resolve(next)
            return true
          })
          tick()
        })
        if (holder === undefined) return E.left(refuse('InternalTimeout'))
        try {
          return await work(() => holders.get(key) === holder && !isFree())()
        } finally {
          if (lifetimeMs === Infinity) holders.delete(key)
          tick()
        }
      },
  })
  return { ...locksOf(Infinity), dying: locksOf(leaseMs), tick }
}
