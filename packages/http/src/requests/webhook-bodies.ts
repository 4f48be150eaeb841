// The bodies of POST /webhooks and PUT /webhooks/:id (4.6; decisions 5, 41 and 42). null is no value of any field: it is told as a fault. Whether a URL's
// host may be reached is for the use case to say, which knows the operator's own networks.
import {
  eventTypeBounds,
  isWebhookSecret,
  maxWebhookUrlLength,
  parseWebhookUrl,
  secretBounds,
  webhookEventTypes,
  webhookUrlTakes,
} from '@tradeport/domain'
import type { NewWebhook, WebhookChange, WebhookEventType } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { described, listBetween, mapped, maybe, namedCodec, openObject, present, someOf, stringOf, trueOrFalse } from './json-codecs.ts'
import type { JsonCodec } from './json-codecs.ts'

const url = stringOf(webhookUrlTakes, parseWebhookUrl, {
  description: 'Where to post events: https, on the public internet.',
  maxLength: maxWebhookUrlLength,
  // Whether it can be read as a URL no pattern tells.
  pattern: String.raw`^https://[^\s#\\@/?]+([/?][^\s#\\]*)?$`,
})

const eventType: JsonCodec<WebhookEventType> = stringOf(
  `one of ${webhookEventTypes.join(', ')} (webhook.test is sent by POST /webhooks/:id/test alone)`,
  (text) => O.fromNullable(webhookEventTypes.find((known) => known === text)),
  { enum: webhookEventTypes },
)

/** Each once, in the order in which they were first named. */
const eventTypes: JsonCodec<readonly WebhookEventType[]> = mapped(
  described(listBetween(eventType, eventTypeBounds.minimum, eventTypeBounds.maximum, 'event types'), 'Which events; each is taken once.'),
  (types) => [...new Set(types)],
)

const secret = stringOf(
  `${secretBounds.minimum} to ${secretBounds.maximum} characters of well-formed text`,
  O.fromPredicate(isWebhookSecret),
  {
    description: 'The key of the signatures; one of 64 hexadecimal characters is made where none is sent.',
    minLength: secretBounds.minimum,
    maxLength: secretBounds.maximum,
  },
)

export const createWebhookBody: JsonCodec<NewWebhook> = namedCodec(
  'CreateWebhookRequest',
  openObject<NewWebhook>('Webhook', { url: present(url), eventTypes: present(eventTypes), secret: maybe(secret) }),
  { url: 'https://hooks.example.com/tradeport', eventTypes: ['trade.closed', 'order.filled'] },
)

export const changeWebhookBody: JsonCodec<WebhookChange> = namedCodec(
  'ChangeWebhookRequest',
  someOf(
    openObject<WebhookChange>('WebhookChange', {
      url: maybe(url),
      eventTypes: maybe(eventTypes),
      enabled: maybe(described(trueOrFalse, 'Whether events are delivered to it.')),
    }),
    ['url', 'eventTypes', 'enabled'],
  ),
  { enabled: false },
)
