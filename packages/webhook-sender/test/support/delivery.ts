// A delivery with a body of bytes that no text has, and a sender that may reach this machine's
// loopback.
import type { DeliveryRequest, WebhookUrl } from '@tradeport/domain/webhooks'
import { createWebhookReach, createWebhookSender } from '../../src/index.ts'
import type { WebhookSenderOptions } from '../../src/index.ts'

export const loopback = createWebhookReach(['127.0.0.0/8', '::1'])

/** Begins like JSON, by which the receiver sees that it has come. */
export const body = Buffer.from('{"say":"\u0000é\ufffd"}')

export const deliveryTo = (url: string): DeliveryRequest => ({
  url: url as WebhookUrl,
  headers: {
    'Content-Type': 'application/json',
    'X-Webhook-Id': 'w-1',
    'User-Agent': 'TradingPlatform-Webhook/1.0',
  },
  body,
})

/** One that may reach loopback, and for which every name leads there. */
export const senderWith = (options: Partial<WebhookSenderOptions>) => {
  const sender = createWebhookSender({
    reach: loopback,
    resolveName: async () => ['127.0.0.1'],
    ...options,
  })
  return (url: string) => sender.send(deliveryTo(url))()
}
