// The sender of webhooks with what became of each POST. What is told of a receiver is the first
// digit of its answer.
import type { DeliveryAnswer, SendFailure, WebhookSender } from '@tradeport/domain/ports'
import { Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

export type DeliveryOutcome = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'other' | SendFailure

export type ObserveDelivery = (outcome: DeliveryOutcome, durationMs: number) => void

const bucketsSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const createDeliveryMeter = (registry: Registry): ObserveDelivery => {
  const durations = new Histogram({
    name: 'tradeport_webhook_delivery_duration_seconds',
    help: 'Time of one POST to a webhook, tests included, by the class of its answer or why there was none.',
    labelNames: ['outcome'],
    buckets: bucketsSeconds,
    registers: [registry],
  })
  return (outcome, durationMs) => durations.labels(outcome).observe(durationMs / 1_000)
}

export const meteredWebhookSender = (
  sender: WebhookSender,
  observe: ObserveDelivery,
): WebhookSender => ({
  send: (delivery) => async () => {
    const startedAt = performance.now()
    const answer = await sender.send(delivery)()
    observe(outcomeOf(answer), performance.now() - startedAt)
    return answer
  },
})

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

const outcomeOf = ({ failureReason, responseCode }: DeliveryAnswer): DeliveryOutcome =>
  failureReason ?? classes[Math.floor(responseCode / 100) - 1] ?? 'other'
