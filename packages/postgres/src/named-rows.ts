// Picks rows by the keys that a document names: each list is one bound array, however long it is.
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

/** The asked accounts that are their owner's; another's is not among them. */
export const withOwnedAccount = (knex: Knex, asked: readonly OwnedAccount[]): Knex.QueryBuilder =>
  knex('accounts').whereRaw(
    '(accounts.tenant_id, accounts.user_id, accounts.id) in (select * from unnest(?::text[], ?::text[], ?::uuid[]))',
    [asked.map(({ owner }) => owner.tenantId), asked.map(({ owner }) => owner.userId), asked.map(({ id }) => id)],
  )

const ownedKeyOf = ({ owner, id }: OwnedAccount): string => JSON.stringify([owner.tenantId, owner.userId, id])

/** The columns that tell whose account a row is of. */
export interface OwnedRow {
  readonly tenant_id: string
  readonly user_id: string
  readonly id: string
}

/** Each caller's rows, in the order of `asked`. */
export const rowsByOwnedAccount = <Row extends OwnedRow>(
  rows: readonly Row[],
  asked: readonly OwnedAccount[],
): readonly (readonly Row[])[] => {
  const byKey = Map.groupBy(rows, (row) => JSON.stringify([row.tenant_id, row.user_id, row.id]))
  return asked.map((one) => byKey.get(ownedKeyOf(one)) ?? [])
}
