// What removed users, accounts and webhooks leave behind. The removal itself deletes only the rows
// that requests look up and lock. The rest may be millions of rows: it is deleted afterwards, some
// rows at a time, so that nobody waits for it. Triggers record each removal, which is forgotten once
// nothing is left.
import type { Knex } from 'knex'
import { allOf, query, returnsRow, Sql, sql } from '../connection/sql.ts'

interface Leftover {
  readonly kind: 'user' | 'account' | 'webhook'
  readonly table: string
  /** What follows `from`: the rows that one removal leaves behind. */
  readonly rows: Sql
  /** What is done with those rows; `delete from` the table when omitted. */
  readonly change?: Sql
}

const ofUser = sql`tenant_id = removals.tenant_id and user_id = removals.id`
const ofAccount = sql`tenant_id = removals.tenant_id and account_id = removals.id::uuid`

const leftovers: readonly Leftover[] = [
  { kind: 'user', table: 'orders', rows: sql`orders where ${ofUser} and step = 'ended'` },
  // Orders under way may be executed: they stay until their outcome is known.
  {
    kind: 'user',
    table: 'orders',
    rows: sql`orders where ${ofUser} and not is_orphaned`,
    change: sql`update orders set is_orphaned = true`,
  },
  { kind: 'user', table: 'events', rows: sql`events where ${ofUser}` },
  { kind: 'user', table: 'idempotency_keys', rows: sql`idempotency_keys where ${ofUser}` },
  { kind: 'account', table: 'deals', rows: sql`deals where ${ofAccount}` },
  {
    kind: 'account',
    table: 'trades',
    rows: sql`trades where ${ofAccount} and position_id is not null`,
  },
  { kind: 'account', table: 'balance_snapshots', rows: sql`balance_snapshots where ${ofAccount}` },
  {
    kind: 'account',
    table: 'candles',
    rows: sql`(select tenant_id, id from candle_series where ${ofAccount}) as series
      join candles on candles.tenant_id = series.tenant_id and series_id = series.id`,
  },
  {
    kind: 'account',
    table: 'candle_series',
    rows: sql`candle_series where ${ofAccount} and not exists (
      select from candles where candles.tenant_id = candle_series.tenant_id and series_id = candle_series.id)`,
  },
  {
    kind: 'webhook',
    table: 'webhook_deliveries',
    rows: sql`webhook_deliveries where tenant_id = removals.tenant_id and webhook_id = removals.id::uuid`,
  },
]

/**
 * Each statement deletes, or marks as orphaned, at most a thousand rows of one table, and the last
 * one forgets removals that have left nothing more. To be repeated until none returns a row.
 * @param which a condition of the removals
 * @param ifLocked what to do about rows that others are writing
 */
export const purgeRemoved = (which = sql`true`, ifLocked = sql`skip locked`): readonly Sql[] => [
  ...leftovers.map(
    ({ kind, table, rows, change = new Sql(`delete from ${table}`) }) => sql`
      ${change} where ctid = any(array(
        select row_id from removals cross join lateral (
          select ${new Sql(table)}.ctid as row_id from ${rows} limit 1000 for update of ${new Sql(table)} ${ifLocked}) as found
        where kind = ${kind} and ${which} limit 1000)) returning 1`,
  ),
  sql`delete from removals where ${which} and ${allOf(
    ...leftovers.map(
      ({ kind, rows }) => sql`(kind <> ${kind} or not exists (select from ${rows}))`,
    ),
  )} returning 1`,
]

const haveIds = (ids: readonly string[]): Sql => sql`removals.id = any(${ids}::text[])`

/** Whether a removal with one of these ids is unfinished. */
export const hasLeftovers = (knex: Knex, ids: readonly string[]): Promise<boolean> =>
  returnsRow(knex, sql`select from removals where ${haveIds(ids)} limit 1`)

/**
 * Deletes what is left of removed users and accounts with these ids. It waits for whoever writes
 * it: to ask again and again would delay them, and keep a deadlock from being seen.
 */
export const purgeLeftovers = async (knex: Knex, ids: readonly string[]): Promise<void> => {
  while (await hasLeftovers(knex, ids))
    for (const statement of purgeRemoved(haveIds(ids), sql``)) await query(knex, statement)
}
