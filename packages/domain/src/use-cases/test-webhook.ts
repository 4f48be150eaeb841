// POST /webhooks/:id/test: one delivery now, enabled or not, that is in no log; success is remembered, failure changes nothing (3.4, 4.6; decision 43).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { IdempotencyInProgress, NotFound, ServiceUnavailable } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Once } from '../ports/idempotency.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { isDelivered, testDelivery } from '../webhooks/delivery.ts'
import { failureOf } from '../webhooks/event-delivery.ts'
import type { DeliveryFailure } from '../webhooks/event-delivery.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { withWebhook } from './steps/find-webhook.ts'

interface Ports {
  readonly webhooks: Pick<WebhookStore, 'findWithSecret' | 'recordTestSuccess'>
  readonly webhookSender: WebhookSender
  readonly clock: Clock
}

export interface WebhookTest {
  readonly isSuccess: boolean
  /** The answer's status; 0 when there was none. */
  readonly responseCode: number
  readonly responseTimeMs: number
  /** Null on success. */
  readonly failureReason: DeliveryFailure | null
}

export const testWebhook =
  (ports: Ports) =>
  ({ owner }: Caller, id: string, { begin }: Once): TE.TaskEither<NotFound | IdempotencyInProgress | ServiceUnavailable, WebhookTest> =>
    pipe(
      TE.Do,
      TE.bind('to', () => withWebhook(id, (webhookId) => ports.webhooks.findWithSecret(owner, webhookId))),
      TE.tap(() => begin),
      TE.bindW('answer', ({ to }) => TE.fromTask(ports.webhookSender.send(testDelivery(to, ports.clock.now())))),
      TE.let('isSuccess', ({ answer }) => isDelivered(answer.responseCode)),
      TE.tap(({ to, isSuccess }) => (isSuccess ? rememberSuccess(ports, to.webhook) : TE.right(undefined))),
      TE.map(({ answer, isSuccess }) => ({ ...answer, isSuccess, failureReason: isSuccess ? null : failureOf(answer) })),
    )

// It may have been deleted while the receiver was asked; there is then nothing to remember.
const rememberSuccess = ({ webhooks, clock }: Ports, { owner, id }: Webhook): TE.TaskEither<ServiceUnavailable, void> =>
  webhooks.recordTestSuccess(owner, id, clock.now())
