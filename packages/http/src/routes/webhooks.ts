// /webhooks: register, list, read, change, delete and test webhooks, and the log of their deliveries (4.6).
import { deliveryStatuses } from '@tradeport/domain'
import type { Issue, Scope } from '@tradeport/domain'
import { exampleDeliveryId, exampleWebhookId } from '../presenters/examples.ts'
import {
  createdWebhookShape,
  deletedWebhookShape,
  deliveryShape,
  presentCreatedWebhook,
  presentDeletedWebhook,
  presentDelivery,
  presentWebhook,
  presentWebhookTest,
  webhookShape,
  webhookTestShape,
} from '../presenters/webhook.ts'
import { pageMeta, paginationShape } from '../replies/pagination.ts'
import { anyText, oneOf, page, pageSize } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { changeWebhookBody, createWebhookBody } from '../requests/webhook-bodies.ts'
import type { JsonObject } from '../requests/read-body.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import { list } from '../schema/shapes.ts'
import type { UseCases } from '../use-cases.ts'

const readers: readonly Scope[] = ['webhooks:read']
const writers: readonly Scope[] = ['webhooks:write']

const hostIssues = ({ webhookHostIssues }: UseCases, { url }: JsonObject): readonly Issue[] => webhookHostIssues(url)

const id = anyText('The id of a webhook.', exampleWebhookId)

export const webhookRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    operationId: 'createWebhook',
    method: 'POST',
    path: '/webhooks',
    summary: 'Register a webhook',
    description: 'Registers a webhook; the reply alone tells its secret. Nothing is sent to its URL.',
    anyOf: writers,
    body: createWebhookBody,
    furtherIssues: hostIssues,
    refusals: ['ValidationError', 'WebhookLimitReached', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { body }) => useCases.createWebhook(caller, body),
    reply: { kind: 'data', data: createdWebhookShape, isCreated: true },
    present: (created) => ({ kind: 'data', data: presentCreatedWebhook(created), createdPath: `/webhooks/${created.webhook.id}` }),
  }),
  scopedRoute({
    operationId: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    summary: 'List webhooks',
    description: 'All webhooks, oldest first, without their secrets.',
    anyOf: readers,
    refusals: ['ServiceUnavailable'],
    useCase: (useCases: UseCases, caller) => useCases.listWebhooks(caller),
    reply: { kind: 'data', data: list(webhookShape, 'Oldest first.') },
    present: (webhooks) => ({ kind: 'data', data: webhooks.map(presentWebhook) }),
  }),
  scopedRoute({
    operationId: 'getWebhook',
    method: 'GET',
    path: '/webhooks/:id',
    summary: 'Get a webhook',
    description: 'One webhook, without its secret.',
    anyOf: readers,
    params: { id },
    refusals: ['NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.getWebhook(caller, params.id),
    reply: { kind: 'data', data: webhookShape },
    present: (webhook) => ({ kind: 'data', data: presentWebhook(webhook) }),
  }),
  scopedRoute({
    operationId: 'changeWebhook',
    method: 'PUT',
    path: '/webhooks/:id',
    summary: 'Change a webhook',
    description: 'Changes the URL or the event types of a webhook, or switches it on or off.',
    anyOf: writers,
    params: { id },
    body: changeWebhookBody,
    furtherIssues: hostIssues,
    refusals: ['ValidationError', 'NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.changeWebhook(caller, params.id, body),
    reply: { kind: 'data', data: webhookShape },
    present: (webhook) => ({ kind: 'data', data: presentWebhook(webhook) }),
  }),
  scopedRoute({
    operationId: 'deleteWebhook',
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Delete a webhook',
    description: 'Deletes a webhook.',
    anyOf: writers,
    params: { id },
    refusals: ['NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.deleteWebhook(caller, params.id),
    reply: { kind: 'data', data: deletedWebhookShape },
    present: (deletedId) => ({ kind: 'data', data: presentDeletedWebhook(deletedId) }),
  }),
  scopedRoute({
    operationId: 'testWebhook',
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Test a webhook',
    description: 'Posts one signed webhook.test to the webhook and tells how it was answered, after 30 seconds at most.',
    anyOf: writers,
    params: { id },
    refusals: ['NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.testWebhook(caller, params.id),
    reply: { kind: 'data', data: webhookTestShape },
    present: (test) => ({ kind: 'data', data: presentWebhookTest(test) }),
  }),
  scopedRoute({
    operationId: 'listWebhookDeliveries',
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    summary: 'List deliveries',
    description: 'The log of event deliveries, newest first; empty where the capability events is off.',
    anyOf: readers,
    params: { id },
    query: {
      status: optional(oneOf(deliveryStatuses, 'Deliveries of one status.')),
      page: withDefault(page, 1),
      limit: withDefault(pageSize(100), 20),
    },
    refusals: ['NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params, query }) => useCases.listWebhookDeliveries(caller, params.id, query),
    reply: { kind: 'data', data: list(deliveryShape, 'Newest first.'), pagination: paginationShape },
    present: (result) => ({ kind: 'data', data: result.items.map(presentDelivery), pagination: pageMeta(result) }),
  }),
  scopedRoute({
    operationId: 'replayWebhookDelivery',
    method: 'POST',
    path: '/webhooks/:id/deliveries/:deliveryId/replay',
    summary: 'Replay a delivery',
    description: 'Sends one logged delivery again, as a new one that is sent once and never resent.',
    anyOf: writers,
    params: { id, deliveryId: anyText('The id of a delivery.', exampleDeliveryId) },
    refusals: ['NotFound', 'ServiceUnavailable'],
    useCase: (useCases: UseCases, caller, { params }) => useCases.replayWebhookDelivery(caller, params.id, params.deliveryId),
    reply: { kind: 'data', data: deliveryShape, isCreated: true },
    present: (delivery) => ({ kind: 'data', data: presentDelivery(delivery), createdPath: `/webhooks/${delivery.webhookId}/deliveries` }),
  }),
]
