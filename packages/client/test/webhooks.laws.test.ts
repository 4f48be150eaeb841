// Signatures against Node's own HMAC and the package `standardwebhooks`, and the events that are
// read.
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { readWebhook, verifyWebhook, type RawBody } from '../src/index.ts'

const sign = (secret: string, body: Uint8Array | string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
const ours = (secret: string, body: Uint8Array | string) => ({
  'x-webhook-signature': sign(secret, body),
})
/** A body that was sent so many seconds ago. */
const sentAgo = (ago: number, more: object = {}) =>
  JSON.stringify({ ...more, timestamp: new Date(Date.now() - ago * 1_000).toISOString() })
/** @param ago in seconds */
const standard = (secret: string, body: Uint8Array | string, ago = 0) => {
  const at = new Date(Date.now() - ago * 1_000)
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(Buffer.from(secret).toString('base64')).sign(
      'evt_1',
      at,
      Buffer.from(body),
    ),
  }
}

/** Whether the headers are those of the body, with this secret. */
const isValid = (body: RawBody, headers: object, secret = 'secret') =>
  verifyWebhook({ secret, body, headers: headers as never })

const secrets = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 64 })
  .filter((text) => text.isWellFormed())
// That package signs text.
const texts = fc
  .string({ unit: 'grapheme', maxLength: 200 })
  .filter((text) => text.isWellFormed())
  .map((text) => sentAgo(0, { text }))

describe.each([
  ['X-Webhook-Signature', ours],
  ['webhook-signature', standard],
])('a signature in %s', (name, headersOf) => {
  it('is valid if it is the HMAC of the bytes, or of text as UTF-8', () =>
    fc.assert(
      fc.asyncProperty(secrets, texts, async (secret, text) => {
        const [headers, bytes] = [headersOf(secret, text), new TextEncoder().encode(text)]
        for (const body of [text, bytes, bytes.buffer])
          expect(await isValid(body, headers, secret)).toBe(true)
      }),
    ))

  it('is that of a part of a buffer if the body is that part, in headers of any case', async () => {
    const text = sentAgo(0)
    const body = Buffer.from(`before${text}after`).subarray(6, 6 + text.length)
    const headers = Object.fromEntries(
      Object.entries(headersOf('secret', text)).map(([one, value]) => [one.toUpperCase(), value]),
    )
    expect(await isValid(body, headers)).toBe(true)
    const lists = Object.fromEntries(Object.entries(headers).map(([one, value]) => [one, [value]]))
    expect(await isValid(body, lists)).toBe(true)
    const all = new Headers(headers)
    const lowered = new Map([...all].map(([one, value]) => [one.toLowerCase(), value]))
    for (const other of [{ get: (one: string) => all.get(one) }, lowered])
      expect(await isValid(body, other)).toBe(true)
    const two = new Map([...lowered].map(([one, value]) => [one, [value, value]]))
    expect(await isValid(body, two)).toBe(false)
  })

  it('is invalid after a change of one bit of the body, or of a character of a header', () =>
    fc.assert(
      fc.asyncProperty(secrets, texts, fc.nat(), async (secret, text, place) => {
        const body = new TextEncoder().encode(text)
        const headers: Record<string, string> = headersOf(secret, text)
        const changed = body.map((byte, index) =>
          index === place % body.length ? byte ^ (1 << (place % 8)) : byte,
        )
        expect(await isValid(changed, headers, secret)).toBe(false)
        for (const [header, value] of Object.entries(headers)) {
          const at = place % value.length
          const other = value.charAt(at) === '1' ? '2' : '1'
          const changedHeader = value.slice(0, at) + other + value.slice(at + 1)
          expect(await isValid(body, { ...headers, [header]: changedHeader }, secret)).toBe(false)
        }
      }),
    ))

  it('is invalid in any other notation', async () => {
    const body = sentAgo(0)
    const good = headersOf('secret', body)
    const signature = new Headers(good).get(name) ?? ''
    for (const other of [
      '',
      signature.slice(0, -1),
      signature.toUpperCase(),
      signature.split(/[=,]/)[1],
      `${signature}0`,
      `sha1=${signature}`,
      `${signature},`,
    ]) {
      const headers = { ...good, [name.toLowerCase()]: other }
      expect(await isValid(body, headers), other).toBe(false)
    }
    expect(await isValid(body, {})).toBe(false)
  })

  it('requires a secret and an unparsed body', async () => {
    const headers = headersOf('x', 'body')
    await expect(verifyWebhook({ secret: '', body: 'body', headers })).rejects.toThrow(
      /^secret must be/,
    )
    await expect(
      verifyWebhook({ secret: 'secret', body: { a: 1 } as unknown as RawBody, headers }),
    ).rejects.toThrow(/^body must be the bytes .* got object\.$/)
  })

  it.each([
    [0, true],
    [290, true],
    [-290, true],
    [310, false],
    [-310, false],
  ])('that is %i s old is valid: %s', async (ago, expected) => {
    const body = sentAgo(ago)
    const headers = headersOf('secret', body, ago)
    expect(await isValid(body, headers)).toBe(expected)
  })
})

describe('a body without a time', () => {
  it.each(['', 'text', 'null', '{}', '{"timestamp":"t"}', '{"timestamp":1}'])(
    '%s is not verified by X-Webhook-Signature',
    async (body) => {
      expect(await isValid(body, ours('secret', body))).toBe(false)
    },
  )
})

describe('a Standard Webhooks signature', () => {
  it('decides alone where it is present', async () => {
    const body = sentAgo(0)
    const good = ours('secret', body)
    for (const [headers, expected] of [
      [{ ...good, ...standard('secret', body, 310) }, false],
      [{ ...good, ...standard('other', body) }, false],
      [{ ...ours('other', body), ...standard('secret', body) }, true],
    ] as const)
      expect(await isValid(body, headers)).toBe(expected)
  })

  it('may be any one of several, whatever X-Webhook-Signature is', async () => {
    const headers = { ...ours('new', 'body'), ...standard('old', 'body') }
    const both = `${standard('new', 'body')['webhook-signature']} ${headers['webhook-signature']}`
    const verify = (secret: string) =>
      isValid('body', { ...headers, 'webhook-signature': both }, secret)
    expect([await verify('new'), await verify('old'), await verify('older')]).toEqual([
      true,
      true,
      false,
    ])
  })
})

const read = (body: object, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body)
  return readWebhook({
    secret: 'secret',
    body: text,
    headers: { ...ours('secret', text), ...headers },
  })
}
const test = {
  event: 'webhook.test',
  data: { message: 'hello', timestamp: 't' },
  timestamp: new Date().toISOString(),
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

  it('has the id of the event that is signed, and no other', async () => {
    const text = JSON.stringify(test)
    expect(await read(test, standard('secret', text))).toEqual({ ...test, event_id: 'evt_1' })
    expect(await read(test, { 'webhook-id': 'evt_1' })).toEqual(test)
    expect(await read(test, { ...standard('secret', text), 'webhook-id': 'evt_2' })).toBeUndefined()
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
