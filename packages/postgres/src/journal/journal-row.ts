// How far a journal is synchronised, as a row.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { JournalState } from '@tradeport/domain/journal'
import type { JournalClaim } from '@tradeport/domain/ports'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../connection/columns.ts'
import { decodeRow } from '../connection/columns.ts'

const stateRow = t.strict({
  provider_account_id: t.string,
  linked_at: column.instant,
  first_read_offset: column.orAbsent(t.number),
  synced_at: column.orAbsent(column.instant),
  wanted_at: column.orAbsent(column.instant),
  deals: t.number,
  latest_deal_at: column.orAbsent(column.instant),
  checked_at: column.orAbsent(column.instant),
  difference: column.orAbsent(column.numeric),
  reread_at: column.orAbsent(column.instant),
  disagreements: t.number,
  token: column.orAbsent(t.string),
})

const isInstant = (name: string): boolean => name.endsWith('_at')

/** What a journal's row is read from, in SQL. */
export const journalColumns = Object.keys(stateRow.type.props)
  .map((name) =>
    isInstant(name)
      ? `(extract(epoch from journals.${name}) * 1000)::float8 as ${name}`
      : `journals.${name}`,
  )
  .join()

const decodeStateRow = decodeRow('journals', stateRow)

export const stateOfRow = (row: unknown): JournalState => stateOf(decodeStateRow(row))

export const claimOfRow = (account: BrokerAccount, row: unknown): JournalClaim => {
  const stored = decodeStateRow(row)
  return { account, token: stored.token ?? '', state: stateOf(stored), linkedAt: stored.linked_at }
}

const stateOf = (stored: t.TypeOf<typeof stateRow>): JournalState => ({
  firstReadOffset: stored.first_read_offset,
  syncedAt: stored.synced_at,
  wantedAt: stored.wanted_at,
  deals: stored.deals,
  latestDealAt: stored.latest_deal_at,
  check:
    stored.checked_at === null
      ? null
      : { at: stored.checked_at, difference: stored.difference ?? 0 },
  rereadAt: stored.reread_at,
  disagreements: stored.disagreements,
})

/** The journal of a claim, as long as that holds. */
export const claimed = (knex: Knex, claim: JournalClaim): Knex.QueryBuilder =>
  journalOf(knex, claim.account).where({ token: claim.token }).whereRaw('leased_until > now()')

export const journalOf = (knex: Knex, { owner, accountId }: BrokerAccount): Knex.QueryBuilder =>
  knex('journals').where({ 'journals.tenant_id': owner.tenantId, 'journals.account_id': accountId })

/** Until when a claim holds that is made or written with now. */
export const leaseEnd = `now() + interval '30 seconds'`

/**
 * The exact sum of what all deals moved, of which the balance is made; a credit is not part of it.
 */
export const movedMoney = (
  knex: Knex,
  { account: { owner, accountId } }: JournalClaim,
): Knex.QueryBuilder =>
  knex('deals')
    .where({ tenant_id: owner.tenantId, account_id: accountId })
    .whereNot({ kind: 'credit' })
    .select(knex.raw('coalesce(sum(profit + commission + swap), 0)'))
