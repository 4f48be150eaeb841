// Records several orders in one transaction: the replies to keep, the limits, the counts and the
// orders. Each order has a verdict of its own.
import { idempotencyInProgress, limitCheckUnavailable } from '@tradeport/domain/errors'
import { orderCreated } from '@tradeport/domain/events'
import { requireCountsInLimit, startOfUtcDay } from '@tradeport/domain/orders'
import { dayMs, toUtcDay } from '@tradeport/domain/primitives'
import { requireOrderLimits } from '@tradeport/domain/use-cases'
import type { OrderId, PendingOrder } from '@tradeport/domain/orders'
import type { NewOrder, RecordRefusal } from '@tradeport/domain/ports'
import type { Instant, Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import type { Row } from '../connection/columns.ts'
import { inTransaction, prepared } from '../connection/statements.ts'
import type { Cipher } from '../credentials/cipher.ts'
import type { EventRecorder } from '../events/events.ts'
import { lockGuards } from './guard-store.ts'
import { keepReplies, withdrawReplies } from './idempotency-store.ts'
import type { OwnedReply } from './idempotency-store.ts'
import { newOrderColumns } from './order-row.ts'

interface Parts {
  readonly knex: Knex
  readonly cipher: Cipher
  /** Left out where no events are recorded. */
  readonly events?: EventRecorder | undefined
}

export interface OrderToRecord extends NewOrder {
  readonly row: Row
}

export type Verdict = E.Either<RecordRefusal, PendingOrder>

type Refusals = Map<OrderId, RecordRefusal>

/**
 * One verdict for each, in their order. All that is accepted is committed together. An order that
 * has limits comes alone.
 * @throws UnansweredCommit when all of it may be recorded or nothing
 */
export const recordOrders = (
  { knex, cipher, events }: Parts,
  orders: readonly OrderToRecord[],
): Promise<readonly Verdict[]> =>
  inTransaction(knex, async (trx) => {
    const overtaken = await keepRepliesOf(trx, cipher, orders)
    const ours = orders.filter((one) => !overtaken.has(one))
    const refused = await refuseLimited(trx, ours)
    const inserted = ours.filter(({ order }) => !refused.has(order.id))
    await insertCounted(trx, inserted, refused)
    const isRefused = ({ order }: OrderToRecord): boolean => refused.has(order.id)
    await removeOrders(trx, inserted.filter(isRefused))
    await withdrawReplies(trx, repliesOf(ours.filter(isRefused)))
    await events?.recordWithin(
      trx,
      ours
        .filter(({ order }) => !refused.has(order.id))
        .map(({ order }) => ({ owner: order.owner, event: orderCreated(order) })),
    )
    return orders.map((one): Verdict => {
      if (overtaken.has(one)) return E.left(idempotencyInProgress)
      const refusal = refused.get(one.order.id)
      return refusal === undefined ? E.right(one.order) : E.left(refusal)
    })
  })

/**
 * Returns the orders whose claim does not hold its key. One claim records one order, so of several
 * with the same claim the first is recorded.
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

// Under the locks of the account and its desks, so that of orders that come at once each sees those
// that were accepted before it.
const refuseLimited = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
): Promise<Refusals> => {
  const refused: Refusals = new Map()
  for (const { order, books } of orders) {
    if (books === undefined) continue
    const locked = await lockGuards(trx, order.owner, order.request.accountId, books.asOf)
    const allowed =
      locked === undefined
        ? E.left(limitCheckUnavailable('the account was removed while the order was checked'))
        : requireOrderLimits(locked.account, order.request, locked.guards, books)
    if (E.isLeft(allowed)) refused.set(order.id, allowed.left)
  }
  return refused
}

/**
 * One user's orders that are recorded together, and how many of them were created on the last of
 * their UTC days.
 */
interface UserOrders {
  readonly owner: Owner
  readonly orders: readonly PendingOrder[]
  readonly day: Instant
  readonly created: number
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

const userKey = (tenantId: string, userId: string): string => JSON.stringify([tenantId, userId])

/**
 * Counts orders in and writes them, and adds to the refused those that pass a limit of counts.
 *
 * In one statement, because it is what every order waits for; those that turn out to be too many
 * are taken back, which is rare. The counter is written before the limits are checked: the write
 * locks it until the transaction ends, so that its figures are exact whoever else records. The
 * orders are written once all of the counters are: so a user's orders get their numbers in the
 * order in which they are committed, and one that is seen later than another never has a smaller
 * number (see order-list.ts).
 */
const insertCounted = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
  refused: Refusals,
): Promise<void> => {
  if (orders.length === 0) return
  const users = [
    ...Map.groupBy(orders, ({ order: { owner } }) => userKey(owner.tenantId, owner.userId)),
  ].map(([key, own]) => ({
    key,
    user: userOrdersOf(own.map(({ order }) => order)),
  }))
  const { rows } = await prepared(trx, insertion, [
    JSON.stringify(
      users.map(({ user: { owner, orders: own, day, created } }) => ({
        tenant_id: owner.tenantId,
        user_id: owner.userId,
        day: toUtcDay(day),
        created,
        pending: own.length,
      })),
    ),
    JSON.stringify(orders.map(({ row }) => row)),
  ])
  const counters = new Map(
    (rows as Counter[]).map((row) => [userKey(row.tenant_id, row.user_id), row]),
  )
  for (const { key, user } of users)
    await refuseUncountable(trx, user, counters.get(key) as Counter, refused)
}

const userOrdersOf = (orders: readonly PendingOrder[]): UserOrders => {
  const day = Math.max(...orders.map(dayOf))
  return {
    owner: (orders[0] as PendingOrder).owner,
    orders,
    day,
    created: orders.filter((order) => dayOf(order) === day).length,
  }
}

// Counters in the order of the users, so that two transactions that want the same ones never wait
// for each other in turn.
const insertion = `
  with counted as (
    insert into order_counters as c (tenant_id, user_id, day, created, pending)
    select tenant_id, user_id, day, created, pending from json_populate_recordset(null::order_counters, ?::json)
    order by tenant_id, user_id
    on conflict (tenant_id, user_id) do update set
      day = greatest(c.day, excluded.day),
      created = excluded.created * (excluded.day >= c.day)::int + c.created * (excluded.day <= c.day)::int,
      pending = c.pending + excluded.pending
    returning tenant_id, user_id, day::text, created, pending),
  inserted as (
    insert into orders (${newOrderColumns.join()}, due_at)
    select ${newOrderColumns.join()}, now() from json_populate_recordset(null::orders, ?::json) where (select count(*) from counted) > 0)
  select * from counted`

/**
 * Decides one order after the other, each seeing those that were accepted before it, and counts
 * those out again that pass a limit.
 */
const refuseUncountable = async (
  trx: Knex.Transaction,
  user: UserOrders,
  counter: Counter,
  refused: Refusals,
): Promise<void> => {
  const { owner, orders, day } = user
  const created = await createdEarlier(trx, user, counter)
  if (toUtcDay(day) === counter.day) created.set(day, counter.created - user.created)
  let open = counter.pending - orders.length
  const uncounted: PendingOrder[] = []
  for (const order of orders) {
    const today = created.get(dayOf(order)) ?? 0
    const allowed = requireCountsInLimit({ today, open }, order.createdAt)
    if (E.isLeft(allowed)) {
      refused.set(order.id, allowed.left)
      uncounted.push(order)
      continue
    }
    created.set(dayOf(order), today + 1)
    open += 1
  }
  if (uncounted.length === 0) return
  const ofDay = uncounted.filter((order) => toUtcDay(dayOf(order)) === counter.day)
  await trx('order_counters')
    .where({ tenant_id: owner.tenantId, user_id: owner.userId })
    .decrement({ created: ofDay.length, pending: uncounted.length })
}

// Only around midnight, where instances' clocks differ, is an order of a day before the counter's:
// such days are counted themselves.
const createdEarlier = async (
  trx: Knex.Transaction,
  { owner, orders }: UserOrders,
  counter: Counter,
): Promise<Map<Instant, number>> => {
  const counts = new Map<Instant, number>()
  for (const start of new Set(orders.map(dayOf))) {
    if (toUtcDay(start) === counter.day) continue
    const [row] = await trx('orders')
      .where({ tenant_id: owner.tenantId, user_id: owner.userId })
      .where('created_at', '>=', toTimestamptz(start))
      .where('created_at', '<', toTimestamptz(start + dayMs))
      .count<{ count: string }[]>()
    counts.set(start, Number(row?.count) - orders.filter((order) => dayOf(order) === start).length)
  }
  return counts
}

const removeOrders = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
): Promise<void> => {
  if (orders.length === 0) return
  await trx('orders')
    .whereRaw('(tenant_id, id) in (select * from unnest(?::text[], ?::text[]))', [
      orders.map(({ order }) => order.owner.tenantId),
      orders.map(({ order }) => order.id),
    ])
    .delete()
}
