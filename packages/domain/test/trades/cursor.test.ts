// The cursor of the trade list: bound to its owner and filters, and refused in every other form.
import { someOwner as owner } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cursorAfter } from '../../src/primitives/cursor.ts'
import type { AccountId, Owner, SymbolFilter } from '../../src/primitives/index.ts'
import {
  placeOf,
  readCursor,
  writeCursor,
  type ClosedTrade,
  type TradeFilter,
} from '../../src/trades/closed-trade.ts'

const [accountId, otherAccountId] = ['1', '2'].map(
  (n) => `00000000-0000-4000-8000-00000000000${n}`,
) as [AccountId, AccountId]
const all: TradeFilter = { profitFilter: 'all' }
const place = { closedAt: 1, closingDealId: 'ü#1', accountId }
const invalid = E.left({ _tag: 'InvalidCursor' })
const encoded = (json: string) => btoa(encodeURIComponent(json))
const list = ['acme', 'u-1', null, null, null, null, 'all']

it('continues the list of its own owner and filters and no other', () => {
  const filters: readonly TradeFilter[] = [
    all,
    { profitFilter: 'loss' },
    { ...all, startDate: 1 },
    { ...all, startDate: 2 },
    { ...all, endDate: 1 },
    { ...all, accountId },
    { ...all, accountId: otherAccountId },
    { ...all, symbol: 'EURUSD' as SymbolFilter },
    { ...all, symbol: 'XAUUSD' as SymbolFilter },
  ]
  const lists = [
    ...filters.map((filter) => [owner, filter] as const),
    [{ ...owner, userId: 'u-2' } as Owner, all] as const,
    [{ ...owner, tenantId: 'other' } as Owner, all] as const,
  ]
  for (const one of lists)
    for (const other of lists)
      expect(readCursor(...other, writeCursor(...one, place))).toEqual(
        one === other ? E.right(place) : invalid,
      )
  const sameAsAll = {
    accountId: undefined,
    symbol: undefined,
    startDate: undefined,
    endDate: undefined,
    ...all,
  }
  expect(writeCursor(owner, sameAsAll, place)).toBe(writeCursor(owner, all, place))
})

it('continues after a trade, by its close and its last closing deal', () => {
  const trade = { closedAt: 1, openedAt: 0 }
  expect(placeOf({ ...place, trade } as unknown as ClosedTrade)).toEqual(place)
})

const good = [1, '5', accountId]
it.each([
  ['of another version', encoded(JSON.stringify([2, list, good]))],
  ['with a field more', encoded(JSON.stringify([1, list, good, 1]))],
  ['with a place in words', encoded(JSON.stringify([1, list, 'here']))],
  ['that is an object', encoded(JSON.stringify({ 0: 1, 1: list, 2: good, length: 3 }))],
  ['that is null', encoded('null')],
  [
    'with an endless time',
    encoded(JSON.stringify([1, list, [77, '5', accountId]]).replace('77', '1e999')),
  ],
  ...[
    [1, '5'],
    [...good, 1],
    ['1', '5', accountId],
    [null, '5', accountId],
    [1, 5, accountId],
    [1, '5', 5],
    [1, '5', 'me'],
    [1, '\0', accountId],
  ].map((place) => [`with the place ${JSON.stringify(place)}`, cursorAfter(list, place)]),
])('is refused when somebody made one %s', (_, cursor) => {
  expect(readCursor(owner, all, cursorAfter(list, good))).toEqual(
    E.right({ ...place, closingDealId: '5' }),
  )
  expect(readCursor(owner, all, cursor)).toEqual(invalid)
})

it('is refused when it is anything else, and uses no character that a query string would change', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.base64String(), fc.json().map(encoded)),
      fc.string({ unit: 'grapheme' }),
      (text, closingDealId) => {
        expect(readCursor(owner, all, text)).toEqual(invalid)
        expect(writeCursor(owner, all, { ...place, closingDealId })).toMatch(/^[\w-]+$/)
      },
    ),
  )
})
