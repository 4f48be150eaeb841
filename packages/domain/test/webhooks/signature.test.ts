import { sign, verify } from '@octokit/webhooks-methods'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import {
  signStandardWebhook,
  signWebhook,
  verifyWebhookSignature,
} from '../../src/webhooks/signature.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

it('signs as RFC 4231 does in its second test case', () => {
  expect(signWebhook('Jefe', 'what do ya want for nothing?')).toBe(
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

it('signs text as its UTF-8 bytes, and as another implementation of the scheme does', async () => {
  // That one accepts text, and neither an empty secret nor an empty body.
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((some) => some.isWellFormed())
  await fc.assert(
    fc.asyncProperty(text, text, async (secret, body) => {
      const header = signWebhook(secret, bytes(body))
      expect(signWebhook(secret, body)).toBe(header)
      expect(await sign(secret, body)).toBe(header)
      expect(await verify(secret, body, header)).toBe(true)
    }),
  )
})

it('signs for Standard Webhooks as its own package does, which has the key in base64', () => {
  const secrets = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((some) => some.isWellFormed())
  // That package accepts text.
  const bodies = fc.string({ unit: 'grapheme' }).filter((some) => some.isWellFormed())
  const seconds = fc.nat()
  fc.assert(
    fc.property(secrets, bodies, seconds, fc.string(), (secret, body, timestamp, id) => {
      const theirs = new Webhook(`whsec_${Buffer.from(secret).toString('base64')}`)
      expect(signStandardWebhook(secret, { id, timestamp }, bytes(body))).toBe(
        theirs.sign(id, new Date(timestamp * 1_000), body),
      )
    }),
  )
})

it('accepts what was signed, and neither another body nor another secret', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.uint8Array(),
      fc.string(),
      fc.uint8Array(),
      (secret, body, otherSecret, otherBody) => {
        const header = signWebhook(secret, body)
        expect(verifyWebhookSignature(secret, body, header)).toBe(true)
        expect(verifyWebhookSignature(secret, otherBody, header)).toBe(
          Buffer.from(body).equals(Buffer.from(otherBody)),
        )
        fc.pre(otherSecret.replace(/\0+$/, '') !== secret.replace(/\0+$/, ''))
        expect(verifyWebhookSignature(otherSecret, body, header)).toBe(false)
      },
    ),
  )
})

const good = signWebhook('secret', 'body')
it.each([
  undefined,
  '',
  'sha1=00',
  `sha256=${'0'.repeat(63)}é`,
  good.toUpperCase(),
  ` ${good}`,
  `${good}0`,
  `${good}\n`,
  `${good},${good}`,
])('is false for the header %j', (header) => {
  expect(verifyWebhookSignature('secret', 'body', header)).toBe(false)
})
