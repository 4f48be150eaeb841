// One change of a position or an open order at a time on all instances. A change holds a row of
// change_locks for a few seconds and renews it while it runs, so that it holds no connection while
// the broker is asked, and what a process that died was changing is soon free. All times in the row
// are the database's, so that the clocks of the instances do not matter. Changes of one instance
// wait in memory, so that only the first of them polls the database.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse, type Refusal, type ServiceUnavailable } from '@tradeport/domain/errors'
import { maxChangesPerAccount, type ChangeLocks } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { isLeaseHeld } from '../connection/due-rows.ts'
import { createFairPool } from '../connection/fair-pool.ts'
import { toServiceUnavailable, silentLog, type Log } from '../connection/failures.ts'
import { createFailureLog } from '../connection/repeating.ts'
import { query, returnsRow, sql } from '../connection/sql.ts'

interface Dependencies {
  readonly knex: Knex
  readonly log?: Log
  /** How long a lock holds when it is not renewed; 10,000 by default. */
  readonly leaseMs?: number
  /** How often a lock is renewed; 3,000 by default. */
  readonly renewMs?: number
  /** How often a lock of another instance is tried again; 75 by default. */
  readonly pollMs?: number
}

interface Lock {
  readonly isHeld: () => boolean
  readonly release: () => Promise<void>
}

export const createChangeLocks = ({
  knex,
  log = silentLog,
  leaseMs = 10_000,
  renewMs = 3_000,
  pollMs = 75,
}: Dependencies): ChangeLocks => {
  // The rest of the lease allows for a faster clock of the database, and for bytes on their way.
  const sendableMs = leaseMs * 0.8
  const changesOfAccount = createFairPool({
    size: Infinity,
    perTenant: Infinity,
    perMember: maxChangesPerAccount,
  })
  const changesOfSubject = createFairPool({ size: Infinity, perTenant: Infinity, perMember: 1 })
  const releases = createFailureLog('change_lock_release', log)
  const renewals = createFailureLog('change_lock_renewal', log)

  // A failed release is only logged: the change is made, and the lease ends by itself.
  const release = (row: LockRow): Promise<void> =>
    row.release().then(releases.reset, releases.report)

  const acquire = async (
    row: LockRow,
    giveUpAt: number,
  ): Promise<E.Either<ServiceUnavailable | Refusal<'InternalTimeout'>, Lock>> => {
    try {
      for (;;) {
        const ageMs = startTimer()
        const isAcquired = await row.acquire()
        if (performance.now() >= giveUpAt) {
          if (isAcquired) void release(row)
          return E.left(refuse('InternalTimeout'))
        }
        if (isAcquired) return E.right(keepRenewing(row, ageMs))
        await setTimeout(pollMs)
      }
    } catch (error) {
      // The row may have been written although its answer was lost.
      void release(row)
      return E.left(toServiceUnavailable('changeLocks.acquire')(error))
    }
  }

  const keepRenewing = (row: LockRow, acquiredMs: () => number): Lock => {
    // Since the start of the statement that last acquired or renewed the row; the database's lease
    // begins no earlier.
    let ageMs = acquiredMs
    let isOver = false
    let isRenewing = false

    const renew = async () => {
      const renewedMs = startTimer()
      const isOurs = await row.renew()
      renewals.reset()
      if (isOurs) ageMs = renewedMs
      else if (!isOver) {
        stop()
        log.warn({
          event: 'change_lock_lost',
          reason:
            'the lock was not renewed in time and another change may hold it; nothing more is sent',
        })
      }
    }
    const timer = setInterval(() => {
      if (isRenewing) return
      isRenewing = true
      void renew()
        .catch(renewals.report)
        .finally(() => {
          isRenewing = false
        })
    }, renewMs)
    const stop = () => {
      isOver = true
      clearInterval(timer)
    }
    return {
      isHeld: () => !isOver && ageMs() < sendableMs,
      release: () => {
        stop()
        return release(row)
      },
    }
  }

  return {
    holding: (account, subject, patienceMs) => (work) => async () => {
      const { tenantId: tenant } = account.owner
      const { providerAccountId } = account
      const giveUpAt = performance.now() + patienceMs
      const leaveAccount = await changesOfAccount.acquire({ tenant, member: providerAccountId }, 0)
      if (leaveAccount === undefined) {
        return E.left(
          refuse('BrokerUnavailable', {
            accountId: account.accountId,
            reason: `${maxChangesPerAccount} changes of it are already under way`,
          }),
        )
      }
      try {
        const leaveSubject = await changesOfSubject.acquire(
          { tenant, member: JSON.stringify([providerAccountId, subject]) },
          patienceMs,
        )
        if (leaveSubject === undefined) return E.left(refuse('InternalTimeout'))
        const acquired = await acquire(rowOf(knex, account, subject, leaseMs), giveUpAt)
        if (E.isLeft(acquired)) {
          leaveSubject()
          return acquired
        }
        const lock = acquired.right
        try {
          return await work(lock.isHeld)()
        } finally {
          // The result does not wait for this. The next change does, and finds the row free.
          void lock.release().finally(leaveSubject)
        }
      } finally {
        leaveAccount()
      }
    },
  }
}

/**
 * Milliseconds since the call, by the clock that counted more of them: the monotonic clock stands
 * still while the machine is suspended, and the wall clock can be set back.
 */
const startTimer = (): (() => number) => {
  const startedAt = performance.now()
  const wallStartedAt = Date.now()
  return () => Math.max(performance.now() - startedAt, Date.now() - wallStartedAt)
}

type LockRow = ReturnType<typeof rowOf>

/** One change's hold of its row. */
const rowOf = (
  knex: Knex,
  { owner: { tenantId }, providerAccountId }: BrokerAccount,
  subject: string,
  leaseMs: number,
) => {
  const leaseId = randomUUID()
  const leaseEnd = sql`now() + ${leaseMs} * interval '1 ms'`
  const isOurs = sql`
    tenant_id = ${tenantId} and provider_account_id = ${providerAccountId} and subject = ${subject} and lease_id = ${leaseId}`
  return {
    /** Whether the row was free, or its lease over. */
    acquire: () =>
      returnsRow(
        knex,
        sql`insert into change_locks (tenant_id, provider_account_id, subject, lease_id, leased_until)
          values (${tenantId}, ${providerAccountId}, ${subject}, ${leaseId}, ${leaseEnd})
          on conflict (tenant_id, provider_account_id, subject)
            do update set lease_id = excluded.lease_id, leased_until = excluded.leased_until
              where not ${isLeaseHeld(sql`change_locks.leased_until`, leaseEnd)}
          returning true`,
      ),
    /** False when another change acquired the row after its lease was over. */
    renew: () =>
      returnsRow(
        knex,
        sql`update change_locks set leased_until = ${leaseEnd} where ${isOurs} returning true`,
      ),
    /**
     * Also removes the rows of processes that died, where nobody wanted the row since. The table
     * holds no more than the changes in progress.
     */
    release: () =>
      query(
        knex,
        sql`delete from change_locks where (${isOurs}) or leased_until < now() - interval '1 hour'`,
      ),
  }
}
