// A webhook: where a user receives which events (docs/behaviour.md#webhooks). Its secret
// is no part of it, so that nothing that shows a webhook can show the secret.
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import type { Owner, WebhookId } from '../primitives/ids.ts'
import { hourMs, type Instant } from '../primitives/instant.ts'
import type { WebhookUrl } from './webhook-url.ts'

const basicEventTypes = [
  'trade.closed',
  'position.opened',
  'position.closed',
  'order.created',
  'order.filled',
  'order.cancelled',
  'account.balance_changed',
  'risk.threshold_breached',
] as const
export const webhookEventTypes = [...basicEventTypes, 'order.rejected', 'order.expired'] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]
/** Those that come from the broker's deals, and so from reading its history. */
export const brokerEventTypes = [
  'trade.closed',
  'position.opened',
  'position.closed',
  'account.balance_changed',
] as const satisfies readonly WebhookEventType[]

/** What a webhook can be registered for. */
export const eventTypesOf = (recordsEvents: boolean): readonly WebhookEventType[] =>
  recordsEvents ? webhookEventTypes : basicEventTypes

export const maxWebhooks = 10
/** How many event types a request may name; repeated ones count, and are kept once. */
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
  /** The secret before the last rotation, with which deliveries are signed too until then. */
  readonly previous?: { readonly secret: string; readonly until: Instant }
}

/** The request of a user. */
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

/** How long the secret before a rotation signs too. */
export const overlapHoursBounds = { minimum: 0, maximum: 168 } as const
export const defaultOverlapHours = 24

export interface SecretRotation {
  readonly secret: string
  readonly overlapHours: number
}

/**
 * Only the secret that is replaced signs too: a second rotation ends the overlap of the first,
 * unless it repeats the first with the same secret. Without an overlap none signs too.
 */
export const withRotatedSecret = (
  { webhook, secret: replaced, previous }: WebhookWithSecret,
  { secret, overlapHours }: SecretRotation,
  now: Instant,
): WebhookWithSecret => {
  const overlapping =
    secret === replaced
      ? previous
      : { secret: replaced, until: now + Math.round(overlapHours * hourMs) }
  return {
    webhook: { ...webhook, updatedAt: now },
    secret,
    ...(overlapHours > 0 && overlapping !== undefined && { previous: overlapping }),
  }
}

/** Newest first. */
export const signingSecrets = (
  { secret, previous }: WebhookWithSecret,
  now: Instant,
): readonly string[] =>
  previous !== undefined && now < previous.until ? [secret, previous.secret] : [secret]

/** Enabling a webhook, also one that is enabled, sets its count of failures to 0. */
export const changedWebhook = (
  webhook: Webhook,
  { url, eventTypes, enabled }: WebhookChange,
  now: Instant,
): Webhook => ({
  ...webhook,
  url: url ?? webhook.url,
  eventTypes: eventTypes ?? webhook.eventTypes,
  enabled: enabled ?? webhook.enabled,
  failureCount: enabled === true ? 0 : webhook.failureCount,
  updatedAt: now,
})

/**
 * The webhook after a success at `url`; an earlier URL proves nothing of the present one. Tests and
 * attempts may end in another order than they began.
 */
export const withSuccess = (webhook: Webhook, url: WebhookUrl, at: Instant): Webhook => ({
  ...webhook,
  failureCount: url === webhook.url ? 0 : webhook.failureCount,
  lastSuccessAt: Math.max(at, webhook.lastSuccessAt ?? at),
})

/** @param existing how many webhooks the user has, without the new one */
export const requireRoomForWebhook = (
  existing: number,
): E.Either<Refusal<'WebhookLimitReached'>, void> =>
  existing >= maxWebhooks
    ? E.left(refuse('WebhookLimitReached', { allowed: maxWebhooks }))
    : E.right(undefined)
