// What every adapter of the market data port does: the fake, and the real one over a simulated
// provider.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type { MarketData } from '@tradeport/domain/ports'
import { hourMs, minuteMs, secondMs } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, it } from 'vitest'
import { instrumentTerms } from './broker-values.ts'
import { rightOf } from './stored-records.ts'

/**
 * A broker that lists `EURUSD.r` alone, at 1.1 and 1.1002, with candles of an hour and a tick a
 * second for at least a day until `now`.
 */
interface MarketVenue {
  readonly marketData: MarketData
  readonly account: BrokerAccount
  readonly now: () => number
  /** From now on the account cannot be read. */
  readonly lose: () => Promise<void>
  readonly close: () => Promise<void>
}

const symbol = 'EURUSD.r'

export const describeMarketDataContract = (
  name: string,
  open: () => Promise<MarketVenue>,
): void => {
  describe(`the market data contract, by ${name}`, () => {
    let venue: MarketVenue | undefined
    afterEach(() => venue?.close())
    const opened = async (): Promise<MarketVenue> => (venue = await open())

    it('reads symbols, terms and quotes', async () => {
      const { marketData, account, now } = await opened()
      expect(await rightOf(marketData.symbols(account))).toEqual([symbol])
      const { description: _description, sessions, ...terms } = instrumentTerms(symbol)
      const read = await rightOf(marketData.instrument(account, symbol))
      expect(read).toMatchObject(terms)
      expect(read.sessions[0]).toEqual(sessions[0])
      const quote = await rightOf(marketData.quote(account, symbol))
      expect(quote).toMatchObject({ bid: 1.1, ask: 1.1002, profitTickValue: 1 })
      expect(Math.abs(quote.time - now())).toBeLessThan(minuteMs)
    })

    it('reads the last candles up to a time, oldest first and whole pages of them', async () => {
      const { marketData, account, now } = await opened()
      const read = (to: number, limit: number) =>
        rightOf(marketData.candles(account, symbol, { timeframe: '1h', to, limit }))
      const latest = await read(now(), 5)
      expect(latest).toHaveLength(5)
      const times = latest.map(({ time }) => time)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(now() - (times[4] ?? 0)).toBeLessThan(hourMs)
      for (const { open: first, high, low, close, volume } of latest) {
        expect(high).toBeGreaterThanOrEqual(Math.max(first, close))
        expect(low).toBeLessThanOrEqual(Math.min(first, close))
        expect(volume).toBeGreaterThan(0)
      }
      // The candle that opened exactly then is included; one millisecond earlier it is not.
      expect(await read(times[3] ?? 0, 2)).toEqual(latest.slice(2, 4))
      expect(await read((times[3] ?? 0) - 1, 2)).toEqual(latest.slice(1, 3))
      expect(await read(0, 10)).toEqual([])
    })

    it('reads the first ticks from a time on, after those to skip', async () => {
      const { marketData, account, now } = await opened()
      const from = now() - hourMs
      const read = (offset: number, limit: number) =>
        rightOf(marketData.ticks(account, symbol, { from, offset, limit }))
      const ticks = await read(0, 10)
      expect(ticks).toHaveLength(10)
      expect(ticks[0]?.time ?? 0).toBeGreaterThanOrEqual(from)
      expect(ticks[0]?.time ?? 0).toBeLessThan(from + secondMs)
      expect(await read(4, 3)).toEqual(ticks.slice(4, 7))
    })

    it('tells a symbol that cannot be read from an account that cannot', async () => {
      const { marketData, account, lose } = await opened()
      const { accountId } = account
      const window = { timeframe: '1h', to: 0, limit: 1 } as const
      const reads = (of: string) => [
        marketData.instrument(account, of),
        marketData.quote(account, of),
        marketData.candles(account, of, window),
        marketData.ticks(account, of, { from: 0, offset: 0, limit: 1 }),
      ]
      for (const read of reads('EURUSD'))
        expect(await read()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
      await lose()
      for (const read of [...reads(symbol), marketData.symbols(account)])
        expect(await read()).toEqual(E.left(refuse('NotProvisioned', { accountId })))
    })
  })
}
