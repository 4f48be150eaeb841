import { sign, verify } from '@octokit/webhooks-methods'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signWebhook, verifyWebhookSignature } from '../../src/webhooks/signature.ts'

describe('signWebhook (6, signature)', () => {
  // RFC 4231, test case 2.
  it.each([
    [
      'Jefe',
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
  ])('signs with key %j the text %j', (secret, body, digest) => {
    expect(signWebhook(secret, body)).toBe(`sha256=${digest}`)
  })

  it('signs text as its UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'grapheme' }), (secret, text) => {
        expect(signWebhook(secret, new TextEncoder().encode(text))).toBe(signWebhook(secret, text))
      }),
    )
  })
})

describe('another implementation of the scheme, by other people', () => {
  // It takes text, and neither an empty secret nor an empty body.
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((some) => some.isWellFormed())

  it('takes what is signed here, and signs alike', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (secret, body) => {
        const header = signWebhook(secret, new TextEncoder().encode(body))
        expect(await verify(secret, body, header)).toBe(true)
        expect(await sign(secret, body)).toBe(header)
        expect(verifyWebhookSignature(secret, body, await sign(secret, body))).toBe(true)
        expect(await verify(`${secret}x`, body, header)).toBe(false)
      }),
    )
  })
})

describe('verifyWebhookSignature', () => {
  it('takes what was signed, and neither another body nor another secret', () => {
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

  it('is false, and nothing worse, for a good signature with anything before or after it', () => {
    const header = signWebhook('secret', 'body')
    expect(verifyWebhookSignature('secret', 'body', header)).toBe(true)
    for (const more of [
      ` ${header}`,
      `${header} `,
      `${header}0`,
      `${header}\n`,
      `${header},${header}`,
    ])
      expect(verifyWebhookSignature('secret', 'body', more)).toBe(false)
  })

  it.each([
    undefined,
    '',
    'sha256=',
    'sha1=00',
    `sha256=${'0'.repeat(63)}é`,
    `SHA256=${'0'.repeat(64)}`,
    `sha256=${'A'.repeat(64)}`,
  ])('is false for the header %j', (header) => {
    expect(verifyWebhookSignature('secret', 'body', header)).toBe(false)
  })
})
