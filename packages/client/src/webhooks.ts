// For receivers of webhooks: reads an event from a request and verifies its signature, with
// WebCrypto, which Node, browsers and workers have.
import type { EventBody, EventName } from './contract-types.ts'

interface Delivered {
  /**
   * The id of the event, `webhook-id`: the same however often the event is delivered, replays and
   * recovered deliveries included. Missing where the request has no Standard Webhooks signature.
   */
  readonly event_id?: string
  /**
   * The same when one delivery is retried, another in a replay. Missing from webhook.test. It is
   * not signed.
   */
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

/** What `readWebhook` returns: narrow it by `event`. */
export type WebhookEvent = KnownEvent | UnknownEvent

/** The received bytes; text stands for its UTF-8 bytes. */
export type RawBody = Uint8Array | ArrayBuffer | string

/** A request that a receiver got. */
export interface ReceivedWebhook {
  /** The webhook's secret, from createWebhook. */
  readonly secret: string
  /** As received, before any JSON parsing. */
  readonly body: RawBody
  /** All headers of the request, as in Node, Koa and Express, or a Headers. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

const knownEvents: Readonly<Record<EventName, true>> = {
  'trade.closed': true,
  'position.opened': true,
  'position.closed': true,
  'order.created': true,
  'order.filled': true,
  'order.cancelled': true,
  'order.rejected': true,
  'order.expired': true,
  'account.balance_changed': true,
  'risk.threshold_breached': true,
  'webhook.test': true,
}

/** The event; undefined unless `verifyWebhook` accepts it: answer 401. */
export const readWebhook = async (received: ReceivedWebhook): Promise<WebhookEvent | undefined> => {
  // A copy, so that nobody changes it after it was verified.
  const body = bytesOf(received.body)
  if (!(await verifyWebhook({ ...received, body }))) return undefined
  const { headers } = received
  // The service signed it, so that it has the shape of the contract.
  const signed = JSON.parse(new TextDecoder().decode(body)) as KnownEvent
  const deliveryId = headerOf(headers, 'X-Webhook-Delivery-Id')
  const delivered: Delivered = {
    // Where this header is, its signature was verified, which signs the id.
    ...(headerOf(headers, 'webhook-signature') !== '' && {
      event_id: headerOf(headers, 'webhook-id'),
    }),
    ...(deliveryId !== '' && { delivery_id: deliveryId }),
  }
  return Object.hasOwn(knownEvents, signed.event)
    ? { ...signed, ...delivered }
    : { ...signed, event: 'unknown', name: signed.event, ...delivered }
}

/** Empty where there is none. */
const headerOf = (headers: ReceivedWebhook['headers'], name: string): string => {
  const wanted = name.toLowerCase()
  // Not by its class: there are others than the platform's own, and maps.
  const found: unknown =
    typeof headers.get === 'function'
      ? (headers as Headers).get(wanted)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === wanted)?.[1]
  const [value, another] = [found].flat()
  return typeof value === 'string' && another === undefined ? value : ''
}

/** How far the signed time may be from now. */
const toleranceMs = 5 * 60_000

/**
 * Whether one of the signatures in webhook-signature (Standard Webhooks) is that of the body,
 * within five minutes of webhook-timestamp; without that header, whether X-Webhook-Signature is,
 * within five minutes of the body's timestamp. Compared in constant time. While a rotation of the
 * secret overlaps, webhook-signature accepts both secrets.
 */
export const verifyWebhook = async ({
  secret,
  body,
  headers,
}: ReceivedWebhook): Promise<boolean> => {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError('secret must be that of the webhook, which is a text that is not empty.')
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
  const header = (name: string): string => headerOf(headers, name)
  const signatures = header('webhook-signature')
  if (signatures === '') {
    const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header('X-Webhook-Signature')) ?? []
    if (hex !== undefined && isRecent(sentAt(body)))
      yield [Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)), body]
    return
  }
  const timestamp = header('webhook-timestamp')
  if (!isRecent(Number(timestamp) * 1_000)) return
  const head = new TextEncoder().encode(`${header('webhook-id')}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  for (const one of signatures.split(' ')) {
    const [, base64] = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/.exec(one) ?? []
    if (base64 !== undefined)
      yield [Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)), signed]
  }
}

const isRecent = (timeMs: number): boolean => Math.abs(Date.now() - timeMs) <= toleranceMs

/** NaN where the body has no time. */
const sentAt = (body: Bytes): number => {
  try {
    return Date.parse(JSON.parse(new TextDecoder().decode(body)).timestamp)
  } catch {
    return Number.NaN
  }
}

// A copy, so that nobody changes it during the check.
const bytesOf = (body: RawBody): Bytes => {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new Uint8Array(body).slice()
  throw new TypeError(
    `body must be the bytes received, before any parsing, or their text; got ${typeof body}.`,
  )
}
