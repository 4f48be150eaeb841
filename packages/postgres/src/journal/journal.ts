// The journal: the store, the trades read from it, and the jobs that keep it up to date.
import { requireBrokerAccount, type Account } from '@tradeport/domain/accounts'
import type {
  Journal,
  JournalClaim,
  JournalJobs,
  TradeRecords,
  Watch,
} from '@tradeport/domain/ports'
import { minuteMs } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { workOnDueRows, type WorkerDependencies } from '../connection/due-rows.ts'
import { together } from '../connection/repeating.ts'
import { query, sql } from '../connection/sql.ts'
import { accounts, isBrokerAccount } from '../credentials/account-store.ts'
import type { RecordingDependencies } from '../events/events.ts'
import { claimedJournals, isLeased, newLease, type ClaimedJournal } from './journal-row.ts'
import { createJournal, claimFromRow } from './journal-store.ts'
import { createTradeRecords } from './trade-records.ts'
import { createWatch } from './watch.ts'

interface Dependencies extends WorkerDependencies, RecordingDependencies {
  /** Between two rounds of an account of the watch. */
  readonly watchMs: number
}

export interface OpenedJournal {
  readonly journal: Journal
  readonly trades: TradeRecords
  readonly jobs: JournalJobs
  readonly watch: Watch
}

export const openJournal = (dependencies: Dependencies): OpenedJournal => {
  const watch = createWatch(dependencies)
  return {
    journal: createJournal(dependencies),
    trades: createTradeRecords(dependencies.knex),
    jobs: {
      work: async (read) => {
        const workers = groups.map((group) => workOnGroup(dependencies, group, read))
        return together(watch.start(), ...workers)
      },
    },
    watch,
  }
}

/**
 * Accounts that could not be read last time have slots of their own, since each may hold its slot
 * until the provider's deadline. Together, the groups of a tenant leave its other reads some of the
 * 32 that its token is used for at once. A group is polled once in `pollEvery` polls of the first.
 */
const groups = [
  {
    queue: 'journals',
    condition: sql`least(failures, 1) = 0`,
    maxInProgress: 96,
    maxPerTenant: 24,
    pollEvery: 1,
  },
  {
    queue: 'failing-journals',
    condition: sql`least(failures, 1) = 1`,
    maxInProgress: 16,
    maxPerTenant: 4,
    pollEvery: 10,
  },
]
const isClaimable = sql`journals.due_at <= now() and not ${isLeased}`

interface DueJournal {
  readonly account: Account
  readonly claimed: ClaimedJournal
}

const workOnGroup = (
  dependencies: Dependencies,
  { queue, condition, maxInProgress, maxPerTenant, pollEvery }: (typeof groups)[number],
  read: (due: JournalClaim) => Promise<void>,
) =>
  workOnDueRows<DueJournal>(dependencies, {
    name: queue,
    logNames: { poll: 'due_journals', work: 'journal_synchronisation' },
    pollMs: (idleMs) => pollEvery * (idleMs < minuteMs ? 100 : 500),
    maxInProgress,
    maxPerShare: maxPerTenant,
    maxPerClaim: maxInProgress,
    keyOf: ({ account }) => account.id,
    shareOf: ({ account }) => account.owner.tenantId,
    claim: async ({ shares, limit, inProgress }) => {
      // Wanted reads go first, so that late rounds of the watch do not delay them. Whether a row is
      // due and free is checked again on the row that is locked, which another process may have
      // claimed, or read and released, since the first look.
      const rows = await query(
        dependencies.knex,
        sql`with due as (
            select journals.tenant_id, account_id, coalesce(wanted_at <= now(), false) as is_wanted, due_at
            from journals join accounts on accounts.id = account_id
            where ${isClaimable} and ${condition} and account_id <> all(${inProgress}::uuid[])
              and ${isBrokerAccount}),
          ranked as (
            select due.*, coalesce(share.count, 0) + row_number() over (partition by tenant_id order by is_wanted desc, due_at) as rank
            from due left join json_to_recordset(${JSON.stringify(shares)}::json) as share (name text, count int)
              on name = tenant_id),
          picked as (
            select tenant_id, account_id from journals join ranked using (tenant_id, account_id)
            where rank <= ${maxPerTenant} and ${isClaimable}
            order by is_wanted desc, ranked.due_at limit ${limit} for update of journals skip locked)
          update journals set ${newLease}
          from picked join accounts on accounts.id = picked.account_id
          where journals.tenant_id = picked.tenant_id and journals.account_id = picked.account_id
          returning ${accounts.columns}, ${claimedJournals.columns}`,
      )
      return rows.map((row) => () => ({
        account: accounts.read(row),
        claimed: claimedJournals.read(row),
      }))
    },
    work: async ({ account, claimed }) => {
      const broker = requireBrokerAccount(account)
      const claim = E.isRight(broker)
        ? await claimFromRow(dependencies.knex, broker.right, claimed)
        : O.none
      if (O.isSome(claim)) await read(claim.value)
      return undefined
    },
  })
