// Records several orders in one transaction: the replies to store, the limits, the counts and the
// orders. All of them are recorded or none.
import { refuse } from '@tradeport/domain/errors'
import { orderCreated } from '@tradeport/domain/events'
import {
  requireCountsInLimit,
  requireOrderLimits,
  type PendingOrder,
} from '@tradeport/domain/orders'
import {
  dayMs,
  ownerKey,
  startOfUtcDay,
  toUtcDay,
  type Instant,
  type TenantId,
  type UserId,
} from '@tradeport/domain/primitives'
import type { NewOrder, RecordRefusal } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { toTimestamptz, type Row } from '../connection/columns.ts'
import { transactOrUnknown, queryPrepared, query, queryOne, sql } from '../connection/sql.ts'
import type { SealingDependencies } from '../credentials/cipher.ts'
import type { RecordingDependencies } from '../events/events.ts'
import { lockLimits } from './limit-store.ts'
import { storeReplies } from './idempotency-store.ts'
import { newOrderColumns } from './order-row.ts'

export interface OrderToRecord extends NewOrder {
  readonly row: Row
}

/** One of the orders may not be recorded, so that none of them was. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused'
  readonly refusal: RecordRefusal

  constructor(refusal: RecordRefusal) {
    super(refusal._tag)
    this.refusal = refusal
  }
}

const orThrow = (checked: E.Either<RecordRefusal, unknown>): void => {
  if (E.isLeft(checked)) throw new OrderRefused(checked.left)
}

/**
 * @param orders one alone where it has limits
 * @param lockTimeoutMs how long it waits for rows that another transaction holds
 * @throws OrderRefused
 * @throws CommitOutcomeUnknown when all of it may be recorded or nothing
 */
export const recordOrders = (
  { knex, cipher, recorder }: RecordingDependencies & SealingDependencies,
  orders: readonly OrderToRecord[],
  lockTimeoutMs: number,
): Promise<void> =>
  transactOrUnknown(knex, async (trx) => {
    await query(trx, sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`)
    const replies = orders.flatMap(({ order: { owner }, replyToStore }) =>
      replyToStore === undefined ? [] : [{ owner, ...replyToStore }],
    )
    // Fewer where a claim was taken over or answered already, or two orders have the same claim.
    if ((await storeReplies(trx, cipher, replies)) < replies.length)
      throw new OrderRefused(refuse('IdempotencyInProgress'))
    for (const order of orders) await requireLimitsUnderLocks(trx, order)
    const counters = await insertCounted(trx, orders)
    for (const { order } of orders) {
      const counter = counters.get(ownerKey(order.owner))
      if (counter !== undefined) await requireCounts(trx, order, counter)
    }
    await recorder?.recordWithin(
      trx,
      orders.map(({ order }) => ({ owner: order.owner, event: orderCreated(order) })),
    )
  })

// Decides under the locks of the account and its desks, so that each of several simultaneous orders
// sees those that were accepted before it.
const requireLimitsUnderLocks = async (
  trx: Knex.Transaction,
  { order: { owner, request }, openPositions }: OrderToRecord,
): Promise<void> => {
  if (openPositions === undefined) return
  const locked = await lockLimits(trx, owner, request.accountId, openPositions.readAt)
  orThrow(
    locked === undefined
      ? E.left(
          refuse('LimitCheckUnavailable', {
            reason: 'the account was removed while the order was checked',
          }),
        )
      : requireOrderLimits(locked.account, request, locked.limits, openPositions),
  )
}

/** A user's row after everything was counted in. */
interface Counter {
  readonly tenant_id: TenantId
  readonly user_id: UserId
  /** `YYYY-MM-DD`, the last day on which the user created an order. */
  readonly day: string
  readonly created: number
  readonly pending: number
}

/**
 * Adds orders to the counters of their users, inserts them, and returns each user's counter.
 *
 * 1. It is one statement, because every order waits for it.
 * 2. The counter is written before the limits are checked. The write locks it until the transaction
 *    ends, so that its figures are exact.
 * 3. Counters are written in the order of the users, so that two transactions that need the same
 *    ones do not deadlock.
 */
const insertCounted = async (
  trx: Knex.Transaction,
  orders: readonly OrderToRecord[],
): Promise<ReadonlyMap<string, Counter>> => {
  const additions = new Map<string, Counter>()
  for (const { order } of orders) {
    const { tenantId, userId } = order.owner
    const day = toUtcDay(order.createdAt)
    const key = ownerKey(order.owner)
    const before = additions.get(key) ?? { day, created: 0, pending: 0 }
    const isNewDay = day > before.day
    additions.set(key, {
      tenant_id: tenantId,
      user_id: userId,
      day: isNewDay ? day : before.day,
      created: isNewDay ? 1 : before.created + Number(day === before.day),
      pending: before.pending + 1,
    })
  }
  const rows = await queryPrepared<Counter>(
    trx,
    sql`with counters as (
        insert into order_counters as c (tenant_id, user_id, day, created, pending)
        select tenant_id, user_id, day, created, pending
        from json_populate_recordset(null::order_counters, ${JSON.stringify([...additions.values()])}::json)
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
        where (select count(*) from counters) > 0)
      select * from counters`,
  )
  return new Map(
    rows.map((row) => [ownerKey({ tenantId: row.tenant_id, userId: row.user_id }), row] as const),
  )
}

/** The last of a user's orders is refused where one of them is. */
const requireCounts = async (
  trx: Knex.Transaction,
  { createdAt }: PendingOrder,
  counter: Counter,
): Promise<void> => {
  const today =
    toUtcDay(createdAt) === counter.day
      ? counter.created
      : await countOrders(trx, counter, startOfUtcDay(createdAt))
  orThrow(requireCountsInLimit({ today: today - 1, underWay: counter.pending - 1 }, createdAt))
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
