// The signature of a webhook's body, with WebCrypto, which Node, browsers and workers all have.

/** What was received, byte for byte; text counts as its UTF-8 bytes. */
export type RawBody = Uint8Array | ArrayBuffer | string

/** As X-Webhook-Signature has it: `sha256=` and 64 lower-case hex digits. */
const signaturePattern = /^sha256=([0-9a-f]{64})$/

/**
 * Whether the header is the signature of the body, in constant time. Anything that is not a
 * signature is false.
 */
export const verifyWebhookSignature = async (
  secret: string,
  body: RawBody,
  header: string | null | undefined,
): Promise<boolean> => {
  if (secret === '')
    throw new TypeError(
      'secret takes the secret of the webhook, as createWebhook told it; it is empty.',
    )
  const bytes = bytesOf(body)
  const [, hex] = signaturePattern.exec(header ?? '') ?? []
  if (hex === undefined) return false
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  const key = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )
  return crypto.subtle.verify('HMAC', key, signature, bytes)
}

export const textOf = (body: RawBody): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body)

// A copy, so that nobody changes what is being looked at.
const bytesOf = (body: RawBody): Uint8Array<ArrayBuffer> => {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new Uint8Array(body)
  throw new TypeError(
    `body takes the bytes as they were received, before any JSON parsing: a Uint8Array, an ArrayBuffer or text; got ${typeof body}.`,
  )
}
