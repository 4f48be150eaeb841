// Texts that callers and brokers write: ids, symbols, e-mail addresses and instants.
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseEmailAddress,
  parseInstant,
  toIso,
  isSymbolMatch,
  parseSymbolFilter,
} from '../../src/primitives/index.ts'
import {
  formatPositionId,
  parseAccountId,
  parsePositionId,
  parseUserId,
} from '../../src/primitives/ids.ts'

const account = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'

it('reads a position id and writes it unchanged, with every character of its ticket', () => {
  const id = O.toNullable(parsePositionId(`${account}:005:1`))
  expect(id?.ticket).toBe('005:1')
  expect(id && formatPositionId(id.accountId, id.ticket)).toBe(`${account}:005:1`)
  expect(parseAccountId(account.toUpperCase())).toEqual(O.some(account))
})

const parsers = {
  position: parsePositionId,
  user: parseUserId,
  symbol: parseSymbolFilter,
  email: parseEmailAddress,
}

it.each<[keyof typeof parsers, string[]]>([
  ['symbol', ['EURUSD', 'US30', 'EURUSD.R', 'AUDUSD_I', 'BTC/USD', '#AAPL', 'EURUSD+']],
  [
    'email',
    [
      'owner@example.com',
      'first.last+tag@sub.example.com',
      'root@localhost',
      "o'neil@example.com",
      'jürgen@bücher.example',
    ],
  ],
])('reads as %s each of %j', (kind, texts) => {
  for (const text of texts) expect(parsers[kind](text)).toEqual(O.some(text))
})

it.each<[keyof typeof parsers, string[]]>([
  [
    'position',
    [
      '',
      account,
      `${account}:`,
      ':1',
      `${account}:1 2`,
      `${account}:${'9'.repeat(65)}`,
      'u:1',
      `${account}:1\n`,
    ],
  ],
  ['user', ['u 1', '', 'u\u0000', 'u'.repeat(129)]],
  ['symbol', ['', 'eurusd', 'EURUSD.r', 'EUR USD', 'ÉUR', 'A'.repeat(33)]],
  [
    'email',
    [
      '',
      'owner',
      '@example.com',
      'owner@',
      'a@b@c',
      'a@b.example, c@d.example',
      'a@b.example;c@d.example',
    ],
  ],
  [
    'email',
    [
      'Owner <owner@example.com>',
      '"a b"@example.com',
      'a b@example.com',
      'a@[127.0.0.1]',
      'a(comment)@example.com',
      'a:b@c.d',
    ],
  ],
  [
    'email',
    [
      'a@b.example\r\nBcc: c@d.example',
      'a@b.example\n',
      'a\u0000@example.com',
      'a\u200B@example.com',
      'a\uD800@example.com',
    ],
  ],
  ['email', [`${'a'.repeat(65)}@example.com`, `a@${'b'.repeat(253)}`]],
])('refuses as %s each of %j', (kind, texts) => {
  for (const text of texts) expect(parsers[kind](text)).toEqual(O.none)
})

it('finds a broker symbol that is spelt with small letters', () => {
  expect(isSymbolMatch('GBPCHF_I', 'GBPCHF_i')).toBe(true)
  expect(isSymbolMatch('GBPCHF', 'GBPCHF_i')).toBe(false)
  expect(isSymbolMatch(undefined, 'GBPCHF_i')).toBe(true)
})

describe('an instant', () => {
  it.each([
    ['2026-03-01', 'start', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01', 'end', '2026-03-01T23:59:59.999Z'],
    ['2024-02-29', 'end', '2024-02-29T23:59:59.999Z'],
    ['2026-03-01T10:20', 'end', '2026-03-01T10:20:00.000Z'],
    ['2026-03-01T10:20:30', 'start', '2026-03-01T10:20:30.000Z'],
    ['2026-03-01T10:20:30.5Z', 'start', '2026-03-01T10:20:30.500Z'],
    ['2026-03-01T10:20:30.123456Z', 'start', '2026-03-01T10:20:30.123Z'],
    ['2026-03-01T10:20:30+02:00', 'start', '2026-03-01T08:20:30.000Z'],
    ['2026-03-01T10:20:30-0530', 'start', '2026-03-01T15:50:30.000Z'],
    ['2026-03-01T10:20:30+02', 'start', '2026-03-01T08:20:30.000Z'],
    ['2026-03-01t10:20:30z', 'start', '2026-03-01T10:20:30.000Z'],
    ['9999-12-31T23:59:59+00:01', 'end', '9999-12-31T23:58:59.000Z'],
  ] as const)('is read from %s at the %s of a range as %s', (text, edge, expected) => {
    expect(O.map(toIso)(parseInstant(text, edge))).toEqual(O.some(expected))
  })

  it.each([
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '1772358000000',
    '+002026-03-01',
    '2026-03-01 10:20:30',
    '9999-12-31T23:59:59-00:01',
    '0000-01-01T00:00:00+00:01',
    ...['24:00:00Z', '10:60:00Z', '10:20:60Z', '10:20:30 02:00', '10:20:30+25:00'].map(
      (time) => `2026-03-01T${time}`,
    ),
  ])('is not %j', (text) => {
    expect(parseInstant(text, 'start')).toEqual(O.none)
  })

  it('is read back as it was written', () => {
    const [min, max] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z')]
    fc.assert(
      fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
        expect(parseInstant(toIso(date.getTime()), 'end')).toEqual(O.some(date.getTime()))
      }),
    )
  })
})
