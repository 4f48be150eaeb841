// POST /webhooks/:id/deliveries/:deliveryId/replay: sends a logged delivery once more, as a new one (4.6; decisions 41 and 44). Where no event is
// delivered there is none to replay.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { notFound } from '../errors.ts'
import type { IdempotencyInProgress, NotFound, ServiceUnavailable } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Once } from '../ports/idempotency.ts'
import type { WebhookDeliveries } from '../ports/webhook-deliveries.ts'
import type { WebhookIds } from '../ports/webhook-ids.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { parseDeliveryId } from '../primitives/ids.ts'
import type { WebhookDelivery } from '../webhooks/event-delivery.ts'
import { findWebhook } from './steps/find-webhook.ts'

interface Ports {
  readonly webhooks: Pick<WebhookStore, 'find'>
  readonly webhookDeliveries: Pick<WebhookDeliveries, 'replay'>
  readonly webhookIds: Pick<WebhookIds, 'newDeliveryId'>
  readonly clock: Clock
}

const deliveryNotFound = notFound('delivery')

export const replayWebhookDelivery =
  (ports: Ports) =>
  (
    { owner }: Caller,
    id: string,
    deliveryId: string,
    { begin }: Once,
  ): TE.TaskEither<NotFound | IdempotencyInProgress | ServiceUnavailable, WebhookDelivery> =>
    pipe(
      TE.Do,
      TE.bind('webhook', () => findWebhook(ports)(owner, id)),
      TE.bindW('asked', () => TE.fromOption(() => deliveryNotFound)(parseDeliveryId(deliveryId))),
      TE.tap(() => begin),
      TE.flatMap(({ webhook, asked }) =>
        ports.webhookDeliveries.replay(owner, webhook.id, asked, { id: ports.webhookIds.newDeliveryId(), at: ports.clock.now() }),
      ),
      TE.flatMap(TE.fromOption(() => deliveryNotFound)),
    )
