// Records several orders in one transaction: what their keys make, the counts, the orders, and the jobs that place them. Each order has a
// verdict of its own.
import { idempotencyKeyReused, isSameOwner, orderCreated } from '@tradeport/domain'
import type { IdempotencyClaim, IdempotencyKeyReused, Owner, PendingOrder, RiskLimitExceeded, ServiceUnavailable } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { heldKeys } from './idempotency.ts'
import type { HeldKey } from './idempotency.ts'
import { byUser, countedOf, countUpStatement, increaseOf, refuseUncountable } from './order-counters.ts'
import type { Counted, CounterRow } from './order-counters.ts'
import { rowOfRecordedOrder } from './order-row.ts'
import type { RecordedOrderRow } from './order-row.ts'
import type { EventRecorder } from './record-events.ts'
import { prepared } from './prepared.ts'
import { queuedJob } from './placement-queue.ts'
import type { PlacementQueue, QueuedJob } from './placement-queue.ts'
import { inTransaction } from './transacting.ts'

interface Parts {
  readonly knex: Knex
  readonly queue: Pick<PlacementQueue, 'send'>
  /** Left out where no events are recorded. */
  readonly events?: EventRecorder | undefined
}

export interface NewOrder {
  readonly order: PendingOrder
  readonly row: RecordedOrderRow
  readonly claim: IdempotencyClaim | undefined
  readonly job: QueuedJob
}

export type Verdict = E.Either<ServiceUnavailable | RiskLimitExceeded | IdempotencyKeyReused, PendingOrder>

/** @throws UnstorableValue for a number that could not be read again */
export const newOrderOf = (order: PendingOrder, claim: IdempotencyClaim | undefined): NewOrder => ({
  order,
  row: rowOfRecordedOrder(order),
  claim,
  job: queuedJob({ owner: order.owner, orderId: order.id, version: 1 }, 0),
})

/**
 * One verdict for each, in their order. All that is accepted is committed together.
 * @throws UnansweredCommit when all of it may be recorded or nothing
 */
export const recordOrders = (parts: Parts, orders: readonly NewOrder[]): Promise<readonly Verdict[]> =>
  inTransaction(parts.knex, (trx) => writeOrders(parts, trx, orders))

const writeOrders = async ({ queue, events }: Parts, trx: Knex.Transaction, orders: readonly NewOrder[]): Promise<readonly Verdict[]> => {
  const lost = await turnClaims(trx, orders)
  const ours = orders.filter((one) => !lost.has(one))
  const refused = await refuseUncountable(trx, await insertAndCount(trx, ours))
  await removeRefused(
    trx,
    ours.filter(({ order }) => refused.has(order.id)),
  )
  const accepted = ours.filter(({ order }) => !refused.has(order.id))
  await queue.send(
    trx,
    accepted.map(({ job }) => job),
  )
  await events?.recordWithin(
    trx,
    accepted.map(({ order }) => ({ owner: order.owner, event: orderCreated(order) })),
  )
  return orders.map((one): Verdict => {
    const refusal = refused.get(one.order.id)
    return lost.get(one) ?? (refusal === undefined ? E.right(one.order) : E.left(refusal))
  })
}

// Turns the claims into what they are about to make. Those that cannot be turned are told with what became of their keys.
const turnClaims = async (trx: Knex.Transaction, orders: readonly NewOrder[]): Promise<ReadonlyMap<NewOrder, Verdict>> => {
  const claiming = orders.flatMap((one) => (one.claim === undefined ? [] : [{ ...one, one, claim: one.claim }]))
  if (claiming.length === 0) return new Map()
  const rows = claiming.map(({ row, claim }) => ({ ...row, key: claim.key, body_hash: claim.bodyHash }))
  const turned = await prepared(
    trx,
    `insert into idempotency_keys as held (tenant_id, user_id, key, body_hash, order_id, claimed_at)
     select tenant_id, user_id, key, body_hash, id, created_at from json_to_recordset(?::json)
       as new (tenant_id text, user_id text, key text, body_hash text, id text, created_at timestamptz)
     order by tenant_id, user_id, key
     on conflict (tenant_id, user_id, key) do update set order_id = excluded.order_id
     where held.order_id is null and held.body_hash = excluded.body_hash
     returning order_id`,
    [JSON.stringify(rows)],
  )
  const won = new Set((turned.rows as { order_id: string }[]).map(({ order_id: id }) => id))
  const losing = claiming.filter(({ order }) => !won.has(order.id))
  if (losing.length === 0) return new Map()
  const held = await heldKeys(
    trx,
    losing.map(({ order, claim }) => ({ owner: order.owner, key: claim.key })),
  )
  return new Map(losing.map(({ one, order, claim }) => [one, keptBy(held, order.owner, claim)]))
}

const keptBy = (held: readonly HeldKey[], owner: Owner, { key, bodyHash }: IdempotencyClaim): Verdict => {
  const holder = held.find((one) => one.key === key && isSameOwner(one.owner, owner))
  return holder?.order === undefined || holder.bodyHash !== bodyHash ? E.left(idempotencyKeyReused) : E.right(holder.order)
}

// In one statement, because it is what every order waits for; those that turn out to be too many are taken back, which is rare. The orders are
// written once all of the counters are, whose locks they wait for: so a user's orders get their numbers in the order in which they are committed,
// and one that is seen later than another never has a smaller number (see order-list.ts).
const insertAndCount = async (trx: Knex.Transaction, orders: readonly NewOrder[]): Promise<readonly Counted[]> => {
  if (orders.length === 0) return []
  const users = byUser(orders.map(({ order }) => order))
  const { rows } = await prepared(
    trx,
    `with counted as (${countUpStatement}),
     inserted as (
       insert into orders (id, tenant_id, user_id, account_id, symbol, side, volume, price, stop_loss, take_profit, comment, client_id,
         status, created_at, updated_at, step, version, due_at)
       select id, tenant_id, user_id, account_id, symbol, side, volume, price, stop_loss, take_profit, comment, client_id,
         'pending', created_at, created_at, 'recorded', 1, now()
       from json_to_recordset(?::json) as new (id text, tenant_id text, user_id text, account_id uuid, symbol text, side text, volume numeric,
         price numeric, stop_loss numeric, take_profit numeric, comment text, client_id text, created_at timestamptz)
       where (select count(*) from counted) > 0)
     select * from counted`,
    [JSON.stringify(users.map(increaseOf)), JSON.stringify(orders.map(({ row }) => row))],
  )
  return countedOf(users, rows as CounterRow[])
}

// With the claims that were turned into them: their keys may be used again.
const removeRefused = async (trx: Knex.Transaction, orders: readonly NewOrder[]): Promise<void> => {
  if (orders.length === 0) return
  const ids = orders.map(({ order }) => order.id)
  await trx('orders').whereRaw('id = any(?::text[])', [ids]).delete()
  await trx.raw(
    'delete from idempotency_keys where (tenant_id, user_id, key, order_id) in (select * from unnest(?::text[], ?::text[], ?::text[], ?::text[]))',
    [
      orders.map(({ order }) => order.owner.tenantId),
      orders.map(({ order }) => order.owner.userId),
      orders.map(({ claim }) => claim?.key ?? ''),
      ids,
    ],
  )
}
