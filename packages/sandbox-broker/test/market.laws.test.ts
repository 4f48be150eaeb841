// Prices: a pure function of seed, symbol and time, on the tick grid, bounded and smooth; rates and
// the ledger's ranges.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLedger, type Entry } from '../src/books/ledger.ts'
import { INSTRUMENTS } from '../src/market/instruments.ts'
import { createMarket } from '../src/market/market.ts'

const instrument = fc.constantFrom(...INSTRUMENTS)
const at = fc.integer({ min: Date.parse('2015-01-01'), max: Date.parse('2035-01-01') })

it('gives the same quote to every sandbox of a seed, whatever was asked before', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      instrument,
      at,
      fc.array(at, { maxLength: 5 }),
      (seed, one, time, before) => {
        const [fresh, used] = [createMarket(seed), createMarket(seed)]
        for (const other of before) used.prices.quote(one, other)
        expect(used.prices.quote(one, time)).toEqual(fresh.prices.quote(one, time))
      },
    ),
  )
})

it('keeps bid and ask on the tick grid, a spread apart, within half and double the base price', () => {
  fc.assert(
    fc.property(fc.integer(), instrument, at, (seed, one, time) => {
      const { bid, ask } = createMarket(seed).prices.quote(one, time)
      const points = (price: number): number => price * 10 ** one.digits
      expect(Number(bid.toFixed(one.digits))).toBe(bid)
      expect(Number(ask.toFixed(one.digits))).toBe(ask)
      expect(Math.round(points(ask) - points(bid))).toBe(one.spreadPoints)
      expect(bid).toBeGreaterThan(one.basePrice / 2)
      expect(ask).toBeLessThan(one.basePrice * 2)
    }),
  )
})

it('ranges of a ledger are those that a plain filter finds, in any order of adding and cut anywhere', () => {
  const time = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 40 }) },
    { weight: 1, arbitrary: fc.constant(Number.NaN) },
  )
  fc.assert(
    fc.property(
      fc.array(time),
      fc.array(time),
      fc.integer({ min: -1, max: 41 }),
      fc.integer({ min: -1, max: 41 }),
      fc.nat(50),
      fc.integer({ min: 1, max: 50 }),
      (first, later, start, end, offset, limit) => {
        const entries = [...first, ...later].map((value, index): Entry<number> => ({
          at: value,
          row: index,
        }))
        const ledger = createLedger(entries.slice(0, first.length))
        for (const entry of entries.slice(first.length)) ledger.add(entry)
        const timed = entries
          .filter((entry) => entry.at >= start && entry.at < end)
          .toSorted((a, b) => a.at - b.at || a.row - b.row)
        const wanted = [...timed, ...entries.filter((entry) => Number.isNaN(entry.at))]
        const span = ledger.between(start, end)
        expect(span.size).toBe(wanted.length)
        expect(span.slice(offset, limit).map((entry) => entry.row)).toEqual(
          wanted.slice(offset, offset + limit).map((entry) => entry.row),
        )
      },
    ),
  )
})
