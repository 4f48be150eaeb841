// Records several orders in one transaction: what their keys make, the limits, the counts and the orders. Each order has a verdict of its own.
import { idempotencyKeyReused, isSameOwner, limitCheckUnavailable, orderCreated, requireOrderLimits } from '@tradeport/domain'
import type { IdempotencyClaim, NewOrder, OrderId, Owner, PendingOrder, RecordRefusal } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { prepared } from '../prepared.ts'
import type { EventRecorder } from '../record-events.ts'
import { inTransaction } from '../transacting.ts'
import { lockGuards } from './guard-store.ts'
import { heldKeys } from './idempotency.ts'
import type { HeldKey } from './idempotency.ts'
import { byUser, countedOf, countUpStatement, increaseOf, refuseUncountable } from './order-counters.ts'
import type { Counted, CounterRow } from './order-counters.ts'
import type { NewOrderRow } from './order-row.ts'

interface Parts {
  readonly knex: Knex
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

const writeOrders = async ({ events }: Parts, trx: Knex.Transaction, orders: readonly OrderToRecord[]): Promise<readonly Verdict[]> => {
  const lost = await turnClaims(trx, orders)
  const ours = orders.filter((one) => !lost.has(one))
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
    const refusal = refused.get(one.order.id)
    return lost.get(one) ?? (refusal === undefined ? E.right(one.order) : E.left(refusal))
  })
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

// Turns the claims into the orders that they are about to make. The verdict of one that cannot be turned says what holds its key.
const turnClaims = async (trx: Knex.Transaction, orders: readonly OrderToRecord[]): Promise<ReadonlyMap<OrderToRecord, Verdict>> => {
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

// With the claims that were turned into them: their keys may be used again.
const removeRefused = async (trx: Knex.Transaction, orders: readonly OrderToRecord[]): Promise<void> => {
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
