// Prices follow from seed, symbol and time alone; the ranges of a ledger are those of a plain filter.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLedger, type Entry } from '../src/account.ts'
import { createMarket, INSTRUMENTS } from '../src/market.ts'

const instrument = fc.constantFrom(...INSTRUMENTS)
const at = fc.integer({ min: Date.parse('2015-01-01'), max: Date.parse('2035-01-01') })

it('a quote is on the tick grid, near the base price, and the same whatever was asked before', () => {
  const times = fc.array(at, { maxLength: 5 })
  fc.assert(
    fc.property(fc.integer(), instrument, at, times, (seed, one, time, before) => {
      const [fresh, used] = [createMarket(seed), createMarket(seed)]
      for (const other of before) used.prices.quote(one, other)
      const { bid, ask } = used.prices.quote(one, time)
      expect(fresh.prices.quote(one, time)).toEqual({ bid, ask })
      const points = (price: number): number => price * 10 ** one.digits
      for (const price of [bid, ask]) {
        expect(Number(price.toFixed(one.digits))).toBe(price)
        expect(price / one.basePrice).toBeGreaterThan(0.5)
        expect(price / one.basePrice).toBeLessThan(2)
      }
      expect(Math.round(points(ask) - points(bid))).toBe(one.spreadPoints)
    }),
  )
})

it('a page of a range has the rows of that range in the order of time, those without a time last', () => {
  const time = fc.oneof({ weight: 9, arbitrary: fc.nat(40) }, fc.constant(Number.NaN))
  const edge = fc.integer({ min: -1, max: 41 })
  fc.assert(
    fc.property(
      fc.tuple(fc.array(time), fc.array(time)),
      edge,
      edge,
      fc.nat(50),
      fc.integer({ min: 1, max: 50 }),
      ([first, later], start, end, offset, limit) => {
        const entries = [...first, ...later].map((value, row): Entry<number> => ({
          at: value,
          row,
        }))
        const ledger = createLedger(entries.slice(0, first.length))
        for (const entry of entries.slice(first.length)) ledger.add(entry)
        const timed = entries
          .filter((entry) => entry.at >= start && entry.at < end)
          .toSorted((a, b) => a.at - b.at || a.row - b.row)
        const wanted = [...timed, ...entries.filter((entry) => Number.isNaN(entry.at))]
        const rows = ledger.between(start, end).slice(offset, limit)
        expect(rows.map(({ row }) => row)).toEqual(
          wanted.slice(offset, offset + limit).map(({ row }) => row),
        )
      },
    ),
  )
})
