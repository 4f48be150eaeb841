// Orders in PostgreSQL. Every statement names the tenant and the user.
import { settle, settlementEvents } from '@tradeport/domain'
import type { NewOrder, Order, OrderId, OrderPlacement, OrderStore, Owner, PlacementStep } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { Cipher } from '../cipher.ts'
import { toTimestamptz } from '../columns.ts'
import { isDataFault, toServiceUnavailable } from '../failures.ts'
import { inBatches } from '../in-batches.ts'
import type { EventRecorder } from '../record-events.ts'
import { listOrders } from './order-list.ts'
import {
  orderColumns,
  orderOfRow,
  outcomeColumnsOf,
  placementColumns,
  placementOfRow,
  rowOfNewOrder,
  serverRun,
  stepColumnsOf,
} from './order-row.ts'
import { recordOrders } from './record-orders.ts'
import type { OrderToRecord, Verdict } from './record-orders.ts'

interface Parts {
  readonly knex: Knex
  readonly cipher: Cipher
  /** Called after the commit with the orders that were recorded. */
  readonly onRecorded: (orders: readonly NewOrder[]) => void
  /** Where events are recorded, each in the transaction that it reports. */
  readonly events?: EventRecorder | undefined
}

const recording = { lanes: 2, maxSize: 100 }

export const createOrderStore = (parts: Parts): OrderStore => {
  const { knex } = parts
  const recordInBatch = inBatches(recording, (orders: readonly OrderToRecord[]) => recordTogether(parts, orders))
  return {
    record: (owner, order) =>
      pipe(
        TE.tryCatch(() => record(parts, recordInBatch, owner, order), toServiceUnavailable('orders.record')),
        TE.flatMapEither(identity),
      ),
    find: (owner, id) => TE.tryCatch(() => findOrder(knex, owner, id), toServiceUnavailable('orders.find')),
    list: (owner, program, query, now) =>
      TE.tryCatch(() => listOrders(knex, owner, program, query, now), toServiceUnavailable('orders.list')),
    placement: (owner, id) => TE.tryCatch(() => findPlacement(knex, owner, id), toServiceUnavailable('orders.placement')),
    advance: (owner, from, step, now) =>
      TE.tryCatch(() => advance(parts, owner, from, step, toTimestamptz(now)), toServiceUnavailable('orders.advance')),
    othersTickets: (owner, placement) =>
      TE.tryCatch(() => readOthersTickets(knex, owner, placement), toServiceUnavailable('orders.othersTickets')),
  }
}

const ownOrders = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('orders').where({ tenant_id: tenantId, user_id: userId })

// An order with limits holds the locks of its account and desks, so it has a transaction of its own. All others share one with those that come at once.
const record = async (
  parts: Parts,
  recordInBatch: (order: OrderToRecord) => Promise<Verdict>,
  owner: Owner,
  order: NewOrder,
): Promise<Verdict> => {
  const owned = { ...order, order: { ...order.order, owner } }
  const toRecord: OrderToRecord = { ...owned, row: rowOfNewOrder(owned) }
  if (order.books === undefined) return recordInBatch(toRecord)
  const [verdict] = await recordTogether(parts, [toRecord])
  return verdict as Verdict
}

// When the database refuses one order of a batch, each is recorded alone, so that the others are not refused with it.
const recordTogether = async (parts: Parts, orders: readonly OrderToRecord[]): Promise<readonly Verdict[]> => {
  const verdicts = await recordOrders(parts, orders).catch((error: unknown) => {
    if (orders.length === 1 || !isDataFault(error)) throw error
    return recordEach(parts, orders)
  })
  parts.events?.handOver()
  parts.onRecorded(orders.filter((_, index) => isRecorded(verdicts[index])))
  return verdicts
}

const recordEach = async (parts: Parts, orders: readonly OrderToRecord[]): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  for (const order of orders) {
    const [verdict] = await recordOrders(parts, [order]).catch((error: unknown) => [E.left(toServiceUnavailable('orders.record')(error))])
    verdicts.push(verdict as Verdict)
  }
  return verdicts
}

const isRecorded = (verdict: Verdict | undefined): boolean => verdict !== undefined && E.isRight(verdict)

const findOrder = async (knex: Knex, owner: Owner, id: OrderId): Promise<O.Option<Order>> => {
  const rows: unknown[] = await ownOrders(knex, owner).where({ id }).select(orderColumns(knex))
  return O.map(orderOfRow)(O.fromNullable(rows[0]))
}

const findPlacement = async (knex: Knex, owner: Owner, id: OrderId): Promise<O.Option<OrderPlacement>> => {
  const rows: unknown[] = await ownOrders(knex, owner)
    .where({ id })
    .select([...orderColumns(knex), ...placementColumns(knex)])
  return O.map(placementOfRow)(O.fromNullable(rows[0]))
}

// The version stands for everything that the caller read of the order, so that nothing has to be read again.
const advance = async (parts: Parts, owner: Owner, from: OrderPlacement, step: PlacementStep, now: string): Promise<boolean> => {
  const { knex, events } = parts
  const after = step.outcome === undefined ? from.order : settle(from.order, step.outcome, Date.parse(now))
  if (after === from.order) return (await updateStep(knex, owner, from, step)) > 0
  const reported = settlementEvents(after)
  const isWritten = await knex.transaction(async (trx) => {
    if ((await updateStep(trx, owner, from, step, after)) === 0) return false
    if (from.order.status === 'pending')
      await trx('order_counters').where({ tenant_id: owner.tenantId, user_id: owner.userId }).decrement('pending')
    await events?.recordWithin(
      trx,
      reported.map((event) => ({ owner, event })),
    )
    return true
  })
  if (isWritten) events?.handOver()
  return isWritten
}

const updateStep = (
  knex: Knex,
  owner: Owner,
  { order, placement: before, version, serverRun: expectedRun }: OrderPlacement,
  { placement, continueInMs, finish }: PlacementStep,
  outcome?: Order,
): Promise<number> =>
  ownOrders(knex, owner)
    .where({ id: order.id, version })
    .whereRaw(`${serverRun} = coalesce(?, ${serverRun})`, [expectedRun ?? null])
    .whereNot({ step: 'settled' })
    // After a failover that lost writes a version number can be used twice.
    .whereRaw('sent_at is not distinct from ?::timestamptz', ['sentAt' in before ? toTimestamptz(before.sentAt) : null])
    .update({
      ...stepColumnsOf(placement),
      ...(outcome && { ...outcomeColumnsOf(outcome), settled_at: knex.fn.now() }),
      ...(finish && { finished_by: finish.by, finish_reason: finish.reason }),
      version: version + 1,
      due_at: continueInMs === null ? null : knex.raw(`now() + ? * interval '1 ms'`, [continueInMs]),
    })

const readOthersTickets = async (knex: Knex, owner: Owner, { order, destination }: OrderPlacement): Promise<readonly string[]> => {
  const created = toTimestamptz(order.createdAt)
  const rows: { readonly position_id: string | null; readonly broker_order_id: string | null }[] = await ownOrders(knex, owner)
    .whereRaw(`created_at between ?::timestamptz - interval '1 day' and ?::timestamptz + interval '1 day'`, [created, created])
    .where({ destination_account: destination.providerAccountId })
    .whereNot({ id: order.id })
    .select('position_id', 'broker_order_id')
  return rows.flatMap((row) => [row.position_id, row.broker_order_id].filter((ticket) => ticket !== null))
}
