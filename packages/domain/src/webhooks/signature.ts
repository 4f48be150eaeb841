// The signatures of what is posted to a webhook, for the sender and for receivers. The one file of
// this package that needs node:crypto.
import { createHmac, timingSafeEqual } from 'node:crypto'

const scheme = 'sha256='
const signaturePattern = /^sha256=[0-9a-f]{64}$/

/**
 * The value of X-Webhook-Signature: `sha256=` and the HMAC-SHA256 of the body in lower-case hex.
 * @param secret the webhook's secret, as UTF-8 text
 * @param body the raw bytes as they are sent; text counts as its UTF-8 bytes
 */
export const signWebhook = (secret: string, body: Uint8Array | string): string =>
  scheme + createHmac('sha256', secret).update(body).digest('hex')

/**
 * One signature of the header webhook-signature (standardwebhooks.com): `v1,` and the HMAC-SHA256
 * of `id.timestamp.body` in base64.
 * @param secret the webhook's secret, as UTF-8 text
 * @param head webhook-id and webhook-timestamp, which is in Unix seconds
 */
export const signStandardWebhook = (
  secret: string,
  head: { readonly id: string; readonly timestamp: number },
  body: Uint8Array,
): string =>
  `v1,${createHmac('sha256', secret).update(`${head.id}.${head.timestamp}.`).update(body).digest('base64')}`

/**
 * Whether a header is the signature of a body, compared in constant time. Compare the bytes that
 * were received, before any parsing.
 * @param header the received X-Webhook-Signature; anything that is not a signature is false
 */
export const verifyWebhookSignature = (
  secret: string,
  body: Uint8Array | string,
  header: string | undefined = '',
): boolean => {
  if (!signaturePattern.test(header)) return false
  const encoder = new TextEncoder()
  return timingSafeEqual(encoder.encode(header), encoder.encode(signWebhook(secret, body)))
}
