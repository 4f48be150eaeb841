// Orders in PostgreSQL. Every statement names the tenant and the user.
import { outcomeEvents } from '@tradeport/domain/events'
import {
  isUnderWay,
  withTransition,
  type Order,
  type OrderId,
  type PendingOrder,
  type Transition,
} from '@tradeport/domain/orders'
import type {
  OrderJobs,
  OrdersQuery,
  OrderStore,
  RecordRefusal,
  StoredOrder,
} from '@tradeport/domain/ports'
import { secondMs, toUtcDay, type Owner, type Page } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { inBatches } from '../connection/batches.ts'
import { toTimestamptz, type Row } from '../connection/columns.ts'
import { DescribedError, databasePort, isDataFault, isLockTimeout } from '../connection/failures.ts'
import { createFairPool } from '../connection/fair-pool.ts'
import {
  allOf,
  databaseRun,
  isOfOwner,
  query,
  readAll,
  selectFirst,
  sql,
  transactOrUnknown,
  type Selection,
} from '../connection/sql.ts'
import type { SealingDependencies } from '../credentials/cipher.ts'
import type { RecordingDependencies } from '../events/events.ts'
import { createDueOrders, type DueOrdersDependencies } from './due-orders.ts'
import {
  orders,
  orderRowOf,
  callersText,
  haltsOfAccount,
  ofPresentUser,
  storedOrders,
  rowOfNewOrder,
  placementRowOf,
} from './order-row.ts'
import { OrderRefused, recordOrders, type OrderToRecord } from './record-orders.ts'

type Dependencies = DueOrdersDependencies & RecordingDependencies & SealingDependencies

export interface OpenedOrderStore {
  readonly store: OrderStore
  /** The worker of the store's due orders. */
  readonly jobs: OrderJobs
}

type Verdict = E.Either<RecordRefusal, PendingOrder>

/** Orders that are recorded alone leave database connections to everything else. */
const aloneLimits = { size: 4, perTenant: 3, perMember: 1 }
const alonePatienceMs = 10 * secondMs
const aloneLockTimeoutMs = 5 * secondMs
const batchLockTimeoutMs = 500

export const openOrderStore = (dependencies: Dependencies): OpenedOrderStore => {
  const { knex } = dependencies
  const due = createDueOrders(dependencies)
  const outcomeReceivers = new Map<OrderId, Set<() => void>>()
  const record = async (orders: readonly OrderToRecord[], lockTimeoutMs: number) => {
    await recordOrders(dependencies, orders, lockTimeoutMs)
    due.workOnRecorded(orders)
  }
  const alone = createFairPool(aloneLimits)
  const recordAlone = async (order: OrderToRecord): Promise<Verdict> => {
    const { tenantId: tenant, userId: member } = order.order.owner
    const release = await alone.acquire({ tenant, member }, alonePatienceMs)
    if (release === undefined) throw new DescribedError('other orders were recorded for too long')
    try {
      await record([order], aloneLockTimeoutMs)
      return E.right(order.order)
    } catch (error) {
      if (error instanceof OrderRefused) return E.left(error.refusal)
      throw error
    } finally {
      release()
    }
  }
  const recordInBatch = inBatches<OrderToRecord, Verdict>(
    { concurrency: 2, maxSize: 100 },
    async (orders) => {
      try {
        await record(orders, batchLockTimeoutMs)
        return orders.map(({ order }) => E.right(order))
      } catch (error) {
        // None is recorded, because one was refused or waited for a lock. Each is recorded alone
        // now, so that this one delays neither the others nor the next batches.
        if (error instanceof OrderRefused || isDataFault(error) || isLockTimeout(error))
          return orders.map(recordAlone)
        throw error
      }
    },
  )
  const find = <A>(owner: Owner, id: OrderId, rows: Selection<A>) =>
    selectFirst(
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
          // Where limits apply, the open positions are given, and the transaction holds the locks of
          // the account and its desks: such an order is recorded alone. All others share a
          // transaction with those that come at the same time.
          return order.openPositions === undefined ? recordInBatch(order) : recordAlone(order)
        },
        counts: async (owner, now) => {
          const [counted] = await query<{ readonly today: number; readonly underWay: number }>(
            knex,
            sql`select case when day = ${toUtcDay(now)}::date then created else 0 end as today, pending as "underWay"
            from order_counters where ${isOfOwner(owner)}`,
          )
          return counted ?? { today: 0, underWay: 0 }
        },
        find: (owner, id) => find(owner, id, orders),
        list: (owner, query) => listOrders(knex, owner, query),
        findStored: (owner, id) => find(owner, id, storedOrders),
        advance: async (owner, from, transition, now) => {
          const after = withTransition(from.order, transition, now)
          const isWritten = await advance(dependencies, owner, from, after, transition)
          if (isWritten && after.status !== from.order.status)
            for (const receive of outcomeReceivers.get(from.order.id) ?? []) receive()
          return isWritten
        },
        ticketsOfOtherOrders: async (owner, { order, destination }) => {
          const created = toTimestamptz(order.createdAt)
          const rows = await query<{ readonly tickets: readonly string[] }>(
            knex,
            sql`select array_remove(array[position_id, broker_order_id], null) as tickets from orders
            where ${isOfOwner(owner)}
              and (created_at between ${created}::timestamptz - interval '1 day' and ${created}::timestamptz + interval '1 day'
                or created_at > now() - interval '2 days')
              and destination_provider_account_id = ${destination.providerAccountId} and id <> ${order.id}`,
          )
          return rows.flatMap(({ tickets }) => tickets)
        },
        openOrders: (owner, accountId) =>
          readAll(
            knex,
            sql`select ${storedOrders.columns} from orders
              where ${ofPresentUser(owner)} and account_id = ${accountId} and status = 'open'
              order by created_at, sequence`,
            storedOrders,
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

// One statement reads a page and its count, so that both are of the same moment.
const listOrders = async (
  knex: Knex,
  owner: Owner,
  { page, limit, accountId, status, symbol, clientId, from, to }: OrdersQuery,
): Promise<Page<Order>> => {
  const matching = allOf(
    ofPresentUser(owner),
    accountId !== undefined && sql`account_id = ${accountId}`,
    status !== undefined && sql`status = ${status}`,
    symbol !== undefined && sql`symbol = ${symbol}`,
    clientId !== undefined && sql`client_id = ${callersText.encode(clientId)}`,
    from !== undefined && sql`created_at >= ${toTimestamptz(from)}`,
    to !== undefined && sql`created_at <= ${toTimestamptz(to)}`,
  )
  // A page beyond the last still has its count.
  const rows = await query<{ readonly total: number; readonly id: string | null }>(
    knex,
    sql`with counted as (select count(*)::int as total from orders where ${matching})
      select counted.total, ${orders.columns} from counted left join (
        select * from orders where ${matching} order by created_at desc, sequence desc
        limit ${limit} offset ${Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)}) as orders on true
      order by orders.created_at desc, orders.sequence desc`,
  )
  return {
    data: rows.filter(({ id }) => id !== null).map(orders.read),
    pagination: { page, limit, total: rows[0]?.total ?? 0 },
  }
}

// The version proves that the order is still as the caller read it, so that nothing is read again.
const advance = async (
  { knex, recorder, obeysHalts }: Dependencies,
  owner: Owner,
  from: StoredOrder,
  after: Order,
  transition: Transition,
): Promise<boolean> => {
  const { placement, continueInMs, finish } = transition
  const mayBeWritten = allOf(
    sql`step <> 'ended' and ${databaseRun} = coalesce(${from.databaseRun ?? null}, ${databaseRun})`,
    // After a failover that lost writes a version number can be used twice: compare more than it.
    sql`sent_at is not distinct from ${'sentAt' in from.placement ? toTimestamptz(from.placement.sentAt) : null}::timestamptz`,
    obeysHalts && placement.step === 'sending' && sql`not exists (${haltsOfAccount})`,
  )
  const update = async (db: Knex, changes: Row) => {
    const [updated]: readonly { readonly is_orphaned: boolean }[] = await db('orders')
      .where({
        tenant_id: owner.tenantId,
        user_id: owner.userId,
        id: from.order.id,
        version: from.version,
      })
      .whereRaw(mayBeWritten.text, mayBeWritten.bindings)
      .update({
        ...changes,
        ...placementRowOf(placement, from.order),
        ...(finish && { finished_by: finish.by, finish_reason: finish.reason }),
        version: from.version + 1,
        due_at:
          continueInMs === null ? null : db.raw(`now() + ? * interval '1 ms'`, [continueInMs]),
      })
      .returning('is_orphaned')
    return updated
  }
  if (after === from.order) return (await update(knex, {})) !== undefined
  return transactOrUnknown(knex, async (trx) => {
    const endedAt = isUnderWay(after) ? null : trx.fn.now()
    const written = await update(trx, { ...orderRowOf(after), ended_at: endedAt })
    if (written === undefined) return false
    // The order's user was removed, and its counts and events with it. Another user may have the
    // same id now.
    if (written.is_orphaned) return true
    const counted = Number(isUnderWay(after)) - Number(isUnderWay(from.order))
    if (counted !== 0)
      await query(
        trx,
        sql`update order_counters set pending = pending + ${counted}
          where ${isOfOwner(owner)}`,
      )
    await recorder?.recordWithin(
      trx,
      outcomeEvents(after).map((event) => ({ owner, event })),
    )
    return true
  })
}
