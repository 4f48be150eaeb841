// The journal in PostgreSQL. Every statement names the tenant; accounts are looked up under their
// user.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse, type Refusal } from '@tradeport/domain/errors'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { Journal, JournalClaim, JournalReadResult } from '@tradeport/domain/ports'
import { minuteMs, secondMs, type AccountId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { instant, numeric, nullable, toTimestamptz } from '../connection/columns.ts'
import { DescribedError, databasePort } from '../connection/failures.ts'
import { createFairPool } from '../connection/fair-pool.ts'
import { query, selectFirst, returnsRow, sql, type Sql } from '../connection/sql.ts'
import type { RecordingDependencies } from '../events/events.ts'
import { readDeals } from './deal-row.ts'
import {
  claimedJournals,
  type ClaimedJournal,
  isClaimed,
  isLeased,
  leaseEnd,
  sumOfBalanceChanges,
  isOfAccount,
  journalStates,
} from './journal-row.ts'
import { changesDeals, claimLapsed, writeJournal, writeProgress } from './write-journal.ts'

interface Dependencies extends RecordingDependencies {
  /** Between two rounds of the watch. */
  readonly watchMs: number
}

/** Long writes, as of a first read, leave database connections to all others. */
const writeTurns = { size: 3, perTenant: 2, perMember: 1 }
const writePatienceMs = 20 * secondMs

export const createJournal = (dependencies: Dependencies): Journal => {
  const { knex, watchMs } = dependencies
  const turns = createFairPool(writeTurns)
  const inTurn = async <A>({ account }: JournalClaim, write: () => Promise<A>): Promise<A> => {
    const key = { tenant: account.owner.tenantId, member: account.accountId }
    const release = await turns.acquire(key, writePatienceMs)
    if (release === undefined) throw new DescribedError('other journals were written for too long')
    try {
      return await write()
    } finally {
      release()
    }
  }
  /** Renews the claim as well. */
  const updateClaimed = async (claim: JournalClaim, changes: Sql) => {
    const [row] = await query<{ readonly difference: string }>(
      knex,
      sql`update journals set ${changes} leased_until = ${leaseEnd} where ${isClaimed(claim)}
        returning difference`,
    )
    if (row === undefined) throw claimLapsed()
    return row
  }
  const dealsOfLink = (account: BrokerAccount, where: Sql): Promise<readonly BrokerDeal[]> =>
    readDeals(
      knex,
      sql`deals where ${isOfAccount(account)} and exists (${selectOwnJournal(account, sql`journals.account_id`)}) and ${where}`,
    )
  return databasePort<Journal>('journal', {
    find: (account) =>
      selectFirst(knex, selectOwnJournal(account, journalStates.columns), journalStates),
    claim: (account) => claimJournal(knex, account),
    renew: async (claim) => void (await updateClaimed(claim, sql``)),
    release: async ({ account, leaseId }, result) => {
      await query(
        knex,
        sql`update journals set lease_id = null, leased_until = null, ${columnsAfterRead(watchMs, result)}
          where ${isOfAccount(account)} and lease_id = ${leaseId}`,
      )
    },
    dealsFrom: (account, from, limit) =>
      dealsOfLink(account, sql`time_ms >= ${from} order by time_ms, id, entry limit ${limit}`),
    write: (claim, change) =>
      changesDeals(change)
        ? inTurn(claim, () => writeJournal(dependencies, claim, change))
        : writeProgress(knex, claim, change),
    check: async (claim, balance, at) => {
      const difference = sql`round(${numeric.encode(balance)}::numeric - ${sumOfBalanceChanges(claim)}, 8)`
      const checked = await updateClaimed(
        claim,
        sql`checked_at = ${toTimestamptz(at)}, checked_balance = ${numeric.encode(balance)}, difference = ${difference},`,
      )
      return Number(checked.difference)
    },
    setReread: async (claim, { rereadAt, disagreements, isDueToBalanceAlone }) => {
      const at = nullable(instant).encode(rereadAt)
      await updateClaimed(
        claim,
        sql`reread_at = ${at}, disagreements = ${disagreements}, is_due_to_balance_alone = ${isDueToBalanceAlone},`,
      )
    },
    wantRead: async (account, delayMs, lateDelayMs = delayMs) => {
      const [wantedAt, lateWantedAt] = [delayMs, lateDelayMs].map(
        (ms) => sql`now() + ${ms} * interval '1 ms'`,
      )
      await query(
        knex,
        sql`insert into journals (tenant_id, account_id, provider_account_id, linked_at, wanted_at, last_wanted_at, late_wanted_at)
          select tenant_id, id, provider_account_id, created_at, ${wantedAt}, ${wantedAt}, ${lateWantedAt} from accounts where ${isStillLinked(account)}
          on conflict (tenant_id, account_id) do update set wanted_at = least(journals.wanted_at, excluded.wanted_at),
            last_wanted_at = greatest(journals.last_wanted_at, excluded.last_wanted_at),
            late_wanted_at = greatest(journals.late_wanted_at, excluded.late_wanted_at)`,
      )
    },
    closingDeals: (account, orderId, from) =>
      dealsOfLink(
        account,
        sql`time_ms >= ${from} and order_id = ${orderId} and entry in ('out', 'inout', 'out_by')
          order by time_ms, length(id), id`,
      ),
  })
}

const longestPauseMs = minuteMs

/**
 * After a read, the next round is whole intervals after this one, so that rounds stay as spread as
 * they were, and missed ones are left out. After a failure, the account is due after a pause, which
 * is no longer than an interval where its figures could be read, so that its thresholds are checked
 * as often as others. Where the provider limits the tenant, rounds before the limit ends are left out.
 */
const columnsAfterRead = (watchMs: number, result: JournalReadResult): Sql => {
  const interval = sql`(${watchMs} * interval '1 ms')`
  if (result === 'history_failed') return sql`failures = 1, paused_until = now() + ${interval}`
  if (result === 'failed')
    return sql`failures = failures + 1, paused_until =
      now() + least(${longestPauseMs}, ${secondMs} * power(2, least(failures, 6))) * interval '1 ms'`
  const isLimited = typeof result === 'object'
  const from = isLimited
    ? sql`now() + ${result.retryAfterSeconds} * interval '1 second'`
    : sql`now()`
  return sql`${isLimited ? sql`paused_until = ${from}` : sql`failures = 0, paused_until = null`},
    ${result === 'too_many_deals' ? sql`wanted_at = null,` : sql``}
    watch_at = watch_at + ${interval} *
      (floor(extract(epoch from ${from} - watch_at) / extract(epoch from ${interval})) + 1)`
}

const isStillLinked = ({ accountId, owner, providerAccountId }: BrokerAccount): Sql => sql`
  accounts.id = ${accountId} and accounts.tenant_id = ${owner.tenantId}
    and accounts.user_id = ${owner.userId} and accounts.provider_account_id = ${providerAccountId}`

/** The account's journal, unless that is of another account at the provider or of another user. */
const selectOwnJournal = (account: BrokerAccount, columns: Sql): Sql => sql`
  select ${columns} from journals join accounts
    on accounts.tenant_id = journals.tenant_id and accounts.id = journals.account_id
  where journals.account_id = ${account.accountId} and journals.tenant_id = ${account.owner.tenantId}
    and journals.provider_account_id = ${account.providerAccountId}
    and accounts.user_id = ${account.owner.userId}`

const claimJournal = async (
  knex: Knex,
  account: BrokerAccount,
): Promise<E.Either<Refusal<'BrokerUnavailable'>, O.Option<JournalClaim>>> => {
  const claimed = await selectFirst(
    knex,
    sql`insert into journals (tenant_id, account_id, provider_account_id, linked_at, lease_id, leased_until)
      select tenant_id, id, provider_account_id, created_at, gen_random_uuid(), ${leaseEnd} from accounts where ${isStillLinked(account)}
      on conflict (tenant_id, account_id) do update set lease_id = excluded.lease_id, leased_until = excluded.leased_until
      where not ${isLeased}
      returning ${claimedJournals.columns}`,
    claimedJournals,
  )
  if (O.isSome(claimed)) return E.right(await claimFromRow(knex, account, claimed.value))
  if (await returnsRow(knex, sql`select from accounts where ${isStillLinked(account)}`))
    return E.right(O.none)
  return E.left(relinkedRefusal(account.accountId))
}

export const relinkedRefusal = (accountId: AccountId): Refusal<'BrokerUnavailable'> =>
  refuse('BrokerUnavailable', { accountId, reason: 'the account was unlinked or linked anew' })

/**
 * The claim that a row holds. Where the account was linked to another one at the provider since,
 * its deals and trades are deleted first. None where the claim was lost meanwhile.
 */
export const claimFromRow = async (
  knex: Knex,
  account: BrokerAccount,
  claimed: ClaimedJournal,
): Promise<O.Option<JournalClaim>> => {
  const current = claimed.matchesPresentLink
    ? O.some(claimed)
    : await reset(knex, { account, leaseId: claimed.leaseId })
  return O.map((row: ClaimedJournal) => ({ ...row, account }))(current)
}

const deletedAtOnce = 10_000

/**
 * Deletes the deals and trades of an earlier link, some at a time, since all may take longer than a
 * statement may. Meanwhile the journal is of no link, so that what is left is not read.
 */
const reset = async (
  knex: Knex,
  claim: Pick<JournalClaim, 'account' | 'leaseId'>,
): Promise<O.Option<ClaimedJournal>> => {
  const { account } = claim
  const deleteSome = (table: Sql, where: Sql): Sql => sql`
    with claimed as (
      update journals set provider_account_id = '', leased_until = ${leaseEnd} where ${isClaimed(claim)} returning 1)
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${isOfAccount(account)} and ${where} and exists (select from claimed)
      limit ${deletedAtOnce})) returning 1`
  while (await returnsRow(knex, deleteSome(sql`deals`, sql`true`)));
  while (await returnsRow(knex, deleteSome(sql`trades`, sql`position_id is not null`)));
  return selectFirst(
    knex,
    sql`update journals set provider_account_id = ${account.providerAccountId},
        first_read_offset = null, synced_at = null, deals = 0, trades = 0,
        latest_deal_at = null, checked_at = null, difference = null, reread_at = null, disagreements = 0, is_due_to_balance_alone = false,
        revision = revision + 1
      where ${isClaimed(claim)} returning ${claimedJournals.columns}`,
    claimedJournals,
  )
}
