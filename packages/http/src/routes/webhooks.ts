// Webhooks: registered, listed, changed, deleted and tested, and the log of their deliveries.
import {
  deliveryFailures,
  deliveryStatuses,
  eventTypeBounds,
  maxWebhookUrlLength,
  parseWebhookUrl,
  secretBounds,
  webhookEventTypes,
} from '@tradeport/domain'
import type { DeliveryFailure, WebhookDelivery } from '@tradeport/domain'
import { exampleDeliveryId, exampleWebhookId } from '../examples.ts'
import { pageMeta, paginationShape } from '../pagination.ts'
import { paging } from '../parameters.ts'
import { anyOf, routesOf } from '../route.ts'
import {
  anyText,
  always,
  atLeastOne,
  converted,
  flag,
  input,
  list,
  named,
  nullable,
  oneOf,
  optional,
  parsed,
  record,
  seldom,
  text,
  time,
  uuid,
  whole,
} from '../schema.ts'
import type { UseCases } from '../use-cases.ts'

const fields = {
  id: uuid('Names it on other routes.', exampleWebhookId),
  url: text('Where events are posted.', 'https://hooks.example.com/tradeport'),
  eventTypes: list(oneOf(webhookEventTypes, 'An event type.'), 'The events that are posted.'),
  enabled: flag('Nothing is delivered to a webhook that is not enabled.', true),
  failureCount: whole('Failed attempts to deliver in a row.', 0),
  lastSuccessAt: nullable(time('When an attempt or a test last succeeded; null before the first.'), null),
  lastFailureAt: nullable(time('When an attempt last failed; null before the first.'), null),
  createdAt: time('When it was registered.', '2026-11-01T08:00:00.000Z'),
  updatedAt: time('When its user last changed it.', '2026-11-01T08:00:00.000Z'),
}

const webhook = record('Webhook', 'Where which events are posted.', fields)

const createdWebhook = record('CreatedWebhook', 'A webhook with its secret, which no other reply shows.', {
  ...fields,
  secret: text('The key of the signatures of what is posted. Keep it.', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
})

// Whether a name exists, and in which network, is only for the operator to see.
const hidden = ['host_not_allowed', 'name_not_found'] as const
type ShownFailure = Exclude<DeliveryFailure, (typeof hidden)[number]> | 'host_unreachable'
const shown = (reason: DeliveryFailure): ShownFailure =>
  (hidden as readonly string[]).includes(reason) ? 'host_unreachable' : (reason as ShownFailure)
const shownFailures = [...new Set(deliveryFailures.map(shown))]
const failureReason = nullable(oneOf(shownFailures, 'Why the last attempt failed; null when it did not.', 'timed_out'), null)

const test = record('WebhookTestResult', "The receiver's answer to a test.", {
  success: flag('Whether it answered with a 2xx.', true),
  responseCode: whole('The status that it answered; 0 without an answer.', 204),
  responseTimeMs: whole("Milliseconds from the first byte sent to the answer's head.", 87),
  failureReason,
})

const delivery = record('Delivery', 'One record of the log of event deliveries.', {
  id: uuid('X-Webhook-Delivery-Id of all of its attempts.', exampleDeliveryId),
  webhookId: uuid('The webhook.', exampleWebhookId),
  eventType: oneOf(webhookEventTypes, 'The event.'),
  status: oneOf(deliveryStatuses, 'pending while another attempt is to come.', 'success'),
  attempts: whole('How many there were.', 1),
  responseCode: nullable(whole('The status of the last answer; 0 without an answer, null before the first attempt.', 204)),
  responseTimeMs: nullable(whole('How long the last answer took, in milliseconds; null before the first attempt.', 87)),
  failureReason,
  createdAt: time('When the event was recorded.'),
  lastAttemptAt: nullable(time('When the last attempt began; null before the first.', '2026-11-20T14:05:09.412Z')),
  nextAttemptAt: nullable(time('When the next attempt is scheduled; null once it is no longer pending.'), null),
  replayOf: nullable(uuid('The delivery that this one sends again; null when it is no replay.', exampleDeliveryId), null),
})

const presentDelivery = (one: WebhookDelivery) => ({ ...one, failureReason: one.failureReason && shown(one.failureReason) })

const url = parsed(
  `an https URL of at most ${maxWebhookUrlLength} characters on the public internet, without user name, password or fragment`,
  parseWebhookUrl,
  'Where to post events: https, on the public internet.',
  'https://hooks.example.com/tradeport',
  { maxLength: maxWebhookUrlLength, pattern: String.raw`^https://[^\s#\\@\/?]+([\/?][^\s#\\]*)?$` },
)

const eventTypes = converted(
  list(oneOf(webhookEventTypes, 'An event type.', 'trade.closed'), 'Which events; each counts once.', {
    minItems: eventTypeBounds.minimum,
    maxItems: eventTypeBounds.maximum,
    items: 'event types',
  }),
  (types) => [...new Set(types)],
)

const newWebhook = named(
  'CreateWebhookRequest',
  input('A webhook.', {
    url,
    eventTypes,
    secret: seldom(
      text('The key of the signatures; 64 hexadecimal characters are generated when it is left out.', 'a-secret-of-my-own', {
        minLength: secretBounds.minimum,
        maxLength: secretBounds.maximum,
        writeOnly: true,
      }),
    ),
  }),
)

const webhookChange = named(
  'ChangeWebhookRequest',
  atLeastOne(
    input('What to change.', {
      url: optional(url),
      eventTypes: optional(eventTypes),
      enabled: optional(flag('Whether events are delivered to it.', false)),
    }),
  ),
  { enabled: false },
)

const route = routesOf<UseCases>()
const readers = anyOf('webhooks:read')
const writers = anyOf('webhooks:write')
const params = { id: anyText('The id of a webhook.', exampleWebhookId) }

export const webhookRoutes = [
  route('POST /webhooks', 'createWebhook', 'Register a webhook', {
    description: 'Registers a webhook; only this reply shows its secret. Nothing is sent to its URL.',
    access: writers,
    body: newWebhook,
    furtherIssues: (useCases, body) => useCases.webhookHostIssues(body['url']),
    refusals: ['ValidationError', 'WebhookLimitReached', 'IdempotencyInProgress'],
    useCase: (useCases, caller, { body, once }) => useCases.createWebhook(caller, body, once),
    reply: { data: createdWebhook, isCreated: true, isSecret: true },
    present: ({ webhook: created, secret }) => ({ data: { ...created, secret }, location: `/webhooks/${created.id}` }),
  }),
  route('GET /webhooks', 'listWebhooks', 'List webhooks', {
    description: 'All webhooks, oldest first, without their secrets.',
    access: readers,
    refusals: [],
    useCase: (useCases, caller) => useCases.listWebhooks(caller),
    reply: { data: list(webhook, 'Oldest first.') },
    present: (webhooks) => ({ data: webhooks }),
  }),
  route('GET /webhooks/:id', 'getWebhook', 'Get a webhook', {
    description: 'One webhook, without its secret.',
    access: readers,
    params,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { params: { id } }) => useCases.getWebhook(caller, id),
    reply: { data: webhook },
    present: (found) => ({ data: found }),
  }),
  route('PUT /webhooks/:id', 'changeWebhook', 'Change a webhook', {
    description: 'Changes the URL or the event types of a webhook, or switches it on or off.',
    access: writers,
    params,
    body: webhookChange,
    furtherIssues: (useCases, body) => useCases.webhookHostIssues(body['url']),
    refusals: ['ValidationError', 'NotFound'],
    useCase: (useCases, caller, { params: { id }, body }) => useCases.changeWebhook(caller, id, body),
    reply: { data: webhook },
    present: (changed) => ({ data: changed }),
  }),
  route('DELETE /webhooks/:id', 'deleteWebhook', 'Delete a webhook', {
    access: writers,
    params,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { params: { id } }) => useCases.deleteWebhook(caller, id),
    reply: {
      data: record('DeletedWebhook', 'A webhook that was deleted.', {
        id: uuid('Its id.', exampleWebhookId),
        deleted: always(true, 'It is deleted.'),
      }),
    },
    present: (id) => ({ data: { id, deleted: true as const } }),
  }),
  route('POST /webhooks/:id/test', 'testWebhook', 'Test a webhook', {
    description: 'Posts one signed webhook.test to the webhook and reports its answer, after 30 seconds at most.',
    access: writers,
    params,
    refusals: ['NotFound', 'IdempotencyInProgress'],
    useCase: (useCases, caller, { params: { id }, once }) => useCases.testWebhook(caller, id, once),
    reply: { data: test },
    present: ({ isSuccess, ...result }) => ({
      data: { ...result, success: isSuccess, failureReason: result.failureReason && shown(result.failureReason) },
    }),
  }),
  route('GET /webhooks/:id/deliveries', 'listWebhookDeliveries', 'List deliveries', {
    description: 'The log of event deliveries, newest first; empty while the capability events is off.',
    access: readers,
    params,
    query: { status: optional(oneOf(deliveryStatuses, 'Deliveries with this status.')), ...paging },
    refusals: ['NotFound'],
    useCase: (useCases, caller, { params: { id }, query }) => useCases.listWebhookDeliveries(caller, id, query),
    reply: { data: list(delivery, 'Newest first.'), pagination: paginationShape },
    present: (page) => ({ data: page.items.map(presentDelivery), meta: { pagination: pageMeta(page) } }),
  }),
  route('POST /webhooks/:id/deliveries/:deliveryId/replay', 'replayWebhookDelivery', 'Replay a delivery', {
    description: 'Sends one logged delivery again, as a new one that is sent once and never retried.',
    access: writers,
    params: { ...params, deliveryId: anyText('The id of a delivery.', exampleDeliveryId) },
    refusals: ['NotFound', 'IdempotencyInProgress'],
    useCase: (useCases, caller, { params: { id, deliveryId }, once }) => useCases.replayWebhookDelivery(caller, id, deliveryId, once),
    reply: { data: delivery, isCreated: true },
    present: (replay) => ({ data: presentDelivery(replay), location: `/webhooks/${replay.webhookId}/deliveries` }),
  }),
]
