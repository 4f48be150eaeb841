// Symbols, prices and candles.
import { expect, it } from 'vitest'
import { setUp } from './harness.ts'

it('candles stay the same once their time is over', async () => {
  const { get, clock } = await setUp()
  const path =
    'historical-market-data/symbols/EURUSD/timeframes/1m/candles?startTime=2026-03-11T11:51:00.000Z&limit=2'
  const before = await get<{ time: string; high: number; low: number }[]>(path)
  expect(before.body.map(({ time }) => time.slice(11, 16))).toEqual(['11:50', '11:51'])
  clock.now += 3_600_000
  expect((await get(path)).body).toEqual(before.body)
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
  const { body } = await get<{ tradeSessions: Record<string, unknown[]> }>(
    'symbols/EURUSD.r/specification',
  )
  expect(body).toMatchObject({ symbol: 'EURUSD.r', digits: 5 })
  // It executes orders at the weekend, and so must a preview allow them.
  expect(Object.values(body.tradeSessions).filter(({ length }) => length > 0)).toHaveLength(7)
  for (const path of ['symbols/EURUSD/specification', 'symbols/EURUSD/current-price'])
    expect((await get(path)).status).toBe(404)
})
