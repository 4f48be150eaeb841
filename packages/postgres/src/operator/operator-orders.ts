// Orders of all tenants in PostgreSQL, for the operator. Those under way are read from the partial
// indexes of orders with a due time and of those that the broker holds, which have no order that
// has ended.
import type { OperatorOrder, OperatorOrders } from '@tradeport/domain/ports'
import * as t from 'io-ts'
import { instant, nullable, tableOf, toTimestamptz } from '../connection/columns.ts'
import type { Knex } from 'knex'
import { databasePort } from '../connection/failures.ts'
import { allOf, readAll, selectFirst, sql } from '../connection/sql.ts'
import { storedOrders } from '../orders/order-row.ts'

const finishColumns = tableOf('orders', {
  dueAt: nullable(instant),
  finishedBy: nullable(t.string),
  finishReason: nullable(t.string),
})

const operatorOrders = {
  ...storedOrders,
  columns: sql`${storedOrders.columns}, ${finishColumns.columns}`,
  read: (row: unknown): OperatorOrder => {
    const { dueAt, finishedBy: by, finishReason: reason } = finishColumns.read(row)
    return {
      ...storedOrders.read(row),
      dueAt,
      finish: by === null || reason === null ? null : { by, reason },
    }
  },
}

export const createOperatorOrders = (knex: Knex): OperatorOrders =>
  databasePort<OperatorOrders>('operatorOrders', {
    underWay: ({ of, unresolvedSince }, { after, limit }) => {
      const wanted = allOf(
        sql`(due_at is not null or status = 'open')`,
        of !== undefined &&
          sql`(tenant_id = any(${of.tenants}::text[]) or user_id = any(${of.users}::text[])
            or account_id = any(${of.accounts}::uuid[]))`,
        unresolvedSince !== undefined &&
          sql`case status when 'pending' then created_at when 'open' then coalesce(absent_at, case when due_at is not null then unexecuted_at end) end
            <= ${toTimestamptz(unresolvedSince)}::timestamptz`,
        after !== undefined &&
          sql`(created_at, id) > (${toTimestamptz(after.createdAt)}, ${after.id})`,
      )
      return readAll(
        knex,
        sql`select ${operatorOrders.columns} from orders where ${wanted} order by created_at, id limit ${limit}`,
        operatorOrders,
      )
    },
    find: (id) =>
      selectFirst(
        knex,
        sql`select ${operatorOrders.columns} from orders where id = ${id}`,
        operatorOrders,
      ),
  })
