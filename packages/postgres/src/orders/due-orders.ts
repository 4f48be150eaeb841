// Gives due orders to whoever processes them. The order's row is the job: a process claims it by
// moving its due time a lease ahead, and one that dies leaves the row due again. Orders that this
// process records are given out at once, and those that it wants to retry after their pause,
// without reading the table.
import { setTimeout } from 'node:timers/promises'
import { placementWindowMs } from '@tradeport/domain/orders'
import { minuteMs, secondMs } from '@tradeport/domain/primitives'
import type { NewOrder, OrderJob, OrderJobs, OrderRetry, Stopwatch } from '@tradeport/domain/ports'
import type { Knex } from 'knex'
import type { Jobs } from '../connection/jobs.ts'
import { repeating, tellingOnce } from '../connection/repeating.ts'
import { purgeKeys } from './idempotency-store.ts'
import { purgeOrderLists } from './order-list.ts'
import { placementColumns, placementOfRow, serverRun } from './order-row.ts'

export const dueOrdersQueue = 'orders'

/** How long an order that was claimed stays with its process without being written. */
const claimMs = 15 * secondMs
/**
 * For how long a recorded order that is due is left to the process that has it in memory, which
 * need not look it up before it sends it.
 */
const ownMs = 3 * secondMs
const perClaim = 100
const maxInProgress = 1_000
/** Of one tenant, so that a tenant whose accounts hang leaves room for others. */
const maxInProgressPerTenant = 250
const purgeMs = 60 * minuteMs
const strandedMs = 30 * secondMs

export interface DueOrdersOptions {
  /** How often the table is read while there is something to do; 500 when left out. */
  readonly pollMs?: number
  /** How often while nothing has been due for a minute; 2,000 when left out. */
  readonly idlePollMs?: number
}

interface Parts extends DueOrdersOptions, Pick<Jobs, 'knex' | 'log' | 'pulse'> {
  readonly stopwatch: Stopwatch
}

export interface DueOrders extends OrderJobs {
  /** Gives out orders that this process has just recorded. */
  readonly offer: (orders: readonly NewOrder[]) => void
}

export const createDueOrders = (parts: Parts): DueOrders => {
  const workers = new Set<Worker>()
  return {
    offer: (orders) => {
      const [worker] = workers
      for (const { order, destination, sendUntilMs, serverRun } of orders)
        worker?.begin({
          order,
          destination,
          sendUntilMs,
          serverRun,
          placement: { step: 'recorded' },
          version: 1,
          isOwn: true,
        })
    },
    work: async (handle) => {
      const worker = startWorker(parts, handle)
      workers.add(worker)
      return {
        stop: async () => {
          workers.delete(worker)
          await worker.stop()
        },
      }
    },
  }
}

interface Worker {
  readonly begin: (job: OrderJob) => void
  readonly stop: () => Promise<void>
}

const startWorker = (
  parts: Parts,
  handle: (job: OrderJob) => Promise<OrderRetry | undefined>,
): Worker => {
  const { knex, log, pulse, pollMs = 500, idlePollMs = 2_000 } = parts
  const failures = tellingOnce('order_processing', log)
  const inProgress = new Map<string, { readonly tenant: string; done: Promise<void> }>()
  const ending = new AbortController()
  let lastBegunAt = -Infinity

  const run = async (key: string, job: OrderJob, inMs: number): Promise<void> => {
    try {
      if (inMs > 0)
        await setTimeout(inMs, undefined, { signal: ending.signal }).catch(() => undefined)
      // What waits stays due, for another process or after the next start.
      const retry = ending.signal.aborted ? undefined : await handle(job)
      failures.forget()
      inProgress.delete(key)
      if (retry !== undefined) begin(retry.job, retry.inMs)
    } catch (error) {
      failures.tell(error)
      inProgress.delete(key)
    }
  }

  const begin = (job: OrderJob, inMs = 0): void => {
    const key = `${job.order.id}:${job.version}`
    lastBegunAt = performance.now()
    // Already running here. The new claim has just extended its lease.
    if (inProgress.has(key)) return
    // Entered before it runs, since it may end at once.
    const entry = { tenant: job.order.owner.tenantId, done: Promise.resolve() }
    inProgress.set(key, entry)
    entry.done = run(key, job, inMs)
  }

  pulse.beat(dueOrdersQueue)
  const pauseMs = (): number =>
    inProgress.size > 0 || performance.now() - lastBegunAt < minuteMs ? pollMs : idlePollMs
  const poll = repeating(pauseMs, 'due_orders', log, async () => {
    const byTenant = Map.groupBy(inProgress.values(), ({ tenant }) => tenant)
    const busyTenants = [...byTenant]
      .filter(([, { length }]) => length >= maxInProgressPerTenant)
      .map(([tenant]) => tenant)
    // Beyond its share a tenant takes no room from others, however many orders it has just
    // recorded.
    const used = [...byTenant.values()].reduce(
      (sum, { length }) => sum + Math.min(length, maxInProgressPerTenant),
      0,
    )
    const room = Math.min(perClaim, maxInProgress - used)
    const claimed = room > 0 ? await claimDue(parts, busyTenants, room) : []
    pulse.beat(dueOrdersQueue)
    for (const job of claimed) begin(job)
    if (claimed.length === room && room > 0) poll.again()
  })
  const upkeep = [
    repeating(strandedMs, 'stranded_orders', log, () => bringForward(knex)),
    repeating(purgeMs, 'idempotency_purge', log, () => purgeKeys(knex)),
    repeating(purgeMs, 'order_list_purge', log, () => purgeOrderLists(knex)),
    repeating(purgeMs, 'orphaned_order_purge', log, () => purgeOrphans(knex)),
  ]

  return {
    begin,
    stop: async () => {
      ending.abort()
      await Promise.all([poll, ...upkeep].map(({ stop }) => stop()))
      pulse.end(dueOrdersQueue)
      // One that ends may begin its retry, which ends at once.
      while (inProgress.size > 0)
        await Promise.all([...inProgress.values()].map(({ done }) => done))
    },
  }
}

// The age of an order by the database's clock, and this process's stopwatch from now on, bound when
// it may be sent even where wall clocks are wrong.
const claimDue = async (
  { knex, stopwatch }: Parts,
  busyTenants: readonly string[],
  limit: number,
): Promise<readonly OrderJob[]> => {
  const claimedAtMs = stopwatch.elapsedMs()
  const rows: { readonly age_ms: number; readonly server_run: string }[] = await knex('orders')
    .whereRaw(
      `(tenant_id, id) in (
        select tenant_id, id from orders
        where due_at <= now() and tenant_id <> all(?::text[])
          and (step <> 'recorded' or due_at <= now() - ? * interval '1 ms')
        order by due_at limit ? for update skip locked)`,
      [[...busyTenants], ownMs, limit],
    )
    .update({ due_at: knex.raw(`now() + ? * interval '1 ms'`, [claimMs]) })
    .returning([
      ...placementColumns,
      knex.raw(`(extract(epoch from now() - checked_at) * 1000)::float8 as age_ms`),
      knex.raw(`${serverRun} as server_run`),
    ])
  return rows.map((row) => ({
    ...placementOfRow(row),
    isOwn: false,
    serverRun: row.server_run,
    sendUntilMs: claimedAtMs + placementWindowMs - row.age_ms,
  }))
}

/**
 * No pause between two steps is this long, so such a due time was set before the database's clock
 * was set back.
 */
const bringForward = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `update orders set due_at = now()
     where due_at > now() + interval '16 minutes' and (step <> 'rechecking' or due_at > now() + interval '70 minutes')`,
  )
}

/** Orders of users that were removed while the orders were under way. */
const purgeOrphans = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `delete from orders where is_orphaned and step = 'settled'
       and not exists (select 1 from users where users.tenant_id = orders.tenant_id and users.id = orders.user_id)`,
  )
}
