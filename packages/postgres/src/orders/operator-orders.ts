// Orders of all tenants in PostgreSQL, for the operator. Those under way are read from the partial index of orders that are due some day, which holds no
// order that has ended.
import type { OperatorOrder, OperatorOrders, OrderPlace, Slice, UnderWayFilter } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../columns.ts'
import { decodeRow, toTimestamptz } from '../columns.ts'
import type { Database } from '../database.ts'
import { toServiceUnavailable } from '../failures.ts'
import { orderColumns, placementColumns, placementOfRow } from './order-row.ts'

export const createOperatorOrders = ({ knex }: Pick<Database, 'knex'>): OperatorOrders => ({
  underWay: (filter, slice) =>
    TE.tryCatch(
      async () => (await readUnderWay(knex, filter, slice)).map(operatorOrderOfRow),
      toServiceUnavailable('operatorOrders.underWay'),
    ),
  find: (id) =>
    TE.tryCatch(async () => {
      const rows: unknown[] = await knex('orders').where({ id }).select(columns(knex))
      return O.map(operatorOrderOfRow)(O.fromNullable(rows[0]))
    }, toServiceUnavailable('operatorOrders.find')),
})

// The due time is set by the database's clock, which counts microseconds.
const columns = (knex: Knex): readonly (string | Knex.Raw)[] => [
  ...orderColumns(knex),
  ...placementColumns(knex),
  knex.raw('round(extract(epoch from due_at) * 1000)::float8 as due_at'),
  'finished_by',
  'finish_reason',
]

const decodeOperatorColumns = decodeRow(
  'orders',
  t.strict({
    due_at: column.orAbsent(column.instant),
    finished_by: column.orAbsent(t.string),
    finish_reason: column.orAbsent(t.string),
  }),
)

const operatorOrderOfRow = (row: unknown): OperatorOrder => {
  const { due_at: dueAt, finished_by: by, finish_reason: reason } = decodeOperatorColumns(row)
  return { ...placementOfRow(row), dueAt, finish: by === null || reason === null ? null : { by, reason } }
}

const readUnderWay = (
  knex: Knex,
  { of, pendingSince }: UnderWayFilter,
  { after, limit }: Slice<OrderPlace>,
): Knex.QueryBuilder<object, unknown[]> => {
  const orders = knex('orders').whereNotNull('due_at')
  if (of !== undefined)
    void orders.whereRaw('(tenant_id = any(?::text[]) or user_id = any(?::text[]) or account_id = any(?::uuid[]))', [
      [...of.tenants],
      [...of.users],
      [...of.accounts],
    ])
  if (pendingSince !== undefined) void orders.where({ status: 'pending' }).where('created_at', '<=', toTimestamptz(pendingSince))
  if (after !== undefined) void orders.whereRaw('(created_at, id) > (?::timestamptz, ?)', [toTimestamptz(after.createdAt), after.id])
  return orders.orderBy(['created_at', 'id']).limit(limit).select(columns(knex))
}
