// Signatures against Node's own HMAC, and the events that are read.
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readWebhook, verifyWebhookSignature } from '../src/index.ts'

const sign = (secret: string, body: Uint8Array | string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

const secrets = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 64 })
  .filter((text) => text.isWellFormed())
const bodies = fc.uint8Array({ maxLength: 500 })

describe('a signature', () => {
  it('is valid if it is the HMAC of the bytes, or of text as UTF-8', () =>
    fc.assert(
      fc.asyncProperty(
        secrets,
        bodies,
        fc.string({ unit: 'grapheme' }),
        async (secret, body, text) => {
          expect(await verifyWebhookSignature(secret, body, sign(secret, body))).toBe(true)
          expect(
            await verifyWebhookSignature(secret, new Uint8Array(body).buffer, sign(secret, body)),
          ).toBe(true)
          expect(await verifyWebhookSignature(secret, text, sign(secret, text))).toBe(true)
        },
      ),
    ))

  it('is that of a part of a buffer if the body is that part', async () => {
    const whole = Buffer.from('before{"a":1}after')
    expect(
      await verifyWebhookSignature('secret', whole.subarray(6, 13), sign('secret', '{"a":1}')),
    ).toBe(true)
  })

  it('is invalid after a change of one bit of the body or the signature', () =>
    fc.assert(
      fc.asyncProperty(
        secrets,
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.nat(),
        async (secret, body, place) => {
          const changed = Uint8Array.from(body, (byte, index) =>
            index === place % body.length ? byte ^ (1 << (place % 8)) : byte,
          )
          expect(await verifyWebhookSignature(secret, changed, sign(secret, body))).toBe(false)
          const at = 7 + (place % 64)
          const good = sign(secret, body)
          const digit = (Number.parseInt(good.charAt(at), 16) ^ (1 << (place % 4))).toString(16)
          expect(
            await verifyWebhookSignature(
              secret,
              body,
              good.slice(0, at) + digit + good.slice(at + 1),
            ),
          ).toBe(false)
        },
      ),
    ))

  it('is invalid in any other notation', async () => {
    const good = sign('secret', 'body')
    for (const header of [
      undefined,
      null,
      '',
      'sha256=',
      good.toUpperCase(),
      good.slice(7),
      ` ${good}`,
      `${good}0`,
      `sha1=${good.slice(7)}`,
    ]) {
      expect(await verifyWebhookSignature('secret', 'body', header), String(header)).toBe(false)
    }
  })

  it('requires a secret and an unparsed body', async () => {
    await expect(verifyWebhookSignature('', 'body', sign('x', 'body'))).rejects.toThrow(
      /^secret must be/,
    )
    await expect(
      verifyWebhookSignature('secret', { a: 1 } as never, sign('x', 'body')),
    ).rejects.toThrow(/^body must be the bytes .* got object\.$/)
  })
})

const read = (body: object, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body)
  return readWebhook({
    secret: 'secret',
    body: text,
    headers: { 'x-webhook-signature': sign('secret', text), ...headers },
  })
}
const test = {
  event: 'webhook.test',
  data: { message: 'hello', timestamp: 't' },
  timestamp: 't',
  webhook_id: 'w',
}

describe('a delivery', () => {
  it('is the event with the id of the delivery', async () => {
    expect(await read(test)).toEqual(test)
    expect(await read(test, { 'x-webhook-delivery-id': 'd' })).toEqual({
      ...test,
      delivery_id: 'd',
    })
  })

  it('is read with the headers of fetch too', async () => {
    const body = new TextEncoder().encode(JSON.stringify(test))
    const headers = new Headers({ 'X-Webhook-Signature': sign('secret', body) })
    expect(await readWebhook({ secret: 'secret', body, headers })).toEqual(test)
    expect(await readWebhook({ secret: 'other', body, headers })).toBeUndefined()
  })

  it('of an unknown event has its name', async () => {
    expect(await read({ ...test, event: 'order.reopened' })).toEqual({
      ...test,
      event: 'unknown',
      name: 'order.reopened',
    })
  })
})
