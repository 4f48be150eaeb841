// For receivers of webhooks: takes an event out of a request, if it is genuine.
import type { EventBody, EventName } from './contract-types.ts'
import { textOf, verifyWebhookSignature } from './signature.ts'
import type { RawBody } from './signature.ts'

interface Delivered {
  /**
   * The same when a delivery is sent again: an event may come twice. Left out by webhook.test. It
   * is not signed.
   */
  readonly delivery_id?: string
}

/** An event by its name, as the service sends it. */
export type KnownEvent = { [Name in EventName]: EventBody<Name> & Delivered }[EventName]

/** An event that this version of the client does not know; `name` is what it is called. */
export interface UnknownEvent extends Delivered {
  readonly event: 'unknown'
  readonly name: string
  readonly data: unknown
  readonly timestamp: string
  readonly webhook_id: string
}

export type WebhookEvent = KnownEvent | UnknownEvent

export interface ReceivedWebhook {
  /** The webhook's secret, as createWebhook told it. */
  readonly secret: string
  /** As it came, before any JSON parsing. */
  readonly body: RawBody
  /** All of the request's, as Node, Koa and Express have them, or a Headers. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

/**
 * The event; undefined where the signature is not that of the body, which is then nobody's
 * business: answer 401.
 */
export const readWebhook = async ({
  secret,
  body,
  headers,
}: ReceivedWebhook): Promise<WebhookEvent | undefined> => {
  if (!(await verifyWebhookSignature(secret, body, headerOf(headers, 'X-Webhook-Signature'))))
    return undefined
  // Whoever has the secret wrote it, so that its shape is the contract's.
  const signed = JSON.parse(textOf(body)) as KnownEvent
  const deliveryId = headerOf(headers, 'X-Webhook-Delivery-Id')
  const delivered: Delivered = deliveryId === undefined ? {} : { delivery_id: deliveryId }
  if (isKnownEvent(signed.event)) return { ...signed, ...delivered }
  const { event: name, ...others } = signed as Omit<UnknownEvent, 'event'> & {
    readonly event: string
  }
  return { ...others, event: 'unknown', name, ...delivered }
}

const known: { readonly [Name in EventName]: 1 } = {
  'trade.closed': 1,
  'position.opened': 1,
  'position.closed': 1,
  'order.created': 1,
  'order.filled': 1,
  'order.cancelled': 1,
  'account.balance_changed': 1,
  'risk.threshold_breached': 1,
  'webhook.test': 1,
}

const isKnownEvent = (name: string): name is EventName => Object.hasOwn(known, name)

const headerOf = (headers: ReceivedWebhook['headers'], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = headers[name.toLowerCase()] ?? headers[name]
  return typeof value === 'string' ? value : undefined
}
