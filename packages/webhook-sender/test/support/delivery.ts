import ipaddr from 'ipaddr.js'
import type { DeliveryRequest, WebhookUrl } from '@tradeport/domain/webhooks'
import {
  createWebhookReach,
  createWebhookSender,
  type WebhookSenderOptions,
} from '../../src/index.ts'

export const loopback = createWebhookReach(['127.0.0.0/8', '::1/128'].map(ipaddr.parseCIDR))

/** Bytes that are not UTF-8 text; the receiver recognises the beginning. */
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

/** Sends to loopback, to which every name resolves. */
export const senderWith = (options: Partial<WebhookSenderOptions>) => {
  const sender = createWebhookSender({
    reach: loopback,
    resolveName: async () => ['127.0.0.1'],
    ...options,
  })
  return (url: string) => sender.send(deliveryTo(url))()
}
