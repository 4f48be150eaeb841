// Symbols, prices, candles by the broker's clock, and ticks.
import { describe, expect, it } from 'vitest'
import { setUp, type Bench } from './harness.ts'

const timesOf = async (get: Bench['get'], timeframe: string, startTime: string, limit: number) =>
  (
    await get<{ time: string }[]>(
      `historical-market-data/symbols/EURUSD/timeframes/${timeframe}/candles?startTime=${startTime}&limit=${limit}`,
    )
  ).body.map(({ time }) => time.slice(0, 16))

describe('candles', () => {
  it.each([
    // The broker's clock goes forward on 29 March, and back on 25 October.
    ['1d', '2026-03-30T12:00:00.000Z', ['2026-03-28T22:00', '2026-03-29T21:00']],
    ['1d', '2026-10-26T12:00:00.000Z', ['2026-10-24T21:00', '2026-10-25T22:00']],
    ['1w', '2026-04-01T00:00:00.000Z', ['2026-03-21T22:00', '2026-03-28T22:00']],
    ['1mn', '2026-04-10T00:00:00.000Z', ['2026-02-28T22:00', '2026-03-31T21:00']],
    [
      '4h',
      '2026-03-29T06:00:00.000Z',
      ['2026-03-28T22:00', '2026-03-29T01:00', '2026-03-29T05:00'],
    ],
    [
      '1h',
      '2026-10-25T02:00:00.000Z',
      ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
    ],
  ])('of %s open by the clock of the broker until %s', async (timeframe, until, times) => {
    const { get, clock } = await setUp()
    clock.now = Date.parse('2026-12-01T00:00:00.000Z')
    expect(await timesOf(get, timeframe, until, times.length)).toEqual(times)
  })

  it('stay the same once their time is over, and are none in a gap', async () => {
    const { get, clock } = await setUp({
      candleGaps: [
        {
          from: Date.parse('2026-03-11T11:10:00.000Z'),
          to: Date.parse('2026-03-11T11:50:00.000Z'),
        },
      ],
    })
    const path =
      'historical-market-data/symbols/EURUSD/timeframes/1m/candles?startTime=2026-03-11T11:51:00.000Z&limit=4'
    const before = await get<{ time: string; high: number; low: number }[]>(path)
    expect(before.body.map(({ time }) => time.slice(11, 16))).toEqual([
      '11:08',
      '11:09',
      '11:50',
      '11:51',
    ])
    clock.now += 3_600_000
    expect((await get(path)).body).toEqual(before.body)
  })
})

it('a broker has its own symbols, with their terms and prices, and no others', async () => {
  const { get, sandbox } = await setUp({ symbols: { 'EURUSD.r': 'EURUSD', 'EURUSD#': 'EURUSD' } })
  sandbox.prices.pin('EURUSD', { bid: 1.2, ask: 1.2003 })
  expect((await get('symbols')).body).toEqual(['EURUSD.r', 'EURUSD#'])
  expect((await get('symbols/EURUSD%23/current-price')).body).toMatchObject({
    symbol: 'EURUSD#',
    bid: 1.2,
    ask: 1.2003,
    profitTickValue: 1,
  })
  expect((await get('symbols/EURUSD.r/specification')).body).toMatchObject({
    symbol: 'EURUSD.r',
    digits: 5,
  })
  for (const path of ['symbols/EURUSD/specification', 'symbols/EURUSD/current-price'])
    expect((await get(path)).status).toBe(404)
})

it('ticks run forwards from a time, one a second, and MT4 has none', async () => {
  const path =
    'historical-market-data/symbols/EURUSD/ticks?startTime=2026-03-11T11:59:50.500Z&limit=3'
  const { get } = await setUp()
  const { body } = await get<{ time: string }[]>(path)
  expect(body.map(({ time }) => time.slice(17))).toEqual(['51.000Z', '52.000Z', '53.000Z'])
  const skipped = await get<{ time: string }[]>(`${path}&offset=8`)
  expect(skipped.body.map(({ time }) => time.slice(17))).toEqual(['59.000Z', '00.000Z'])
  const mt4 = await setUp({ platform: 'mt4' })
  expect((await mt4.get(path)).status).toBe(400)
})
