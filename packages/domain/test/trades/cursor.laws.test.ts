// The cursor of the trade list: bound to its filters, and refused in every other form.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountId } from '../../src/primitives/ids.ts'
import { fromOpaque, toOpaque } from '../../src/primitives/opaque-text.ts'
import type { SymbolFilter } from '../../src/primitives/symbol-filter.ts'
import type { ClosingPlace, TradeFilter } from '../../src/trades/closed-trade.ts'
import { readCursor, writeCursor } from '../../src/trades/cursor.ts'

const accountIds = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}` as AccountId)
const all: TradeFilter = { profit: 'all' }

describe('the cursor', () => {
  const place: ClosingPlace = { closedAt: 1, closingDealId: 'ü#1', accountId: accountIds[0]! }

  it('is refused with other filters', () => {
    const cursor = writeCursor(all, place)
    expect(readCursor(all, cursor)).toEqual(E.right(place))
    const filters: readonly TradeFilter[] = [
      all,
      { profit: 'loss' },
      { ...all, from: 1 },
      { ...all, from: 2 },
      { ...all, to: 1 },
      { ...all, from: 1, to: 1 },
      { ...all, accountId: accountIds[1]! },
      { ...all, accountId: accountIds[2]! },
      { ...all, symbol: 'EURUSD' as SymbolFilter },
      { ...all, symbol: 'XAUUSD' as SymbolFilter },
    ]
    for (const [index, one] of filters.entries())
      for (const [at, other] of filters.entries())
        expect(readCursor(other, writeCursor(one, place))).toEqual(index === at ? E.right(place) : E.left({ _tag: 'InvalidCursor' }))
  })

  it('is the same for a filter that is left out and one that is undefined', () => {
    const cursor = writeCursor({ ...all, accountId: undefined, symbol: undefined, from: undefined, to: undefined }, place)
    expect(cursor).toBe(writeCursor(all, place))
  })

  const written = fromOpaque(writeCursor(all, place)) as readonly unknown[]

  it.each<[what: string, fields: unknown]>([
    ['another version', written.with(0, 2)],
    ['one field fewer', written.slice(0, 4)],
    ['one field more', [...written, 1]],
    ['a time in words', written.with(2, '1')],
    ['no time', written.with(2, null)],
    ['an id that is a number', written.with(3, 5)],
    ['an account that is a number', written.with(4, 5)],
    ['an account that is none', written.with(4, 'me')],
    ['fields with names', { ...Object.fromEntries(written.entries()), length: 5 }],
    ['no fields', null],
  ])('is refused when somebody made it with %s', (_, fields) => {
    expect(readCursor(all, toOpaque(written))).toEqual(E.right(place))
    expect(readCursor(all, toOpaque(fields))).toEqual(E.left({ _tag: 'InvalidCursor' }))
  })

  it('is refused when somebody made it with a time that has no end', () => {
    const json = JSON.stringify(written.with(2, 77)).replace('77', '1e999')
    expect(readCursor(all, btoa(encodeURIComponent(json)))).toEqual(E.left({ _tag: 'InvalidCursor' }))
    expect(readCursor(all, btoa(encodeURIComponent(json.replace('1e999', '77'))))).toEqual(E.right({ ...place, closedAt: 77 }))
  })

  it('is refused when it is anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json().map(btoaSafely)), (text) => {
        expect(readCursor(all, text)).toEqual(E.left({ _tag: 'InvalidCursor' }))
      }),
    )
  })

  it('uses no character that a query string would change', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (closingDealId) => {
        expect(writeCursor(all, { ...place, closingDealId })).toMatch(/^[A-Za-z0-9_-]+$/)
      }),
    )
  })
})

const btoaSafely = (json: string): string => btoa(encodeURIComponent(json))
