// A user's orders page by page, each page and its count by one statement, so that both are of the
// same moment. Page 1 remembers the last order of its list, and the pages after it stop there. That
// takes numbers that rise in the order of commits, user by user: see record-orders.ts.
import { createHash } from 'node:crypto'
import { minuteMs } from '@tradeport/domain/primitives'
import type { ProgramId } from '@tradeport/domain/access'
import type { Order } from '@tradeport/domain/orders'
import type { OrdersQuery } from '@tradeport/domain/ports'
import type { Instant, Owner, Page } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import { callersText, orderColumns, orderOfRow } from './order-row.ts'

const lifetimeMs = 10 * minuteMs
/**
 * A page 1 that is asked for again and again, and shows nothing new, writes no more often than
 * this.
 */
const renewMs = minuteMs

/** A list that is walked, as its rows are found. */
interface Walk {
  readonly owner: Owner
  readonly list: Buffer
  readonly limit: number
  readonly now: Instant
}

export const listOrders = async (
  knex: Knex,
  owner: Owner,
  program: ProgramId,
  query: OrdersQuery,
  now: Instant,
): Promise<Page<Order>> => {
  const { page, limit } = query
  const walk: Walk = { owner, list: nameOf(program, query), limit, now }
  const matching = matchingOrders(knex, owner, query)
  if (page > 1) void matching.where('sequence', '<=', lastOf(knex, walk))
  const newestFirst = [
    { column: 'created_at', order: 'desc' },
    { column: 'sequence', order: 'desc' },
  ]
  const items = matching
    .clone()
    .select('*')
    .orderBy(newestFirst)
    .limit(limit)
    .offset(Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER))
  const statement = knex
    .with(
      'counted',
      matching.clone().select(knex.raw('count(*)::int as total, max(sequence) as last_sequence')),
    )
    .from('counted')
    // A page beyond the last still has its count.
    .leftJoin(items.as('orders'), knex.raw('true'))
    .select('counted.total', ...orderColumns)
    .orderBy(newestFirst.map(({ column, order }) => ({ column: `orders.${column}`, order })))
  if (page === 1) void statement.with('begun', begin(knex, walk)).with('ended', end(knex, walk))
  const rows: { readonly total: number; readonly id: string | null }[] = await statement
  return {
    items: rows.filter(({ id }) => id !== null).map(orderOfRow),
    page,
    limit,
    total: rows[0]?.total ?? 0,
  }
}

const matchingOrders = (
  knex: Knex,
  { tenantId, userId }: Owner,
  query: OrdersQuery,
): Knex.QueryBuilder => {
  const matching = knex('orders').where({ tenant_id: tenantId, user_id: userId })
  if (query.accountId !== undefined) void matching.where('account_id', query.accountId)
  if (query.status !== undefined) void matching.where('status', query.status)
  if (query.symbol !== undefined) void matching.where('symbol', query.symbol)
  if (query.clientId !== undefined)
    void matching.where('client_id', callersText.encode(query.clientId))
  if (query.from !== undefined) void matching.where('created_at', '>=', toTimestamptz(query.from))
  if (query.to !== undefined) void matching.where('created_at', '<=', toTimestamptz(query.to))
  return matching
}

const nameOf = (
  program: ProgramId,
  { limit, accountId, status, symbol, clientId, from, to }: OrdersQuery,
): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([program, limit, accountId, status, symbol, clientId, from, to]))
    .digest()

const startsOf = (knex: Knex, { owner: { tenantId, userId }, list }: Walk): Knex.QueryBuilder =>
  knex('order_list_starts').where({ tenant_id: tenantId, user_id: userId, list })

/** The number at which the list ends; beyond every other where none was begun. */
const lastOf = (knex: Knex, walk: Walk): Knex.Raw => {
  const since = toTimestamptz(walk.now - lifetimeMs - renewMs)
  return knex.raw('coalesce(?, 9223372036854775807)', [
    startsOf(knex, walk).where('started_at', '>=', since).select('last_sequence'),
  ])
}

const begin = (knex: Knex, walk: Walk): Knex.Raw => {
  const { owner, list, limit, now } = walk
  const isBegunAlready = startsOf(knex, walk)
    .whereRaw('last_sequence = counted.last_sequence')
    .where('started_at', '>', toTimestamptz(now - renewMs))
  return knex.raw(
    `insert into order_list_starts (tenant_id, user_id, list, last_sequence, started_at)
     select ?::text, ?::text, ?::bytea, last_sequence, ?::timestamptz from counted where total >= ? and not exists ?
     on conflict (tenant_id, user_id, list) do update set last_sequence = excluded.last_sequence, started_at = excluded.started_at`,
    [owner.tenantId, owner.userId, list, toTimestamptz(now), limit, isBegunAlready],
  )
}

const end = (knex: Knex, walk: Walk): Knex.QueryBuilder =>
  startsOf(knex, walk)
    .whereExists(knex.from('counted').where('total', '<', walk.limit))
    .delete()

/** Removes what nobody goes on with; an hour is left for clocks that differ. */
export const purgeOrderLists = async (knex: Knex): Promise<void> => {
  await knex.raw(`delete from order_list_starts where started_at < now() - interval '70 minutes'`)
}
