// Candles are kept as the fake keeps them, by account and link; and the operator's feed.
import { timeframes, type Candle } from '@tradeport/domain/market'
import { marketDataFeedId } from '@tradeport/domain/operator'
import type { CandleSeries, CandleStore } from '@tradeport/domain/ports'
import type { UserId } from '@tradeport/domain/primitives'
import { createFakeCandleStore, puts, removes, rightOf, write, times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import { answersOf, brokerAccountOf, onEachDatabase, runsOn, storedAccount } from './harness.ts'

const candleAt = (time: number, open: number): Candle => ({
  time,
  open,
  high: open + 0.1 + 0.2,
  low: open - 1e-9,
  close: open,
  volume: time % 100,
})

const range = fc
  .tuple(fc.nat(200), fc.nat(60))
  .map(([from, length]) => ({ from, to: from + length }))
const step = fc.record({
  range,
  open: fc.integer({ min: 1, max: 9 }),
  gaps: fc.array(fc.nat(260), { maxLength: 20 }),
  page: fc.record({
    limit: fc.constantFrom(1, 10, 1_000),
    end: fc.constantFrom<'first' | 'last'>('first', 'last'),
  }),
  timeframe: fc.constantFrom(...timeframes.slice(0, 2)),
})

onEachDatabase('candles', (here, there, kind) => {
  const { candles } = answersOf(() => here)
  const found = () => rightOf(there.marketDataFeeds.find)
  const stored = async () => {
    const account = brokerAccountOf(await storedAccount(here.operator))
    return { account, symbol: "EUR'USD\\", timeframe: '1m' } satisfies CandleSeries
  }

  it('are kept with the ranges that are known, once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const ofAccount = await stored()
        const fake = createFakeCandleStore()
        for (const { timeframe, range: added, open, gaps, page } of steps) {
          const series: CandleSeries = { ...ofAccount, timeframe }
          const candles = times(added.to - added.from + 1, (index) =>
            candleAt(added.from + index, open),
          ).filter(({ time }) => !gaps.includes(time))
          const all = { from: 30, to: 220 }
          const seenIn = async (store: CandleStore) => [
            await rightOf(store.add(series, added, candles)),
            await rightOf(store.read(series, all, page)),
          ]
          expect(await seenIn(here.candles)).toEqual(await seenIn(fake))
        }
      }),
      runsOn(kind, 12),
    )
  })

  it('of two that are added at the same time are both there', async () => {
    const series = await stored()
    await Promise.all(
      [here, there].flatMap(({ candles }, index) =>
        [0, 1, 2].map((part) =>
          rightOf(
            candles.add(series, { from: part * 10, to: part * 10 + 12 + index }, [
              candleAt(part * 10, 1),
            ]),
          ),
        ),
      ),
    )
    const all = { from: 0, to: 100 }
    expect(await candles.read(series, all, { limit: 9, end: 'first' })).toEqual({
      known: [{ from: 0, to: 33 }],
      candles: [0, 10, 20].map((time) => candleAt(time, 1)),
    })
  })

  it('of another account, link or user are not seen, and go with the account', async () => {
    const series = await stored()
    const { account } = series
    const all = { from: 0, to: 9 }
    await candles.add(series, all, [candleAt(1, 1)])
    const relinked = { ...series, account: { ...account, providerAccountId: 'p-2' } }
    const strangers = {
      ...series,
      account: { ...account, owner: { ...account.owner, userId: 'nobody' as UserId } },
    }
    await candles.add(strangers, all, [candleAt(2, 1)])
    const read = (one: CandleSeries) => candles.read(one, all, { limit: 9, end: 'last' })
    const nothing = { known: [], candles: [] }
    for (const other of [await stored(), relinked]) expect(await read(other)).toEqual(nothing)
    expect(await read(series)).toEqual({ known: [all], candles: [candleAt(1, 1)] })
    await write(here.operator, { accounts: removes(account.accountId) })
    expect(await read(series)).toEqual(nothing)
  })

  it('the feed is one for all tenants, moves to another, and is without an account where that was removed', async () => {
    const [one, other] = [await storedAccount(here.operator), await storedAccount(here.operator)]
    const set = (accountId: typeof one.id, symbols = {}) =>
      write(here.operator, { marketDataFeed: puts({ id: marketDataFeedId, accountId, symbols }) })
    await set(one.id, { US500: 'US500.cash' })
    expect(await found()).toEqual(
      O.some({ owner: one.owner, accountId: one.id, symbols: { US500: 'US500.cash' } }),
    )
    await set(other.id)
    expect(await found()).toEqual(O.some({ owner: other.owner, accountId: other.id, symbols: {} }))
    await write(here.operator, { marketDataFeed: removes(marketDataFeedId) })
    expect(await found()).toEqual(O.none)
    await set(other.id)
    await write(here.operator, { accounts: removes(other.id) })
    expect(await found()).toMatchObject(O.some({ accountId: other.id }))
    expect(await found()).not.toMatchObject(O.some({ owner: other.owner }))
  })
})
