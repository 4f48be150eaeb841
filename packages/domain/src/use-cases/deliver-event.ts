// Posts one attempt of a delivery to its webhook. The caller records the answer.
import type * as T from 'fp-ts/lib/Task.js'
import type { Clock } from '../ports/clock.ts'
import type { DueDelivery } from '../ports/webhook-deliveries.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import { eventDelivery } from '../webhooks/delivery.ts'
import type { AttemptAnswer } from '../webhooks/event-delivery.ts'

interface Ports {
  readonly webhookSender: WebhookSender
  readonly clock: Clock
}

export const deliverEvent =
  ({ webhookSender, clock }: Ports) =>
  ({ to, delivery, event }: DueDelivery): T.Task<AttemptAnswer> =>
    webhookSender.send(eventDelivery(to, delivery.id, event, clock.now()))
