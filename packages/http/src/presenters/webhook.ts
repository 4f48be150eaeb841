// Webhooks as callers see them (2.8; decisions 41 and 43). The secret is shown by one presenter alone, that of the reply to its creation.
import { toIso } from '@tradeport/domain'
import type { Instant, Webhook, WebhookTest, WebhookWithSecret } from '@tradeport/domain'

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

const isoOrNull = (instant: Instant | null): string | null => (instant === null ? null : toIso(instant))
