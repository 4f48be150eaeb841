// Passes due orders to `processOrder`, on the instance that claims them. An order that this instance
// has just recorded, or that it retries, is passed on from memory, without reading the table.
import { maxSendAgeMs } from '@tradeport/domain/orders'
import { hourMs, minuteMs, secondMs } from '@tradeport/domain/primitives'
import type { NewOrder, OrderJob, OrderJobs, Stopwatch } from '@tradeport/domain/ports'
import {
  workOnDueRows,
  type ClaimRequest,
  type DueRowsWorker,
  type WorkerDependencies,
} from '../connection/due-rows.ts'
import {
  deleteSome,
  rowsAtOnce,
  startUpkeep,
  together,
  updateSome,
} from '../connection/repeating.ts'
import { databaseRun, query, sql, type Sql } from '../connection/sql.ts'
import { isBrokerAccount } from '../credentials/account-store.ts'
import { purgeRemoved } from '../operator/removals.ts'
import { purgeKeys } from './idempotency-store.ts'
import { haltsOfAccount, storedOrders } from './order-row.ts'

export const dueOrdersQueue = 'orders'

/** For how long a claimed order stays with its process without being written. */
const claimMs = 15 * secondMs
/**
 * For how long a recorded order is left to the process that recorded it, which sends it without a
 * lookup first.
 */
const headStartMs = 3 * secondMs
const maxPerTenant = 250
const strandedMs = 30 * secondMs
const unwatchedMs = 5 * minuteMs
const haltedMs = minuteMs

export interface DueOrdersDependencies extends WorkerDependencies {
  readonly stopwatch: Stopwatch
  /** If false, halts keep no order from being sent. */
  readonly obeysHalts: boolean
}

export interface DueOrders extends OrderJobs {
  /** Begins work on orders that this process has just recorded. */
  readonly workOnRecorded: (orders: readonly NewOrder[]) => void
}

export const createDueOrders = (dependencies: DueOrdersDependencies): DueOrders => {
  const { knex, log } = dependencies
  let worker: DueRowsWorker<OrderJob> | undefined
  return {
    workOnRecorded: (orders) => {
      for (const { order, destination, sendDeadlineMs, databaseRun } of orders)
        worker?.workOn({
          order,
          destination,
          sendDeadlineMs,
          databaseRun,
          placement: { step: 'recorded' },
          version: 1,
          sentBefore: 'no',
        })
    },
    wake: () => worker?.wake(),
    work: async (process) => {
      worker = workOnDueRows<OrderJob>(dependencies, {
        name: dueOrdersQueue,
        logNames: { poll: 'due_orders', work: 'order_processing' },
        pollMs: (idleMs) => (idleMs < minuteMs ? 500 : 2_000),
        maxInProgress: 1_000,
        maxPerShare: maxPerTenant,
        maxPerClaim: 100,
        keyOf: ({ order, version }) => `${order.id}:${version}`,
        shareOf: ({ order }) => order.owner.tenantId,
        claim: (request) => claimDue(dependencies, request),
        work: process,
      })
      const upkeep = startUpkeep(knex, log, [
        {
          logName: 'stranded_orders',
          everyMs: strandedMs,
          statements: () => [strandedOrders],
        },
        {
          logName: 'unwatched_orders',
          everyMs: unwatchedMs,
          statements: () => [unwatchedOrders],
          // An order that its lookup leaves open is found again: only a full batch is repeated.
          repeatFrom: rowsAtOnce,
        },
        {
          logName: 'halted_orders',
          everyMs: haltedMs,
          repeatFrom: rowsAtOnce,
          statements: () => (dependencies.obeysHalts ? [haltedOrders] : []),
        },
        { logName: 'removal_purge', everyMs: minuteMs, statements: () => purgeRemoved() },
        {
          logName: 'order_purge',
          everyMs: hourMs,
          statements: () => [purgeKeys, purgeOrphans],
        },
      ])
      return together(worker, upkeep)
    },
  }
}

// The age of an order by the database's clock, and this process's stopwatch from now on, limit when
// it may be sent even where wall clocks are wrong.
const claimDue = async (
  { knex, stopwatch }: DueOrdersDependencies,
  { fullShares, shares, limit }: ClaimRequest,
): Promise<readonly (() => OrderJob)[]> => {
  const claimedAtMs = stopwatch.elapsedMs()
  const rows = await query<{
    readonly age_ms: number
    readonly server_run: string
    readonly is_of_this_run: boolean
  }>(
    knex,
    sql`with due as (
        select ctid as row_id, tenant_id, due_at from orders
        where due_at <= now() and tenant_id <> all(${fullShares}::text[])
          and (step <> 'recorded' or due_at <= now() - ${headStartMs} * interval '1 ms')
        order by due_at limit ${limit} for update skip locked),
      ranked as (
        select row_id, coalesce(share.count, 0) + row_number() over (partition by tenant_id order by due_at) as rank
        from due left join json_to_recordset(${JSON.stringify(shares)}::json) as share (name text, count int)
          on name = tenant_id)
      update orders set due_at = now() + ${claimMs} * interval '1 ms'
      where ctid = any(array(select row_id from ranked where rank <= ${maxPerTenant}))
      returning ${storedOrders.columns}, ${databaseRun} as server_run,
        recorded_run = pg_postmaster_start_time() as is_of_this_run,
        (extract(epoch from now() - checked_at) * 1000)::float8 as age_ms`,
  )
  return rows.map((row) => () => ({
    ...storedOrders.read(row),
    // An order from the future was recorded before the clock was set back: how long it waited is not
    // known.
    sentBefore: row.is_of_this_run && row.age_ms >= 0 ? 'unlikely' : 'possible',
    databaseRun: row.server_run,
    sendDeadlineMs: claimedAtMs + maxSendAgeMs - row.age_ms,
  }))
}

const makeDue = (where: Sql): Sql => updateSome('orders', sql`due_at = now()`, where)

/**
 * No pause between two steps is this long: such a due time is of a clock that was set back since.
 */
const strandedOrders = makeDue(sql`
  due_at > now() + interval '70 minutes'
    or due_at > now() + interval '16 minutes' and step <> 'rechecking'
    or due_at > now() + interval '35 seconds' and step = 'recorded'`)

/**
 * The watch sees the open orders of a present user's account on MT4 or MT5 that is still linked to
 * the provider account they were sent to. All others are looked up one by one.
 */
const unwatchedOrders = makeDue(sql`
  status = 'open' and due_at is null and (is_orphaned or not exists (
    select from accounts where accounts.tenant_id = orders.tenant_id and accounts.id = orders.account_id
      and accounts.user_id = orders.user_id and accounts.provider_account_id = destination_provider_account_id and ${isBrokerAccount}))`)

/**
 * An open order of an account whose halt cancels orders is cancelled when it is found to be open,
 * and again from here where that failed or the process died.
 */
const haltedOrders = makeDue(
  sql`status = 'open' and due_at is null and exists (${haltsOfAccount} and cancel_orders)`,
)

/** Orders of users that were removed while the orders were under way. */
const purgeOrphans = deleteSome('orders', sql`is_orphaned and step = 'ended'`)
