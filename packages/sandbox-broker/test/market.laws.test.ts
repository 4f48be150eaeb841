// Prices follow from seed, symbol and time alone.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMarket, allInstruments } from '../src/market.ts'

const instrument = fc.constantFrom(...allInstruments)
const at = fc.integer({ min: Date.parse('2015-01-01'), max: Date.parse('2035-01-01') })

it('a quote is on the tick grid, near the base price, and the same whatever was asked before', () => {
  const times = fc.array(at, { maxLength: 5 })
  fc.assert(
    fc.property(fc.integer(), instrument, at, times, (seed, one, time, before) => {
      const [fresh, used] = [createMarket(seed), createMarket(seed)]
      for (const other of before) used.prices.quote(one, other)
      const { bid, ask } = used.prices.quote(one, time)
      expect(fresh.prices.quote(one, time)).toEqual({ bid, ask })
      const points = (price: number) => price * 10 ** one.digits
      for (const price of [bid, ask]) {
        expect(Number(price.toFixed(one.digits))).toBe(price)
        expect(price / one.basePrice).toBeGreaterThan(0.5)
        expect(price / one.basePrice).toBeLessThan(2)
      }
      expect(Math.round(points(ask) - points(bid))).toBe(one.spreadPoints)
    }),
  )
})
