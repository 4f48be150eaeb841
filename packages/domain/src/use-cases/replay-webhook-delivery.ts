// POST /webhooks/:id/deliveries/:deliveryId/replay: there is no delivery to replay while no event is delivered (4.6; decision 41).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { notFound } from '../errors.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { findWebhook } from './steps/find-webhook.ts'

export const replayWebhookDelivery =
  (ports: { readonly webhooks: Pick<WebhookStore, 'find'> }) =>
  ({ owner }: Caller, id: string, _deliveryId: string): TE.TaskEither<NotFound | ServiceUnavailable, never> =>
    pipe(
      findWebhook(ports)(owner, id),
      TE.flatMap(() => TE.left(notFound('delivery'))),
    )
