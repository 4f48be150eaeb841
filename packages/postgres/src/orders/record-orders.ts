// Records several orders in one transaction: the replies to keep, the limits, the counts and the
// orders. Each order has a verdict of its own.
import { refuse } from '@tradeport/domain/errors'
import { orderCreated } from '@tradeport/domain/events'
import {
  requireCountsInLimit,
  requireOrderLimits,
  type OrderId,
  type PendingOrder,
} from '@tradeport/domain/orders'
import { dayMs, startOfUtcDay, toUtcDay, type Instant } from '@tradeport/domain/primitives'
import type { NewOrder, RecordRefusal } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { toTimestamptz, type Row } from '../connection/columns.ts'
import { transactOrUnknown, queryPrepared, query, queryOne, sql } from '../connection/sql.ts'
import type { Cipher } from '../credentials/cipher.ts'
import type { EventRecorder } from '../events/events.ts'
import { lockLimits } from './limit-store.ts'
import { keepReplies, withdrawReplies, type OwnedReply } from './idempotency-store.ts'
import { newOrderColumns } from './order-row.ts'

interface Dependencies {
  readonly knex: Knex
  readonly cipher: Cipher
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

export interface OrderToRecord extends NewOrder {
  readonly row: Row
}

export type Verdict = E.Either<RecordRefusal, PendingOrder>

type Refusals = Map<OrderId, RecordRefusal>

/**
 * Returns one verdict for each, in their order. All accepted orders are committed together. An order
 * with limits must come alone.
 * @throws CommitOutcomeUnknown when all of it may be recorded or nothing
 */
export const recordOrders = (
  { knex, cipher, recorder }: Dependencies,
  orders: readonly OrderToRecord[],
): Promise<readonly Verdict[]> =>
  transactOrUnknown(knex, async (trx) => {
    const notHoldingKey = await keepRepliesOf(trx, cipher, orders)
    const holdingKey = orders.filter((one) => !notHoldingKey.has(one))
    const refused = await refuseLimited(trx, holdingKey)
    const inserted = holdingKey.filter(({ order }) => !refused.has(order.id))
    await insertCounted(trx, inserted, refused)
    const isRefused = ({ order }: OrderToRecord): boolean => refused.has(order.id)
    await removeOrders(trx, inserted.filter(isRefused))
    await withdrawReplies(trx, repliesOf(holdingKey.filter(isRefused)))
    await recorder?.recordWithin(
      trx,
      holdingKey
        .filter(({ order }) => !refused.has(order.id))
        .map(({ order }) => ({ owner: order.owner, event: orderCreated(order) })),
    )
    return orders.map((one): Verdict => {
      if (notHoldingKey.has(one)) return E.left(refuse('IdempotencyInProgress'))
      const refusal = refused.get(one.order.id)
      return refusal === undefined ? E.right(one.order) : E.left(refusal)
    })
  })

/**
 * Stores the replies, and returns the orders to refuse: their claim was taken over or answered
 * already, or another order of the same claim comes first.
 */
const keepRepliesOf = async (
  trx: Knex.Transaction,
  cipher: Cipher,
  orders: readonly OrderToRecord[],
): Promise<ReadonlySet<OrderToRecord>> => {
  const firsts = new Map(orders.toReversed().map((one) => [one.keep?.claim.id, one]))
  const holding = await keepReplies(trx, cipher, repliesOf([...firsts.values()]))
  return new Set(
    orders.filter((one) => {
      const id = one.keep?.claim.id
      return id !== undefined && (!holding.has(id) || firsts.get(id) !== one)
    }),
  )
}

const repliesOf = (orders: readonly OrderToRecord[]): readonly OwnedReply[] =>
  orders.flatMap(({ order: { owner }, keep }) => (keep === undefined ? [] : [{ owner, ...keep }]))

// Decides under the locks of the account and its desks, so that each of several simultaneous orders
// sees those that were accepted before it.
const refuseLimited = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
): Promise<Refusals> => {
  const refused: Refusals = new Map()
  for (const { order, openPositions } of orders) {
    if (openPositions === undefined) continue
    const locked = await lockLimits(trx, order.owner, order.request.accountId, openPositions.asOf)
    const allowed =
      locked === undefined
        ? E.left(
            refuse('LimitCheckUnavailable', {
              reason: 'the account was removed while the order was checked',
            }),
          )
        : requireOrderLimits(locked.account, order.request, locked.limits, openPositions)
    if (E.isLeft(allowed)) refused.set(order.id, allowed.left)
  }
  return refused
}

/** A user's row after everything was counted in. */
interface Counter {
  readonly tenant_id: string
  readonly user_id: string
  /** `YYYY-MM-DD`, the last day on which the user created an order. */
  readonly day: string
  readonly created: number
  readonly pending: number
}

const dayOf = ({ createdAt }: PendingOrder): Instant => startOfUtcDay(createdAt)

/**
 * Adds orders to the counters of their users and inserts them. Those over a count limit are added to
 * `refused`.
 *
 * 1. It is one statement, because every order waits for it. Orders that turn out to be too many are
 *    removed again, which is rare.
 * 2. The counter is written before the limits are checked. The write locks it until the transaction
 *    ends, so that its figures are exact, and a user's orders are numbered in the order in which
 *    they are committed (see order-list.ts).
 * 3. Counters are written in the order of the users, so that two transactions that need the same
 *    ones do not deadlock.
 */
const insertCounted = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
  refused: Refusals,
): Promise<void> => {
  if (orders.length === 0) return
  const users = Map.groupBy(
    orders.map(({ order }) => order),
    ({ owner }) => JSON.stringify([owner.tenantId, owner.userId]),
  )
  const additions = [...users.values()].map((own) => {
    const day = Math.max(...own.map(dayOf))
    return {
      tenant_id: own[0]?.owner.tenantId,
      user_id: own[0]?.owner.userId,
      day: toUtcDay(day),
      created: own.filter((order) => dayOf(order) === day).length,
      pending: own.length,
    }
  })
  const counters = await queryPrepared<Counter>(
    trx,
    sql`with counted as (
        insert into order_counters as c (tenant_id, user_id, day, created, pending)
        select tenant_id, user_id, day, created, pending
        from json_populate_recordset(null::order_counters, ${JSON.stringify(additions)}::json)
        order by tenant_id, user_id
        on conflict (tenant_id, user_id) do update set
          day = greatest(c.day, excluded.day),
          created = case when excluded.day > c.day then excluded.created
            when excluded.day = c.day then c.created + excluded.created else c.created end,
          pending = c.pending + excluded.pending
        returning tenant_id, user_id, day::text, created, pending),
      inserted as (
        insert into orders (${newOrderColumns}, due_at)
        select ${newOrderColumns}, now()
        from json_populate_recordset(null::orders, ${JSON.stringify(orders.map(({ row }) => row))}::json)
        where (select count(*) from counted) > 0)
      select * from counted`,
  )
  for (const counter of counters)
    await refuseOverCountLimit(
      trx,
      users.get(JSON.stringify([counter.tenant_id, counter.user_id])) ?? [],
      counter,
      refused,
    )
}

/**
 * Decides one order after the other, each seeing those that were accepted before it, and counts
 * those out again that pass a limit.
 */
const refuseOverCountLimit = async (
  trx: Knex.Transaction,
  orders: readonly PendingOrder[],
  counter: Counter,
  refused: Refusals,
): Promise<void> => {
  const { tenant_id: tenantId, user_id: userId } = counter
  const ofCounterDay = (order: PendingOrder): boolean => toUtcDay(dayOf(order)) === counter.day
  const created = new Map<Instant, number>()
  for (const [day, { length }] of Map.groupBy(orders, dayOf))
    created.set(
      day,
      (toUtcDay(day) === counter.day ? counter.created : await countOrders(trx, counter, day)) -
        length,
    )
  let underWay = counter.pending - orders.length
  const overLimit: PendingOrder[] = []
  for (const order of orders) {
    const today = created.get(dayOf(order)) ?? 0
    const allowed = requireCountsInLimit({ today, underWay }, order.createdAt)
    if (E.isLeft(allowed)) {
      refused.set(order.id, allowed.left)
      overLimit.push(order)
      continue
    }
    created.set(dayOf(order), today + 1)
    underWay += 1
  }
  if (overLimit.length === 0) return
  await query(
    trx,
    sql`update order_counters set created = created - ${overLimit.filter(ofCounterDay).length},
        pending = pending - ${overLimit.length}
      where tenant_id = ${tenantId} and user_id = ${userId}`,
  )
}

// An order is of a day before the counter's only around midnight, where instances' clocks differ.
const countOrders = async (
  trx: Knex.Transaction,
  { tenant_id: tenantId, user_id: userId }: Counter,
  day: Instant,
): Promise<number> => {
  const { count } = await queryOne<{ readonly count: number }>(
    trx,
    sql`select count(*)::int from orders where tenant_id = ${tenantId} and user_id = ${userId} and not is_orphaned
      and created_at >= ${toTimestamptz(day)} and created_at < ${toTimestamptz(day + dayMs)}`,
  )
  return count
}

const removeOrders = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
): Promise<void> => {
  if (orders.length === 0) return
  await query(
    trx,
    sql`delete from orders where (tenant_id, id) in (select * from unnest(
      ${orders.map(({ order }) => order.owner.tenantId)}::text[], ${orders.map(({ order }) => order.id)}::text[]))`,
  )
}
