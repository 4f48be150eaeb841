// Orders of all tenants in PostgreSQL, for the operator. Those under way are read from the partial
// index of orders that are due some day, which holds no order that has ended.
import type { OperatorOrder, OperatorOrders } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import * as column from '../connection/columns.ts'
import { tableOf, toTimestamptz } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'
import { placementColumns, placementOfRow } from '../orders/order-row.ts'

const ends = tableOf('orders', {
  dueAt: column.orAbsent(column.instant),
  finishedBy: column.orAbsent(t.string),
  finishReason: column.orAbsent(t.string),
})

const columns = [...placementColumns, ...ends.columns]

const operatorOrderOfRow = (row: unknown): OperatorOrder => {
  const { dueAt, finishedBy: by, finishReason: reason } = ends.read(row)
  return {
    ...placementOfRow(row),
    dueAt,
    finish: by === null || reason === null ? null : { by, reason },
  }
}

export const createOperatorOrders = ({ knex }: Pick<Database, 'knex'>): OperatorOrders => ({
  underWay: ({ of, pendingSince }, { after, limit }) =>
    attempt('operatorOrders.underWay', async () => {
      const orders = knex('orders').whereNotNull('due_at')
      if (of !== undefined)
        void orders.whereRaw(
          '(tenant_id = any(?::text[]) or user_id = any(?::text[]) or account_id = any(?::uuid[]))',
          [[...of.tenants], [...of.users], [...of.accounts]],
        )
      if (pendingSince !== undefined)
        void orders
          .where({ status: 'pending' })
          .where('created_at', '<=', toTimestamptz(pendingSince))
      if (after !== undefined)
        void orders.whereRaw('(created_at, id) > (?::timestamptz, ?)', [
          toTimestamptz(after.createdAt),
          after.id,
        ])
      const rows: unknown[] = await orders
        .orderBy(['created_at', 'id'])
        .limit(limit)
        .select(columns)
      return rows.map(operatorOrderOfRow)
    }),
  find: (id) =>
    attempt('operatorOrders.find', async () => {
      const row: unknown = await knex('orders').where({ id }).first(columns)
      return O.map(operatorOrderOfRow)(O.fromNullable(row))
    }),
})
