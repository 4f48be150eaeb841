// One change of a position at a time over all instances (4.3 rules 4 and 6; decision 30). Those of one instance wait for one another in memory;
// the first of them takes a row of the database for a few seconds and renews it while its work goes on, so that no connection is held
// meanwhile and the position of a process that died is soon free.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { internalTimeout } from '@tradeport/domain'
import type { InternalTimeout, PositionLocks, ServiceUnavailable } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { silentLog } from './log.ts'
import type { Log } from './log.ts'
import { purgeLeases, releaseLease, renewLease, takeLease } from './position-lease.ts'
import type { Claim } from './position-lease.ts'
import { tellingOnce } from './repeating.ts'
import { createTurnQueue } from './turn-queue.ts'

export interface PositionLocksOptions {
  /** For how long a position stays held when nothing more is heard of the holder; 10,000 when left out. */
  readonly leaseMs?: number
  /** How often the holder says that it is still at work; 3,000 when left out. */
  readonly renewMs?: number
  /** How often a position is asked for that another instance holds; 75 when left out. */
  readonly pollMs?: number
  /** For how long a position is waited for; 30,000 when left out. */
  readonly patienceMs?: number
}

interface Parts extends Pick<Database, 'knex'>, PositionLocksOptions {
  readonly log?: Log
}

/** After so long a time in which one instance's own works followed one another, the next of them lets other instances ask first. */
const maxStreakMs = 1_000
const purgeMs = 60 * 60 * 1_000

export const createPositionLocks = ({ knex, log = silentLog, ...options }: Parts): PositionLocks => {
  const { leaseMs = 10_000, renewMs = 3_000, pollMs = 75, patienceMs = 30_000 } = options
  const queue = createTurnQueue()
  const releases = tellingOnce('position_lock_release', log)
  const renewals = tellingOnce('position_lock_renewal', log)
  let purgeDueAt = 0

  const letGo = async (claim: Claim): Promise<void> => {
    await releaseLease(knex, claim)
    if (performance.now() < purgeDueAt) return
    purgeDueAt = performance.now() + purgeMs
    await purgeLeases(knex)
  }

  // A failure is nobody's but the log's: what was done is done, and the lease lapses.
  const release = (claim: Claim): Promise<void> => letGo(claim).then(releases.forget, releases.tell)

  const take = async (claim: Claim, until: number): Promise<E.Either<ServiceUnavailable | InternalTimeout, void>> => {
    try {
      while (!(await takeLease(knex, claim, leaseMs))) {
        if (performance.now() >= until) return E.left(internalTimeout)
        await setTimeout(pollMs)
      }
      return E.right(undefined)
    } catch (error) {
      // It may have been taken all the same, and would keep everybody out until it lapses.
      void release(claim)
      return E.left(toServiceUnavailable('positionLocks.take')(error))
    }
  }

  // The work goes on whatever becomes of this: it is at the broker, and cannot be called back.
  const keepRenewing = (claim: Claim): { readonly stop: () => void } => {
    let isOver = false
    const renew = async (): Promise<void> => {
      const isMine = await renewLease(knex, claim, leaseMs)
      renewals.forget()
      if (isMine || isOver) return
      stop()
      log.warn({ event: 'position_lock_lost', reason: 'its lease lapsed before the work had ended' })
    }
    const timer = setInterval(() => void renew().catch(renewals.tell), renewMs)
    const stop = (): void => {
      isOver = true
      clearInterval(timer)
    }
    return { stop }
  }

  return {
    holding: (owner, id) => (work) => async () => {
      const until = performance.now() + patienceMs
      const turn = await queue.enter(JSON.stringify([owner.tenantId, owner.userId, id.accountId, id.ticket]), patienceMs)
      if (turn === undefined) return E.left(internalTimeout)
      if (turn.streakMs > maxStreakMs) {
        turn.rest()
        await setTimeout(2 * pollMs)
      }
      const claim = { owner, id, holder: randomUUID() }
      const taken = await take(claim, until)
      if (E.isLeft(taken)) {
        turn.end()
        return taken
      }
      const renewing = keepRenewing(claim)
      try {
        return await work()
      } finally {
        renewing.stop()
        // Whoever has a result does not wait for this; the next in line does, and finds the row free.
        void release(claim).finally(turn.end)
      }
    },
  }
}
