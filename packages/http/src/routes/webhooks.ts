// Webhooks: registered, listed, changed, deleted and tested, and the log of their deliveries.
import {
  type DeliveryFailure,
  deliveryFailures,
  deliveryStatuses,
  eventTypeBounds,
  maxWebhookUrlLength,
  parseWebhookUrl,
  secretBounds,
  webhookEventTypes,
} from '@tradeport/domain/webhooks'
import type { JsonObject } from '../body.ts'
import { replyWithPage, deliveryId, instant, paging, webhookId } from '../fields.ts'
import { replyWith, anyOf, routesOf } from '../route.ts'
import {
  anyText,
  literal,
  mapDecoded,
  withDescription,
  flag,
  input,
  list,
  named,
  nullable,
  oneOf,
  optional,
  parsedString,
  record,
  optionalWithoutExample,
  text,
  time,
  whole,
  encodedFrom,
} from '../schema.ts'
import type { UseCases } from '../use-cases.ts'

const eventType = oneOf(webhookEventTypes, 'An event type.', 'trade.closed')

const fields = {
  id: webhookId,
  url: text('Where events are posted.', 'https://hooks.example.com/tradeport'),
  eventTypes: list(eventType, 'The events that are posted.'),
  enabled: flag('Nothing is delivered to a webhook that is not enabled.'),
  failureCount: whole('Failed attempts to deliver in a row.', 0),
  lastSuccessAt: nullable(
    time('When an attempt or a test last succeeded; null before the first.'),
    null,
  ),
  lastFailureAt: nullable(time('When an attempt last failed; null before the first.'), null),
  createdAt: instant,
  updatedAt: withDescription(instant, 'When its user last changed it.'),
}

const webhook = record('Webhook', 'Where which events are posted.', fields)

const createdWebhook = record(
  'CreatedWebhook',
  'A webhook with its secret, which no other reply shows.',
  {
    ...fields,
    secret: text(
      'The key of the signatures of what is posted. Keep it.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
  },
)

const deletedWebhook = record('DeletedWebhook', 'A webhook that was deleted.', {
  id: webhookId,
  deleted: literal(true, 'It is deleted.'),
})

// Whether a name exists, and in which network, is only for the operator to see.
const shown = (reason: DeliveryFailure) =>
  reason === 'host_not_allowed' || reason === 'name_not_found'
    ? ('host_unreachable' as const)
    : reason
const failureReason = encodedFrom(
  nullable(
    oneOf(
      [...new Set(deliveryFailures.map(shown))],
      'Why the last attempt failed; null when it did not.',
      'timed_out',
    ),
    null,
  ),
  (reason: DeliveryFailure | null) => reason && shown(reason),
)

const testResult = record('WebhookTestResult', "The receiver's answer to a test.", {
  success: flag('Whether it answered with a 2xx.'),
  responseCode: whole('The status that it answered; 0 without an answer.', 204),
  responseTimeMs: whole("Milliseconds from the first byte sent to the answer's head.", 87),
  failureReason,
})

const delivery = record('Delivery', 'One record of the log of event deliveries.', {
  id: deliveryId,
  webhookId,
  eventType,
  status: oneOf(deliveryStatuses, 'pending while another attempt is to come.', 'success'),
  attempts: whole('How many there were.', 1),
  responseCode: nullable(
    whole(
      'The status of the last answer; 0 without an answer, null before the first attempt.',
      204,
    ),
  ),
  responseTimeMs: nullable(
    whole('How long the last answer took, in milliseconds; null before the first attempt.', 87),
  ),
  failureReason,
  createdAt: instant,
  lastAttemptAt: nullable(
    time('When the last attempt began; null before the first.', '2026-11-20T14:05:09.412Z'),
  ),
  nextAttemptAt: nullable(
    time('When the next attempt is scheduled; null once it is no longer pending.'),
    null,
  ),
  replayOf: nullable(
    withDescription(
      deliveryId,
      'The delivery that this one sends again; null when it is no replay.',
    ),
    null,
  ),
})

const url = parsedString(
  `an https URL of at most ${maxWebhookUrlLength} characters on the public internet, without user name, password or fragment`,
  parseWebhookUrl,
  'Where to post events: https, on the public internet. The demo accepts http to its own machine as well.',
  'https://hooks.example.com/tradeport',
  {
    maxLength: maxWebhookUrlLength,
    pattern: String.raw`^(https://[^\s#\\@\/?]+|http://(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d+)?)([\/?][^\s#\\]*)?$`,
  },
)

const eventTypes = mapDecoded(
  list(eventType, 'Which events; each counts once.', {
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
    secret: optionalWithoutExample(
      text(
        'The key of the signatures; 64 hexadecimal characters are generated when it is left out.',
        'a-secret-of-my-own',
        {
          minLength: secretBounds.minimum,
          maxLength: secretBounds.maximum,
          writeOnly: true,
        },
      ),
    ),
  }),
)

const webhookChange = named(
  'ChangeWebhookRequest',
  input(
    'What to change.',
    {
      url: optional(url),
      eventTypes: optional(eventTypes),
      enabled: optional(flag('Whether events are delivered to it.', false)),
    },
    1,
  ),
  { enabled: false },
)

const route = routesOf<UseCases>()
const access = anyOf('webhooks:read')
const params = { id: anyText('The id of a webhook.', String(webhookId.example)) }
const writing = { access: anyOf('webhooks:write'), params }
const furtherIssues = (useCases: UseCases, body: JsonObject) => useCases.webhookIssues(body)

export const webhookRoutes = [
  route(
    'POST /webhooks',
    'createWebhook',
    'Registers a webhook; only this reply shows its secret. Nothing is sent to its URL.',
    {
      access: writing.access,
      body: newWebhook,
      furtherIssues,
      refusals: ['ValidationError', 'WebhookLimitReached', 'IdempotencyInProgress'],
      useCase: (useCases, caller, { body, guard }) => useCases.createWebhook(caller, body, guard),
      data: createdWebhook,
      location: ({ webhook: { id } }) => `/webhooks/${id}`,
      isSecret: true,
      present: ({ webhook: created, secret }) => ({ data: { ...created, secret } }),
    },
  ),
  route('GET /webhooks', 'listWebhooks', 'All webhooks, oldest first, without their secrets.', {
    access,
    refusals: [],
    useCase: (useCases, caller) => useCases.listWebhooks(caller),
    ...replyWith(list(webhook, 'Oldest first.')),
  }),
  route('GET /webhooks/:id', 'getWebhook', 'One webhook, without its secret.', {
    access,
    params,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { id }) => useCases.getWebhook(caller, id),
    ...replyWith(webhook),
  }),
  route(
    'PUT /webhooks/:id',
    'changeWebhook',
    'Changes the URL or the event types of a webhook, or switches it on or off.',
    {
      ...writing,
      body: webhookChange,
      furtherIssues,
      refusals: ['ValidationError', 'NotFound'],
      useCase: (useCases, caller, { id, body }) => useCases.changeWebhook(caller, id, body),
      ...replyWith(webhook),
    },
  ),
  route('DELETE /webhooks/:id', 'deleteWebhook', 'Delete a webhook.', {
    ...writing,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { id }) => useCases.deleteWebhook(caller, id),
    data: deletedWebhook,
    present: (id) => ({ data: { id, deleted: true as const } }),
  }),
  route(
    'POST /webhooks/:id/test',
    'testWebhook',
    'Posts one signed webhook.test to the webhook and reports its answer, after 30 seconds at most.',
    {
      ...writing,
      refusals: ['NotFound', 'IdempotencyInProgress'],
      useCase: (useCases, caller, { id, guard }) => useCases.testWebhook(caller, id, guard),
      data: testResult,
      present: ({ isSuccess, ...result }) => ({ data: { ...result, success: isSuccess } }),
    },
  ),
  route(
    'GET /webhooks/:id/deliveries',
    'listWebhookDeliveries',
    'The log of event deliveries, newest first; empty while the capability events is off.',
    {
      access,
      params,
      query: {
        status: optional(oneOf(deliveryStatuses, 'Deliveries with this status.')),
        ...paging,
      },
      refusals: ['NotFound'],
      useCase: (useCases, caller, { id, query }) =>
        useCases.listWebhookDeliveries(caller, id, query),
      ...replyWithPage(delivery),
    },
  ),
  route(
    'POST /webhooks/:id/deliveries/:deliveryId/replay',
    'replayWebhookDelivery',
    'Sends one logged delivery again, as a new one that is sent once and never retried.',
    {
      access: writing.access,
      params: {
        ...params,
        deliveryId: anyText('The id of a delivery.', String(deliveryId.example)),
      },
      refusals: ['NotFound', 'IdempotencyInProgress'],
      useCase: (useCases, caller, { id, deliveryId, guard }) =>
        useCases.replayWebhookDelivery(caller, id, deliveryId, guard),
      ...replyWith(delivery),
      location: (replay) => `/webhooks/${replay.webhookId}/deliveries`,
    },
  ),
]
