// Orders in PostgreSQL. Every statement names the tenant and the user.
import { outcomeEvents } from '@tradeport/domain/events'
import { isUnderWay, withStep, type OrderId, type PlacementStep } from '@tradeport/domain/orders'
import type { OrderJobs, StoredOrder, OrderStore, Stopwatch } from '@tradeport/domain/ports'
import { toUtcDay, type Instant, type Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { inBatches } from '../connection/batches.ts'
import { toTimestamptz, type Row } from '../connection/columns.ts'
import { databasePort, isDataFault, toServiceUnavailable } from '../connection/failures.ts'
import type { WorkerDependencies } from '../connection/due-rows.ts'
import {
  allOf,
  ofOwner,
  query,
  readAll,
  readFirst,
  sql,
  transactOrUnknown,
  type Selection,
} from '../connection/sql.ts'
import type { Cipher } from '../credentials/cipher.ts'
import type { EventRecorder } from '../events/events.ts'
import { createDueOrders, type DueOrdersOptions } from './due-orders.ts'
import { listOrders } from './order-list.ts'
import {
  orders,
  recordColumnsOf,
  haltsOfAccount,
  ofPresentUser,
  placements,
  rowOfNewOrder,
  databaseRun,
  stepColumnsOf,
} from './order-row.ts'
import { recordOrders, type OrderToRecord, type Verdict } from './record-orders.ts'

interface Dependencies extends WorkerDependencies {
  /** Seals kept replies that hold a secret. */
  readonly cipher: Cipher
  readonly stopwatch: Stopwatch
  /** Records events in the transaction of what they report. */
  readonly recorder?: EventRecorder | undefined
  /** If not, nothing is kept from being sent by a halt. */
  readonly obeysHalts: boolean
}

export interface OpenedOrders {
  readonly store: OrderStore
  /** Gives the store's due orders to whoever sends and follows them. */
  readonly jobs: OrderJobs
}

type StoreDependencies = Pick<Dependencies, 'knex' | 'cipher' | 'recorder' | 'obeysHalts'>

export const openOrders = (
  dependencies: Dependencies,
  options: DueOrdersOptions = {},
): OpenedOrders => {
  const { knex, recorder } = dependencies
  const due = createDueOrders({ ...dependencies, ...options })
  const outcomeReceivers = new Map<OrderId, Set<() => void>>()
  const recordTogether = async (orders: readonly OrderToRecord[]): Promise<readonly Verdict[]> => {
    const verdicts = await recordOrSplit(dependencies, orders)
    recorder?.afterCommit()
    due.workOnRecorded(orders.filter((_, index) => verdicts[index]?._tag === 'Right'))
    return verdicts
  }
  const recordInBatch = inBatches({ concurrency: 2, maxSize: 100 }, recordTogether)
  const find = <A>(owner: Owner, id: OrderId, rows: Selection<A>) =>
    readFirst(
      knex,
      sql`select ${rows.columns} from orders
        where ${ofPresentUser(owner)} and id = ${id}`,
      rows,
    )
  return {
    jobs: due,
    store: {
      ...databasePort<Omit<OrderStore, 'onOutcome'>>('orders', {
        record: async (owner, newOrder) => {
          const owned = { ...newOrder, order: { ...newOrder.order, owner } }
          const order: OrderToRecord = { ...owned, row: rowOfNewOrder(owned) }
          // An order with limits holds the locks of its account and desks, so it has a transaction of
          // its own. All others share one with those that come at once.
          if (order.openPositions === undefined) return recordInBatch(order)
          const [verdict] = await recordTogether([order])
          return verdict as Verdict
        },
        counts: async (owner, now) => {
          const [counted] = await query<{ readonly today: number; readonly underWay: number }>(
            knex,
            sql`select case when day = ${toUtcDay(now)}::date then created else 0 end as today, pending as "underWay"
            from order_counters where ${ofOwner(owner)}`,
          )
          return counted ?? { today: 0, underWay: 0 }
        },
        find: (owner, id) => find(owner, id, orders),
        list: (owner, program, query, now) => listOrders(knex, owner, program, query, now),
        placement: (owner, id) => find(owner, id, placements),
        advance: async (owner, from, step, now) => {
          const isWritten = await advance(dependencies, owner, from, step, now)
          if (isWritten && withStep(from.order, step, now).status !== from.order.status)
            for (const receive of outcomeReceivers.get(from.order.id) ?? []) receive()
          return isWritten
        },
        othersTickets: async (owner, { order, destination }) => {
          const created = toTimestamptz(order.createdAt)
          const rows = await query<{ readonly tickets: readonly string[] }>(
            knex,
            sql`select array_remove(array[position_id, broker_order_id], null) as tickets from orders
            where ${ofOwner(owner)}
              and created_at between ${created}::timestamptz - interval '1 day' and ${created}::timestamptz + interval '1 day'
              and destination_provider_account_id = ${destination.providerAccountId} and id <> ${order.id}`,
          )
          return rows.flatMap(({ tickets }) => tickets)
        },
        openOrders: (owner, accountId) =>
          readAll(
            knex,
            sql`select ${placements.columns} from orders
              where ${ofPresentUser(owner)} and account_id = ${accountId} and status = 'open'
              order by created_at, sequence`,
            placements,
          ),
      }),
      onOutcome: (id, receive) => {
        const receivers = outcomeReceivers.get(id) ?? new Set()
        outcomeReceivers.set(id, receivers.add(receive))
        return () => {
          receivers.delete(receive)
          if (receivers.size === 0) outcomeReceivers.delete(id)
        }
      },
    },
  }
}

// When the database refuses one order of a batch, each is recorded alone, so that the others are
// not refused with it.
const recordOrSplit = async (
  dependencies: StoreDependencies,
  batch: readonly OrderToRecord[],
): Promise<readonly Verdict[]> => {
  try {
    return await recordOrders(dependencies, batch)
  } catch (error) {
    if (batch.length === 1) return [E.left(toServiceUnavailable('orders.record')(error))]
    if (!isDataFault(error)) throw error
    const verdicts: Verdict[] = []
    for (const order of batch) verdicts.push(...(await recordOrSplit(dependencies, [order])))
    return verdicts
  }
}

// The version proves that the order is still as the caller read it, so that nothing is read again.
const advance = async (
  { knex, recorder, obeysHalts }: StoreDependencies,
  owner: Owner,
  from: StoredOrder,
  step: PlacementStep,
  now: Instant,
): Promise<boolean> => {
  const after = withStep(from.order, step, now)
  if (after === from.order)
    return (await updateStep({ knex, obeysHalts }, owner, from, step, {})) !== undefined
  const isWritten = await transactOrUnknown(knex, async (trx) => {
    const endedAt = isUnderWay(after) ? null : trx.fn.now()
    const changed = { ...recordColumnsOf(after), ended_at: endedAt }
    const written = await updateStep({ knex: trx, obeysHalts }, owner, from, step, changed)
    if (written === undefined) return false
    // The order's user was removed, and its counts and events with it. Another may have the same id.
    if (written.is_orphaned) return true
    const counted = Number(isUnderWay(after)) - Number(isUnderWay(from.order))
    if (counted !== 0)
      await query(
        trx,
        sql`update order_counters set pending = pending + ${counted}
          where ${ofOwner(owner)}`,
      )
    await recorder?.recordWithin(
      trx,
      outcomeEvents(after).map((event) => ({ owner, event })),
    )
    return true
  })
  if (isWritten) recorder?.afterCommit()
  return isWritten
}

const updateStep = async (
  { knex, obeysHalts }: Pick<StoreDependencies, 'knex' | 'obeysHalts'>,
  { tenantId, userId }: Owner,
  { order, placement: before, version, databaseRun: expectedRun }: StoredOrder,
  { placement, continueInMs, finish }: PlacementStep,
  more: Row,
): Promise<{ readonly is_orphaned: boolean } | undefined> => {
  const mayBeWritten = allOf(
    sql`step <> 'ended' and ${databaseRun} = coalesce(${expectedRun ?? null}, ${databaseRun})`,
    // After a failover that lost writes a version number can be used twice.
    sql`sent_at is not distinct from ${'sentAt' in before ? toTimestamptz(before.sentAt) : null}::timestamptz`,
    obeysHalts && placement.step === 'sending' && sql`not exists (${haltsOfAccount})`,
  )
  const [updated] = await knex('orders')
    .where({ tenant_id: tenantId, user_id: userId, id: order.id, version })
    .whereRaw(mayBeWritten.text, mayBeWritten.bindings)
    .update({
      ...stepColumnsOf(placement, order),
      ...more,
      ...(finish && { finished_by: finish.by, finish_reason: finish.reason }),
      version: version + 1,
      due_at:
        continueInMs === null ? null : knex.raw(`now() + ? * interval '1 ms'`, [continueInMs]),
    })
    .returning('is_orphaned')
  return updated
}
