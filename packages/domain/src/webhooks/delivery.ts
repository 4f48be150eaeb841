// What is posted to a webhook, and the delivery of one event as a pure state machine over its
// attempts: the next state of the delivery and of the webhook after each answer of the receiver.
import type { DeliveryId, EventId, WebhookId } from '../primitives/ids.ts'
import { minuteMs, secondMs, toIso, type Instant } from '../primitives/instant.ts'
import { signStandardWebhook, signWebhook } from './signature.ts'
import type { WebhookUrl } from './webhook-url.ts'
import {
  signingSecrets,
  withSuccess,
  type Webhook,
  type WebhookEventType,
  type WebhookWithSecret,
} from './webhook.ts'

export const deliveryStatuses = ['success', 'failed', 'pending'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** From the lookup of the host's name to the last byte that is read of the answer. */
export const deliveryTimeoutMs = 30 * secondMs

/** One POST, byte for byte. */
export interface DeliveryRequest {
  readonly url: WebhookUrl
  /** In addition to those that HTTP itself needs. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * A test that its user requested. It has no delivery id, since it is in no log.
 * @param id its webhook-id; undefined in a service that records no events
 */
export const testDelivery = (
  to: WebhookWithSecret,
  id: string | undefined,
  now: Instant,
): DeliveryRequest => {
  const data = { message: 'This is a test of your webhook.', timestamp: toIso(now) }
  return requestOf(to, { id, type: 'webhook.test', data }, now)
}

/**
 * Every attempt of a delivery carries the same id, by which receivers recognise a repeated one, and
 * the time of its own sending.
 */
export const eventDelivery = ({ to, delivery, data, startedAt }: DueDelivery): DeliveryRequest =>
  requestOf(to, { id: delivery.eventId, type: delivery.eventType, data }, startedAt, {
    'X-Webhook-Timestamp': toIso(startedAt),
    'X-Webhook-Delivery-Id': delivery.id,
  })

const requestOf = (
  to: WebhookWithSecret,
  {
    id,
    type,
    data,
  }: { readonly id: string | undefined; readonly type: string; readonly data: object },
  now: Instant,
  headers: DeliveryRequest['headers'] = {},
): DeliveryRequest => {
  const { webhook, secret } = to
  const body = new TextEncoder().encode(
    JSON.stringify({ event: type, data, timestamp: toIso(now), webhook_id: webhook.id }),
  )
  const timestamp = Math.floor(now / secondMs)
  return {
    url: webhook.url,
    headers: {
      'Content-Type': 'application/json',
      'X-Webhook-Signature': signWebhook(secret, body),
      'X-Webhook-Id': webhook.id,
      'X-Webhook-Event': type,
      'User-Agent': 'TradingPlatform-Webhook/1.0',
      ...headers,
      ...(id !== undefined && {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signingSecrets(to, now)
          .map((one) => signStandardWebhook(one, { id, timestamp }, body))
          .join(' '),
      }),
    },
    body,
  }
}

/** Any 2xx is success. */
export const isDelivered = (responseCode: number): boolean =>
  responseCode >= 200 && responseCode < 300

/** Why there was no answer. Only with the last two may something have been sent. */
const sendFailures = [
  // The host is, or its name leads to, an address that is not allowed.
  'host_not_allowed',
  'name_not_found',
  // No name server answered whether the name exists.
  'lookup_failed',
  'connection_failed',
  'tls_failed',
  // The receiver hung up, or its answer was not HTTP.
  'answer_broken',
  'timed_out',
] as const
export type SendFailure = (typeof sendFailures)[number]

export const deliveryFailures = [
  ...sendFailures,
  // An answer outside 2xx.
  'not_2xx',
  // Not sent, because the webhook was disabled before.
  'webhook_disabled',
  // A replay whose process ended during the attempt: it may have been sent, and is not sent again.
  'interrupted',
] as const
export type DeliveryFailure = (typeof deliveryFailures)[number]

export interface WebhookDelivery {
  readonly id: DeliveryId
  readonly webhookId: WebhookId
  /** In the log of events. */
  readonly eventId: EventId
  readonly eventType: WebhookEventType
  /** Pending while another attempt will follow. */
  readonly status: DeliveryStatus
  /** How many attempts have ended; that of a replay counts when it begins. */
  readonly attempts: number
  /**
   * Of the last attempt, like the next two fields: 0 without an answer, null before the first
   * attempt.
   */
  readonly responseCode: number | null
  readonly responseTimeMs: number | null
  readonly failureReason: DeliveryFailure | null
  readonly createdAt: Instant
  /** When the last attempt began. */
  readonly lastAttemptAt: Instant | null
  /** Null unless the delivery is pending. */
  readonly nextAttemptAt: Instant | null
  /** The delivery that this one sends again; null for a delivery made by an event. */
  readonly replayOf: DeliveryId | null
}

/** A delivery whose next attempt is due, with everything that the attempt needs. */
export interface DueDelivery {
  readonly to: WebhookWithSecret
  readonly delivery: WebhookDelivery
  /** Of its event. */
  readonly data: object
  /** When this attempt begins, by the clock that all instances share. */
  readonly startedAt: Instant
}

/** How a receiver answered one attempt. */
export interface AttemptAnswer {
  /** The answer's status; 0 when there was none. */
  readonly responseCode: number
  /**
   * Whole milliseconds from the first byte sent to the answer's head, or to when it was given up; 0
   * when nothing was sent.
   */
  readonly responseTimeMs: number
  /** Present if and only if there was no answer. */
  readonly failureReason?: SendFailure
}

export interface Attempt {
  readonly answer: AttemptAnswer
  readonly durationMs: number
}

/**
 * The pauses after attempts 1, 2 and so on; a delivery has one attempt more than there are pauses.
 */
export type RetrySchedule = readonly number[]

export const retrySchedule: RetrySchedule = [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs]

/** After so many failures in a row, of any of its deliveries, a webhook is disabled. */
const failuresToDisable = 5

/**
 * A delivery and its webhook after an attempt.
 * @param webhook as it is stored now
 */
export const afterAttempt = (
  { to, delivery, startedAt }: DueDelivery,
  webhook: Webhook,
  { answer, durationMs }: Attempt,
  schedule: RetrySchedule,
): { readonly delivery: WebhookDelivery; readonly webhook: Webhook } => {
  const endedAt = startedAt + durationMs
  const attempted = {
    ...delivery,
    attempts: isReplay(delivery) ? 1 : delivery.attempts + 1,
    responseCode: answer.responseCode,
    responseTimeMs: answer.responseTimeMs,
    lastAttemptAt: startedAt,
  }
  if (isDelivered(answer.responseCode))
    return {
      delivery: { ...attempted, status: 'success', failureReason: null, nextAttemptAt: null },
      webhook: withSuccess(webhook, to.webhook.url, endedAt),
    }
  // A failure does not count for a replay, at a URL that was changed since, or where the service
  // could look up no names, which would disable everybody's webhooks.
  const counts =
    !isReplay(delivery) &&
    to.webhook.url === webhook.url &&
    answer.failureReason !== 'lookup_failed'
  const failureCount = webhook.failureCount + (counts ? 1 : 0)
  const failed = {
    ...webhook,
    failureCount,
    enabled: webhook.enabled && (!counts || failureCount < failuresToDisable),
    lastFailureAt: endedAt,
  }
  const pause = schedule[attempted.attempts - 1]
  const isOver = isReplay(delivery) || pause === undefined || !failed.enabled
  return {
    delivery: {
      ...attempted,
      status: isOver ? 'failed' : 'pending',
      failureReason: failureOf(answer),
      nextAttemptAt: isOver ? null : endedAt + pause,
    },
    webhook: failed,
  }
}

/**
 * A replay just before its attempt. One whose attempt had begun and did not end is not sent again:
 * its outcome is unknown.
 */
export const beginReplay = (delivery: WebhookDelivery, now: Instant): WebhookDelivery =>
  delivery.attempts > 0
    ? { ...delivery, status: 'failed', failureReason: 'interrupted', nextAttemptAt: null }
    : { ...delivery, attempts: 1, lastAttemptAt: now }

export const isReplay = (delivery: WebhookDelivery): boolean => delivery.replayOf !== null

/** Why an attempt that was not answered with 2xx failed. */
export const failureOf = ({ failureReason }: AttemptAnswer): DeliveryFailure =>
  failureReason ?? 'not_2xx'
