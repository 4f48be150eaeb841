// Orders in PostgreSQL (2.3, 3.1; decisions 20 to 25). Every statement names the tenant and the user.
import { settle, settlementEvents } from '@tradeport/domain'
import type {
  IdempotencyClaim,
  Instant,
  Order,
  OrderId,
  OrderPlacement,
  OrderStore,
  Owner,
  PendingOrder,
  PlacementStep,
} from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { Database } from './database.ts'
import { isDataFault, toServiceUnavailable } from './failures.ts'
import { claimKey, releaseKey } from './idempotency.ts'
import { inBatches } from './in-batches.ts'
import { countSettled } from './order-counters.ts'
import { listOrders } from './order-list.ts'
import { orderColumns, orderOfRow, outcomeColumnsOf, placementColumns, placementOfRow, stepColumnsOf } from './order-row.ts'
import { queuedJob } from './placement-queue.ts'
import type { PlacementQueue } from './placement-queue.ts'
import { newOrderOf, recordOrders } from './record-orders.ts'
import type { NewOrder, Verdict } from './record-orders.ts'
import type { EventRecorder } from './record-events.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly queue: PlacementQueue
  /** Where events are recorded, each in the transaction that it tells of. */
  readonly events?: EventRecorder | undefined
}

const recording = { lanes: 2, maxSize: 100 }

export const createOrderStore = (parts: Parts): OrderStore => {
  const { knex } = parts
  const record = inBatches(recording, (orders: readonly NewOrder[]) => recordTogether(parts, orders))
  return {
    claim: (owner, claim, now) =>
      pipe(
        TE.tryCatch(() => claimKey(knex, owner, claim, now), toServiceUnavailable('orders.claim')),
        TE.flatMap((result) => TE.fromEither(result)),
      ),
    release: (owner, claim) => TE.tryCatch(() => releaseKey(knex, owner, claim), toServiceUnavailable('orders.release')),
    record: (owner, order, claim) =>
      pipe(
        TE.tryCatch(() => recordOne(record, owner, order, claim), toServiceUnavailable('orders.record')),
        TE.flatMapEither(identity),
      ),
    find: (owner, id) => TE.tryCatch(() => findOrder(knex, owner, id), toServiceUnavailable('orders.find')),
    list: (owner, program, query, now) =>
      TE.tryCatch(() => listOrders(knex, owner, program, query, now), toServiceUnavailable('orders.list')),
    placement: (owner, id) => TE.tryCatch(() => findPlacement(knex, owner, id), toServiceUnavailable('orders.placement')),
    advance: (owner, id, version, step, now) =>
      TE.tryCatch(() => advance(parts, owner, id, version, step, now), toServiceUnavailable('orders.advance')),
  }
}

const ownOrders = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('orders').where({ tenant_id: tenantId, user_id: userId })

const recordOne = async (
  record: (order: NewOrder) => Promise<Verdict>,
  owner: Owner,
  order: PendingOrder,
  claim: IdempotencyClaim | undefined,
): Promise<Verdict> => record(newOrderOf({ ...order, owner }, claim))

// What the database refuses about one order must not take the others down: then each goes alone.
const recordTogether = async (parts: Parts, orders: readonly NewOrder[]): Promise<readonly Verdict[]> => {
  const verdicts = await recordOrders(parts, orders).catch((error: unknown) => {
    if (orders.length === 1 || !isDataFault(error)) throw error
    return recordEach(parts, orders)
  })
  parts.events?.handOver()
  parts.queue.handOver(orders.flatMap(({ order, job }, index) => (isRecorded(order, verdicts[index]) ? [job] : [])))
  return verdicts
}

const recordEach = async (parts: Parts, orders: readonly NewOrder[]): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  for (const order of orders) {
    const [verdict] = await recordOrders(parts, [order]).catch((error: unknown) => [E.left(toServiceUnavailable('orders.record')(error))])
    verdicts.push(verdict as Verdict)
  }
  return verdicts
}

const isRecorded = ({ id }: PendingOrder, verdict: Verdict | undefined): boolean =>
  verdict !== undefined && E.isRight(verdict) && verdict.right.id === id

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

const advance = async (parts: Parts, owner: Owner, id: OrderId, version: number, step: PlacementStep, now: Instant): Promise<boolean> => {
  const isWritten = await parts.knex.transaction((trx) => advanceWithin(parts, trx, { owner, id, version }, step, now))
  if (isWritten && step.placement.step === 'settled') parts.events?.handOver()
  return isWritten
}

interface Expected {
  readonly owner: Owner
  readonly id: OrderId
  readonly version: number
}

const advanceWithin = async (
  { queue, events }: Parts,
  trx: Knex.Transaction,
  { owner, id, version }: Expected,
  { placement, continueInMs }: PlacementStep,
  now: Instant,
): Promise<boolean> => {
  const rows: unknown[] = await ownOrders(trx, owner)
    .where({ id, version })
    .whereNot({ step: 'settled' })
    .select(orderColumns(trx))
    .forUpdate()
  if (rows[0] === undefined) return false
  const settled = placement.step === 'settled' ? settle(orderOfRow(rows[0]), placement.settlement, now) : undefined
  const dueAt = continueInMs === null ? null : trx.raw(`now() + ? * interval '1 ms'`, [continueInMs])
  await ownOrders(trx, owner)
    .where({ id })
    .update({ ...stepColumnsOf(placement), ...(settled && outcomeColumnsOf(settled)), version: version + 1, due_at: dueAt })
  if (settled !== undefined) {
    await countSettled(trx, owner)
    await events?.recordWithin(
      trx,
      settlementEvents(settled).map((event) => ({ owner, event })),
    )
  }
  if (continueInMs !== null) await queue.send(trx, [queuedJob({ owner, orderId: id, version: version + 1 }, continueInMs)])
  return true
}
