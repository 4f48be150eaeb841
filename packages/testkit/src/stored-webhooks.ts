// Plain webhooks to fill stores with.
import type { Owner, WebhookId, Instant } from '@tradeport/domain/primitives'
import type { WebhookUrl, Webhook } from '@tradeport/domain/webhooks'

let lastWebhook = 0

/**
 * One that no other webhook of this run has. Later ones sort before earlier ones, so that no list
 * is in order by its ids.
 */
export const newWebhookId = (): WebhookId =>
  `0b000000-0000-4000-8000-${(2 ** 48 - (lastWebhook += 1)).toString(16).padStart(12, '0')}` as WebhookId

/** An enabled webhook for closed trades that was never delivered to. */
export const newWebhook = (
  owner: Owner,
  createdAt: Instant,
  fields: Partial<Webhook> = {},
): Webhook => ({
  id: newWebhookId(),
  owner,
  url: 'https://hooks.example.com/tradeport' as WebhookUrl,
  eventTypes: ['trade.closed'],
  enabled: true,
  failureCount: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  createdAt,
  updatedAt: createdAt,
  ...fields,
})
