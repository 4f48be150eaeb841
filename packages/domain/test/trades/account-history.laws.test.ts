// Paging with the cursor: every trade once, in closing order, whatever the page size and however many accounts (4.5; decision 36).
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountId, UserId } from '../../src/primitives/ids.ts'
import { fromOpaque, toOpaque } from '../../src/primitives/opaque-text.ts'
import { runSteps } from '../../src/primitives/run-steps.ts'
import type { SymbolFilter } from '../../src/primitives/symbol-filter.ts'
import { byClosing, matchingTrades as matchingTradesInSteps, placeOf, sliceAfter } from '../../src/trades/account-history.ts'
import type { AccountHistory, ClosedTrade, ClosingPlace, TradeFilter, TradeSlice } from '../../src/trades/account-history.ts'
import { readCursor, writeCursor } from '../../src/trades/cursor.ts'

const accountIds = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}` as AccountId)
const all: TradeFilter = { profit: 'all' }
const matchingTrades = (read: readonly AccountHistory[], filter: TradeFilter): readonly ClosedTrade[] =>
  runSteps(matchingTradesInSteps(read, filter))

const closedTrade = fc.record({
  closedAt: fc.integer({ min: 0, max: 5 }),
  closingDealId: fc.integer({ min: 1, max: 120 }).map(String),
  netProfit: fc.constantFrom(-1, 0, 2),
})

const history = (accountId: AccountId): fc.Arbitrary<AccountHistory> =>
  fc.uniqueArray(closedTrade, { maxLength: 20, selector: ({ closedAt, closingDealId }) => `${closedAt} ${closingDealId}` }).map((rows) => ({
    accountId,
    readAt: 0,
    skipped: [],
    trades: rows.map((row) => toClosedTrade(accountId, row)).toSorted((a, b) => byClosing(placeOf(a), placeOf(b))),
  }))

const toClosedTrade = (
  accountId: AccountId,
  { closedAt, closingDealId, netProfit }: { closedAt: number; closingDealId: string; netProfit: number },
): ClosedTrade => ({
  accountId,
  userId: 'u-1' as UserId,
  closingDealId,
  trade: {
    positionId: closingDealId,
    symbol: 'EURUSD',
    side: 'buy',
    volume: 1,
    entryPrice: 1,
    exitPrice: 1,
    profit: netProfit,
    commission: 0,
    swap: 0,
    netProfit,
    openedAt: 0,
    closedAt,
    holdingTime: 0,
  },
})

const histories = fc.tuple(...accountIds.map(history))

const times = ({ trades, total, before }: TradeSlice) => ({ closedAt: trades.map(({ trade }) => trade.closedAt), total, before })

const readPages = (matches: readonly ClosedTrade[], limit: number): readonly ClosedTrade[] => {
  const pages: ClosedTrade[] = []
  let after: ClosingPlace | undefined
  for (;;) {
    const slice = sliceAfter(matches, after, limit)
    expect(slice.before).toBe(pages.length)
    pages.push(...slice.trades)
    const last = slice.trades.at(-1)
    if (last === undefined) return pages
    const cursor = writeCursor(all, placeOf(last))
    after = E.getOrElse<unknown, ClosingPlace>(() => expect.fail('a cursor that was just written cannot be read'))(readCursor(all, cursor))
  }
}

describe('pages of trades', () => {
  it('hold every trade once, most recently closed first', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 7 }), (read, limit) => {
        const matches = matchingTrades(read, all)
        const pages = readPages(matches, limit)
        expect(pages).toEqual(matches.toReversed())
        expect(new Set(pages)).toEqual(new Set(read.flatMap(({ trades }) => trades)))
      }),
    )
  })

  it('go on without a repeat when newer trades close between two reads', () => {
    fc.assert(
      fc.property(history(accountIds[0]!), fc.integer({ min: 1, max: 5 }), (read, limit) => {
        const first = sliceAfter(read.trades, undefined, limit)
        const last = first.trades.at(-1)
        if (last === undefined) return
        const newer = toClosedTrade(accountIds[0]!, { closedAt: 99, closingDealId: '999', netProfit: 1 })
        const second = sliceAfter([...read.trades, newer], placeOf(last), limit)
        expect(second.trades).toEqual(read.trades.toReversed().slice(limit, 2 * limit))
      }),
    )
  })

  it('split profit and loss without rest: 0 counts as a loss (2.6, 4.5)', () => {
    fc.assert(
      fc.property(histories, (read) => {
        const wins = matchingTrades(read, { profit: 'profit' })
        const losses = matchingTrades(read, { profit: 'loss' })
        expect(wins.every(({ trade }) => trade.netProfit > 0)).toBe(true)
        expect(losses.every(({ trade }) => trade.netProfit <= 0)).toBe(true)
        expect(wins.length + losses.length).toBe(matchingTrades(read, all).length)
      }),
    )
  })

  it('hold those of a symbol, in whatever letters the broker writes it (4.5)', () => {
    const trades = ['EURUSD', 'eurusd', 'EURUSD.x', 'XAUUSD'].map((symbol, index) => {
      const trade = toClosedTrade(accountIds[0]!, { closedAt: index, closingDealId: String(index + 1), netProfit: 1 })
      return { ...trade, trade: { ...trade.trade, symbol } }
    })
    const read = [{ accountId: accountIds[0]!, readAt: 0, skipped: [], trades }]
    const found = matchingTrades(read, { ...all, symbol: 'EURUSD' as SymbolFilter })
    expect(found.map(({ trade }) => trade.symbol)).toEqual(['EURUSD', 'eurusd'])
  })

  it('follow the order of accounts where deals have one time and one id', () => {
    const read = [2, 0, 1].map((at) => ({
      accountId: accountIds[at]!,
      readAt: 0,
      skipped: [],
      trades: [toClosedTrade(accountIds[at]!, { closedAt: 3, closingDealId: '8', netProfit: 1 })],
    }))
    const matches = matchingTrades(read, all)
    expect(matches.map(({ accountId }) => accountId)).toEqual(accountIds)
    expect(readPages(matches, 1).map(({ accountId }) => accountId)).toEqual(accountIds.toReversed())
  })

  it('are told with how many there are and how many came before', () => {
    const trades = [1, 2, 3, 4, 5].map((closedAt) => toClosedTrade(accountIds[0]!, { closedAt, closingDealId: '9', netProfit: 1 }))
    expect(times(sliceAfter(trades, undefined, 2))).toEqual({ closedAt: [5, 4], total: 5, before: 0 })
    expect(times(sliceAfter(trades, placeOf(trades[3]!), 2))).toEqual({ closedAt: [3, 2], total: 5, before: 2 })
    expect(times(sliceAfter(trades, placeOf(trades[1]!), 2))).toEqual({ closedAt: [1], total: 5, before: 4 })
    expect(times(sliceAfter(trades, placeOf(trades[0]!), 2))).toEqual({ closedAt: [], total: 5, before: 5 })
    // A place of which the trade is not there any more.
    expect(times(sliceAfter(trades, { ...placeOf(trades[2]!), closingDealId: '8' }, 9))).toEqual({ closedAt: [2, 1], total: 5, before: 3 })
  })

  it('take both ends of the range of close times (4.5)', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 }), (read, from, to) => {
        const closedAt = matchingTrades(read, { ...all, from, to }).map(({ trade }) => trade.closedAt)
        const expected = read.flatMap(({ trades }) => trades.map(({ trade }) => trade.closedAt)).filter((at) => at >= from && at <= to)
        expect(closedAt).toEqual(expected.toSorted((a, b) => a - b))
      }),
    )
  })
})

describe('cursor (decision 36)', () => {
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
