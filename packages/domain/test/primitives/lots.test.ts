// Executions in lots, and rounding.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { roundAmount, fillOfExecutions } from '../../src/primitives/index.ts'

const cents = fc.integer({ min: 1, max: 1_000 })

it('leaves lots of up to eight decimals as they are, however many they are', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat({ max: 99_999_999 }), (whole, fraction) => {
      const volume = Number(`${whole}.${String(fraction).padStart(8, '0')}`)
      expect(roundAmount(volume)).toBe(volume)
    }),
  )
})

it.each([
  [Number.MAX_VALUE, Number.MAX_VALUE],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [0.7 - 0.6, 0.1],
  [5e-9, 1e-8],
  [4.9e-9, 0],
])('rounds %d lots to %d', (volume, rounded) => {
  expect(roundAmount(volume)).toBe(rounded)
})

it('fills an order with the exact volume of its executions, at the price weighted by it, at the time of the last', () => {
  const execution = fc.record({
    cents,
    points: fc.integer({ min: 1, max: 200_000 }),
    at: fc.nat(1_000),
  })
  fc.assert(
    fc.property(execution, fc.array(execution, { maxLength: 20 }), (first, rest) => {
      const all = [first, ...rest]
      const lots = all.reduce((sum, part) => sum + part.cents, 0)
      const worth = all.reduce((sum, part) => sum + part.cents * part.points, 0)
      const executionOf = (part: typeof first) => ({
        volume: part.cents / 100,
        price: part.points / 100_000,
        at: part.at,
      })
      const fill = fillOfExecutions([executionOf(first), ...rest.map(executionOf)])
      expect(fill).toEqual({
        volume: lots / 100,
        price: expect.closeTo(worth / (lots * 100_000), 12),
        at: Math.max(...all.map(({ at }) => at)),
      })
    }),
  )
})
