// Candles.
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
