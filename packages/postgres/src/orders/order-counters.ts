// How many orders each user created today and has pending. The row is counted up before the limits are checked: the write locks it until the transaction
// ends, so that its figures are exact whoever else records; and what is refused is counted down again.
import { dayMs, requireCountsInLimit, startOfUtcDay, toUtcDay } from '@tradeport/domain'
import type { Instant, OrderId, Owner, PendingOrder, RiskLimitExceeded } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { toTimestamptz } from '../columns.ts'

type Refusals = ReadonlyMap<OrderId, RiskLimitExceeded>

/** One user's orders that are recorded together. */
export interface UserOrders {
  readonly owner: Owner
  readonly orders: readonly PendingOrder[]
  /** The last UTC day on which one of them was created. */
  readonly day: Instant
}

/** The row after everything was counted in. */
interface Counter {
  /** `YYYY-MM-DD`, the last day on which the user created an order. */
  readonly day: string
  readonly created: number
  readonly pending: number
}

export interface CounterRow extends Counter {
  readonly tenant_id: string
  readonly user_id: string
}

/** A user's orders and their row after they were all counted in. */
export interface Counted extends UserOrders {
  readonly counter: Counter
}

/** Says which of the orders that were counted in pass a limit, and counts those out again. */
export const refuseUncountable = async (trx: Knex.Transaction, counted: readonly Counted[]): Promise<Refusals> => {
  const refusals = new Map<OrderId, RiskLimitExceeded>()
  for (const user of counted) {
    const refused = refusedOf(user, await createdEarlier(trx, user))
    for (const [id, refusal] of refused) refusals.set(id, refusal)
    if (refused.size > 0) await countDown(trx, user, refused)
  }
  return refusals
}

const userKey = ({ tenantId, userId }: Owner): string => JSON.stringify([tenantId, userId])

export const byUser = (orders: readonly PendingOrder[]): readonly UserOrders[] =>
  [...Map.groupBy(orders, ({ owner }) => userKey(owner)).values()].map((own) => ({
    owner: (own[0] as PendingOrder).owner,
    orders: own,
    day: Math.max(...own.map(dayOf)),
  }))

const dayOf = ({ createdAt }: PendingOrder): Instant => startOfUtcDay(createdAt)

/** What a statement counts up with: one row for each user, as JSON for `countUpStatement`. */
export const increaseOf = ({ owner, orders, day }: UserOrders) => ({
  tenant_id: owner.tenantId,
  user_id: owner.userId,
  day: toUtcDay(day),
  created: orders.filter((order) => dayOf(order) === day).length,
  pending: orders.length,
})

// In the order of the users, so that two transactions that want the same ones never wait for each other in turn.
/** Takes the increases as its one parameter. */
export const countUpStatement = `
  insert into order_counters as c (tenant_id, user_id, day, created, pending)
  select tenant_id, user_id, day, created, pending
  from json_to_recordset(?::json) as n (tenant_id text, user_id text, day date, created integer, pending integer)
  order by tenant_id, user_id
  on conflict (tenant_id, user_id) do update set
    day = greatest(c.day, excluded.day),
    created = excluded.created * (excluded.day >= c.day)::int + c.created * (excluded.day <= c.day)::int,
    pending = c.pending + excluded.pending
  returning tenant_id, user_id, day::text, created, pending`

/** Puts the rows that the statement gave to the users that they are of. */
export const countedOf = (users: readonly UserOrders[], rows: readonly CounterRow[]): readonly Counted[] => {
  const counters = new Map(rows.map((row) => [JSON.stringify([row.tenant_id, row.user_id]), row]))
  return users.map((user) => {
    const counter = counters.get(userKey(user.owner))
    if (counter === undefined) throw new Error('the counter that was just written is not there')
    return { ...user, counter }
  })
}

// Only around midnight, where instances' clocks differ, is an order of a day before the counter's: such days are counted themselves.
const createdEarlier = async (trx: Knex.Transaction, { owner, orders, counter }: Counted): Promise<ReadonlyMap<Instant, number>> => {
  const earlier = [...new Set(orders.map(dayOf))].filter((one) => toUtcDay(one) !== counter.day)
  const counts = new Map<Instant, number>()
  for (const start of earlier) {
    const [row] = await trx('orders')
      .where({ tenant_id: owner.tenantId, user_id: owner.userId })
      .where('created_at', '>=', toTimestamptz(start))
      .where('created_at', '<', toTimestamptz(start + dayMs))
      .count<{ count: string | number }[]>()
    counts.set(start, Number(row?.count) - orders.filter((order) => dayOf(order) === start).length)
  }
  return counts
}

/** Decides one order after the other, each seeing those that were accepted before it. */
const refusedOf = ({ orders, day, counter }: Counted, earlier: ReadonlyMap<Instant, number>): Refusals => {
  const isCounted = toUtcDay(day) === counter.day
  const created = new Map(earlier)
  if (isCounted) created.set(day, counter.created - orders.filter((order) => dayOf(order) === day).length)
  let open = counter.pending - orders.length
  const refused = new Map<OrderId, RiskLimitExceeded>()
  for (const order of orders) {
    const today = created.get(dayOf(order)) ?? 0
    const allowed = requireCountsInLimit({ today, open }, order.createdAt)
    if (E.isLeft(allowed)) {
      refused.set(order.id, allowed.left)
      continue
    }
    created.set(dayOf(order), today + 1)
    open += 1
  }
  return refused
}

const countDown = async (trx: Knex.Transaction, { owner, orders, counter }: Counted, refused: Refusals): Promise<void> => {
  const ofDay = orders.filter((order) => refused.has(order.id) && toUtcDay(dayOf(order)) === counter.day)
  await trx('order_counters')
    .where({ tenant_id: owner.tenantId, user_id: owner.userId })
    .decrement({ created: ofDay.length, pending: refused.size })
}
