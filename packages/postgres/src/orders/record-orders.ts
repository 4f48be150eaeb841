// Records several orders in one transaction: the replies to keep, the limits, the counts and the orders. Each order has a verdict of its own.
import { idempotencyInProgress, limitCheckUnavailable, orderCreated, requireOrderLimits } from '@tradeport/domain'
import type { NewOrder, OrderId, PendingOrder, RecordRefusal } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import type { Cipher } from '../cipher.ts'
import { keepReplies, withdrawReplies } from '../idempotency-store.ts'
import type { OwnedReply } from '../idempotency-store.ts'
import { prepared } from '../prepared.ts'
import type { EventRecorder } from '../record-events.ts'
import { inTransaction } from '../transacting.ts'
import { lockGuards } from './guard-store.ts'
import { byUser, countedOf, countUpStatement, increaseOf, refuseUncountable } from './order-counters.ts'
import type { Counted, CounterRow } from './order-counters.ts'
import type { NewOrderRow } from './order-row.ts'

interface Parts {
  readonly knex: Knex
  readonly cipher: Cipher
  /** Left out where no events are recorded. */
  readonly events?: EventRecorder | undefined
}

export interface OrderToRecord extends NewOrder {
  readonly row: NewOrderRow
}

export type Verdict = E.Either<RecordRefusal, PendingOrder>

type Refusals = ReadonlyMap<OrderId, RecordRefusal>

/**
 * One verdict for each, in their order. All that is accepted is committed together. An order that has limits comes alone.
 * @throws UnansweredCommit when all of it may be recorded or nothing
 */
export const recordOrders = (parts: Parts, orders: readonly OrderToRecord[]): Promise<readonly Verdict[]> =>
  inTransaction(parts.knex, (trx) => writeOrders(parts, trx, orders))

const writeOrders = async (
  { cipher, events }: Parts,
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
): Promise<readonly Verdict[]> => {
  const overtaken = await keepRepliesOf(trx, cipher, orders)
  const ours = orders.filter((one) => !overtaken.has(one))
  const limited = await refuseLimited(trx, ours)
  const countable = ours.filter(({ order }) => !limited.has(order.id))
  const refused: Refusals = new Map([...limited, ...(await refuseUncountable(trx, await insertAndCount(trx, countable)))])
  await removeRefused(
    trx,
    ours.filter(({ order }) => refused.has(order.id)),
  )
  await events?.recordWithin(
    trx,
    ours.filter(({ order }) => !refused.has(order.id)).map(({ order }) => ({ owner: order.owner, event: orderCreated(order) })),
  )
  return orders.map((one): Verdict => {
    if (overtaken.has(one)) return E.left(idempotencyInProgress)
    const refusal = refused.get(one.order.id)
    return refusal === undefined ? E.right(one.order) : E.left(refusal)
  })
}

/** Returns the orders whose claim does not hold its key. One claim records one order, so of several with the same claim the first is recorded. */
const keepRepliesOf = async (
  trx: Knex.Transaction,
  cipher: Cipher,
  orders: readonly OrderToRecord[],
): Promise<ReadonlySet<OrderToRecord>> => {
  const byClaim = Map.groupBy(orders, ({ keep }) => keep?.claim.id)
  const firsts = [...byClaim.values()].map(([first]) => first as OrderToRecord)
  const holding = await keepReplies(trx, cipher, repliesOf(firsts))
  return new Set(
    orders.filter((one) => {
      const id = one.keep?.claim.id
      return id !== undefined && (!holding.has(id) || byClaim.get(id)?.[0] !== one)
    }),
  )
}

// Under the locks of the account and its desks, so that of orders that come at once each sees those that were accepted before it.
const refuseLimited = async (trx: Knex.Transaction, orders: readonly OrderToRecord[]): Promise<Refusals> => {
  const refusals = new Map<OrderId, RecordRefusal>()
  for (const { order, books } of orders) {
    if (books === undefined) continue
    const locked = await lockGuards(trx, order.owner, order.request.accountId, books.asOf)
    const allowed =
      locked === undefined
        ? E.left(limitCheckUnavailable('the account was removed while the order was checked'))
        : requireOrderLimits(locked.account, order.request, locked.guards, books)
    if (E.isLeft(allowed)) refusals.set(order.id, allowed.left)
  }
  return refusals
}

// In one statement, because it is what every order waits for; those that turn out to be too many are taken back, which is rare. The orders are
// written once all of the counters are, whose locks they wait for: so a user's orders get their numbers in the order in which they are committed,
// and one that is seen later than another never has a smaller number (see order-list.ts).
const insertAndCount = async (trx: Knex.Transaction, orders: readonly OrderToRecord[]): Promise<readonly Counted[]> => {
  if (orders.length === 0) return []
  const users = byUser(orders.map(({ order }) => order))
  const { rows } = await prepared(
    trx,
    `with counted as (${countUpStatement}),
     inserted as (
       insert into orders (id, tenant_id, user_id, account_id, symbol, side, volume, price, stop_loss, take_profit, comment, client_id,
         status, created_at, updated_at, step, destination_platform, destination_account, destination_region, version, checked_at, due_at)
       select id, tenant_id, user_id, account_id, symbol, side, volume, price, stop_loss, take_profit, comment, client_id,
         'pending', created_at, created_at, 'recorded', destination_platform, destination_account, destination_region, 1, checked_at, now()
       from json_to_recordset(?::json) as new (id text, tenant_id text, user_id text, account_id uuid, symbol text, side text, volume numeric,
         price numeric, stop_loss numeric, take_profit numeric, comment text, client_id text, created_at timestamptz, checked_at timestamptz,
         destination_platform text, destination_account text, destination_region text)
       where (select count(*) from counted) > 0)
     select * from counted`,
    [JSON.stringify(users.map(increaseOf)), JSON.stringify(orders.map(({ row }) => row))],
  )
  return countedOf(users, rows as CounterRow[])
}

const removeRefused = async (trx: Knex.Transaction, orders: readonly OrderToRecord[]): Promise<void> => {
  if (orders.length === 0) return
  await trx('orders')
    .whereRaw('id = any(?::text[])', [orders.map(({ order }) => order.id)])
    .delete()
  await withdrawReplies(trx, repliesOf(orders))
}

const repliesOf = (orders: readonly OrderToRecord[]): readonly OwnedReply[] =>
  orders.flatMap(({ order: { owner }, keep }) => (keep === undefined ? [] : [{ owner, ...keep }]))
