// The deliveries of a lane: which is next, and what is written down once it was answered. Only who holds the lane asks; who lost it without knowing
// finds that the delivery has moved on.
import { afterAttempt, interrupted, isInterrupted, isReplay, minuteMs, withReplayBegun } from '@tradeport/domain'
import type { Attempt, DueDelivery, Instant, RetrySchedule, WebhookDelivery } from '@tradeport/domain'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import type { Cipher } from './cipher.ts'
import { toTimestamptz } from './columns.ts'
import { wakeLater } from './delivery-queue.ts'
import type { Lane } from './delivery-queue.ts'
import { attemptColumnsOf, deliveryColumns, deliveryOfRow, eventOfRow, joinedDeliveries } from './delivery-row.ts'
import type { ToldNotice } from './notice-queue.ts'
import { changingColumnsOf, openedSecretOfRow, webhookColumns, webhookOfRow } from './webhook-row.ts'

export interface LaneParts {
  readonly knex: Knex
  readonly boss: PgBoss
  readonly cipher: Cipher
  readonly schedule: RetrySchedule
  /** Tells owners within a transaction. */
  readonly tellWithin: (trx: Knex.Transaction, notices: readonly ToldNotice[]) => Promise<void>
}

/** The first recorded of the lane's deliveries that are due; what is not to be sent any more is settled on the way. Undefined where none is due. */
export const takeDelivery = async (parts: LaneParts, lane: Lane, now: Instant): Promise<DueDelivery | undefined> => {
  const { knex, cipher } = parts
  for (;;) {
    const rows: unknown[] = await ownWebhook(knex, lane).select([...webhookColumns(knex), 'secret'])
    if (rows[0] === undefined) return undefined
    const webhook = webhookOfRow(rows[0])
    if (!webhook.enabled) await withdrawAll(knex, lane)
    const row = await nextRow(knex, lane, now)
    if (row === undefined) return undefined
    const delivery = deliveryOfRow(row)
    const begun = await begin(knex, delivery, now)
    if (begun !== undefined) return { to: { webhook, secret: openedSecretOfRow(cipher, rows[0]) }, delivery: begun, event: eventOfRow(row) }
  }
}

/** Whether something is due that nobody holds back. */
export const isAnyDue = async (knex: Knex, lane: Lane, now: Instant): Promise<boolean> => (await nextRow(knex, lane, now)) !== undefined

/** Writes what the attempt means, all at once. Nothing is written when the delivery has moved on, or its webhook is gone. */
export const settleDelivery = (parts: LaneParts, lane: Lane, { delivery }: DueDelivery, attempt: Attempt): Promise<void> =>
  parts.knex.transaction(async (trx) => {
    // Recording more deliveries for it does not wait for this lock.
    const webhooks: unknown[] = await ownWebhook(trx, lane).select(webhookColumns(trx)).forNoKeyUpdate()
    if (webhooks[0] === undefined) return
    const after = afterAttempt(delivery, webhookOfRow(webhooks[0]), attempt, parts.schedule)
    const written: unknown[] = await pending(trx, delivery).update(attemptColumnsOf(after.delivery), ['id'])
    if (written.length === 0) return
    await ownWebhook(trx, lane).update(changingColumnsOf(after.webhook))
    const { nextAttemptAt } = after.delivery
    if (nextAttemptAt !== null) await wakeLater(parts.boss, trx, lane, delivery.id, nextAttemptAt - attempt.endedAt)
    if (after.disabledFor === null) return
    await withdrawAll(trx, lane)
    const { url } = after.webhook
    const notice = { kind: 'webhook_disabled', webhookId: lane.webhookId, url, at: attempt.endedAt, because: after.disabledFor } as const
    await parts.tellWithin(trx, [{ owner: lane.owner, notice }])
  })

const ownWebhook = (knex: Knex, { owner, webhookId }: Lane): Knex.QueryBuilder =>
  knex('webhooks').where({ tenant_id: owner.tenantId, user_id: owner.userId, id: webhookId })

const nextRow = async (knex: Knex, { webhookId }: Lane, now: Instant): Promise<unknown> => {
  const rows: unknown[] = await joinedDeliveries(knex)
    .where({ webhook_id: webhookId, status: 'pending' })
    .whereRaw(isDueSql, dueBindings(now))
    .select(deliveryColumns(knex))
    .orderBy('webhook_deliveries.sequence')
    .limit(1)
  return rows[0]
}

/**
 * An attempt that was made, or a delivery that was recorded, in the future is of before a clock was set back: how long it has waited nobody knows, and it
 * must not wait for as long again as the clock was set back.
 */
export const isDueSql = '(next_attempt_at <= ?::timestamptz or coalesce(last_attempt_at, created_at) > ?::timestamptz)'

export const dueBindings = (now: Instant): readonly [string, string] => [toTimestamptz(now), toTimestamptz(now + minuteMs)]

/** The delivery as it was read, while it is still so. */
const pending = (knex: Knex, { id, attempts }: WebhookDelivery): Knex.QueryBuilder =>
  knex('webhook_deliveries').where({ id, attempts, status: 'pending' })

// A replay is marked before it is sent, so that whoever finds it marked does not send it. Undefined where there is nothing to send.
const begin = async (knex: Knex, delivery: WebhookDelivery, now: Instant): Promise<WebhookDelivery | undefined> => {
  if (!isReplay(delivery)) return delivery
  const isOver = isInterrupted(delivery)
  const next = isOver ? interrupted(delivery) : withReplayBegun(delivery, now)
  const written: unknown[] = await pending(knex, delivery).update(attemptColumnsOf(next), ['id'])
  return isOver || written.length === 0 ? undefined : next
}

/**
 * What `withdrawn` says of all that wait for a webhook that is disabled, but for replays. In the same statement as it is looked at, so that nothing is withdrawn
 * that was recorded after its user had switched it on again.
 */
const withdrawAll = async (knex: Knex, { webhookId }: Lane): Promise<void> => {
  await knex('webhook_deliveries')
    .where({ webhook_id: webhookId, status: 'pending' })
    .whereNull('replay_of')
    .whereExists(knex('webhooks').select(knex.raw('1')).where({ id: webhookId, enabled: false }))
    .update({ status: 'failed', failure_reason: knex.raw(`coalesce(failure_reason, 'webhook_disabled')`), next_attempt_at: null })
}
