// A record of the delivery log as a row, joined with its event.
import { deliveryFailures, deliveryStatuses, parseDeliveryId, parseWebhookId, webhookEventTypes } from '@tradeport/domain'
import type { DeliveredEvent, DeliveryId, WebhookDelivery, WebhookId } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from './columns.ts'
import { decodeRow, epochMs, orNull, toTimestamptz } from './columns.ts'
import { UndecodableRow } from './failures.ts'

const deliveryId = column.parsedText<DeliveryId>('DeliveryId', parseDeliveryId)

const deliveryRow = t.strict({
  id: deliveryId,
  webhook_id: column.parsedText<WebhookId>('WebhookId', parseWebhookId),
  status: column.oneOf('status', deliveryStatuses),
  attempts: t.Int,
  response_code: column.orAbsent(t.Int),
  response_time_ms: column.orAbsent(t.Int),
  failure_reason: column.orAbsent(column.oneOf('failure reason', deliveryFailures)),
  created_at: column.instant,
  last_attempt_at: column.orAbsent(column.instant),
  next_attempt_at: column.orAbsent(column.instant),
  replay_of: column.orAbsent(deliveryId),
})

const eventRow = t.strict({ type: column.oneOf('event type', webhookEventTypes), data: t.string })

const instantColumns = ['created_at', 'last_attempt_at', 'next_attempt_at']

/** For `joinedDeliveries`. */
export const deliveryColumns = (knex: Knex): readonly (string | Knex.Raw)[] => [
  ...Object.keys(deliveryRow.type.props).map((name) =>
    instantColumns.includes(name) ? epochMs(knex, `webhook_deliveries.${name}`) : `webhook_deliveries.${name}`,
  ),
  ...Object.keys(eventRow.type.props).map((name) => `events.${name}`),
]

/** Deliveries with their events. */
export const joinedDeliveries = (knex: Knex): Knex.QueryBuilder =>
  knex('webhook_deliveries').join('events', 'events.sequence', 'webhook_deliveries.event_sequence')

const decodeDelivery = decodeRow('webhook_deliveries', deliveryRow)
const decodeEvent = decodeRow('events', eventRow)

export const deliveryOfRow = (row: unknown): WebhookDelivery => {
  const stored = decodeDelivery(row)
  return {
    id: stored.id,
    webhookId: stored.webhook_id,
    eventType: decodeEvent(row).type,
    status: stored.status,
    attempts: stored.attempts,
    responseCode: stored.response_code,
    responseTimeMs: stored.response_time_ms,
    failureReason: stored.failure_reason,
    createdAt: stored.created_at,
    lastAttemptAt: stored.last_attempt_at,
    nextAttemptAt: stored.next_attempt_at,
    replayOf: stored.replay_of,
  }
}

export const eventOfRow = (row: unknown): DeliveredEvent => {
  const { type, data } = decodeEvent(row)
  const fields: unknown = JSON.parse(data)
  if (typeof fields !== 'object' || fields === null) throw new UndecodableRow('a row of events does not decode at data')
  return { type, data: fields }
}

/** The columns that an attempt changes. */
export const attemptColumnsOf = (delivery: WebhookDelivery) => ({
  status: delivery.status,
  attempts: delivery.attempts,
  response_code: delivery.responseCode,
  response_time_ms: delivery.responseTimeMs,
  failure_reason: delivery.failureReason,
  last_attempt_at: orNull(toTimestamptz)(delivery.lastAttemptAt),
  next_attempt_at: orNull(toTimestamptz)(delivery.nextAttemptAt),
})

/** All columns but the event's. */
export const rowOfDelivery = (delivery: WebhookDelivery) => ({
  id: delivery.id,
  webhook_id: delivery.webhookId,
  created_at: toTimestamptz(delivery.createdAt),
  replay_of: delivery.replayOf,
  ...attemptColumnsOf(delivery),
})
