// /webhooks: register, list, read, change, delete and test webhooks, and the log of their deliveries (4.6).
import { deliveryStatuses } from '@tradeport/domain'
import type { Issue, Scope } from '@tradeport/domain'
import { presentCreatedWebhook, presentDelivery, presentWebhook, presentWebhookTest } from '../presenters/webhook.ts'
import { pageMeta } from '../replies/pagination.ts'
import { anyText, oneOf, page, pageSize } from '../requests/parameter-kinds.ts'
import { optional, withDefault } from '../requests/parameter.ts'
import { changeWebhookBody, createWebhookBody } from '../requests/webhook-bodies.ts'
import type { JsonObject } from '../requests/read-body.ts'
import { scopedRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import type { UseCases } from '../use-cases.ts'

const readers: readonly Scope[] = ['webhooks:read']
const writers: readonly Scope[] = ['webhooks:write']

const hostIssues = ({ webhookHostIssues }: UseCases, { url }: JsonObject): readonly Issue[] => webhookHostIssues(url)

const id = anyText('The id of a webhook.')

export const webhookRoutes: readonly Route<UseCases>[] = [
  scopedRoute({
    method: 'POST',
    path: '/webhooks',
    summary: 'Registers a webhook; the reply alone tells its secret. Nothing is sent to its URL.',
    anyOf: writers,
    body: createWebhookBody,
    furtherIssues: hostIssues,
    useCase: (useCases: UseCases, caller, { body }) => useCases.createWebhook(caller, body),
    present: (created) => ({ kind: 'data', data: presentCreatedWebhook(created), createdPath: `/webhooks/${created.webhook.id}` }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/webhooks',
    summary: 'All webhooks, oldest first, without their secrets.',
    anyOf: readers,
    useCase: (useCases: UseCases, caller) => useCases.listWebhooks(caller),
    present: (webhooks) => ({ kind: 'data', data: webhooks.map(presentWebhook) }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/webhooks/:id',
    summary: 'One webhook, without its secret.',
    anyOf: readers,
    params: { id },
    useCase: (useCases: UseCases, caller, { params }) => useCases.getWebhook(caller, params.id),
    present: (webhook) => ({ kind: 'data', data: presentWebhook(webhook) }),
  }),
  scopedRoute({
    method: 'PUT',
    path: '/webhooks/:id',
    summary: 'Changes the URL or the event types of a webhook, or switches it on or off.',
    anyOf: writers,
    params: { id },
    body: changeWebhookBody,
    furtherIssues: hostIssues,
    useCase: (useCases: UseCases, caller, { params, body }) => useCases.changeWebhook(caller, params.id, body),
    present: (webhook) => ({ kind: 'data', data: presentWebhook(webhook) }),
  }),
  scopedRoute({
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Deletes a webhook.',
    anyOf: writers,
    params: { id },
    useCase: (useCases: UseCases, caller, { params }) => useCases.deleteWebhook(caller, params.id),
    present: (deletedId) => ({ kind: 'data', data: { id: deletedId, deleted: true } }),
  }),
  scopedRoute({
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Posts one signed webhook.test to the webhook and tells how it was answered, after 30 seconds at most.',
    anyOf: writers,
    params: { id },
    useCase: (useCases: UseCases, caller, { params }) => useCases.testWebhook(caller, params.id),
    present: (test) => ({ kind: 'data', data: presentWebhookTest(test) }),
  }),
  scopedRoute({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    summary: 'The log of event deliveries, newest first; empty where the capability events is off.',
    anyOf: readers,
    params: { id },
    query: {
      status: optional(oneOf(deliveryStatuses, 'Deliveries of one status.')),
      page: withDefault(page, 1),
      limit: withDefault(pageSize(100), 20),
    },
    useCase: (useCases: UseCases, caller, { params, query }) => useCases.listWebhookDeliveries(caller, params.id, query),
    present: (result) => ({ kind: 'data', data: result.items.map(presentDelivery), pagination: pageMeta(result) }),
  }),
  scopedRoute({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:deliveryId/replay',
    summary: 'Sends one logged delivery again, as a new one that is sent once and never resent.',
    anyOf: writers,
    params: { id, deliveryId: anyText('The id of a delivery.') },
    useCase: (useCases: UseCases, caller, { params }) => useCases.replayWebhookDelivery(caller, params.id, params.deliveryId),
    present: (delivery) => ({ kind: 'data', data: presentDelivery(delivery), createdPath: `/webhooks/${delivery.webhookId}/deliveries` }),
  }),
]
