// Orders in PostgreSQL. Every statement names the tenant and the user.
import { settlementEvents } from '@tradeport/domain/events'
import { settle } from '@tradeport/domain/orders'
import type { Order, PlacementStep } from '@tradeport/domain/orders'
import type {
  NewOrder,
  OrderJobs,
  OrderPlacement,
  OrderStore,
  Stopwatch,
} from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { inBatches } from '../connection/batches.ts'
import { toTimestamptz } from '../connection/columns.ts'
import {
  attempt,
  attemptEither,
  isDataFault,
  toServiceUnavailable,
} from '../connection/failures.ts'
import type { Jobs } from '../connection/jobs.ts'
import type { Cipher } from '../credentials/cipher.ts'
import type { EventRecorder } from '../events/events.ts'
import { createDueOrders } from './due-orders.ts'
import type { DueOrdersOptions } from './due-orders.ts'
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
  readonly jobs: Pick<Jobs, 'knex' | 'log' | 'pulse'>
  /** Seals kept replies that hold a secret. */
  readonly cipher: Cipher
  readonly stopwatch: Stopwatch
  /** Where events are recorded, each in the transaction that it reports. */
  readonly events?: EventRecorder | undefined
}

export interface OpenedOrders {
  readonly store: OrderStore
  /** Gives out the orders that the store holds, to be sent to the broker and followed there. */
  readonly jobs: OrderJobs
}

interface StoreParts extends Pick<Parts, 'cipher' | 'events'> {
  readonly knex: Knex
  /** Called after the commit with the orders that were recorded. */
  readonly onRecorded: (orders: readonly NewOrder[]) => void
}

export const openOrders = (
  { jobs, cipher, stopwatch, events }: Parts,
  options: DueOrdersOptions = {},
): OpenedOrders => {
  const { knex } = jobs
  const due = createDueOrders({ ...jobs, stopwatch, ...options })
  const parts: StoreParts = { knex, cipher, events, onRecorded: due.offer }
  const recordInBatch = inBatches({ lanes: 2, maxSize: 100 }, (orders: readonly OrderToRecord[]) =>
    recordTogether(parts, orders),
  )
  const find =
    <A>(owner: Owner, id: Order['id'], columns: readonly string[], ofRow: (row: unknown) => A) =>
    async () => {
      const row: unknown = await ownOrders(knex, owner).where({ id }).first(columns)
      return O.map(ofRow)(O.fromNullable(row))
    }
  return {
    jobs: due,
    store: {
      record: (owner, order) =>
        attemptEither('orders.record', () => record(parts, recordInBatch, owner, order)),
      find: (owner, id) => attempt('orders.find', find(owner, id, orderColumns, orderOfRow)),
      list: (owner, program, query, now) =>
        attempt('orders.list', () => listOrders(knex, owner, program, query, now)),
      placement: (owner, id) =>
        attempt('orders.placement', find(owner, id, placementColumns, placementOfRow)),
      advance: (owner, from, step, now) =>
        attempt('orders.advance', () => advance(parts, owner, from, step, now)),
      othersTickets: (owner, placement) =>
        attempt('orders.othersTickets', () => readOthersTickets(knex, owner, placement)),
    },
  }
}

const ownOrders = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('orders').where({ tenant_id: tenantId, user_id: userId })

// An order with limits holds the locks of its account and desks, so it has a transaction of its
// own. All others share one with those that come at once.
const record = async (
  parts: StoreParts,
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

// When the database refuses one order of a batch, each is recorded alone, so that the others are
// not refused with it.
const recordTogether = async (
  parts: StoreParts,
  orders: readonly OrderToRecord[],
): Promise<readonly Verdict[]> => {
  const verdicts = await recordOrders(parts, orders).catch((error: unknown) => {
    if (orders.length === 1 || !isDataFault(error)) throw error
    return recordEach(parts, orders)
  })
  parts.events?.handOver()
  parts.onRecorded(orders.filter((_, index) => verdicts[index]?._tag === 'Right'))
  return verdicts
}

const recordEach = async (
  parts: StoreParts,
  orders: readonly OrderToRecord[],
): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  for (const order of orders) {
    const [verdict] = await recordOrders(parts, [order]).catch((error: unknown) => [
      E.left(toServiceUnavailable('orders.record')(error)),
    ])
    verdicts.push(verdict as Verdict)
  }
  return verdicts
}

// The version stands for everything that the caller read of the order, so that nothing has to be
// read again.
const advance = async (
  { knex, events }: StoreParts,
  owner: Owner,
  from: OrderPlacement,
  step: PlacementStep,
  now: number,
): Promise<boolean> => {
  const after = step.outcome === undefined ? from.order : settle(from.order, step.outcome, now)
  if (after === from.order) return (await updateStep(knex, owner, from, step)) > 0
  const isWritten = await knex.transaction(async (trx) => {
    if ((await updateStep(trx, owner, from, step, after)) === 0) return false
    if (from.order.status === 'pending')
      await trx('order_counters')
        .where({ tenant_id: owner.tenantId, user_id: owner.userId })
        .decrement('pending')
    await events?.recordWithin(
      trx,
      settlementEvents(after).map((event) => ({ owner, event })),
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
    .whereRaw('sent_at is not distinct from ?::timestamptz', [
      'sentAt' in before ? toTimestamptz(before.sentAt) : null,
    ])
    .update({
      ...stepColumnsOf(placement),
      ...(outcome && { ...outcomeColumnsOf(outcome), settled_at: knex.fn.now() }),
      ...(finish && { finished_by: finish.by, finish_reason: finish.reason }),
      version: version + 1,
      due_at:
        continueInMs === null ? null : knex.raw(`now() + ? * interval '1 ms'`, [continueInMs]),
    })

const readOthersTickets = async (
  knex: Knex,
  owner: Owner,
  { order, destination }: OrderPlacement,
): Promise<readonly string[]> => {
  const created = toTimestamptz(order.createdAt)
  const rows: { readonly position_id: string | null; readonly broker_order_id: string | null }[] =
    await ownOrders(knex, owner)
      .whereRaw(
        `created_at between ?::timestamptz - interval '1 day' and ?::timestamptz + interval '1 day'`,
        [created, created],
      )
      .where({ destination_account: destination.providerAccountId })
      .whereNot({ id: order.id })
      .select('position_id', 'broker_order_id')
  return rows.flatMap((row) =>
    [row.position_id, row.broker_order_id].filter((ticket) => ticket !== null),
  )
}
