// Sends due deliveries: to many webhooks at once, and to each webhook one after another. The
// webhook with something due is the row that is claimed. A receiver that hangs keeps only its own
// deliveries waiting.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { hourMs } from '@tradeport/domain/primitives'
import type { AttemptAnswer, DueDelivery } from '@tradeport/domain/webhooks'
import pLimit from 'p-limit'
import { workOnDueRows, type WorkerDependencies } from '../connection/due-rows.ts'
import {
  createFailureLog,
  startUpkeep,
  together,
  updateSome,
  type Stoppable,
} from '../connection/repeating.ts'
import { sql, type Sql } from '../connection/sql.ts'
import {
  createDueDeliveries,
  strandedDeliveries,
  type DueDeliveries,
  type DueDeliveriesDependencies,
  type DueWebhook,
} from './deliveries.ts'

export interface DeliveryWorkerDependencies
  extends
    WorkerDependencies,
    Omit<DueDeliveriesDependencies, 'onUnreadable' | 'leaseId' | 'leaseMs'> {
  /** How long events are kept. */
  readonly retentionDays: number
  readonly attempt: (due: DueDelivery) => Promise<AttemptAnswer>
  /** How many webhooks are sent to at once, in all and of one user. */
  readonly limits?: Readonly<Partial<Record<'fast' | 'slow', SendingLimits>>>
  /** An attempt that took longer makes its webhook slow; 5,000 by default. */
  readonly slowAfterMs?: number
  /**
   * For how long a webhook stays with its process from the claim, the end of an attempt or the
   * beginning of a replay; 45,000 by default. An attempt begins in the first quarter and ends
   * within 30 seconds, before the lease does, so that no other process sends meanwhile.
   */
  readonly leaseMs?: number
}

interface SendingLimits {
  readonly size: number
  readonly perUser: number
}

/**
 * `stop` waits only a little for attempts under way. Those that take longer are sent again by the
 * next process.
 */
export interface DeliveryWorker extends Stoppable {
  /** Looks up due deliveries now. */
  readonly wake: () => void
}

/**
 * Webhooks whose last attempt had a late answer or none have sockets of their own, and cannot use
 * up those of the others. Most attempts only wait for an answer; a thousand of them are cheap. A
 * user has at most ten webhooks.
 */
const defaultLimits = { fast: { size: 1_000, perUser: 10 }, slow: { size: 100, perUser: 2 } }
/** So that attempts which end together leave database connections to requests. */
const maxConnections = 4
/** Without these, a connection lost after an attempt would keep its webhook leased for 45 seconds. */
const retryPausesMs = [100, 1_000, 4_000]
/** How long a webhook with a backlog is sent to before others have their turn. */
const sendingMs = 2_000
const drainMs = 5_000
const strandedMs = 30_000

export const startDeliveryWorker = (dependencies: DeliveryWorkerDependencies): DeliveryWorker => {
  const { knex, log, attempt, limits = {} } = dependencies
  const { slowAfterMs = 5_000, leaseMs = 45_000, retentionDays } = dependencies
  const unreadable = createFailureLog('webhook_delivery_unreadable', log)
  const inDatabaseSlot = pLimit(maxConnections)
  const stopping = new AbortController()

  // What was written although its answer was lost changes nothing the second time.
  const write = async (work: () => Promise<unknown>): Promise<unknown> => {
    for (const pauseMs of retryPausesMs)
      try {
        return await inDatabaseSlot(work)
      } catch (error) {
        if (stopping.signal.aborted) throw error
        await setTimeout(pauseMs, undefined, { ref: false })
      }
    return inDatabaseSlot(work)
  }

  // Where this fails, the webhook is sent to again once its lease has lapsed.
  const sendForAWhile = async (
    deliveries: DueDeliveries,
    webhook: LeasedWebhook,
  ): Promise<undefined> => {
    let { leasedAtMs } = webhook
    const endsAtMs = performance.now() + sendingMs
    while (performance.now() < endsAtMs && !stopping.signal.aborted) {
      const next = await inDatabaseSlot(() => deliveries.next(webhook))
      if (next === undefined) break
      const { due, renewedAtMs = leasedAtMs } = next
      const startedAtMs = performance.now()
      // Too late to end within the lease, which is left to lapse.
      if (startedAtMs - renewedAtMs > leaseMs / 4) return
      const answer = await attempt(due)
      // `recordAttempt` renews the lease.
      leasedAtMs = performance.now()
      const durationMs = Math.round(leasedAtMs - startedAtMs)
      const isSlow = answer.responseCode === 0 || durationMs > slowAfterMs
      await write(() => deliveries.recordAttempt(due, { answer, durationMs }, isSlow))
    }
    await write(() => deliveries.endLease(webhook))
  }

  const workers = (['fast', 'slow'] as const).map((group) => {
    const { size, perUser } = limits[group] ?? defaultLimits[group]
    // With an id of its own, since a webhook may change its group while it is leased.
    const deliveries = createDueDeliveries({
      ...dependencies,
      onUnreadable: unreadable.report,
      leaseId: randomUUID(),
      leaseMs,
    })
    return workOnDueRows<LeasedWebhook>(dependencies, {
      name: `${group}-webhooks`,
      logNames: { poll: 'webhook_delivery_poll', work: 'webhook_delivery_failed' },
      pollMs: () => 500,
      maxInProgress: size,
      maxPerShare: perUser,
      // One claim could otherwise exceed a user's share of the few sockets.
      maxPerClaim: group === 'slow' ? 1 : 100,
      keyOf: ({ id }) => id,
      shareOf: ({ owner }) => owner.userId,
      claim: async (request) => {
        const leasedAtMs = performance.now()
        const claimed = await deliveries.claim(group === 'slow', request)
        return claimed.map((webhook) => () => ({ ...webhook, leasedAtMs }))
      },
      work: (webhook) => sendForAWhile(deliveries, webhook),
    })
  })
  const upkeep = startUpkeep(knex, log, [
    {
      logName: 'webhook_purge',
      everyMs: hourMs,
      statements: () => [purgeEvents(retentionDays), purgePreviousSecrets],
      onRows: ([row]) => {
        const { undelivered = 0 } = (row ?? {}) as { readonly undelivered?: number }
        if (undelivered > 0)
          log.warn({
            event: 'webhook_deliveries_expired',
            reason: `${undelivered} were never made, and deleted with their old events`,
          })
      },
    },
    {
      logName: 'stranded_deliveries',
      everyMs: strandedMs,
      statements: () => [strandedDeliveries],
    },
  ])

  return {
    wake: () => {
      for (const { wake } of workers) wake()
    },
    stop: async () => {
      stopping.abort()
      await Promise.race([
        together(...workers).stop(),
        setTimeout(drainMs, undefined, { ref: false }),
      ])
      await upkeep.stop()
    },
  }
}

/** `leasedAtMs` is by `performance.now`. */
interface LeasedWebhook extends DueWebhook {
  readonly leasedAtMs: number
}

const purgePreviousSecrets = updateSome(
  'webhooks',
  sql`previous_secret = null, previous_secret_until = null`,
  sql`previous_secret_until < now()`,
)

/**
 * Deletes old events with their deliveries, and records how far each user's log is cleared. An
 * event with a delivery that is still to be made is kept for as long again; one with a replay until
 * that has ended, and for as long again. The events of a user who is locked are left for the next
 * time, so that no other user waits for that lock. Each row has the number of the deliveries deleted
 * that were still to be made.
 */
const purgeEvents = (days: number): Sql => sql`
  with old as (
      select ctid as row_id, tenant_id, user_id from events
      where recorded_at < now() - ${days} * interval '1 day' and not exists (
        select from webhook_deliveries as d where d.tenant_id = events.tenant_id and event_id = events.id
          and (status = 'pending' and (replay_of is not null or created_at >= now() - 2 * ${days} * interval '1 day')
            or replay_of is not null and created_at >= now() - ${days} * interval '1 day')
        -- Otherwise PostgreSQL may join the whole table where its statistics are old.
        offset 0)
      order by recorded_at limit 1000 for update skip locked),
    locked as (
      select tenant_id, id as user_id from users where (tenant_id, id) in (select tenant_id, user_id from old)
      for no key update skip locked),
    cleared as (
      delete from events where ctid = any(array(select row_id from old join locked using (tenant_id, user_id)))
      returning tenant_id, user_id, id, recorded_at),
    latest as (
      select tenant_id, user_id, max(id) as id, max(recorded_at) as until from cleared group by tenant_id, user_id)
  update users set events_cleared_to = greatest(events_cleared_to, latest.id),
    events_cleared_until = greatest(events_cleared_until, latest.until)
  from latest where users.tenant_id = latest.tenant_id and users.id = latest.user_id
  returning (
    select count(*)::int from cleared join webhook_deliveries as d on d.tenant_id = cleared.tenant_id and d.event_id = cleared.id
    where d.status = 'pending') as "undelivered"`
