// What is posted to a webhook and when that counts as delivered.
import type { DeliveryId } from '../primitives/ids.ts'
import { secondMs, toIso } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { signWebhook } from './signature.ts'
import type { WebhookUrl } from './webhook-url.ts'
import type { WebhookEventType, WebhookWithSecret } from './webhook.ts'

export const deliveryStatuses = ['success', 'failed', 'pending'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** From the first look at the name to the last byte that is read of the answer. */
export const deliveryTimeoutMs = 30 * secondMs

/** One POST, byte for byte. */
export interface DeliveryRequest {
  readonly url: WebhookUrl
  /** Beside those that HTTP itself needs. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const userAgent = 'TradingPlatform-Webhook/1.0'

/**
 * Tells a receiver that the webhook works. It carries no id of a delivery, since it is in no log.
 */
export const testDelivery = (to: WebhookWithSecret, now: Instant): DeliveryRequest =>
  deliveryOf(
    to,
    'webhook.test',
    { message: 'This is a test of your webhook.', timestamp: toIso(now) },
    now,
  )

/** What a delivery tells of an event. */
export interface DeliveredEvent {
  readonly type: WebhookEventType
  readonly data: object
}

/**
 * Tells a receiver of an event. Every attempt of a delivery carries the same id, which a repeated
 * one is known by, and the time of its own sending.
 */
export const eventDelivery = (
  to: WebhookWithSecret,
  id: DeliveryId,
  { type, data }: DeliveredEvent,
  now: Instant,
): DeliveryRequest => {
  const { url, headers, body } = deliveryOf(to, type, data, now)
  return {
    url,
    headers: { ...headers, 'X-Webhook-Timestamp': toIso(now), 'X-Webhook-Delivery-Id': id },
    body,
  }
}

/** Any 2xx is success. */
export const isDelivered = (responseCode: number): boolean =>
  responseCode >= 200 && responseCode < 300

const deliveryOf = (
  { webhook, secret }: WebhookWithSecret,
  event: string,
  data: object,
  now: Instant,
): DeliveryRequest => {
  const body = new TextEncoder().encode(
    JSON.stringify({ event, data, timestamp: toIso(now), webhook_id: webhook.id }),
  )
  return {
    url: webhook.url,
    headers: {
      'Content-Type': 'application/json',
      'X-Webhook-Signature': signWebhook(secret, body),
      'X-Webhook-Id': webhook.id,
      'X-Webhook-Event': event,
      'User-Agent': userAgent,
    },
    body,
  }
}
