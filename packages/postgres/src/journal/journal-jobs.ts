// Gives accounts whose journal wants a read to whoever synchronises them. The journal's row is the
// job: it is due until a read has come to its end.
import { minuteMs, secondMs } from '@tradeport/domain/primitives'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { JournalJobs } from '@tradeport/domain/ports'
import type { AccountId, TenantId, UserId } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import type { Log } from '../connection/log.ts'
import type { Pulse } from '../connection/jobs.ts'
import { repeating, tellingOnce } from '../connection/repeating.ts'
import { journalOf } from './journal-row.ts'

const journalQueue = 'journals'

const maxInProgress = 16
/** Of one tenant, so that a tenant whose accounts hang leaves room for others. */
const maxInProgressPerTenant = 4
/**
 * For how long an account that was given out is left to its process, which claims its journal
 * meanwhile.
 */
const givenOutMs = 15 * secondMs
const longestPauseMs = minuteMs

export interface JournalJobsOptions {
  /** How often the table is read; 500 when left out. */
  readonly pollMs?: number
}

interface Parts extends JournalJobsOptions {
  readonly knex: Knex
  readonly log: Log
  readonly pulse?: Pulse | undefined
}

export const createJournalJobs = (parts: Parts): JournalJobs => ({
  work: async (synchronise) => {
    const { knex, log, pulse, pollMs = 500 } = parts
    const failures = tellingOnce('journal_synchronisation', log)
    const inProgress = new Map<BrokerAccount, Promise<void>>()
    const ending = new AbortController()

    const run = async (account: BrokerAccount): Promise<void> => {
      try {
        await synchronise(account)
        await endPause(knex, account)
        failures.forget()
      } catch (error) {
        failures.tell(error)
        await pause(knex, account).catch(failures.tell)
      }
      inProgress.delete(account)
    }

    pulse?.beat(journalQueue)
    const poll = repeating(pollMs, 'due_journals', log, async () => {
      while (inProgress.size < maxInProgress && !ending.signal.aborted) {
        const counts = Map.groupBy(inProgress.keys(), ({ owner }) => owner.tenantId)
        const busyTenants = [...counts]
          .filter(([, { length }]) => length >= maxInProgressPerTenant)
          .map(([tenantId]) => tenantId)
        const account = await giveOut(knex, busyTenants, [...inProgress.keys()])
        if (account === undefined) break
        inProgress.set(account, run(account))
      }
      pulse?.beat(journalQueue)
    })
    return {
      stop: async () => {
        ending.abort()
        await poll.stop()
        pulse?.end(journalQueue)
        await Promise.all(inProgress.values())
      },
    }
  },
})

interface DueRow {
  readonly id: AccountId
  readonly tenant_id: TenantId
  readonly user_id: UserId
  readonly broker_type: 'mt4' | 'mt5'
  readonly provider_account_id: string
  readonly region: string | null
}

const giveOut = async (
  knex: Knex,
  busyTenants: readonly TenantId[],
  inProgress: readonly BrokerAccount[],
): Promise<BrokerAccount | undefined> => {
  const { rows } = await knex.raw<{ rows: readonly DueRow[] }>(
    `with due as (
       select journals.tenant_id, journals.account_id from journals join accounts on accounts.id = journals.account_id
       where least(wanted_at, reread_at) <= now() and coalesce(leased_until <= now(), true) and coalesce(paused_until <= now(), true)
         and journals.tenant_id <> all(?::text[]) and journals.account_id <> all(?::uuid[]) and accounts.provider_account_id is not null and broker_type in ('mt4', 'mt5')
       order by least(wanted_at, reread_at) limit 1 for update of journals skip locked),
     given as (
       update journals set paused_until = now() + ? * interval '1 ms' from due
       where journals.tenant_id = due.tenant_id and journals.account_id = due.account_id returning journals.account_id)
     select id, tenant_id, user_id, broker_type, provider_account_id, region from accounts join given on account_id = id`,
    [[...busyTenants], inProgress.map(({ accountId }) => accountId), givenOutMs],
  )
  const [row] = rows
  if (row === undefined) return undefined
  return {
    accountId: row.id,
    owner: { tenantId: row.tenant_id, userId: row.user_id },
    platform: row.broker_type,
    providerAccountId: row.provider_account_id,
    region: row.region,
  }
}

const endPause = (knex: Knex, account: BrokerAccount): Promise<unknown> =>
  journalOf(knex, account).update({ paused_until: null, failures: 0 })

const pause = (knex: Knex, account: BrokerAccount): Promise<unknown> =>
  journalOf(knex, account).update({
    paused_until: knex.raw(`now() + least(?, ? * power(2, least(failures, 6))) * interval '1 ms'`, [
      longestPauseMs,
      secondMs,
    ]),
    failures: knex.raw('failures + 1'),
  })
