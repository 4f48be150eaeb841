// For receivers of webhooks: reads an event from a request and verifies its signature, with
// WebCrypto, which Node, browsers and workers have.
import type { EventBody, EventName } from './contract-types.ts'

interface Delivered {
  /** The same when a delivery is sent again. Missing from webhook.test. It is not signed. */
  readonly delivery_id?: string
}

/** An event by its name, as the service sends it. */
export type KnownEvent = { [Name in EventName]: EventBody<Name> & Delivered }[EventName]

/** An event that this version of the client does not know, with its name. */
export interface UnknownEvent extends Delivered {
  readonly event: 'unknown'
  readonly name: string
  readonly data: unknown
  readonly timestamp: string
  readonly webhook_id: string
}

export type WebhookEvent = KnownEvent | UnknownEvent

/** The received bytes; text stands for its UTF-8 bytes. */
export type RawBody = Uint8Array | ArrayBuffer | string

export interface ReceivedWebhook {
  /** The webhook's secret, from createWebhook. */
  readonly secret: string
  /** As received, before any JSON parsing. */
  readonly body: RawBody
  /** All headers of the request, as in Node, Koa and Express, or a Headers. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

const knownEvents: readonly EventName[] = [
  'trade.closed',
  'position.opened',
  'position.closed',
  'order.created',
  'order.filled',
  'order.cancelled',
  'order.rejected',
  'order.expired',
  'account.balance_changed',
  'risk.threshold_breached',
  'webhook.test',
]

/** The event; undefined unless `verifyWebhook` accepts it: answer 401. */
export const readWebhook = async (received: ReceivedWebhook): Promise<WebhookEvent | undefined> => {
  if (!(await verifyWebhook(received))) return undefined
  const { body, headers } = received
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  // The service signed it, so that it has the shape of the contract.
  const signed = JSON.parse(text) as KnownEvent
  const deliveryId = headerOf(headers, 'X-Webhook-Delivery-Id')
  const delivered: Delivered = deliveryId === undefined ? {} : { delivery_id: deliveryId }
  return knownEvents.includes(signed.event)
    ? { ...signed, ...delivered }
    : { ...signed, event: 'unknown', name: signed.event, ...delivered }
}

const headerOf = (headers: ReceivedWebhook['headers'], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = headers[name.toLowerCase()] ?? headers[name]
  return typeof value === 'string' ? value : undefined
}

/** How far webhook-timestamp may be from now. */
const toleranceSeconds = 5 * 60

/**
 * Whether X-Webhook-Signature, or one of the signatures in webhook-signature (Standard Webhooks), is
 * that of the body; compared in constant time. While a rotation of the secret overlaps, the latter
 * accepts both secrets. It is accepted within five minutes of webhook-timestamp.
 */
export const verifyWebhook = async ({
  secret,
  body,
  headers,
}: ReceivedWebhook): Promise<boolean> => {
  if (secret === '')
    throw new TypeError(
      'secret must be the secret of the webhook, from createWebhook; it is empty.',
    )
  const bytes = bytesOf(body)
  const key = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )
  for (const [signature, signed] of signaturesOf(headers, bytes))
    if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  return false
}

type Bytes = Uint8Array<ArrayBuffer>

/** What the headers may prove: each signature with the bytes that it signs. */
function* signaturesOf(
  headers: ReceivedWebhook['headers'],
  body: Bytes,
): Generator<readonly [signature: Bytes, signed: Bytes]> {
  const header = (name: string): string => headerOf(headers, name) ?? ''
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header('X-Webhook-Signature')) ?? []
  if (hex !== undefined)
    yield [Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)), body]

  const timestamp = header('webhook-timestamp')
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= toleranceSeconds
  if (!isRecent) return
  const head = new TextEncoder().encode(`${header('webhook-id')}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  for (const one of header('webhook-signature').split(' ')) {
    const [, base64] = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/.exec(one) ?? []
    if (base64 !== undefined)
      yield [Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)), signed]
  }
}

// A copy, so that nobody changes it during the check.
const bytesOf = (body: RawBody): Bytes => {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new Uint8Array(body)
  throw new TypeError(
    `body must be the bytes as received, before any JSON parsing: a Uint8Array, an ArrayBuffer or text; got ${typeof body}.`,
  )
}
