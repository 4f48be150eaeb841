// The jobs that have deliveries sent, in pg-boss. A job names a webhook and says that something is due for it, now or later; what is due stands in the
// deliveries themselves. It is written within the transaction that makes it necessary.
import { parseWebhookId } from '@tradeport/domain'
import type { DeliveryId, Owner, WebhookId } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { JobInsert, PgBoss } from 'pg-boss'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import { openQueue, withinTransaction } from './jobs.ts'

/** The deliveries of one webhook, which are sent one after another. */
export interface Lane {
  readonly owner: Owner
  readonly webhookId: WebhookId
}

export const deliveryQueueName = 'webhook-deliveries'

/** Longer than any turn of a lane. What a process that died has left of its jobs is cleared away after it. */
const expireInSeconds = 15 * 60
const deleteAfterSeconds = 60 * 60

/** A job is never tried again by the queue: a webhook for which something is due has another one sent. */
export const createDeliveryQueue = (boss: PgBoss): Promise<void> =>
  openQueue(boss, deliveryQueueName, { policy: 'short', retryLimit: 0, expireInSeconds, deleteAfterSeconds })

const jobData = t.strict({
  tenant_id: column.tenantId,
  user_id: column.userId,
  webhook_id: column.parsedText<WebhookId>('WebhookId', parseWebhookId),
})

const insertOf = ({ owner, webhookId }: Lane, singletonKey: string, startAfter: number): JobInsert<t.OutputOf<typeof jobData>> => ({
  data: { tenant_id: owner.tenantId, user_id: owner.userId, webhook_id: webhookId },
  singletonKey,
  startAfter,
})

/**
 * Has the lanes looked at now. One for which a job waits already gets no other.
 * @param lanes in the order of their webhooks' ids, so that two transactions never wait for each other in turn
 */
export const wakeLanes = async (boss: PgBoss, trx: Knex.Transaction, lanes: readonly Lane[]): Promise<void> => {
  const inserts = lanes.map((lane) => insertOf(lane, lane.webhookId, 0))
  if (inserts.length > 0) await boss.insert(deliveryQueueName, inserts, { db: withinTransaction(trx) })
}

/** Has the lane looked at when the delivery's next attempt is due. */
export const wakeLater = async (boss: PgBoss, trx: Knex.Transaction, lane: Lane, id: DeliveryId, afterMs: number): Promise<void> => {
  // Under a key of its own: it must not be in the way of what is due before.
  const insert = insertOf(lane, `${lane.webhookId}:${id}`, Math.max(0, afterMs) / 1_000)
  await boss.insert(deliveryQueueName, [insert], { db: withinTransaction(trx) })
}

const decodeJob = decodeRow('webhook delivery jobs', jobData)

export const laneOf = (_id: string, data: unknown): Lane => {
  const { tenant_id: tenantId, user_id: userId, webhook_id: webhookId } = decodeJob(data)
  return { owner: { tenantId, userId }, webhookId }
}

interface LaneRow {
  readonly tenant_id: Owner['tenantId']
  readonly user_id: Owner['userId']
  readonly webhook_id: WebhookId
}

/** As statements of this package select a webhook with its owner. */
export const lanesOfRows = (rows: readonly unknown[]): readonly Lane[] =>
  (rows as readonly LaneRow[]).map((row) => ({ owner: { tenantId: row.tenant_id, userId: row.user_id }, webhookId: row.webhook_id }))
