// The journal: the store, the trades read from it, and the jobs that keep it up to date.
import { maxListedJournals } from '@tradeport/domain/operator'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { Journal, JournalHealth, JournalJobs, TradeRecords } from '@tradeport/domain/ports'
import { minuteMs, secondMs, type AccountId } from '@tradeport/domain/primitives'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { ids, mapped, oneOf, orAbsent, tableOf } from '../connection/columns.ts'
import { workOnDueRows } from '../connection/due-rows.ts'
import { attempt, type Log } from '../connection/failures.ts'
import type { Pulse } from '../connection/jobs.ts'
import { query, readAll, sql } from '../connection/sql.ts'
import type { EventRecorder } from '../events/events.ts'
import { ofAccount } from './journal-row.ts'
import { createJournal } from './journal-store.ts'
import { createTradeRecords } from './trade-records.ts'

interface JournalJobsOptions {
  /** How often the table is read; 500 by default. */
  readonly pollMs?: number
}

interface Parts {
  readonly knex: Knex
  readonly log: Log
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
  readonly pulse: Pulse
}

export interface OpenedJournal {
  readonly journal: Journal
  readonly records: TradeRecords
  readonly jobs: JournalJobs
}

export const openJournal = (parts: Parts, options: JournalJobsOptions = {}): OpenedJournal => ({
  journal: createJournal(parts),
  records: createTradeRecords(parts.knex),
  jobs: createJournalJobs({ ...parts, ...options }),
})

/**
 * How long other processes skip an account that was handed out, so that its process can claim the
 * journal.
 */
const givenOutMs = 15 * secondMs
const longestPauseMs = minuteMs

const brokerAccounts = mapped(
  tableOf('accounts', {
    id: ids.account,
    tenantId: ids.tenant,
    userId: ids.user,
    brokerType: oneOf('platform', ['mt4', 'mt5']),
    providerAccountId: t.string,
    region: orAbsent(t.string),
  }),
  ({ id: accountId, tenantId, userId, brokerType: platform, ...link }): BrokerAccount => ({
    accountId,
    owner: { tenantId, userId },
    platform,
    ...link,
  }),
)

/** The journal's row is due until a read has come to its end. */
const createJournalJobs = ({
  knex,
  log,
  pulse,
  pollMs = 500,
}: Parts & JournalJobsOptions): JournalJobs => ({
  work: async (synchronise) =>
    workOnDueRows<BrokerAccount>({
      log,
      pulse,
      queue: 'journals',
      events: { poll: 'due_journals', work: 'journal_synchronisation' },
      pollMs: () => pollMs,
      maxInProgress: 16,
      maxPerTenant: 4,
      maxPerClaim: 1,
      keyOf: ({ accountId }) => accountId,
      tenantOf: ({ owner }) => owner.tenantId,
      claim: (busyTenants, limit, inProgress) =>
        readAll(
          knex,
          sql`with due as (
              select journals.tenant_id, journals.account_id from journals join accounts on accounts.id = journals.account_id
              where least(wanted_at, reread_at) <= now() and coalesce(leased_until <= now(), true) and coalesce(paused_until <= now(), true)
                and journals.tenant_id <> all(${busyTenants}::text[]) and journals.account_id <> all(${inProgress}::uuid[])
                and accounts.provider_account_id is not null and broker_type in ('mt4', 'mt5')
              order by least(wanted_at, reread_at) limit ${limit} for update of journals skip locked),
            claimed as (
              update journals set paused_until = now() + ${givenOutMs} * interval '1 ms' from due
              where journals.tenant_id = due.tenant_id and journals.account_id = due.account_id returning journals.account_id)
            select ${brokerAccounts.columns} from accounts join claimed on account_id = id`,
          brokerAccounts,
        ),
      work: async (account) => {
        try {
          await synchronise(account)
        } catch (error) {
          await query(
            knex,
            sql`update journals set failures = failures + 1, paused_until =
                now() + least(${longestPauseMs}, ${secondMs} * power(2, least(failures, 6))) * interval '1 ms'
              where ${ofAccount(account)}`,
          ).catch(() => undefined)
          throw error
        }
        await query(
          knex,
          sql`update journals set paused_until = null, failures = 0 where ${ofAccount(account)}`,
        )
        return undefined
      },
    }),
})

/** Accounts whose deals do not add up to their balance. */
export const createJournalHealth = (knex: Knex): JournalHealth => ({
  disagreeing: attempt('journal.disagreeing', () =>
    query<{ readonly accountId: AccountId; readonly difference: number }>(
      knex,
      sql`select account_id as "accountId", difference::float8 from journals
        where disagreements > 0 and difference <> 0 order by checked_at limit ${maxListedJournals}`,
    ),
  ),
})
