// A sender that posts nothing: it keeps what it was given, and answers as the test says.
import type { DeliveryAnswer, WebhookSender } from '@tradeport/domain/ports'
import type { DeliveryRequest } from '@tradeport/domain/webhooks'

export interface FakeWebhookSender extends WebhookSender {
  /** What was sent, in order. */
  readonly sent: readonly DeliveryRequest[]
  /**
   * How everything from now on is answered; 200 after 12 ms before that. `meanwhile` is done
   * between the request and its answer.
   */
  readonly answer: (answer: DeliveryAnswer, meanwhile?: () => Promise<unknown>) => void
}

export const createFakeWebhookSender = (): FakeWebhookSender => {
  const sent: DeliveryRequest[] = []
  let next: { readonly answer: DeliveryAnswer; readonly meanwhile: () => Promise<unknown> } = {
    answer: { responseCode: 200, responseTimeMs: 12 },
    meanwhile: async () => undefined,
  }
  return {
    sent,
    send: (delivery) => async () => {
      sent.push(delivery)
      const { answer, meanwhile } = next
      await meanwhile()
      return answer
    },
    answer: (answer, meanwhile = async () => undefined) => {
      next = { answer, meanwhile }
    },
  }
}
