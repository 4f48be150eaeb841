// GET /webhooks/:id/deliveries: the log of event deliveries, which is empty while no event is delivered (4.6).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { pageOf } from '../primitives/pages.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import type { DeliveryStatus } from '../webhooks/delivery.ts'
import { findWebhook } from './steps/find-webhook.ts'

export interface DeliveriesQuery extends PageRequest {
  readonly status?: DeliveryStatus | undefined
}

export const listWebhookDeliveries =
  (ports: { readonly webhooks: Pick<WebhookStore, 'find'> }) =>
  ({ owner }: Caller, id: string, query: DeliveriesQuery): TE.TaskEither<NotFound | ServiceUnavailable, Page<never>> =>
    pipe(
      findWebhook(ports)(owner, id),
      TE.map(() => pageOf([], query)),
    )
