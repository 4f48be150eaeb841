// POST /webhooks/:id/test: one delivery now, enabled or not, that is in no log; success is remembered, failure changes nothing (3.4, 4.6; decision 43).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryAnswer, WebhookSender } from '../ports/webhook-sender.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { isDelivered, testDelivery } from '../webhooks/delivery.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { withWebhook } from './steps/find-webhook.ts'

interface Ports {
  readonly webhooks: Pick<WebhookStore, 'findWithSecret' | 'recordTestSuccess'>
  readonly webhookSender: WebhookSender
  readonly clock: Clock
}

export interface WebhookTest extends DeliveryAnswer {
  readonly isSuccess: boolean
}

export const testWebhook =
  (ports: Ports) =>
  ({ owner }: Caller, id: string): TE.TaskEither<NotFound | ServiceUnavailable, WebhookTest> =>
    pipe(
      TE.Do,
      TE.bind('to', () => withWebhook(id, (webhookId) => ports.webhooks.findWithSecret(owner, webhookId))),
      TE.bind('answer', ({ to }) => TE.fromTask(ports.webhookSender.send(testDelivery(to, ports.clock.now())))),
      TE.let('isSuccess', ({ answer }) => isDelivered(answer.responseCode)),
      TE.tap(({ to, isSuccess }) => (isSuccess ? rememberSuccess(ports, to.webhook) : TE.right(undefined))),
      TE.map(({ answer, isSuccess }) => ({ ...answer, isSuccess })),
    )

// It may have been deleted while the receiver was asked; there is then nothing to remember.
const rememberSuccess = ({ webhooks, clock }: Ports, { owner, id }: Webhook): TE.TaskEither<ServiceUnavailable, void> =>
  webhooks.recordTestSuccess(owner, id, clock.now())
