// Candles in memory.
import { gapsIn, type Candle, type CandleRange } from '@tradeport/domain/market'
import type { CandleSeries, CandleStore } from '@tradeport/domain/ports'
import { portOf } from './fake-port.ts'

interface KeptSeries {
  readonly known: CandleRange[]
  readonly candles: Map<number, Candle>
}

export const createFakeCandleStore = (): CandleStore => {
  const kept = new Map<string, KeptSeries>()
  const find = ({ account, symbol, timeframe }: CandleSeries): KeptSeries => {
    const { owner, accountId, providerAccountId } = account
    const { tenantId, userId } = owner
    const place = [tenantId, userId, accountId, providerAccountId, symbol, timeframe]
    const key = JSON.stringify(place)
    const series = kept.get(key) ?? { known: [], candles: new Map<number, Candle>() }
    kept.set(key, series)
    return series
  }
  return portOf<CandleStore>({
    read: (series, range, { limit, end }) => {
      const { known, candles } = find(series)
      const found = [...candles.values()]
        .filter(({ time }) => time >= range.from && time <= range.to)
        .toSorted((a, b) => a.time - b.time)
      return {
        // Between the gaps.
        known: gapsIn(range, gapsIn(range, known)),
        candles: end === 'first' ? found.slice(0, limit) : found.slice(-limit),
      }
    },
    add: (series, range, candles) => {
      const { known, candles: held } = find(series)
      known.push(range)
      for (const candle of candles) if (!held.has(candle.time)) held.set(candle.time, candle)
    },
  })
}
