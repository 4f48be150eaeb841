// The deliveries that are due, in PostgreSQL: a delivery's row says when its next attempt is due, and its webhook's row says which process sends to the
// webhook until when. One process at a time sends to a webhook, so that its deliveries keep their order. No connection is held during an attempt.
import { afterAttempt, interrupted, isInterrupted, isReplay, minuteMs, parseWebhookId, withReplayBegun } from '@tradeport/domain'
import type { Attempt, DueDelivery, Instant, Owner, RetrySchedule, WebhookDelivery, WebhookId } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { Cipher } from './cipher.ts'
import * as column from './columns.ts'
import { decodeRow, toTimestamptz } from './columns.ts'
import { attemptColumnsOf, deliveryColumns, deliveryOfRow, eventOfRow, joinedDeliveries } from './delivery-row.ts'
import type { ToldNotice } from './notice-queue.ts'
import { changingColumnsOf, openedSecretOfRow, webhookColumns, webhookOfRow } from './webhook-row.ts'

/** How a webhook's receiver took the last attempt: `slow` where it answered late or not at all. */
export const responsivenesses = ['untried', 'prompt', 'slow'] as const
export type Responsiveness = (typeof responsivenesses)[number]

export interface DueWebhook {
  readonly owner: Owner
  readonly webhookId: WebhookId
  readonly responsiveness: Responsiveness
}

export interface DueDeliveries {
  /** Webhooks that something is due for and that no process sends to, longest waiting first. */
  readonly findWebhooks: (now: Instant, query: DueQuery) => Promise<readonly DueWebhook[]>
  /** False where another process sends to the webhook, or the webhook is gone. */
  readonly lease: (webhook: DueWebhook) => Promise<boolean>
  /** Keeps leases that no other process took meanwhile. */
  readonly renewLeases: (webhooks: readonly WebhookId[]) => Promise<void>
  readonly endLease: (webhook: DueWebhook) => Promise<void>
  /** The first recorded of the due deliveries of a webhook that this process leases. Those that must not be sent any more are ended on the way. */
  readonly next: (webhook: DueWebhook, now: Instant) => Promise<DueDelivery | undefined>
  /** Writes what the attempt means, all at once; nothing where the delivery was continued by another process, or its webhook is gone. */
  readonly recordAttempt: (due: DueDelivery, attempt: Attempt, responsiveness: Responsiveness) => Promise<void>
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

export const createDueDeliveries = ({ knex, cipher, schedule, tellWithin, sender, leaseMs }: DueDeliveriesParts): DueDeliveries => {
  const leaseEnd = knex.raw(`now() + ? * interval '1 ms'`, [leaseMs])

  const next = async ({ owner, webhookId }: DueWebhook, now: Instant): Promise<DueDelivery | undefined> => {
    for (;;) {
      const rows: unknown[] = await ownWebhook(knex, owner, webhookId)
        .where({ sender })
        .select([...webhookColumns(knex), 'secret'])
      if (rows[0] === undefined) return undefined
      const webhook = webhookOfRow(rows[0])
      if (!webhook.enabled) await withdrawAll(knex, webhookId)
      const row = await firstDue(knex, webhookId, now)
      if (row === undefined) return undefined
      const delivery = await begin(knex, deliveryOfRow(row), now)
      if (delivery !== undefined) return { to: { webhook, secret: openedSecretOfRow(cipher, rows[0]) }, delivery, event: eventOfRow(row) }
    }
  }

  return {
    findWebhooks: async (now, query) => {
      const { rows } = await knex.raw<{ rows: unknown[] }>(
        `select tenant_id, user_id, id, responsiveness
         from webhooks join (
           select webhook_id, min(sequence) as first from webhook_deliveries where status = 'pending' and ${isDueSql} group by webhook_id
         ) as due on webhook_id = id
         where (sender_until is null or sender_until < now()) and responsiveness = any(?::text[]) and id <> all(?::uuid[])
         order by first limit ?`,
        [...dueBindings(now), [...query.responsivenesses], [...query.except], query.limit],
      )
      return rows.map(dueWebhookOfRow)
    },
    lease: async ({ owner, webhookId }) => {
      const rows: unknown[] = await ownWebhook(knex, owner, webhookId)
        .whereRaw('(sender_until is null or sender_until < now())')
        .update({ sender, sender_until: leaseEnd }, ['id'])
      return rows.length > 0
    },
    renewLeases: async (webhooks) => {
      await knex('webhooks').whereIn('id', webhooks).where({ sender }).update({ sender_until: leaseEnd })
    },
    endLease: async ({ owner, webhookId }) => {
      await ownWebhook(knex, owner, webhookId).where({ sender }).update({ sender: null, sender_until: null })
    },
    next,
    recordAttempt: ({ to, delivery }, attempt, responsiveness) =>
      knex.transaction(async (trx) => {
        const { id, owner } = to.webhook
        // Recording more deliveries for the webhook does not wait for this lock.
        const rows: unknown[] = await ownWebhook(trx, owner, id).select(webhookColumns(trx)).forNoKeyUpdate()
        if (rows[0] === undefined) return
        const after = afterAttempt(delivery, webhookOfRow(rows[0]), attempt, schedule)
        const written: unknown[] = await pending(trx, delivery).update(attemptColumnsOf(after.delivery), ['id'])
        if (written.length === 0) return
        await ownWebhook(trx, owner, id).update({ ...changingColumnsOf(after.webhook), responsiveness })
        if (after.disabledFor === null) return
        await withdrawAll(trx, id)
        const notice = {
          kind: 'webhook_disabled',
          webhookId: id,
          url: after.webhook.url,
          at: attempt.endedAt,
          because: after.disabledFor,
        } as const
        await tellWithin(trx, [{ owner, notice }])
      }),
  }
}

const decodeDueWebhook = decodeRow(
  'webhooks',
  t.strict({
    tenant_id: column.tenantId,
    user_id: column.userId,
    id: column.parsedText<WebhookId>('WebhookId', parseWebhookId),
    responsiveness: column.oneOf('responsiveness', responsivenesses),
  }),
)

const dueWebhookOfRow = (row: unknown): DueWebhook => {
  const { tenant_id: tenantId, user_id: userId, id, responsiveness } = decodeDueWebhook(row)
  return { owner: { tenantId, userId }, webhookId: id, responsiveness }
}

const ownWebhook = (knex: Knex, { tenantId, userId }: Owner, id: WebhookId): Knex.QueryBuilder =>
  knex('webhooks').where({ tenant_id: tenantId, user_id: userId, id })

const firstDue = async (knex: Knex, webhookId: WebhookId, now: Instant): Promise<unknown> => {
  const rows: unknown[] = await joinedDeliveries(knex)
    .where({ webhook_id: webhookId, status: 'pending' })
    .whereRaw(isDueSql, dueBindings(now))
    .select(deliveryColumns(knex))
    .orderBy('webhook_deliveries.sequence')
    .limit(1)
  return rows[0]
}

// A delivery that was recorded or attempted in the future dates from before a clock was set back. How long it has waited is unknown, so it is due at once:
// otherwise it would wait for as long again as the clock was set back.
const isDueSql = '(next_attempt_at <= ?::timestamptz or coalesce(last_attempt_at, created_at) > ?::timestamptz)'

const dueBindings = (now: Instant): readonly [string, string] => [toTimestamptz(now), toTimestamptz(now + minuteMs)]

/** The delivery as it was read, while no other process has continued it. */
const pending = (knex: Knex, { id, attempts }: WebhookDelivery): Knex.QueryBuilder =>
  knex('webhook_deliveries').where({ id, attempts, status: 'pending' })

// A replay is marked before it is sent, and one that is found marked is not sent. Undefined where there is nothing to send.
const begin = async (knex: Knex, delivery: WebhookDelivery, now: Instant): Promise<WebhookDelivery | undefined> => {
  if (!isReplay(delivery)) return delivery
  const isOver = isInterrupted(delivery)
  const next = isOver ? interrupted(delivery) : withReplayBegun(delivery, now)
  const written: unknown[] = await pending(knex, delivery).update(attemptColumnsOf(next), ['id'])
  return isOver || written.length === 0 ? undefined : next
}

// The state of `withdrawn`, for all pending deliveries of a disabled webhook but replays. Whether it is disabled is checked in the same statement, so that
// nothing is withdrawn that was recorded after its user had enabled it again.
const withdrawAll = async (knex: Knex, webhookId: WebhookId): Promise<void> => {
  await knex('webhook_deliveries')
    .where({ webhook_id: webhookId, status: 'pending' })
    .whereNull('replay_of')
    .whereExists(knex('webhooks').select(knex.raw('1')).where({ id: webhookId, enabled: false }))
    .update({ status: 'failed', failure_reason: knex.raw(`coalesce(failure_reason, 'webhook_disabled')`), next_attempt_at: null })
}
