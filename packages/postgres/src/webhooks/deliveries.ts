// Deliveries of events in PostgreSQL: the log with its replays, and what is due. A delivery's row
// says when its next attempt is due, and its webhook's row says which process sends to the webhook
// until when. One process at a time sends to a webhook, so that its deliveries keep their order. No
// connection is held during an attempt.
import { minuteMs, parseDeliveryId } from '@tradeport/domain/primitives'
import {
  afterAttempt,
  deliveryFailures,
  deliveryStatuses,
  interrupted,
  isInterrupted,
  isReplay,
  replayOf,
  webhookEventTypes,
  withReplayBegun,
} from '@tradeport/domain/webhooks'
import type { DeliveriesQuery, DueDelivery, WebhookDeliveries } from '@tradeport/domain/ports'
import type { DeliveryId, Instant, Owner, Page, WebhookId } from '@tradeport/domain/primitives'
import type {
  Attempt,
  DeliveredEvent,
  RetrySchedule,
  WebhookDelivery,
} from '@tradeport/domain/webhooks'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../connection/columns.ts'
import { decodeRow, tableOf, toTimestamptz } from '../connection/columns.ts'
import { DescribedError, attempt } from '../connection/failures.ts'
import { inTransaction } from '../connection/statements.ts'
import type { Cipher } from '../credentials/cipher.ts'
import type { ToldNotice } from '../events/owner-notices.ts'
import {
  openedWebhookOfRow,
  ownWebhooks,
  rowOfWebhook,
  webhookColumns,
  webhookId,
  webhookOfRow,
} from './webhook-store.ts'

const deliveryId = column.parsedText<DeliveryId>('DeliveryId', parseDeliveryId)

const deliveries = tableOf('webhook_deliveries', {
  id: deliveryId,
  webhookId,
  status: column.oneOf('status', deliveryStatuses),
  attempts: t.number,
  responseCode: column.orAbsent(t.number),
  responseTimeMs: column.orAbsent(t.number),
  failureReason: column.orAbsent(column.oneOf('failure reason', deliveryFailures)),
  createdAt: column.instant,
  lastAttemptAt: column.orAbsent(column.instant),
  nextAttemptAt: column.orAbsent(column.instant),
  replayOf: column.orAbsent(deliveryId),
})

const deliveryColumns = [...deliveries.columns, 'events.type', 'events.data', 'event_sequence']

const decodeEvent = decodeRow(
  'events',
  t.strict({ type: column.oneOf('event type', webhookEventTypes), data: t.string }),
)

const deliveryOfRow = (row: unknown): WebhookDelivery => ({
  ...deliveries.read(row),
  eventType: decodeEvent(row).type,
})

const eventOfRow = (row: unknown): DeliveredEvent => {
  const { type, data } = decodeEvent(row)
  const fields: unknown = JSON.parse(data)
  if (typeof fields !== 'object' || fields === null)
    throw new DescribedError('a row of events does not decode at data')
  return { type, data: fields }
}

/** The deliveries of an owner's webhook with their events, which have the same owner. */
const ownDeliveries = (knex: Knex, { tenantId, userId }: Owner, id: WebhookId): Knex.QueryBuilder =>
  knex('webhook_deliveries')
    .join('events', {
      'events.tenant_id': 'webhook_deliveries.tenant_id',
      'events.sequence': 'webhook_deliveries.event_sequence',
    })
    .where({
      'events.tenant_id': tenantId,
      'events.user_id': userId,
      'webhook_deliveries.tenant_id': tenantId,
      webhook_id: id,
    })

/** @param handOver called after a replay was committed */
export const createWebhookDeliveries = (knex: Knex, handOver: () => void): WebhookDeliveries => ({
  list: (owner, id, query) =>
    attempt('deliveries.list', () => listDeliveries(knex, owner, id, query)),
  replay: (owner, id, original, { id: replayId, at }) =>
    attempt('deliveries.replay', async () => {
      const made = await inTransaction(knex, async (trx) => {
        const row: { readonly event_sequence: string } | undefined = await ownDeliveries(
          trx,
          owner,
          id,
        )
          .where('webhook_deliveries.id', original)
          .first(deliveryColumns)
        if (row === undefined) return O.none
        const replay = replayOf(deliveryOfRow(row), replayId, at)
        const place = { tenant_id: owner.tenantId, event_sequence: row.event_sequence }
        await trx('webhook_deliveries').insert({ ...deliveries.write(replay), ...place })
        return O.some(replay)
      })
      handOver()
      return made
    }),
})

const listDeliveries = async (
  knex: Knex,
  owner: Owner,
  id: WebhookId,
  { status, page, limit }: DeliveriesQuery,
): Promise<Page<WebhookDelivery>> => {
  const filtered = (): Knex.QueryBuilder =>
    ownDeliveries(knex, owner, id).where(status === undefined ? {} : { status })
  const counts: { readonly total: string }[] = await filtered().count('* as total')
  const rows: unknown[] = await filtered()
    .select(deliveryColumns)
    .orderBy('webhook_deliveries.sequence', 'desc')
    .limit(limit)
    .offset((page - 1) * limit)
  return { items: rows.map(deliveryOfRow), page, limit, total: Number(counts[0]?.total) }
}

/** How a webhook's receiver took the last attempt: `slow` where it answered late or not at all. */
export const responsivenesses = ['untried', 'prompt', 'slow'] as const
export type Responsiveness = (typeof responsivenesses)[number]

export interface DueWebhook {
  readonly owner: Owner
  readonly webhookId: WebhookId
  readonly responsiveness: Responsiveness
}

export interface DueQuery {
  readonly responsivenesses: readonly Responsiveness[]
  readonly except: readonly WebhookId[]
  readonly limit: number
}

export interface DueDeliveriesParts {
  readonly knex: Knex
  readonly cipher: Cipher
  readonly schedule: RetrySchedule
  /** Queues notices to owners within a transaction. */
  readonly tellWithin: (trx: Knex.Transaction, notices: readonly ToldNotice[]) => Promise<void>
  /** The id of this process among the senders. */
  readonly sender: string
  readonly leaseMs: number
}

export const createDueDeliveries = ({
  knex,
  cipher,
  schedule,
  tellWithin,
  sender,
  leaseMs,
}: DueDeliveriesParts) => {
  const leaseEnd = knex.raw(`now() + ? * interval '1 ms'`, [leaseMs])
  const own = (owner: Owner, id: WebhookId): Knex.QueryBuilder =>
    ownWebhooks(knex, owner).where({ id })

  return {
    /** Webhooks that something is due for and that no process sends to, longest waiting first. */
    findWebhooks: async (now: Instant, query: DueQuery): Promise<readonly DueWebhook[]> => {
      const { rows } = await knex.raw<{ rows: unknown[] }>(
        `select webhooks.tenant_id, user_id, id as webhook_id, responsiveness
         from webhooks join (
           select tenant_id, webhook_id, min(sequence) as first from webhook_deliveries where status = 'pending' and ${isDueSql} group by tenant_id, webhook_id
         ) as due on webhooks.tenant_id = due.tenant_id and webhook_id = id
         where (sender_until is null or sender_until < now()) and responsiveness = any(?::text[]) and id <> all(?::uuid[])
         order by first limit ?`,
        [...dueBindings(now), [...query.responsivenesses], [...query.except], query.limit],
      )
      return rows
        .map(dueWebhooks.read)
        .map(({ tenantId, userId, ...webhook }) => ({ ...webhook, owner: { tenantId, userId } }))
    },
    /** False where another process sends to the webhook, or the webhook is gone. */
    lease: async ({ owner, webhookId: id }: DueWebhook): Promise<boolean> =>
      (await own(owner, id)
        .whereRaw('(sender_until is null or sender_until < now())')
        .update({ sender, sender_until: leaseEnd })) > 0,
    /** Keeps leases that no other process took meanwhile. */
    renewLeases: async (ids: readonly WebhookId[]): Promise<void> => {
      await knex('webhooks').whereIn('id', ids).where({ sender }).update({ sender_until: leaseEnd })
    },
    endLease: async ({ owner, webhookId: id }: DueWebhook): Promise<void> => {
      await own(owner, id).where({ sender }).update({ sender: null, sender_until: null })
    },
    /**
     * The first recorded of the due deliveries of a webhook that this process leases. Those that
     * must not be sent any more are ended on the way.
     */
    next: async (
      { owner, webhookId: id }: DueWebhook,
      now: Instant,
    ): Promise<DueDelivery | undefined> => {
      for (;;) {
        const webhookRow: unknown = await own(owner, id).where({ sender }).first(webhookColumns)
        if (webhookRow === undefined) return undefined
        if (!webhookOfRow(webhookRow).enabled) await withdrawAll(knex, owner, id)
        const row: unknown = await ownDeliveries(knex, owner, id)
          .where({ status: 'pending' })
          .whereRaw(isDueSql, dueBindings(now))
          .orderBy('webhook_deliveries.sequence')
          .first(deliveryColumns)
        if (row === undefined) return undefined
        const delivery = await begin(knex, owner, deliveryOfRow(row), now)
        if (delivery !== undefined)
          return { to: openedWebhookOfRow(cipher, webhookRow), delivery, event: eventOfRow(row) }
      }
    },
    /**
     * Writes what the attempt means, all at once; nothing where the delivery was continued by
     * another process, or its webhook is gone.
     */
    recordAttempt: (
      { to, delivery }: DueDelivery,
      made: Attempt,
      responsiveness: Responsiveness,
    ): Promise<void> =>
      knex.transaction(async (trx) => {
        const { id, owner } = to.webhook
        const webhook = ownWebhooks(trx, owner).where({ id })
        // Recording more deliveries for the webhook does not wait for this lock.
        const row: unknown = await webhook.clone().forNoKeyUpdate().first(webhookColumns)
        if (row === undefined) return
        const after = afterAttempt(delivery, webhookOfRow(row), made, schedule)
        if ((await pending(trx, owner, delivery).update(deliveries.write(after.delivery))) === 0)
          return
        await webhook.update({ ...rowOfWebhook(after.webhook), responsiveness })
        if (after.disabledFor === null) return
        await withdrawAll(trx, owner, id)
        const { url } = after.webhook
        const notice = {
          kind: 'webhook_disabled',
          webhookId: id,
          url,
          at: made.endedAt,
          because: after.disabledFor,
        } as const
        await tellWithin(trx, [{ owner, notice }])
      }),
  }
}

const dueWebhooks = tableOf('webhooks', {
  tenantId: column.tenantId,
  userId: column.userId,
  webhookId,
  responsiveness: column.oneOf('responsiveness', responsivenesses),
})

// A delivery that was recorded or attempted in the future dates from before a clock was set back.
// How long it has waited is unknown, so it is due at once: otherwise it would wait for as long
// again as the clock was set back.
const isDueSql =
  '(next_attempt_at <= ?::timestamptz or coalesce(last_attempt_at, created_at) > ?::timestamptz)'

const dueBindings = (now: Instant): readonly [string, string] => [
  toTimestamptz(now),
  toTimestamptz(now + minuteMs),
]

/** The delivery as it was read, while no other process has continued it. */
const pending = (
  knex: Knex,
  { tenantId }: Owner,
  { id, attempts }: WebhookDelivery,
): Knex.QueryBuilder =>
  knex('webhook_deliveries').where({ tenant_id: tenantId, id, attempts, status: 'pending' })

// A replay is marked before it is sent, and one that is found marked is not sent. Undefined where
// there is nothing to send.
const begin = async (
  knex: Knex,
  owner: Owner,
  delivery: WebhookDelivery,
  now: Instant,
): Promise<WebhookDelivery | undefined> => {
  if (!isReplay(delivery)) return delivery
  const isOver = isInterrupted(delivery)
  const next = isOver ? interrupted(delivery) : withReplayBegun(delivery, now)
  const written = await pending(knex, owner, delivery).update(deliveries.write(next))
  return isOver || written === 0 ? undefined : next
}

// The state of `withdrawn`, for all pending deliveries of a disabled webhook but replays. Whether
// it is disabled is checked in the same statement, so that nothing is withdrawn that was recorded
// after its user had enabled it again.
const withdrawAll = async (knex: Knex, owner: Owner, id: WebhookId): Promise<void> => {
  await knex('webhook_deliveries')
    .where({ tenant_id: owner.tenantId, webhook_id: id, status: 'pending' })
    .whereNull('replay_of')
    .whereExists(ownWebhooks(knex, owner).where({ id, enabled: false }))
    .update({
      status: 'failed',
      failure_reason: knex.raw(`coalesce(failure_reason, 'webhook_disabled')`),
      next_attempt_at: null,
    })
}
