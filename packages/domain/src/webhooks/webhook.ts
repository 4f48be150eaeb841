// A webhook: where a user wants to be told of which events (docs/behaviour.md#webhooks). Its secret
// is no part of it, so that nothing that shows a webhook can show the secret.
import * as E from 'fp-ts/lib/Either.js'
import { webhookLimitReached } from '../errors.ts'
import type { WebhookLimitReached } from '../errors.ts'
import type { Owner, WebhookId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { WebhookUrl } from './webhook-url.ts'

export const webhookEventTypes = [
  'trade.closed',
  'position.opened',
  'position.closed',
  'order.created',
  'order.filled',
  'order.cancelled',
  'account.balance_changed',
  'risk.threshold_breached',
] as const
/** What a webhook can be registered for. */
export type WebhookEventType = (typeof webhookEventTypes)[number]

export const maxWebhooks = 10
/** How many event types a request may name; repeated ones count, and are taken once. */
export const eventTypeBounds = { minimum: 1, maximum: 10 } as const
/** Of a secret that the user brings along, in Unicode code points. */
export const secretBounds = { minimum: 16, maximum: 64 } as const

export interface Webhook {
  readonly id: WebhookId
  readonly owner: Owner
  readonly url: WebhookUrl
  /** Each once. */
  readonly eventTypes: readonly WebhookEventType[]
  readonly enabled: boolean
  /** Failed attempts to deliver events in a row. */
  readonly failureCount: number
  readonly lastSuccessAt: Instant | null
  readonly lastFailureAt: Instant | null
  readonly createdAt: Instant
  /** When its user last changed it; deliveries do not count. */
  readonly updatedAt: Instant
}

export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/** What a user asks for. */
export interface NewWebhook {
  readonly url: WebhookUrl
  readonly eventTypes: readonly WebhookEventType[]
  /** Made for the user where it is not there. */
  readonly secret?: string
}

/** What a user changes; at least one is there. */
export interface WebhookChange {
  readonly url?: WebhookUrl
  readonly eventTypes?: readonly WebhookEventType[]
  readonly enabled?: boolean
}

/**
 * Whether a text can be a secret. Any characters will do, since it travels in no header; half of
 * one would not, because the key of a signature is the secret's UTF-8 bytes, in which it has none
 * of its own.
 */
export const isWebhookSecret = (text: string): boolean => {
  const { length } = Array.from(text)
  return length >= secretBounds.minimum && length <= secretBounds.maximum && text.isWellFormed()
}

/**
 * One that is switched on again begins to count its failures anew, or the next would switch it off.
 */
export const changedWebhook = (
  webhook: Webhook,
  { url, eventTypes, enabled }: WebhookChange,
  now: Instant,
): Webhook => ({
  ...webhook,
  url: url ?? webhook.url,
  eventTypes: eventTypes ?? webhook.eventTypes,
  enabled: enabled ?? webhook.enabled,
  failureCount: enabled === true && !webhook.enabled ? 0 : webhook.failureCount,
  updatedAt: now,
})

/**
 * The webhook after a test that was answered with success. Tests may end in another order than they
 * began.
 */
export const withTestSuccess = (webhook: Webhook, at: Instant): Webhook => ({
  ...webhook,
  failureCount: 0,
  lastSuccessAt: Math.max(at, webhook.lastSuccessAt ?? at),
})

/** @param held how many webhooks the user has now */
export const requireRoomForWebhook = (held: number): E.Either<WebhookLimitReached, void> =>
  held >= maxWebhooks ? E.left(webhookLimitReached(maxWebhooks)) : E.right(undefined)
