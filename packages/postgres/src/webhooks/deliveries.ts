// Deliveries of events in PostgreSQL: the log with its replays, and what is due. A delivery's row
// says when its next attempt is due, and its webhook's row says which process sends to the webhook
// until when. One process at a time sends to a webhook, so that its deliveries keep their order. No
// connection is held during an attempt.
import {
  minuteMs,
  parseDeliveryId,
  type DeliveryId,
  type Owner,
  type WebhookId,
} from '@tradeport/domain/primitives'
import {
  afterAttempt,
  beginReplay,
  deliveryFailures,
  deliveryStatuses,
  isReplay,
  webhookEventTypes,
  type Attempt,
  type DueDelivery,
  type RetrySchedule,
  type Webhook,
  type WebhookDelivery,
} from '@tradeport/domain/webhooks'
import { maxRecovered, type WebhookDeliveries } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import {
  ids,
  instant,
  mapped,
  oneOf,
  nullable,
  parsedText,
  tableOf,
  toTimestamptz,
  withOwner,
} from '../connection/columns.ts'
import { isLeaseHeld, type ClaimRequest } from '../connection/due-rows.ts'
import { DescribedError, databasePort } from '../connection/failures.ts'
import { rowsAtOnce, updateSome } from '../connection/repeating.ts'
import {
  allOf,
  transactOrUnknown,
  query,
  queryOne,
  readAll,
  selectFirst,
  returnsRow,
  sql,
  transact,
  type Selection,
  type Sql,
} from '../connection/sql.ts'
import type { Cipher } from '../credentials/cipher.ts'
import { recordNotice } from '../events/owner-notices.ts'
import { isWebhook, webhookId, webhooks, webhooksWithSecret } from './webhook-store.ts'

const deliveryId = parsedText('DeliveryId', parseDeliveryId)

const deliveries = tableOf('webhook_deliveries', {
  id: deliveryId,
  webhookId,
  eventId: ids.event,
  status: oneOf('status', deliveryStatuses),
  attempts: t.number,
  responseCode: nullable(t.number),
  responseTimeMs: nullable(t.number),
  failureReason: nullable(oneOf('failure reason', deliveryFailures)),
  createdAt: instant,
  lastAttemptAt: nullable(instant),
  nextAttemptAt: nullable(instant),
  replayOf: nullable(deliveryId),
})

const events = tableOf('events', {
  type: oneOf('event type', webhookEventTypes),
  data: t.string,
})

const deliveriesWithEvent = {
  ...deliveries,
  columns: sql`${deliveries.columns}, ${events.columns}`,
  read: (row: unknown) => {
    const { type, data } = events.read(row)
    return { delivery: { ...deliveries.read(row), eventType: type }, data }
  },
}

const loggedDeliveries = mapped(deliveriesWithEvent, ({ delivery }) => delivery)

/** @throws DescribedError where its data is no JSON object */
const withEventData = (row: unknown) => {
  const { delivery, data: text } = deliveriesWithEvent.read(row)
  const data = O.toNullable(O.tryCatch((): unknown => JSON.parse(text)))
  if (typeof data !== 'object' || data === null)
    throw new DescribedError(`the data of event ${delivery.eventId} does not decode`)
  return { delivery, data }
}

/** The deliveries of an owner's webhook with their events. */
const deliveriesOfWebhook = (owner: Owner, id: WebhookId): Sql => sql`
  webhook_deliveries join events
    on events.tenant_id = webhook_deliveries.tenant_id and events.id = webhook_deliveries.event_id
  where webhook_deliveries.tenant_id = ${owner.tenantId} and webhook_id = (select id from webhooks where ${isWebhook(owner, id)})`

/**
 * The delivery `d` is for this webhook. Not by `=`, for which an index by webhook could be used: the
 * planner would read all deliveries of the webhook for each event where it does not know yet how
 * many there are.
 */
const isForWebhook = (webhook: Sql): Sql => sql`d.webhook_id is not distinct from ${webhook}`

/** @param afterCommit called after deliveries were recorded anew */
export const createWebhookDeliveries = (knex: Knex, afterCommit: () => void): WebhookDeliveries =>
  databasePort<WebhookDeliveries>('deliveries', {
    list: async (owner, id, { status, page, limit }) => {
      const matching = sql`${deliveriesOfWebhook(owner, id)} and ${allOf(
        status !== undefined && sql`status = ${status}`,
      )}`
      const { total } = await queryOne<{ readonly total: number }>(
        knex,
        sql`select count(*)::int as total from ${matching}`,
      )
      const data = await readAll(
        knex,
        sql`select ${deliveriesWithEvent.columns} from ${matching}
          order by webhook_deliveries.sequence desc limit ${limit} offset ${(page - 1) * limit}`,
        loggedDeliveries,
      )
      return { data, pagination: { page, limit, total } }
    },
    replay: async (owner, id, original, replayId) => {
      const deliveryOf = (recordedId: DeliveryId) =>
        sql`${deliveriesOfWebhook(owner, id)} and webhook_deliveries.id = ${recordedId}`
      const recorded = await transactOrUnknown(knex, async (trx) => {
        await query(trx, sql`select from webhooks where ${isWebhook(owner, id)} for key share`)
        await query(
          trx,
          sql`insert into webhook_deliveries (tenant_id, id, webhook_id, event_id, replay_of)
            select webhook_deliveries.tenant_id, ${replayId}, webhook_id, event_id, webhook_deliveries.id
            from ${deliveryOf(original)}`,
        )
        return selectFirst(
          trx,
          sql`select ${deliveriesWithEvent.columns} from ${deliveryOf(replayId)}`,
          loggedDeliveries,
        )
      })
      afterCommit()
      return recorded
    },
    recover: async (owner, id, since) => {
      const isAfter =
        typeof since === 'number'
          ? sql`events.recorded_at > ${toTimestamptz(since)}::timestamptz`
          : sql`events.id > ${since}`
      const scheduled = await transactOrUnknown(knex, async (trx) => {
        // The lock is a statement of its own, so that the next one sees what another call recorded.
        await query(trx, sql`select from webhooks where ${isWebhook(owner, id)} for no key update`)
        const recorded = await query(
          trx,
          sql`with missed as (
              select tenant_id, webhooks.id as webhook_id, events.id as event_id
              from webhooks join events using (tenant_id, user_id)
              where ${isWebhook(owner, id)} and webhooks.enabled
                and events.type = any(webhooks.event_types) and ${isAfter}
                and not exists (select from webhook_deliveries as d
                  where d.tenant_id = events.tenant_id and d.event_id = events.id
                    and ${isForWebhook(sql`webhooks.id`)} and d.status <> 'failed')
              order by events.id limit ${maxRecovered}),
            replaced as (
              delete from webhook_deliveries as d using missed
              where d.tenant_id = missed.tenant_id and d.event_id = missed.event_id
                and ${isForWebhook(sql`missed.webhook_id`)} and d.replay_of is null)
            insert into webhook_deliveries (tenant_id, webhook_id, event_id)
            select tenant_id, webhook_id, event_id from missed order by event_id returning 1`,
        )
        return recorded.length
      })
      afterCommit()
      return scheduled
    },
  })

export type DueWebhook = Pick<Webhook, 'id' | 'owner'>

export interface DueDeliveriesDependencies {
  readonly knex: Knex
  readonly cipher: Cipher
  readonly schedule: RetrySchedule
  /** Called after a webhook was disabled by failures in a row. It must not throw. */
  readonly onDisabled: (webhook: Webhook) => void
  /** After a delivery that cannot be read was put off. */
  readonly onUnreadable: (error: unknown) => void
  /** Under which this worker leases webhooks. */
  readonly leaseId: string
  readonly leaseMs: number
}

export const createDueDeliveries = ({
  knex,
  cipher,
  schedule,
  onDisabled,
  onUnreadable,
  leaseId,
  leaseMs,
}: DueDeliveriesDependencies) => {
  const leaseEnd = sql`now() + ${leaseMs} * interval '1 ms'`
  const isLeased = sql`lease_id = ${leaseId} and leased_until > now()`
  const withSecret = webhooksWithSecret(cipher)

  // A replay is marked before it is sent, once nothing else can fail, and the lease renewed with
  // it. One that is found marked is not sent. Undefined where there is nothing to send.
  const markReplay = async (due: DueDelivery): Promise<DueDelivery | undefined> => {
    const { to, delivery, startedAt } = due
    const { id, owner } = to.webhook
    const next = beginReplay(delivery, startedAt)
    const isWritten = await transact(
      knex,
      async (trx) =>
        (await returnsRow(
          trx,
          sql`update webhooks set leased_until = ${leaseEnd} where ${isWebhook(owner, id)} and ${isLeased} returning 1`,
        )) && writeIfUnchanged(trx, owner, delivery, next),
    )
    return isWritten && next.status === 'pending' ? { ...due, delivery: next } : undefined
  }

  return {
    /**
     * Webhooks with something due that no process sends to. Those that had their last turn longest
     * ago come first, so that one with a long backlog does not keep others waiting.
     * @param isSlow true: those whose last attempt had a late answer or none; false: all others
     */
    claim: (isSlow: boolean, { fullShares, inProgress, limit }: Omit<ClaimRequest, 'shares'>) =>
      readAll(
        knex,
        // From one webhook with something pending to the next, each by its earliest delivery alone:
        // 2,000 webhooks take 14 ms, whatever waits for each.
        sql`with recursive waiting as (
            (select ${webhookAndTime} from webhook_deliveries where status = 'pending' order by ${webhookAndTime} limit 1)
            union all
            select next.* from waiting cross join lateral (
              select ${webhookAndTime} from webhook_deliveries
              where status = 'pending' and webhook_id > waiting.webhook_id order by ${webhookAndTime} limit 1) as next),
          due as (
            select webhooks.tenant_id, webhooks.id from webhooks join waiting on webhook_id = webhooks.id and ${isDue}
            where is_slow = ${isSlow} and (lease_id is null or not ${isLeaseHeld(sql`leased_until`, leaseEnd)})
              and user_id <> all(${fullShares}::text[]) and webhooks.id <> all(${inProgress}::uuid[])
            order by leased_until nulls first, next_attempt_at limit ${limit} for no key update of webhooks skip locked)
          update webhooks set lease_id = ${leaseId}, leased_until = ${leaseEnd}
          from due where webhooks.tenant_id = due.tenant_id and webhooks.id = due.id
          returning ${dueWebhooks.columns}`,
        dueWebhooks,
      ),
    endLease: ({ owner, id }: DueWebhook) =>
      query(
        knex,
        sql`update webhooks set lease_id = null, leased_until = now()
          where ${isWebhook(owner, id)} and lease_id = ${leaseId}`,
      ),
    /**
     * The first recorded of the due deliveries of a webhook that this process leases. Those that
     * must not be sent any more are ended on the way, and one that cannot be read is put off. With
     * when the lease was renewed for it, by `performance.now`; undefined where it was not.
     */
    next: async ({ owner, id }: DueWebhook) => {
      for (;;) {
        const [webhookRow] = await query(
          knex,
          sql`select ${withSecret.columns} from webhooks where ${isWebhook(owner, id)} and ${isLeased}`,
        )
        if (webhookRow === undefined) return undefined
        if (!webhooks.read(webhookRow).enabled && (await withdrawSome(knex, owner, id))) continue
        const [row] = await query<{ readonly id: string; readonly now: Date }>(
          knex,
          sql`select ${deliveriesWithEvent.columns}, now() from ${deliveriesOfWebhook(owner, id)} and status = 'pending' and ${isDue}
            order by webhook_deliveries.sequence limit 1`,
        )
        if (row === undefined) return undefined
        const to = withSecret.read(webhookRow)
        const startedAt = row.now.getTime()
        const due = E.tryCatch(() => ({ to, startedAt, ...withEventData(row) }), onUnreadable)
        if (E.isLeft(due))
          await knex('webhook_deliveries')
            .where({ tenant_id: owner.tenantId, id: row.id })
            .update({ next_attempt_at: knex.raw(`now() + interval '1 minute'`) })
        else if (!isReplay(due.right.delivery)) return { due: due.right, renewedAtMs: undefined }
        else {
          const renewedAtMs = performance.now()
          const begun = await markReplay(due.right)
          if (begun !== undefined) return { due: begun, renewedAtMs }
        }
      }
    },
    /**
     * Writes what the attempt means, all at once, and renews the lease if it is still held; nothing
     * where the delivery was continued by another process, or its webhook is gone.
     */
    recordAttempt: async (due: DueDelivery, attempt: Attempt, isSlow: boolean): Promise<void> => {
      const { to, delivery, startedAt } = due
      const isDisabled = await transact(knex, async (trx) => {
        const { id, owner } = to.webhook
        // Recording more deliveries for the webhook does not wait for this lock.
        const found = await selectFirst(
          trx,
          sql`select ${webhooks.columns} from webhooks where ${isWebhook(owner, id)} for no key update`,
          webhooks,
        )
        if (O.isNone(found)) return false
        const after = afterAttempt(due, found.value, attempt, schedule)
        if (!(await writeIfUnchanged(trx, owner, delivery, after.delivery))) return false
        const renewed = sql`case when ${isLeased} then ${leaseEnd} else leased_until end`
        await trx('webhooks')
          .where({ tenant_id: owner.tenantId, id })
          .update({
            ...webhooks.write(after.webhook),
            is_slow: isSlow,
            leased_until: knex.raw(renewed.text, renewed.bindings),
          })
        if (!found.value.enabled || after.webhook.enabled) return false
        const { oldest } = await queryOne<{ readonly oldest: Date }>(
          trx,
          sql`select recorded_at as oldest from events where tenant_id = ${owner.tenantId} and id = least(${delivery.eventId}, (
            select min(event_id) from webhook_deliveries
            where tenant_id = ${owner.tenantId} and webhook_id = ${id} and status = 'pending'))`,
        )
        // Not by `enqueue`, which has a transaction of its own; the next poll finds it.
        await recordNotice(trx, owner, {
          kind: 'webhook_disabled',
          webhookId: id,
          url: after.webhook.url,
          at: startedAt + attempt.durationMs,
          // Of an event the time is that at which its transaction began, and a later one may have
          // begun earlier.
          recoverSince: oldest.getTime() - minuteMs,
        })
        return true
      })
      if (!isDisabled) return
      onDisabled(to.webhook)
      while (await withdrawSome(knex, to.webhook.owner, to.webhook.id));
    },
  }
}

export type DueDeliveries = ReturnType<typeof createDueDeliveries>

const dueWebhooks: Selection<DueWebhook> = mapped(
  tableOf('webhooks', { id: webhookId, tenantId: ids.tenant, userId: ids.user }),
  withOwner,
)

const webhookAndTime = sql`webhook_id, next_attempt_at`

const isDue = sql`next_attempt_at <= now()`

/**
 * A delivery that was recorded or attempted in the future dates from before the database's clock
 * was set back. How long it has waited is unknown, so it is due at once: otherwise it would wait
 * for as long again as the clock was set back.
 */
export const strandedDeliveries = updateSome(
  'webhook_deliveries',
  sql`next_attempt_at = now()`,
  sql`status = 'pending' and next_attempt_at > now()
    and coalesce(last_attempt_at, created_at) > now() + interval '1 minute'`,
)

/** Whether the delivery was written: not where another process has continued it. */
const writeIfUnchanged = async (
  trx: Knex.Transaction,
  { tenantId }: Owner,
  { id, attempts }: WebhookDelivery,
  next: WebhookDelivery,
): Promise<boolean> =>
  (await trx('webhook_deliveries')
    .where({ tenant_id: tenantId, id, attempts, status: 'pending' })
    .update(deliveries.write(next))) > 0

/**
 * Ends a thousand pending deliveries of a webhook if it is disabled, but no replays, which a user
 * requested explicitly. They keep the reason of an earlier failure. Nothing is withdrawn once its
 * user has enabled it again.
 * @returns whether there may be more
 */
const withdrawSome = (knex: Knex, owner: Owner, id: WebhookId): Promise<boolean> =>
  transact(knex, async (trx) => {
    const isDisabled = await returnsRow(
      trx,
      sql`select from webhooks where ${isWebhook(owner, id)} and not enabled for no key update`,
    )
    if (!isDisabled) return false
    const withdrawn = await query(
      trx,
      updateSome(
        'webhook_deliveries',
        sql`status = 'failed', next_attempt_at = null,
          failure_reason = coalesce(failure_reason, 'webhook_disabled')`,
        sql`tenant_id = ${owner.tenantId} and webhook_id = ${id} and status = 'pending' and replay_of is null`,
      ),
    )
    return withdrawn.length === rowsAtOnce
  })
