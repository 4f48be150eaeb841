// Webhooks as callers see them (2.8; decisions 41 and 43). The secret is shown by one presenter alone, that of the reply to its creation.
import { toIso } from '@tradeport/domain'
import type { Instant, Webhook, WebhookDelivery, WebhookTest, WebhookWithSecret } from '@tradeport/domain'

export const presentWebhook = ({ id, url, eventTypes, enabled, ...webhook }: Webhook): object => ({
  id,
  url,
  eventTypes,
  enabled,
  failureCount: webhook.failureCount,
  lastSuccessAt: isoOrNull(webhook.lastSuccessAt),
  lastFailureAt: isoOrNull(webhook.lastFailureAt),
  createdAt: toIso(webhook.createdAt),
  updatedAt: toIso(webhook.updatedAt),
})

export const presentCreatedWebhook = ({ webhook, secret }: WebhookWithSecret): object => ({ ...presentWebhook(webhook), secret })

/** Why there was no answer is not told: where a name leads to is for the operator to see. */
export const presentWebhookTest = ({ isSuccess, responseCode, responseTimeMs }: WebhookTest): object => ({
  success: isSuccess,
  responseCode,
  responseTimeMs,
})

/** One record of the delivery log (decision 44). Whether a name is not known or leads inside is one to its user, for the same reason. */
export const presentDelivery = (delivery: WebhookDelivery): object => ({
  id: delivery.id,
  webhookId: delivery.webhookId,
  eventType: delivery.eventType,
  status: delivery.status,
  attempts: delivery.attempts,
  responseCode: delivery.responseCode,
  responseTimeMs: delivery.responseTimeMs,
  failureReason: shownFailure(delivery.failureReason),
  createdAt: toIso(delivery.createdAt),
  lastAttemptAt: isoOrNull(delivery.lastAttemptAt),
  nextAttemptAt: isoOrNull(delivery.nextAttemptAt),
  replayOf: delivery.replayOf,
})

const shownFailure = (reason: WebhookDelivery['failureReason']): string | null =>
  reason === 'host_not_allowed' || reason === 'name_not_found' ? 'host_unreachable' : reason

const isoOrNull = (instant: Instant | null): string | null => (instant === null ? null : toIso(instant))
