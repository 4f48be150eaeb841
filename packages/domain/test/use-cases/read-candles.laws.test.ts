// Candles are shown as the broker has them, whatever was read before, and what was read once is not
// asked for again.
import { createFakeCandleStore } from '@tradeport/testkit'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BrokerAccount } from '../../src/accounts/account.ts'
import { periodMs, settledUntil } from '../../src/market/candle-ranges.ts'
import type { Candle, Timeframe } from '../../src/market/market-data.ts'
import type { CandlesWindow } from '../../src/ports/market-data.ts'
import { dayMs, hourMs, minuteMs, type Instant } from '../../src/primitives/instant.ts'
import { createCandleReader, type CandlesQuery } from '../../src/use-cases/steps/read-candles.ts'
import { owner, rightOf } from './desk.ts'

const account = { accountId: 'a-1', owner, providerAccountId: 'p-1' } as BrokerAccount
const start = Date.parse('2026-01-05T00:00:00.000Z')

/** Openings with gaps, and days and weeks that are an hour shorter or longer. */
const openings = (timeframe: Timeframe): fc.Arbitrary<readonly Instant[]> => {
  const period = periodMs[timeframe]
  const clockChange =
    period > hourMs ? fc.constantFrom(0, 0, 0, 0, hourMs, -hourMs) : fc.constant(0)
  const step = fc.record({
    skipped: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.nat(40), fc.nat(3_000)),
    clockChange,
    run: fc.integer({ min: 1, max: 700 }),
  })
  return fc.array(step, { minLength: 1, maxLength: 8 }).map((steps) => {
    const times = []
    let next = start
    for (const { skipped, clockChange: change, run } of steps) {
      next += skipped * period + change
      for (let count = 0; count < run; count += 1, next += period) times.push(next)
    }
    return times
  })
}

const createBroker = (timeframe: Timeframe, times: readonly Instant[], now: () => Instant) => {
  let calls = 0
  const candleAt = (time: Instant): Candle => {
    const next = times.find((one) => one > time) ?? Infinity
    // While it lasts, it changes every second.
    const until = Math.min(next, now(), time + periodMs[timeframe])
    return { time, open: time, high: until, low: time, close: until, volume: 1 }
  }
  const read = ({ to, limit }: CandlesWindow) => {
    calls += 1
    return times
      .filter((time) => time <= Math.min(to, now()))
      .slice(-limit)
      .map(candleAt)
  }
  return {
    calls: () => calls,
    candleAt,
    candles: (_: unknown, __: unknown, window: CandlesWindow) => TE.fromIO(() => read(window)),
  }
}

/** Reads the candles of one symbol. */
const createReader = (
  timeframe: Timeframe,
  now: () => Instant,
  candles: ReturnType<typeof createBroker>['candles'],
  store = createFakeCandleStore(),
) => {
  const ports = { marketData: { candles }, candles: store, clock: { now } }
  const readCandles = createCandleReader(ports)
  return (query: CandlesQuery) => readCandles({ account, symbol: 'EURUSD', timeframe }, query)
}

const worlds = fc.constantFrom('1m', '4h', '1d', '1w', '1M').chain((timeframe) =>
  openings(timeframe).chain((times) => {
    const [first = start, last = start] = [times[0], times.at(-1)]
    const span = last - first
    const time = fc
      .integer({ min: -10, max: 110 })
      .map((percent) => first + Math.floor((span * percent) / 100))
    const query = fc.record({
      from: fc.option(time, { nil: undefined }),
      to: fc.option(time, { nil: undefined }),
      limit: fc.constantFrom(1, 7, 100, 1_000),
      /** How far time goes on before it. */
      waitMs: fc.constantFrom(0, 1_000, periodMs[timeframe], 50 * periodMs[timeframe]),
    })
    return fc.record({
      timeframe: fc.constant(timeframe),
      times: fc.constant(times),
      startsAt: time,
      queries: fc.array(query, { minLength: 1, maxLength: 6 }),
    })
  }),
)

it('shows what the broker has, and asks once for what is complete', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async ({ timeframe, times, startsAt, queries }) => {
      let now = startsAt
      const broker = createBroker(timeframe, times, () => now)
      const readCandles = createReader(timeframe, () => now, broker.candles)
      const read = (query: CandlesQuery) => rightOf(readCandles(query))
      for (const { waitMs, ...query } of queries) {
        now += waitMs
        const { from = -Infinity, to = Infinity, limit } = query
        const opened = times.filter((time) => time <= now)
        const wanted = opened.filter((time) => time >= from && time <= to)
        const shown = query.from === undefined ? wanted.slice(-limit) : wanted.slice(0, limit)
        expect(await read(query)).toEqual(
          shown.map((time) => ({
            ...broker.candleAt(time),
            complete: time !== opened.at(-1) || time <= settledUntil(timeframe, now),
          })),
        )
        const before = broker.calls()
        // Before the first candle, and after the last one, the provider may not have loaded more. A
        // candle of a moment ago may change.
        const isPreceded =
          query.from === undefined ? shown.length === limit : opened.some((time) => time <= from)
        if (opened.some((time) => time > to && time <= now - 10_000) && isPreceded) {
          await read(query)
          expect(broker.calls()).toBe(before)
        }
      }
    }),
    { numRuns: 300 },
  )
})

it.each<[Timeframe, number[], number]>([
  ['1h', [3, 10, 75, 100], 100 * hourMs],
  ['1d', [1], 99 * dayMs + 2 * hourMs],
])(
  'asks again for candles of %s where a broker that had not loaded its candles yet showed none, not the newest or oldest ones, or half of the last one',
  async (timeframe, lost, sinceStart) => {
    const period = periodMs[timeframe]
    const times = Array.from({ length: 100 }, (_, index) => start + index * period)
    const now = start + sinceStart
    const broker = createBroker(timeframe, times, () => now)
    const newest = { limit: 5 }
    const earlier = { from: start, to: start + 97 * period, limit: 1_000 }
    for (const query of [newest, earlier])
      for (const loaded of [...lost.map((count) => times.slice(0, -count)), times.slice(10)]) {
        let isLoaded = false
        const loadedTo = () => Math.min(now, (loaded.at(-1) ?? now) + period / 2)
        const unloaded = createBroker(timeframe, loaded, loadedTo)
        const readCandles = createReader(
          timeframe,
          () => now,
          (...of) => (isLoaded ? broker : unloaded).candles(...of),
        )
        const read = () => rightOf(readCandles(query))
        await read()
        isLoaded = true
        const shown = times.filter((time) => time <= (query === earlier ? earlier.to : now))
        expect(await read()).toMatchObject(shown.slice(-query.limit).map(broker.candleAt))
      }
  },
)

it('reads the beginning of a long history with few pages, and each page once for simultaneous requests', async () => {
  const now = start + 400 * dayMs
  const times = Array.from({ length: 400 * 24 * 60 }, (_, minute) => start + minute * minuteMs)
  const broker = createBroker('1m', [], () => now)
  const asked: Instant[] = []
  const readCandles = createReader(
    '1m',
    () => now,
    (_, __, { to, limit }) =>
      TE.fromIO(() => {
        asked.push(to)
        const end = Math.floor((Math.min(to, now) - start) / minuteMs) + 1
        return times.slice(Math.max(0, end - limit), Math.max(0, end)).map(broker.candleAt)
      }),
  )
  const read = () =>
    rightOf(readCandles({ from: Date.parse('1990-01-01'), to: now - dayMs, limit: 1_000 }))
  const [one, other] = await Promise.all([read(), read()])
  expect(one.map(({ time }) => time)).toEqual(times.slice(0, 1_000))
  expect(other).toEqual(one)
  const before = asked.length
  expect(before).toBeLessThan(60)
  expect(await read()).toEqual(one)
  expect(asked.slice(before).every((to) => to < start)).toBe(true)
})

it.each([
  [9_999, 0],
  [10_000, 1],
])('%i ms after the end of a candle %i are kept', async (sinceMs, kept) => {
  const now = start + minuteMs + sinceMs
  const { candles } = createBroker('1m', [start, start + minuteMs], () => now)
  const store = createFakeCandleStore()
  const readCandles = createReader('1m', () => now, candles, store)
  expect(await rightOf(readCandles({ limit: 2 }))).toHaveLength(2)
  const series = { account, symbol: 'EURUSD', timeframe: '1m' } as const
  const read = store.read(series, { from: start, to: now }, { limit: 9, end: 'first' })
  expect((await rightOf(read)).candles).toHaveLength(kept)
})

it('stops after 50 pages, which the refusal says, and goes on from there at the next request', async () => {
  const times = Array.from({ length: 200 }, (_, hour) => start + hour * hourMs)
  const now = start + 400 * hourMs
  const broker = createBroker('1h', times, () => now)
  const readCandles = createReader(
    '1h',
    () => now,
    (of, by, window) => broker.candles(of, by, { ...window, limit: 1 }),
  )
  const read = readCandles({ limit: 75 })
  expect(await read()).toMatchObject({ left: { _tag: 'ServiceUnavailable', unread: 'candles' } })
  expect(broker.calls()).toBe(50)
  expect((await rightOf(read)).map(({ time }) => time)).toEqual(times.slice(-75))
})
