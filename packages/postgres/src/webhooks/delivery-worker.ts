// Sends due deliveries: to many webhooks at once, and to each webhook one after another. A receiver
// that hangs keeps only its own deliveries waiting.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Clock, DueDelivery } from '@tradeport/domain/ports'
import type { WebhookId } from '@tradeport/domain/primitives'
import type { AttemptAnswer } from '@tradeport/domain/webhooks'
import { createFairPool, type FairPool, type FairPoolLimits } from '../connection/fair-pool.ts'
import type { Jobs } from '../connection/jobs.ts'
import { createFailureLog, repeating } from '../connection/repeating.ts'
import { query, sql, type Sql } from '../connection/sql.ts'
import {
  createDueDeliveries,
  responsivenesses,
  type DueDeliveriesParts,
  type DueWebhook,
  type Responsiveness,
} from './deliveries.ts'

export interface DeliveryWorkerOptions {
  /** How many webhooks are sent to at once, in all and of one user. */
  readonly limits?: Partial<Record<Responsiveness, SendingLimits>>
  /** An attempt that took longer makes its webhook `slow`; 5,000 by default. */
  readonly promptMs?: number
  /** How often due deliveries are looked up; 500 by default. */
  readonly pollMs?: number
  /**
   * How long another process waits before it takes over from one that no longer renews its leases;
   * 10,000 by default.
   */
  readonly leaseMs?: number
  /** How often leases are renewed; 3,000 by default. */
  readonly renewMs?: number
  /** How long events are kept; 30 by default. */
  readonly retentionDays?: number
}

interface SendingLimits {
  readonly size: number
  readonly perUser: number
}

interface Parts extends Omit<DueDeliveriesParts, 'sender' | 'leaseMs'>, DeliveryWorkerOptions {
  readonly log: Jobs['log']
  readonly pulse: Jobs['pulse']
  readonly clock: Clock
  readonly attempt: (due: DueDelivery) => Promise<AttemptAnswer>
}

export interface DeliveryWorker {
  /** Looks up due deliveries now. */
  readonly wake: () => void
  /**
   * Starts nothing more, and waits a little for attempts under way. Those that take longer are sent
   * again by the next process.
   */
  readonly stop: () => Promise<void>
}

/**
 * Each group has sockets of its own, so that neither slow receivers nor new ones that turn out to
 * hang can use those of receivers that answer. A user has at most ten webhooks. Most attempts only
 * wait for an answer; a thousand of them are cheap.
 */
const defaultLimits: Record<Responsiveness, SendingLimits> = {
  prompt: { size: 500, perUser: 10 },
  untried: { size: 1_000, perUser: 10 },
  slow: { size: 100, perUser: 2 },
}
/** So that attempts which end together leave database connections to requests. */
const connectionLimits: FairPoolLimits = { size: 4, perTenant: 2, perAccount: 1 }
/** How many webhooks of a group wait in memory; the others wait in the database. */
const maxWaiting = 1_000
const maxFound = 500
/** After so many deliveries other webhooks have their turn. */
const deliveriesPerTurn = 20
const patienceMs = 60_000
const failurePauseMs = 2_000
const drainMs = 5_000
const purgeMs = 60 * 60 * 1_000
const pulseName = 'webhook-deliveries'

export const startDeliveryWorker = (parts: Parts): DeliveryWorker => {
  const { knex, log, pulse, clock, attempt } = parts
  const { limits = {}, promptMs = 5_000, pollMs = 500, leaseMs = 10_000, renewMs = 3_000 } = parts
  const { retentionDays = 30 } = parts
  const deliveries = createDueDeliveries({ ...parts, sender: randomUUID(), leaseMs })
  const poolOf = (group: Responsiveness): FairPool => {
    const { size, perUser } = limits[group] ?? defaultLimits[group]
    return createFairPool({ size, perTenant: perUser, perAccount: 1 })
  }
  const pools = { prompt: poolOf('prompt'), untried: poolOf('untried'), slow: poolOf('slow') }
  const connections = createFairPool(connectionLimits)
  const failures = createFailureLog('webhook_delivery_failed', log, 'it is tried again')
  const stopping = new AbortController()
  /** Webhooks that wait for their turn here, have it, or failed a moment ago. */
  const inProgress = new Set<WebhookId>()
  const turns = new Map<WebhookId, Promise<void>>()

  const withConnection = async <A>(webhook: DueWebhook, query: () => Promise<A>): Promise<A> => {
    const release = await connections.acquire(poolKey(webhook), patienceMs)
    if (release === undefined) throw new Error('no database connection came free')
    return query().finally(release)
  }

  /** How the receiver answered; undefined where nothing is due. */
  const sendNext = async (webhook: DueWebhook): Promise<Responsiveness | undefined> => {
    const due = await withConnection(webhook, () => deliveries.next(webhook, clock.now()))
    if (due === undefined) return undefined
    const startedAt = clock.now()
    const started = performance.now()
    const answer = await attempt(due)
    const isPrompt = answer.responseCode !== 0 && performance.now() - started <= promptMs
    const responsiveness = isPrompt ? 'prompt' : 'slow'
    const made = { answer, startedAt, endedAt: clock.now() }
    await withConnection(webhook, () => deliveries.recordAttempt(due, made, responsiveness))
    return responsiveness
  }

  // Ends early when the webhook has moved to another pool.
  const sendTurn = async (webhook: DueWebhook): Promise<void> => {
    if (stopping.signal.aborted) return
    if (!(await withConnection(webhook, () => deliveries.lease(webhook)))) return
    try {
      for (let count = 0; count < deliveriesPerTurn && !stopping.signal.aborted; count++)
        if ((await sendNext(webhook)) !== webhook.responsiveness) return
    } finally {
      await withConnection(webhook, () => deliveries.endLease(webhook))
    }
  }

  const deliver = async (webhook: DueWebhook): Promise<void> => {
    const { webhookId, responsiveness } = webhook
    inProgress.add(webhookId)
    try {
      const release = await pools[responsiveness].acquire(poolKey(webhook), patienceMs)
      if (release !== undefined) {
        const turn = sendTurn(webhook).finally(release)
        turns.set(webhookId, turn)
        await turn
      }
      failures.reset()
    } catch (error) {
      failures.report(error)
      await setTimeout(failurePauseMs, undefined, { signal: stopping.signal }).catch(
        () => undefined,
      )
    }
    turns.delete(webhookId)
    inProgress.delete(webhookId)
    // More may have been recorded while the lease hid the webhook from polls.
    poll.again()
  }

  pulse.beat(pulseName)
  const poll = repeating(pollMs, 'webhook_delivery_poll', log, async () => {
    const withRoom = responsivenesses.filter((group) => pools[group].waiting() < maxWaiting)
    const found = await deliveries.findWebhooks(clock.now(), {
      responsivenesses: withRoom,
      except: [...inProgress],
      limit: maxFound,
    })
    pulse.beat(pulseName)
    for (const webhook of found) void deliver(webhook)
    if (found.length === maxFound) poll.again()
  })
  const upkeep = [
    repeating(renewMs, 'webhook_delivery_lease', log, async () => {
      if (turns.size > 0) await deliveries.renewLeases([...turns.keys()])
    }),
    repeating(purgeMs, 'webhook_delivery_purge', log, () =>
      query(knex, purgeEvents(retentionDays)),
    ),
  ]

  return {
    wake: poll.again,
    stop: async () => {
      stopping.abort()
      await poll.stop()
      pulse.end(pulseName)
      await Promise.race([
        Promise.allSettled(turns.values()),
        setTimeout(drainMs, undefined, { ref: false }),
      ])
      await Promise.all(upkeep.map(({ stop }) => stop()))
    },
  }
}

/**
 * Deletes old events with their deliveries. An event with a replay is kept until the replay has
 * ended, and for as long again.
 */
const purgeEvents = (days: number): Sql => sql`
  delete from events where recorded_at < now() - ${days} * interval '1 day' and not exists (
    select from webhook_deliveries as d where d.tenant_id = events.tenant_id and event_sequence = events.sequence
      and replay_of is not null and (status = 'pending' or created_at >= now() - ${days} * interval '1 day'))`

const poolKey = ({ owner, webhookId }: DueWebhook) => ({
  tenant: JSON.stringify([owner.tenantId, owner.userId]),
  account: webhookId,
})
