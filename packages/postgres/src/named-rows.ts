// Picks rows by the keys that a document names: each list is one bound array, however long it is.
import type { AccountId, Instant } from '@tradeport/domain'
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
