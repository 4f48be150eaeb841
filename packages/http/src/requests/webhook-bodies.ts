// The bodies of POST /webhooks and PUT /webhooks/:id (4.6; decisions 5, 41 and 42). null is no value of any field: it is told as a fault. Whether a URL's
// host may be reached is for the use case to say, which knows the operator's own networks.
import { eventTypeBounds, isWebhookSecret, parseWebhookUrl, secretBounds, webhookEventTypes, webhookUrlTakes } from '@tradeport/domain'
import type { NewWebhook, WebhookChange, WebhookEventType } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { listBetween, mapped, maybe, openObject, present, someOf, stringOf, trueOrFalse } from './json-codecs.ts'
import type { JsonCodec } from './json-codecs.ts'

const url = stringOf(webhookUrlTakes, parseWebhookUrl)

const eventType: JsonCodec<WebhookEventType> = stringOf(
  `one of ${webhookEventTypes.join(', ')} (webhook.test is sent by POST /webhooks/:id/test alone)`,
  (text) => O.fromNullable(webhookEventTypes.find((known) => known === text)),
)

/** Each once, in the order in which they were first named. */
const eventTypes: JsonCodec<readonly WebhookEventType[]> = mapped(
  listBetween(eventType, eventTypeBounds.minimum, eventTypeBounds.maximum, 'event types'),
  (types) => [...new Set(types)],
)

const secret = stringOf(
  `${secretBounds.minimum} to ${secretBounds.maximum} characters of well-formed text`,
  O.fromPredicate(isWebhookSecret),
)

export const createWebhookBody: JsonCodec<NewWebhook> = openObject<NewWebhook>('Webhook', {
  url: present(url),
  eventTypes: present(eventTypes),
  secret: maybe(secret),
})

export const changeWebhookBody: JsonCodec<WebhookChange> = someOf(
  openObject<WebhookChange>('WebhookChange', { url: maybe(url), eventTypes: maybe(eventTypes), enabled: maybe(trueOrFalse) }),
  ['url', 'eventTypes', 'enabled'],
)
