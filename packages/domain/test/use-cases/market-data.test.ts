// Whose prices a request gets, what is refused, the last ticks, and streams of quotes.
import { createFakeCandleStore, type newAccount, times } from '@tradeport/testkit'
import { createFakeMarketData } from './fake-market-data.ts'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { ProgramId, ScopedCaller } from '../../src/access/index.ts'
import type { BrokerAccount } from '../../src/accounts/index.ts'
import { refuse } from '../../src/errors.ts'
import type { MarketDataFeed } from '../../src/ports/index.ts'
import { dayMs, hourMs, secondMs } from '../../src/primitives/instant.ts'
import { createMarketData, type StreamedQuote } from '../../src/use-cases/market-data.ts'
import { createStreamSlots, streamLimits } from '../../src/use-cases/steps/stream-slots.ts'
import { createTicks, idle, createTestDesk, down, owner, rightOf, stranger, tagOf } from './desk.ts'

const open = () => {
  let now = Date.parse('2026-11-20T12:00:00.000Z')
  const clock = { now: () => now }
  const desk = createTestDesk(clock)
  const marketData = createFakeMarketData(clock)
  const candles = createFakeCandleStore()
  let feed: MarketDataFeed | undefined
  const { pause, tick } = createTicks()
  const use = createMarketData({
    marketData,
    marketDataFeeds: { find: () => TE.right(O.fromNullable(feed))() },
    candles,
    clock,
    pause,
    accounts: desk.accounts,
    streamSlots: createStreamSlots(),
  })
  const caller: ScopedCaller = {
    owner,
    program: 'api_key k-1' as ProgramId,
    scopes: new Set(),
  }
  const link = (fields: Parameters<typeof newAccount>[1] = {}, symbols = ['EURUSD']) => {
    const account = desk.link(fields)
    for (const symbol of symbols) marketData.put(account.id, symbol)
    return account
  }
  return {
    ...desk,
    use,
    marketData,
    candles,
    caller,
    link,
    unlink: (id: string) => void desk.records.tables.accounts.delete(id),
    setFeed: (one: MarketDataFeed) => void (feed = one),
    wait: (ms: number) => void (now += ms),
    /** A second passes for all streams. */
    tick,
  }
}

/** With a feed, whose reads end when that is released. */
const crowded = () => {
  const world = open()
  world.setFeed({ owner, accountId: world.link().id, symbols: {} })
  const { promise, resolve: release } = Promise.withResolvers<void>()
  let reads = 0
  const held =
    <Of extends readonly unknown[], A>(read: (...of: Of) => () => Promise<A>) =>
    (...of: Of) =>
    async () => {
      reads += 1
      await promise
      return read(...of)()
    }
  return { ...world, held, reads: () => reads, release }
}

describe('the source of prices', () => {
  it('is an account of the caller, whose broker has its own spelling', async () => {
    const { use, caller, link, marketData } = open()
    const one = link({}, ['EURUSD.r'])
    const other = link({}, ['EURUSD.r', 'EURUSDm'])
    const quote = (accountId = one.id, symbol = 'EURUSD') =>
      use.getQuote(caller, { symbol, query: { accountId } })
    expect(await rightOf(quote())).toMatchObject({
      symbol: 'EURUSD',
      bid: 1.1,
      ask: 1.1002,
      spread: 0.0002,
      stale: false,
    })
    expect(await quote(other.id)()).toMatchObject({
      left: { _tag: 'SymbolAmbiguous', candidates: ['EURUSD.r', 'EURUSDm'] },
    })
    expect(await tagOf(quote(other.id, 'EURUSD.R'))).toBe('none')
    const asked = marketData.calls('quote')
    expect(await tagOf(quote(one.id, 'XAUUSD'))).toBe('NotFound')
    expect(marketData.calls('quote')).toBe(asked)
    expect(
      await tagOf(
        use.getQuote({ owner: stranger }, { symbol: 'EURUSD', query: { accountId: one.id } }),
      ),
    ).toBe('AccountNotFound')
  })

  it('is the feed of the operator for the listed instruments, whose account stays hidden', async () => {
    const { use, link, setFeed, marketData } = open()
    const quote = (symbol: string) => use.getQuote(undefined, { symbol, query: {} })
    expect(await quote('EURUSD')()).toMatchObject({
      left: { _tag: 'NotImplemented', feature: 'market-data', isFeedMissing: true },
    })
    expect(await tagOf(quote('DAX'))).toBe('NotFound')
    const account = link({}, ['EURUSD.r', 'US500.cash', 'US500.f', 'DAX'])
    setFeed({ owner, accountId: account.id, symbols: { US500: 'US500.cash' } })
    const read = await use.listQuotes(undefined, { query: { symbols: ['US500', 'EURUSD'] } })()
    expect(read).toMatchObject({ right: [{ symbol: 'US500' }, { symbol: 'EURUSD' }] })
    // The broker has one of these, and the list the other.
    expect([await tagOf(quote('DAX')), await tagOf(quote('AAPL'))]).toEqual([
      'NotFound',
      'NotFound',
    ])
    marketData.fail(account.id, down(account.id))
    const failed = await quote('EURUSD')()
    expect(failed).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
    expect(failed).not.toHaveProperty('left.accountId')
  })

  const of = { symbol: 'EURUSD', query: { timeframe: '1m', startTime: 0, limit: 1 } } as const

  it('is read four times at once for candles and ticks without a credential, and 24 reads wait: with one, 16 requests for a series', async () => {
    const { use, caller, marketData, held, reads, release } = crowded()
    const none = held(() => TE.right([]))
    Object.assign(marketData, { candles: none, ticks: none })
    const answers = [
      use.listCandles(undefined, of)(),
      ...times(28, () => use.listTicks(undefined, of)()),
      ...times(18, () => use.listCandles(caller, of)()),
      use.listTicks(caller, of)(),
    ]
    await idle()
    expect(reads()).toBe(4 + 2)
    release()
    const refused = (await Promise.all(answers)).filter(E.isLeft)
    const left = { _tag: 'ServiceUnavailable', retryAfterSeconds: 1 }
    expect(refused).toMatchObject([{ left }, { left }])
  })

  it('of kept candles without a credential is read in turn too', async () => {
    const { use, candles, held, reads, release } = crowded()
    Object.assign(candles, { read: held(candles.read) })
    const answers = times(30, () => use.listCandles(undefined, of)())
    await idle()
    expect(reads()).toBe(4)
    release()
    expect((await Promise.all(answers)).filter(E.isLeft)).toHaveLength(2)
  })
})

it('a quote is stale once it is older than a minute, or as far ahead', async () => {
  const { use, caller, link, marketData, wait } = open()
  const { id } = link()
  const time = Date.parse('2026-11-20T12:00:00.000Z')
  const quote = { bid: 1, ask: 1.3, time, profitTickValue: 1, lossTickValue: 1 }
  Object.assign(marketData, { quote: () => TE.right(quote) })
  const staleAfter = async (ms: number) => {
    wait(ms)
    return (await rightOf(use.getQuote(caller, { symbol: 'EURUSD', query: { accountId: id } })))
      .stale
  }
  expect([await staleAfter(60 * secondMs), await staleAfter(1)]).toEqual([false, true])
  expect(await staleAfter(-120 * secondMs - 2)).toBe(true)
})

it("a page of a broker's instruments has their terms; what needs an account is refused without one", async () => {
  const { use, caller, link, marketData } = open()
  const { id } = link({}, ['EURUSD.r', 'AUDUSD.r', 'XAUUSD'])
  const page = { accountId: id, search: 'usd.', page: 2, limit: 1 }
  expect(await rightOf(use.listSymbols(caller, { query: page }))).toMatchObject({
    data: [{ symbol: 'EURUSD.r', minVolume: 0.01 }],
    pagination: { total: 2 },
  })
  const many = link(
    {},
    times(30, (at) => `S${at}`),
  )
  const { instrument } = marketData
  let [atOnce, most] = [0, 0]
  const counted: typeof instrument = (account, symbol) => async () => {
    most = Math.max(most, (atOnce += 1))
    await Promise.resolve()
    atOnce -= 1
    return instrument(account, symbol)()
  }
  Object.assign(marketData, { instrument: counted })
  const terms = await rightOf(use.listSymbols(caller, { query: { accountId: many.id } }))
  expect(terms).toMatchObject({ data: { length: 20 }, pagination: { total: 30 } })
  expect(most).toBe(4)
  expect(await rightOf(use.listSymbols(caller, { query: { search: 'gold' } }))).toMatchObject({
    data: [{ symbol: 'XAUUSD', marginRate: 0.01 }],
  })
  for (const [query, path] of [
    [{ page: 1 }, 'page'],
    [{ limit: 1 }, 'limit'],
    [{ accountId: id, type: 'forex' }, 'type'],
  ] as const)
    expect(await use.listSymbols(caller, { query })()).toMatchObject({
      left: { issues: [{ path }] },
    })
})

const ticksOf = (times: readonly number[]) => times.map((time) => ({ time, bid: time, ask: time }))
type TicksQuery = Parameters<ReturnType<typeof open>['use']['listTicks']>[1]['query']
/** An account whose broker has these ticks. */
const withTicks = (ticks: ReturnType<typeof ticksOf>) => {
  const { use, caller, link, marketData } = open()
  const { id: accountId } = link()
  marketData.put(accountId, 'EURUSD', { ticks })
  return {
    list: (query: TicksQuery) =>
      rightOf(use.listTicks(caller, { symbol: 'EURUSD', query: { accountId, ...query } })),
    reads: () => marketData.calls('ticks'),
  }
}

describe('ticks', () => {
  const start = Date.parse('2026-11-20T00:00:00.000Z')
  // A quiet night, a busy hour, and a few minutes without any.
  const ticks = ticksOf([
    ...times(40, (index) => start + index * 600 * secondMs),
    ...times(7_200, (index) => start + 8 * hourMs + index * 500),
  ])

  it.each([
    [start, undefined, 5, 0, 5],
    [start, start + 1_200 * secondMs, 100, 0, 3],
    [start + 8 * hourMs, undefined, 2_500, 40, 2_540],
    [undefined, undefined, 5, -5, Infinity],
    [undefined, start - 1, 10, 0, 0],
    [undefined, start + 300 * dayMs, 5, -5, Infinity],
  ])('from %s to %s, at most %i', async (from, to, limit, first, last) => {
    const { list } = withTicks(ticks)
    expect(await list({ startTime: from, endTime: to, limit })).toEqual(ticks.slice(first, last))
  })

  it('are none before 1970, which the broker is not asked for', async () => {
    const { list, reads } = withTicks([])
    expect(await list({ endTime: Date.parse('0000-01-01T00:00:00.000Z'), limit: 10 })).toEqual([])
    expect(reads()).toBe(0)
  })

  it.each([
    [1, { right: { length: 1 } }],
    [1_000, { left: { _tag: 'BrokerUnavailable' } }],
  ])('are read twice where the broker shows the same %i again', async (count, outcome) => {
    const { use, caller, link, marketData } = open()
    const query = { accountId: link().id, startTime: start, limit: 1_500 }
    marketData.put(query.accountId, 'EURUSD')
    const same = ticksOf(times(count, (index) => start + index))
    let reads = 0
    const ticks: typeof marketData.ticks = (_account, _symbol, { limit }) =>
      TE.fromIO(() => (++reads > 5 ? [] : same.slice(0, limit)))
    Object.assign(marketData, { ticks })
    expect(await use.listTicks(caller, { symbol: 'EURUSD', query })()).toMatchObject(outcome)
    expect(reads).toBe(2)
  })

  it('are the last ones whatever their density, in a bounded number of reads', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            quietMs: fc.integer({ min: 1, max: 2 * dayMs }),
            count: fc.integer({ min: 1, max: 60_000 }),
            everyMs: fc.constantFrom(1, 40, 500, 60_000),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        fc.constantFrom(1, 5, 999, 1_000, 1_001, 10_000),
        async (bursts, limit) => {
          const to = Date.parse('2026-11-20T12:00:00.000Z')
          const newestFirst = []
          let end = to
          for (const { quietMs, count, everyMs } of bursts) {
            end -= quietMs
            for (let index = 0; index < count; index += 1) newestFirst.push((end -= everyMs))
          }
          const all = ticksOf(
            newestFirst.filter((time) => time >= to - 7 * dayMs).toSorted((a, b) => a - b),
          )
          const { list, reads } = withTicks(all)
          expect(await list({ endTime: to, limit })).toEqual(all.slice(-limit))
          expect(reads()).toBeLessThanOrEqual(100)
        },
      ),
      {
        numRuns: 10,
        // A Sunday after a busy Friday.
        examples: [[[{ quietMs: 1.5 * dayMs, count: 150_000, everyMs: 500 }], 5]],
      },
    ))

  it('are not there on MT4', async () => {
    const { use, caller, link } = open()
    const { id } = link({ brokerType: 'mt4' })
    expect(
      await tagOf(use.listTicks(caller, { symbol: 'EURUSD', query: { accountId: id, limit: 1 } })),
    ).toBe('NotAvailableOnPlatform')
  })

  it('and candles are not there where the provider never gives them; a feed is then out of order', async () => {
    const { use, caller, link, marketData, setFeed } = open()
    const { id } = link()
    setFeed({ owner, accountId: id, symbols: {} })
    const never = refuse('BrokerUnavailable', { ...down(id), isUnsupported: true })
    marketData.fail(id, never, ['candles', 'ticks'])
    for (const [accountId, tag] of [
      [id, 'NotAvailableOnPlatform'],
      [undefined, 'ServiceUnavailable'],
    ] as const) {
      const asked = { symbol: 'EURUSD', query: { accountId, limit: 1, timeframe: '1h' } } as const
      expect(await tagOf(use.listCandles(caller, asked))).toBe(tag)
      expect(await tagOf(use.listTicks(caller, asked))).toBe(tag)
    }
  })
})

const listening = () => {
  const world = open()
  const account = world.link({}, ['EURUSD', 'XAUUSD', 'GBPUSD'])
  let number = 0
  const ofAccount: Partial<Pick<MarketDataFeed, 'accountId'>> = { accountId: account.id }
  const follow = async (
    symbols: readonly string[],
    program = (number += 1),
    source = ofAccount,
  ) => {
    const { batches, close } = await rightOf(
      world.use.streamQuotes(
        { ...world.caller, program: `api_key k-${program}` as ProgramId },
        { query: { symbols, ...source } },
      ),
    )
    const got: StreamedQuote[] = []
    const reading = { got, close, isOver: false }
    void (async () => {
      for await (const batch of batches) got.push(...batch)
      reading.isOver = true
    })()
    await idle()
    return reading
  }
  return { ...world, account, follow }
}

describe('a stream of quotes', () => {
  it('reads each symbol once a second however many listen, and nothing when nobody does', async () => {
    const { follow, marketData, tick } = listening()
    const symbols = ['EURUSD', 'XAUUSD', 'GBPUSD']
    const streams = []
    for (let index = 0; index < 60; index += 1)
      streams.push(await follow(symbols.slice(0, 1 + (index % 3))))
    await tick()
    const before = marketData.calls('quote')
    await tick(5)
    expect(marketData.calls('quote') - before).toBeLessThanOrEqual(5 * symbols.length)
    expect(marketData.calls('quote') - before).toBeGreaterThan(0)
    for (const { got } of streams) expect(got.length).toBeGreaterThan(0)
    for (const { close } of streams) close()
    await tick()
    const after = marketData.calls('quote')
    await tick(3)
    expect(marketData.calls('quote')).toBe(after)
  })

  it('writes a quote when it changes or becomes stale, and why there is none', async () => {
    const { follow, marketData, account, tick, wait } = listening()
    const { got } = await follow(['EURUSD'])
    await tick(2)
    expect(got).toHaveLength(1)
    wait(secondMs)
    await tick(2)
    expect(got.map((one) => 'stale' in one && one.stale)).toEqual([false, false])
    const { quote } = marketData
    const last = await rightOf(quote({ accountId: account.id } as BrokerAccount, 'EURUSD'))
    Object.assign(marketData, { quote: () => TE.right(last) })
    wait(60 * secondMs + 1)
    await tick(4)
    expect(got.slice(2)).toEqual([{ ...got[1], stale: true }])
    Object.assign(marketData, { quote })
    marketData.fail(account.id, down(account.id))
    await tick(4)
    expect(got.slice(3)).toEqual([
      {
        symbol: 'EURUSD',
        refusal: refuse('BrokerUnavailable', { accountId: account.id, reason: 'down' }),
      },
    ])
    const before = marketData.calls('quote')
    await tick(10)
    expect(marketData.calls('quote') - before).toBe(2)
  })

  it('ends when the account is unlinked, and has the limits of all streams', async () => {
    const { follow, use, caller, account, unlink, tick } = listening()
    const streams = await Promise.all(times(streamLimits.perProgram, () => follow(['EURUSD'], 0)))
    const again = () =>
      tagOf(
        use.streamQuotes(
          { ...caller, program: 'api_key k-0' as ProgramId },
          { query: { symbols: ['EURUSD'], accountId: account.id } },
        ),
      )
    expect(await again()).toBe('StreamLimitReached')
    unlink(account.id)
    await tick(3)
    expect(streams[0]?.isOver).toBe(true)
  })

  it('of the feed ends when the operator gives one of its symbols another spelling', async () => {
    const { follow, account, setFeed, tick } = listening()
    const feed = { owner, accountId: account.id, symbols: {} }
    setFeed(feed)
    const stream = await follow(['EURUSD'], 1, {})
    for (const [symbols, isOver] of [
      [{ US500: 'US500.cash' }, false],
      [{ EURUSD: 'XAUUSD' }, true],
    ] as const) {
      setFeed({ ...feed, symbols })
      await tick(3)
      expect(stream.isOver).toBe(isOver)
    }
  })
})
