// Picks rows by the keys that a document names: each list is one bound array, however long it is.
import { isSameOwner } from '@tradeport/domain'
import type { AccountId, Instant, Owner } from '@tradeport/domain'
import type { Knex } from 'knex'
import { toTimestamptz } from './columns.ts'

/** Rows whose text column holds one of the values. */
export const withText = (knex: Knex, table: string, column: string, values: readonly string[]): Knex.QueryBuilder =>
  knex(table).whereRaw('?? = any(?::text[])', [column, [...values]])

/** Rows that belong to one of the accounts, or are one of them. */
export const withAccount = (knex: Knex, table: string, column: string, ids: readonly AccountId[]): Knex.QueryBuilder =>
  knex(table).whereRaw('?? = any(?::uuid[])', [column, [...ids]])

export interface AccountInstant {
  readonly accountId: AccountId
  readonly at: Instant
}

/** Rows of an account at an instant. */
export const withAccountInstant = (knex: Knex, table: string, column: string, keys: readonly AccountInstant[]): Knex.QueryBuilder =>
  knex(table).whereRaw('(account_id, ??) in (select * from unnest(?::uuid[], ?::timestamptz[]))', [
    column,
    keys.map(({ accountId }) => accountId),
    keys.map(({ at }) => toTimestamptz(at)),
  ])

/** An account as its owner asks for it. */
export interface OwnedAccount {
  readonly owner: Owner
  readonly id: AccountId
}

/** The asked accounts that are their owner's; another's is not among them. An account that is asked for several times is looked for once. */
export const withOwnedAccount = (knex: Knex, asked: readonly OwnedAccount[]): Knex.QueryBuilder => {
  const distinct = distinctOf(asked)
  return knex('accounts').whereRaw(
    '(accounts.tenant_id, accounts.user_id, accounts.id) in (select * from unnest(?::text[], ?::text[], ?::uuid[]))',
    [distinct.map(({ owner }) => owner.tenantId), distinct.map(({ owner }) => owner.userId), distinct.map(({ id }) => id)],
  )
}

const distinctOf = (asked: readonly OwnedAccount[]): readonly OwnedAccount[] => {
  const first = new Map<AccountId, OwnedAccount>()
  return asked.filter((one) => {
    const other = first.get(one.id)
    if (other === undefined) first.set(one.id, one)
    return other === undefined || !isSameOwner(one.owner, other.owner)
  })
}

/** The columns that tell whose account a row is of. */
export interface OwnedRow {
  readonly tenant_id: string
  readonly user_id: string
  readonly id: string
}

/** Each caller's row, in the order of `asked`; another's account has none. */
export const rowOfEach = <Row extends OwnedRow>(asked: readonly OwnedAccount[], rows: readonly Row[]): readonly (Row | undefined)[] => {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return asked.map(({ owner, id }) => {
    const row = byId.get(id)
    return row?.tenant_id === owner.tenantId && row.user_id === owner.userId ? row : undefined
  })
}
