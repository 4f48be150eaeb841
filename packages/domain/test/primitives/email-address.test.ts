import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { parseEmailAddress } from '../../src/primitives/email-address.ts'

describe('an e-mail address', () => {
  it.each(['owner@example.com', 'first.last+tag@sub.example.com', 'root@localhost', "o'neil@example.com", 'jürgen@bücher.example'])(
    'may be %s',
    (text) => expect(parseEmailAddress(text)).toStrictEqual(O.some(text)),
  )

  it.each([
    '',
    'owner',
    '@example.com',
    'owner@',
    'a@b@c',
    'a@b.example, c@d.example',
    'a@b.example;c@d.example',
    'Owner <owner@example.com>',
    '<owner@example.com>',
    '"a b"@example.com',
    'a b@example.com',
    'a@b.example\r\nBcc: c@d.example',
    'a@b.example\n',
    'a@[127.0.0.1]',
    'a(comment)@example.com',
    'a:b@example.com',
    'a\u0000@example.com',
    'a\u200B@example.com',
    'a\uD800@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(253)}`,
  ])('is not %j', (text) => expect(parseEmailAddress(text)).toStrictEqual(O.none))
})
