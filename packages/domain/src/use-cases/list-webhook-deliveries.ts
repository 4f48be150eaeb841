// GET /webhooks/:id/deliveries: the log of event deliveries, newest first; empty where no event is delivered (4.6; decisions 44 and 45).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { DeliveriesQuery, WebhookDeliveries } from '../ports/webhook-deliveries.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { Page } from '../primitives/pages.ts'
import type { WebhookDelivery } from '../webhooks/event-delivery.ts'
import { findWebhook } from './steps/find-webhook.ts'

interface Ports {
  readonly webhooks: Pick<WebhookStore, 'find'>
  readonly webhookDeliveries: Pick<WebhookDeliveries, 'list'>
}

export const listWebhookDeliveries =
  (ports: Ports) =>
  ({ owner }: Caller, id: string, query: DeliveriesQuery): TE.TaskEither<NotFound | ServiceUnavailable, Page<WebhookDelivery>> =>
    pipe(
      findWebhook(ports)(owner, id),
      TE.flatMap((webhook) => ports.webhookDeliveries.list(owner, webhook.id, query)),
    )
