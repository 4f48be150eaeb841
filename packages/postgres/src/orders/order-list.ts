// A user's orders page by page. One statement reads a page and its count, so that both are of the
// same moment.
import type { Owner, Page } from '@tradeport/domain/primitives'
import type { Order } from '@tradeport/domain/orders'
import type { OrdersQuery } from '@tradeport/domain/ports'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import { allOf, query, sql } from '../connection/sql.ts'
import { callersText, ofPresentUser, orders } from './order-row.ts'

export const listOrders = async (
  knex: Knex,
  owner: Owner,
  { page, limit, accountId, status, symbol, clientId, from, to }: OrdersQuery,
): Promise<Page<Order>> => {
  const matching = allOf(
    ofPresentUser(owner),
    accountId !== undefined && sql`account_id = ${accountId}`,
    status !== undefined && sql`status = ${status}`,
    symbol !== undefined && sql`symbol = ${symbol}`,
    clientId !== undefined && sql`client_id = ${callersText.encode(clientId)}`,
    from !== undefined && sql`created_at >= ${toTimestamptz(from)}`,
    to !== undefined && sql`created_at <= ${toTimestamptz(to)}`,
  )
  // A page beyond the last still has its count.
  const rows = await query<{ readonly total: number; readonly id: string | null }>(
    knex,
    sql`with counted as (select count(*)::int as total from orders where ${matching})
      select counted.total, ${orders.columns} from counted left join (
        select * from orders where ${matching} order by created_at desc, sequence desc
        limit ${limit} offset ${Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)}) as orders on true
      order by orders.created_at desc, orders.sequence desc`,
  )
  return {
    data: rows.filter(({ id }) => id !== null).map(orders.read),
    pagination: { page, limit, total: rows[0]?.total ?? 0 },
  }
}
