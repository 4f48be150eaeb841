// Webhooks, and the log of their deliveries.
import { maxRecovered } from '@tradeport/domain/ports'
import { type EventId, parseEventId } from '@tradeport/domain/events'
import { type Instant, parseInstant } from '@tradeport/domain/primitives'
import {
  defaultOverlapHours,
  type DeliveryFailure,
  deliveryFailures,
  deliveryStatuses,
  eventTypeBounds,
  eventTypesOf,
  maxWebhookUrlLength,
  overlapHoursBounds,
  parseWebhookUrl,
  secretBounds,
  type hostFault,
  type WebhookWithSecret,
} from '@tradeport/domain/webhooks'
import {
  deliveryId,
  instant,
  instantPattern,
  paginationShape,
  paging,
  webhookId,
} from '../fields.ts'
import { anyOf, type IsOn } from '../route.ts'
import {
  anyText,
  mapInput,
  decimal,
  flag,
  list,
  nullable,
  oneOf,
  optional,
  parsedString,
  mapOutput,
  record,
  request,
  text,
  time,
  whole,
  withDefault,
  withDescription,
  refine,
} from '../schema.ts'
import { route } from '../use-cases.ts'
import { eventIdPattern, exampleEventId } from './events.ts'
import * as O from 'fp-ts/lib/Option.js'

const deletedWebhook = record('DeletedWebhook', 'A webhook that was deleted.', {
  id: webhookId,
  deleted: oneOf([true], 'It is deleted.'),
})

// Whether a name exists, and in which network, is only for the operator to see.
const shown = (reason: DeliveryFailure) =>
  reason === 'host_not_allowed' || reason === 'name_not_found'
    ? ('host_unreachable' as const)
    : reason
const failureReason = mapOutput(
  oneOf([...new Set(deliveryFailures.map(shown))], 'Why the last attempt failed.', 'timed_out'),
  shown,
)

const testResult = record('WebhookTestResult', "The receiver's answer to a test.", {
  success: flag('Whether it answered with a 2xx.'),
  responseCode: whole('The status that it answered; 0 without an answer.', 204),
  responseTimeMs: whole("Milliseconds from the first byte sent to the answer's head.", 87),
  failureReason: optional(failureReason),
})

const webhookUrl = parsedString(
  `an https URL of at most ${maxWebhookUrlLength} characters on the public internet, without user name, password or fragment`,
  parseWebhookUrl,
  'Where to post events: https, on the public internet. The demo accepts http to its own machine as well.',
  'https://hooks.example.com/tradeport',
  {
    maxLength: maxWebhookUrlLength,
    pattern: String.raw`^(https://[^\s#\\@\/?]+|http://(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d+)?)([\/?][^\s#\\]*)?$`,
  },
)

const secret = optional(
  text(
    'The key of the signatures; 64 hexadecimal characters are generated when it is left out.',
    undefined,
    { minLength: secretBounds.minimum, maxLength: secretBounds.maximum, writeOnly: true },
  ),
)

const rotation = request(
  'RotateWebhookSecretRequest',
  'The new secret, and for how long the one before signs too.',
  {
    secret,
    overlapHours: withDefault(
      decimal(
        'For how many hours `webhook-signature` holds the signature of the previous secret too.',
        defaultOverlapHours,
        overlapHoursBounds,
      ),
      defaultOverlapHours,
    ),
  },
)

const recovery = request('RecoverWebhookRequest', 'What to deliver again.', {
  since: parsedString(
    'the id of an event, or an ISO 8601 date or date-time',
    (sent) => O.alt<EventId | Instant>(() => parseInstant(sent, 'start'))(parseEventId(sent)),
    'Events after this one, or after this time.',
    '2026-11-20T14:05:09Z',
    { pattern: `${eventIdPattern}|${instantPattern}` },
  ),
})

const recovered = record('WebhookRecovery', 'What is delivered again.', {
  scheduled: whole('How many deliveries were recorded.', 12),
})

export type HostFault = ReturnType<typeof hostFault>

const access = anyOf('webhooks:read')
const params = { id: anyText('The id of a webhook.', String(webhookId.example)) }
const changeRoute = { access: anyOf('webhooks:write'), params }

export const webhookRoutes = (isOn: IsOn, faultOfHost: HostFault) => {
  const url = refine(webhookUrl, faultOfHost)
  const hasEvents = isOn('events')
  const eventType = oneOf(eventTypesOf(hasEvents), 'An event type.', 'trade.closed')

  const fields = {
    id: webhookId,
    url: text('Where events are posted.', 'https://hooks.example.com/tradeport'),
    eventTypes: list(eventType, 'The events that are posted.'),
    enabled: flag('To a webhook that is not enabled only tests and replays are sent.'),
    failureCount: whole('Failed attempts to deliver in a row.', 0),
    lastSuccessAt: nullable(
      time('When an attempt or a test last succeeded; null before the first.'),
      null,
    ),
    lastFailureAt: nullable(time('When an attempt last failed; null before the first.'), null),
    createdAt: instant,
    updatedAt: time('When its user last changed it.'),
  }

  const webhook = record('Webhook', 'Where which events are posted.', fields)

  const createdWebhook = record(
    'CreatedWebhook',
    'A webhook with a new secret, which no other reply shows.',
    {
      ...fields,
      secret: text(
        'The key of the signatures of what is posted. Keep it.',
        '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      ),
    },
    (created: WebhookWithSecret) => ({ ...created.webhook, secret: created.secret }),
  )
  const secretReply = { data: createdWebhook, isSecret: true } as const

  const delivery = record('Delivery', 'One record of the log of event deliveries.', {
    id: deliveryId,
    webhookId,
    ...(hasEvents && {
      eventId: text('The id of the event, as in GET /events.', exampleEventId, {
        pattern: eventIdPattern,
      }),
    }),
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
    failureReason: nullable(failureReason, null),
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

  const eventTypes = mapInput(
    list(
      eventType,
      'Which events; each counts once.',
      { minItems: eventTypeBounds.minimum, maxItems: eventTypeBounds.maximum },
      'event types',
    ),
    (sent) => [...new Set(sent)],
  )

  const newWebhook = request('CreateWebhookRequest', 'A webhook.', {
    url,
    eventTypes,
    secret,
  })

  const webhookChange = {
    ...request(
      'ChangeWebhookRequest',
      'What to change.',
      {
        url: optional(url),
        eventTypes: optional(eventTypes),
        enabled: optional(flag('Whether events are delivered to it.', false)),
      },
      1,
    ),
    example: { enabled: false },
  }

  return [
    route(
      'POST /webhooks',
      'createWebhook',
      'Registers a webhook; only this reply shows its secret. Nothing is sent to its URL.',
      {
        access: changeRoute.access,
        body: newWebhook,
        refusals: ['WebhookLimitReached'],
        location: ({ webhook: { id } }) => `/webhooks/${id}`,
        ...secretReply,
      },
    ),
    route('GET /webhooks', 'listWebhooks', 'All webhooks, oldest first, without their secrets.', {
      access,
      data: list(webhook, 'Oldest first.'),
    }),
    route('GET /webhooks/:id', 'getWebhook', 'One webhook, without its secret.', {
      access,
      params,
      refusals: ['NotFound'],
      data: webhook,
    }),
    route(
      'PUT /webhooks/:id',
      'changeWebhook',
      'Changes the URL or the event types of a webhook, or switches it on or off.',
      {
        ...changeRoute,
        body: webhookChange,
        refusals: ['NotFound'],
        data: webhook,
      },
    ),
    route(
      'POST /webhooks/:id/rotate-secret',
      'rotateWebhookSecret',
      'Replaces the secret; only this reply shows the new one. Until `overlapHours` have passed `webhook-signature` holds the signatures of both secrets, newest first; `X-Webhook-Signature` is that of the new one at once. A further rotation ends the overlap of the one before.',
      {
        capability: 'events',
        ...changeRoute,
        body: rotation,
        isBodyOptional: true,
        refusals: ['NotFound'],
        ...secretReply,
      },
    ),
    route('DELETE /webhooks/:id', 'deleteWebhook', 'Delete a webhook.', {
      ...changeRoute,
      refusals: ['NotFound'],
      data: deletedWebhook,
    }),
    route(
      'POST /webhooks/:id/test',
      'testWebhook',
      'Posts one signed webhook.test to the webhook and reports its answer, after 30 seconds at most.',
      {
        ...changeRoute,
        refusals: ['NotFound'],
        data: testResult,
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
        data: list(delivery, 'Newest first.'),
        meta: { pagination: paginationShape },
      },
    ),
    route(
      'POST /webhooks/:id/deliveries/:deliveryId/replay',
      'replayWebhookDelivery',
      'Sends one logged delivery again, as a new one that is sent once and never retried.',
      {
        access: changeRoute.access,
        params: {
          ...params,
          deliveryId: anyText('The id of a delivery.', String(deliveryId.example)),
        },
        refusals: ['NotFound'],
        data: delivery,
        location: (replay) => `/webhooks/${replay.webhookId}/deliveries`,
      },
    ),
    route(
      'POST /webhooks/:id/recover',
      'recoverWebhook',
      `Delivers every event after \`since\` for which the webhook is registered and which it has not received: without a delivery, or with failed ones only. At most ${maxRecovered.toLocaleString('en-US')} at a call, oldest first; pending deliveries are not doubled, so that the call can be repeated for the rest. A webhook that is not enabled is refused.`,
      {
        capability: 'events',
        ...changeRoute,
        body: recovery,
        refusals: ['NotFound', 'EventGone'],
        data: recovered,
        status: 202,
      },
    ),
  ]
}
