// Webhooks as callers see them (2.8; decisions 41 and 43). The secret is shown by one presenter alone, that of the reply to its creation.
import { deliveryFailures, deliveryStatuses, toIso, toIsoOrNull, webhookEventTypes } from '@tradeport/domain'
import type { DeliveryFailure, Webhook, WebhookDelivery, WebhookId, WebhookTest, WebhookWithSecret } from '@tradeport/domain'
import { always, choice, flag, list, nullInExample, orNull, record, text, time, uuid, whole } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleDeliveryId, exampleWebhookId } from './examples.ts'

const fields = {
  id: uuid('Names it on other routes.', exampleWebhookId),
  url: text('Where it is told of events.', 'https://hooks.example.com/tradeport'),
  eventTypes: list(choice(webhookEventTypes, 'An event type.', 'trade.closed'), 'The events that it is told of.'),
  enabled: flag('Nothing is delivered to one that is switched off.', true),
  failureCount: whole('Failed attempts to deliver in a row.', 0),
  lastSuccessAt: orNull(time('When an attempt or a test last succeeded; null before the first.')),
  lastFailureAt: nullInExample(time('When an attempt last failed; null before the first.')),
  createdAt: time('When it was registered.', '2026-11-01T08:00:00.000Z'),
  updatedAt: time('When its user last changed it.', '2026-11-01T08:00:00.000Z'),
}

export const webhookShape = record('Webhook', 'Where a user wants to be told of which events.', fields)

export const createdWebhookShape = record('CreatedWebhook', 'A webhook with its secret, which no other reply tells.', {
  ...fields,
  lastSuccessAt: nullInExample(time('When an attempt or a test last succeeded; null before the first.')),
  secret: text(
    'The key of the signatures of what is sent to it. Keep it.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
})

export const deletedWebhookShape = record('DeletedWebhook', 'A webhook that is no more.', {
  id: uuid('Its id.', exampleWebhookId),
  deleted: always(true, 'It is deleted.'),
})

export const webhookTestShape = record('WebhookTestResult', 'How the receiver answered a test.', {
  success: flag('Whether it answered with a 2xx.', true),
  responseCode: whole('The status that it answered; 0 where it did not.', 204),
  responseTimeMs: whole("Milliseconds from the first byte sent to the answer's head.", 87),
})

type HiddenFailure = 'host_not_allowed' | 'name_not_found'

// Hoisted, because the shape is made of it.
function isShown(reason: DeliveryFailure): reason is Exclude<DeliveryFailure, HiddenFailure> {
  return reason !== 'host_not_allowed' && reason !== 'name_not_found'
}

const shownFailures = ['host_unreachable', ...deliveryFailures.filter(isShown)] as const

export const deliveryShape = record('Delivery', 'One record of the log of event deliveries.', {
  id: uuid('X-Webhook-Delivery-Id of all of its attempts.', exampleDeliveryId),
  webhookId: uuid('The webhook.', exampleWebhookId),
  eventType: choice(webhookEventTypes, 'The event.', 'trade.closed'),
  status: choice(deliveryStatuses, 'pending while another attempt is to come.', 'success'),
  attempts: whole('How many there were.', 1),
  responseCode: orNull(whole('The status of the last answer; 0 where there was none, null before the first attempt.', 204)),
  responseTimeMs: orNull(whole('How long the last answer took, in milliseconds; null before the first attempt.', 87)),
  failureReason: nullInExample(choice(shownFailures, 'Why the last attempt failed; null where it did not.', 'timed_out')),
  createdAt: time('When the event was recorded.'),
  lastAttemptAt: orNull(time('When the last attempt began; null before the first.', '2026-11-20T14:05:09.412Z')),
  nextAttemptAt: nullInExample(time('When the next attempt is due; null once it is not pending any more.')),
  replayOf: nullInExample(uuid('The delivery that this one sends again; null where it is no replay.', exampleDeliveryId)),
})

export const presentWebhook = ({ id, url, eventTypes, enabled, ...webhook }: Webhook): Shown<typeof webhookShape> => ({
  id,
  url,
  eventTypes,
  enabled,
  failureCount: webhook.failureCount,
  lastSuccessAt: toIsoOrNull(webhook.lastSuccessAt),
  lastFailureAt: toIsoOrNull(webhook.lastFailureAt),
  createdAt: toIso(webhook.createdAt),
  updatedAt: toIso(webhook.updatedAt),
})

export const presentCreatedWebhook = ({ webhook, secret }: WebhookWithSecret): Shown<typeof createdWebhookShape> => ({
  ...presentWebhook(webhook),
  secret,
})

export const presentDeletedWebhook = (id: WebhookId): Shown<typeof deletedWebhookShape> => ({ id, deleted: true })

/** Why there was no answer is not told: where a name leads to is for the operator to see. */
export const presentWebhookTest = ({ isSuccess, responseCode, responseTimeMs }: WebhookTest): Shown<typeof webhookTestShape> => ({
  success: isSuccess,
  responseCode,
  responseTimeMs,
})

/** One record of the delivery log (decision 44). */
export const presentDelivery = (delivery: WebhookDelivery): Shown<typeof deliveryShape> => ({
  id: delivery.id,
  webhookId: delivery.webhookId,
  eventType: delivery.eventType,
  status: delivery.status,
  attempts: delivery.attempts,
  responseCode: delivery.responseCode,
  responseTimeMs: delivery.responseTimeMs,
  failureReason: shownFailure(delivery.failureReason),
  createdAt: toIso(delivery.createdAt),
  lastAttemptAt: toIsoOrNull(delivery.lastAttemptAt),
  nextAttemptAt: toIsoOrNull(delivery.nextAttemptAt),
  replayOf: delivery.replayOf,
})

const shownFailure = (reason: WebhookDelivery['failureReason']): Shown<typeof deliveryShape>['failureReason'] =>
  reason === null || isShown(reason) ? reason : 'host_unreachable'
