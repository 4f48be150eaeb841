// A user's orders page by page. One statement reads a page and its count, so that both are of the
// same moment. Page 1 remembers the last order of its list, and the pages after it end there. This
// relies on numbers that rise in the order of commits, user by user: see record-orders.ts.
import { createHash } from 'node:crypto'
import { minuteMs, type Instant, type Owner, type Page } from '@tradeport/domain/primitives'
import type { ProgramId } from '@tradeport/domain/access'
import type { Order } from '@tradeport/domain/orders'
import type { OrdersQuery } from '@tradeport/domain/ports'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import { isDiskFull } from '../connection/failures.ts'
import { deleteSome } from '../connection/repeating.ts'
import { allOf, isOfOwner, query, sql, type Sql } from '../connection/sql.ts'
import { callersText, ofPresentUser, orders } from './order-row.ts'

const lifetimeMs = 10 * minuteMs
/** How often at most a page 1 that shows nothing new is written. */
const renewMs = minuteMs

export const listOrders = async (
  knex: Knex,
  owner: Owner,
  program: ProgramId,
  filter: OrdersQuery,
  now: Instant,
): Promise<Page<Order>> => {
  const { page, limit, accountId, status, symbol, clientId, from, to } = filter
  const list = hashOf(program, filter)
  const ofList = sql`${isOfOwner(owner)} and list = ${list}`
  const matching = allOf(
    ofPresentUser(owner),
    accountId !== undefined && sql`account_id = ${accountId}`,
    status !== undefined && sql`status = ${status}`,
    symbol !== undefined && sql`symbol = ${symbol}`,
    clientId !== undefined && sql`client_id = ${callersText.encode(clientId)}`,
    from !== undefined && sql`created_at >= ${toTimestamptz(from)}`,
    to !== undefined && sql`created_at <= ${toTimestamptz(to)}`,
    // Without a stored start every number is below the bound.
    page > 1 &&
      sql`sequence <= coalesce((
        select last_sequence from order_list_starts
        where ${ofList} and started_at >= ${toTimestamptz(now - lifetimeMs - renewMs)}), 9223372036854775807)`,
  )
  // A later start is not replaced by an earlier one: the pages after its page 1 rely on it.
  const storeStart = sql`,
    stored as (
      insert into order_list_starts (tenant_id, user_id, list, last_sequence, started_at)
      select ${owner.tenantId}::text, ${owner.userId}::text, ${list}::bytea, last_sequence, ${toTimestamptz(now)}::timestamptz
      from counted where total >= ${limit} and not exists (
        select from order_list_starts where ${ofList}
          and last_sequence = counted.last_sequence and started_at > ${toTimestamptz(now - renewMs)})
      on conflict (tenant_id, user_id, list)
        do update set last_sequence = excluded.last_sequence, started_at = excluded.started_at
        where (order_list_starts.started_at, order_list_starts.last_sequence) < (excluded.started_at, excluded.last_sequence)),
    dropped as (
      delete from order_list_starts
      where ${ofList} and started_at <= ${toTimestamptz(now)} and exists (select from counted where total < ${limit}))`
  // A page beyond the last still has its count.
  const read = (storing: Sql) =>
    query<{ readonly total: number; readonly id: string | null }>(
      knex,
      sql`with counted as (
        select count(*)::int as total, max(sequence) as last_sequence from orders where ${matching})
        ${storing}
      select counted.total, ${orders.columns} from counted left join (
        select * from orders where ${matching} order by created_at desc, sequence desc
        limit ${limit} offset ${Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)}) as orders on true
      order by orders.created_at desc, orders.sequence desc`,
    )
  // Without a stored start, orders may move between the pages; without its page 1 nobody sees any.
  const rows =
    page > 1
      ? await read(sql``)
      : await read(storeStart).catch((error: unknown) => {
          if (isDiskFull(error)) return read(sql``)
          throw error
        })
  return {
    data: rows.filter(({ id }) => id !== null).map(orders.read),
    pagination: { page, limit, total: rows[0]?.total ?? 0 },
  }
}

const hashOf = (
  program: ProgramId,
  { limit, accountId, status, symbol, clientId, from, to }: OrdersQuery,
): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([program, limit, accountId, status, symbol, clientId, from, to]))
    .digest()

/** Removes expired lists, an hour late, because clocks differ. */
export const purgeOrderLists = deleteSome(
  'order_list_starts',
  sql`started_at < now() - interval '70 minutes'`,
)
