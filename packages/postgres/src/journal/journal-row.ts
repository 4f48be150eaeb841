// How far a journal is synchronised, as a row.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { JournalState } from '@tradeport/domain/journal'
import type { JournalClaim } from '@tradeport/domain/ports'
import * as t from 'io-ts'
import { instant, mapped, numeric, nullable, tableOf } from '../connection/columns.ts'
import { isLeaseHeld } from '../connection/due-rows.ts'
import { sql, type Selection, type Sql } from '../connection/sql.ts'

/** The columns of the last comparison with the balance, and of what it led to. */
export const checkColumns = {
  deals: t.number,
  checkedAt: nullable(instant),
  checkedBalance: nullable(numeric),
  difference: nullable(numeric),
  disagreements: t.number,
}

/** A row with its comparison, where there was one since deals last changed. */
export const withCheck = <Row extends t.TypeOfProps<typeof checkColumns>>({
  checkedAt: at,
  checkedBalance: balance,
  difference,
  ...row
}: Row) => ({
  ...row,
  check:
    at === null || balance === null || difference === null ? null : { at, balance, difference },
})

export const journalStates: Selection<JournalState> = mapped(
  tableOf('journals', {
    ...checkColumns,
    firstReadOffset: nullable(t.number),
    syncedAt: nullable(instant),
    wantedAt: nullable(instant),
    latestDealAt: nullable(instant),
    rereadAt: nullable(instant),
    isDueToBalanceAlone: t.boolean,
  }),
  withCheck,
)

const claims = tableOf(
  'journals',
  { matchesPresentLink: t.boolean, linkedAt: instant, leaseId: t.string, claimedAt: instant },
  {
    claimedAt: 'floor(extract(epoch from now()) * 1000)::float8',
    matchesPresentLink: `coalesce(journals.provider_account_id =
      (select accounts.provider_account_id from accounts where accounts.id = journals.account_id), false)`,
  },
)

/** `matchesPresentLink`: it was read from the provider account that is linked now. */
export interface ClaimedJournal extends ReturnType<typeof claims.read> {
  readonly state: JournalState
}

export const claimedJournals: Selection<ClaimedJournal> = {
  ...claims,
  columns: sql`${claims.columns}, ${journalStates.columns}`,
  read: (row: unknown) => ({ ...claims.read(row), state: journalStates.read(row) }),
}

export const isOfAccount = ({ owner, accountId }: BrokerAccount): Sql =>
  sql`tenant_id = ${owner.tenantId} and account_id = ${accountId}`

/** True while the lease of the claim is valid. */
export const isClaimed = ({ account, leaseId }: Pick<JournalClaim, 'account' | 'leaseId'>): Sql =>
  sql`${isOfAccount(account)} and lease_id = ${leaseId} and leased_until > now()`

/** The end of a lease that is claimed or renewed now. */
export const leaseEnd = sql`now() + interval '30 seconds'`
export const isLeased = isLeaseHeld(sql`journals.leased_until`, leaseEnd)
export const newLease = sql`lease_id = gen_random_uuid(), leased_until = ${leaseEnd}`

/** Over rows of deals. Adding up the three amounts of each deal first takes a third longer. */
export const exactSumOfMoney = sql`coalesce(sum(profit) + sum(commission) + sum(swap), 0)`

/**
 * The exact sum of what all deals moved, of which the balance is made; a credit is not part of it.
 */
export const sumOfBalanceChanges = ({ account }: JournalClaim): Sql => sql`(
  select ${exactSumOfMoney} from deals
  where ${isOfAccount(account)} and kind <> 'credit')`
