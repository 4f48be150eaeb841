// The intervals: Wilson's for a share, Student's t for a mean.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanInterval, wilsonInterval, type Interval } from '../../src/statistics/intervals.ts'

const { NaN: nan, POSITIVE_INFINITY: infinity } = Number

describe('the Wilson interval', () => {
  const share = fc
    .integer({ min: 1, max: 100_000 })
    .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)))

  it('lies within 0 and 1, contains the share, and solves |p − x| = z √(x (1 − x) / n)', () => {
    fc.assert(
      fc.property(share, ([successes, n]) => {
        const p = successes / n
        const { lower, upper } = wilsonInterval(successes, n) as Interval
        expect([0, lower, p, upper, 1].toSorted((a, b) => a - b)).toEqual([0, lower, p, upper, 1])
        expect([lower === 0, upper === 1]).toEqual([successes === 0, successes === n])
        for (const x of [lower, upper])
          expect(Math.abs((p - x) ** 2 - (1.959963984540054 ** 2 * x * (1 - x)) / n)).toBeLessThan(
            1e-14,
          )
      }),
    )
  })

  it.each([
    [6, 5, 'successes must be from 0 to n; got 6 of 5'],
    [1, 0, '1 of 0'],
    [-1, 5, '-1 of 5'],
    [nan, 5, 'NaN of 5'],
    [1, infinity, '1 of Infinity'],
  ])('refuses %d of %d', (successes, n, message) => {
    expect(() => wilsonInterval(successes, n)).toThrow(RangeError)
    expect(() => wilsonInterval(successes, n)).toThrow(message)
  })
})

describe('the t interval of a mean', () => {
  const cents = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((amount) => amount / 100)

  it('shifts and scales with the values, and turns with their sign', () => {
    fc.assert(
      fc.property(
        fc.array(cents, { minLength: 2, maxLength: 40 }),
        fc.integer({ min: -1000, max: 1000 }),
        fc.constantFrom(-4, -1, 0.5, 8),
        (values, shift, factor) => {
          const size = Math.max(...values.map(Math.abs), Math.abs(shift), 1) * 1e-9
          const { lower, upper } = meanInterval(values) as Interval
          const moved = meanInterval(values.map((value) => (value + shift) * factor)) as Interval
          const bounds = [lower, upper].map((bound) => (bound + shift) * factor)
          expect(Math.abs(moved.lower - Math.min(...bounds))).toBeLessThan(size)
          expect(Math.abs(moved.upper - Math.max(...bounds))).toBeLessThan(size)
        },
      ),
    )
  })

  it('has no width when all values are equal', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 2, max: 50 }),
        (value, n) => {
          const values = times(n, () => value)
          expect(meanInterval(values)).toEqual({ lower: value + 0, upper: value + 0 })
        },
      ),
    )
  })

  it('is that of the tables of the distribution', () => {
    expect(meanInterval([1, 2, 3, 4])).toEqual({
      lower: expect.closeTo(0.44573974323947796, 12),
      upper: expect.closeTo(4.554260256760522, 12),
    })
  })

  it('refuses what is not finite', () => {
    expect(() => meanInterval([1, infinity])).toThrow(RangeError)
  })
})
