// The intervals: Wilson's for a share, Student's t for a mean.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanInterval } from '../../src/statistics/mean-interval.ts'
import { sampleMoments } from '../../src/statistics/sample-moments.ts'
import { type Interval, wilsonInterval } from '../../src/statistics/wilson-interval.ts'
import { expectRelative } from './expect-relative.ts'

const level = fc.oneof(
  fc.constantFrom(0.8, 0.9, 0.95, 0.99, 0.999),
  fc.double({ min: 0.001, max: 0.999_999_999, noNaN: true }),
)
const share = fc
  .integer({ min: 1, max: 100_000 })
  .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)))
const wilson = (successes: number, n: number, level: number): Interval =>
  wilsonInterval(successes, n, level) as Interval

describe('the Wilson interval', () => {
  it('lies within 0 and 1 and contains the share', () => {
    fc.assert(
      fc.property(share, level, ([successes, n], level) => {
        const { lower, upper } = wilson(successes, n, level)
        expect(lower).toBeGreaterThanOrEqual(0)
        expect(lower).toBeLessThanOrEqual(successes / n)
        expect(upper).toBeGreaterThanOrEqual(successes / n)
        expect(upper).toBeLessThanOrEqual(1)
        expect(lower === 0).toBe(successes === 0)
        expect(upper === 1).toBe(successes === n)
      }),
    )
  })

  it('solves the score equation |p − x| = z √(x (1 − x) / n) at both ends', () => {
    fc.assert(
      fc.property(share, ([successes, n]) => {
        const { lower, upper } = wilson(successes, n, 0.95)
        const z = 1.959963984540054
        const score = (x: number): number => (z * z * x * (1 - x)) / n
        expect(Math.abs((successes / n - lower) ** 2 - score(lower))).toBeLessThan(1e-14)
        expect(Math.abs((upper - successes / n) ** 2 - score(upper))).toBeLessThan(1e-14)
      }),
    )
  })

  it.each([
    [1, 2, 0.09453120573423071, 0.9054687942657693],
    [1, 3, 0.06149194472039623, 0.7923403991979523],
    [2, 3, 0.20765960080204773, 0.9385080552796038],
    [7, 10, 0.3967781474611453, 0.8922087325936989],
  ])('of %d of %d at 95 percent is %d to %d', (successes, n, lower, upper) => {
    for (const interval of [wilson(successes, n, 0.95), wilsonInterval(successes, n) as Interval]) {
      expectRelative(interval.lower, lower, 1e-14)
      expectRelative(interval.upper, upper, 1e-14)
    }
  })

  it('is null without trials', () => {
    expect(wilsonInterval(0, 0)).toBeNull()
  })

  it.each([
    [1, 0, 0.95],
    [-1, 5, 0.95],
    [6, 5, 0.95],
    [Number.NaN, 5, 0.95],
    [1, Number.POSITIVE_INFINITY, 0.95],
    [1, 5, 0],
    [1, 5, 1],
    [1, 5, Number.NaN],
  ])('refuses %d of %d at level %d', (successes, n, level) => {
    expect(() => wilsonInterval(successes, n, level)).toThrow(RangeError)
  })

  it('says what it refuses', () => {
    expect(() => wilsonInterval(6, 5)).toThrow('6 of 5 is no share')
    expect(() => wilsonInterval(1, 5, 95)).toThrow(
      'A level of confidence lies between 0 and 1, and 95 does not',
    )
  })
})

const cents = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((amount) => amount / 100)
const sample = fc.array(cents, { minLength: 2, maxLength: 40 })

describe('the t interval of a mean', () => {
  it('shifts and scales with the values, and turns with their sign', () => {
    fc.assert(
      fc.property(
        sample,
        fc.integer({ min: -1000, max: 1000 }),
        fc.integer({ min: -5, max: 5 }),
        (values, shift, power) => {
          const size = Math.max(...values.map(Math.abs), Math.abs(shift), 1) * 100
          const { lower, upper } = meanInterval(values) as Interval
          const shifted = meanInterval(values.map((value) => value + shift)) as Interval
          expect(Math.abs(shifted.lower - lower - shift)).toBeLessThan(size * 1e-12)
          expect(Math.abs(shifted.upper - upper - shift)).toBeLessThan(size * 1e-12)
          const scaled = meanInterval(values.map((value) => value * 2 ** power)) as Interval
          expect(Math.abs(scaled.lower - lower * 2 ** power)).toBeLessThan(
            size * 2 ** power * 1e-12,
          )
          const turned = meanInterval(values.map((value) => -value)) as Interval
          expect(turned).toEqual({ lower: 0 - upper, upper: 0 - lower })
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
          const values = Array.from({ length: n }, () => value)
          expect(meanInterval(values)).toEqual({ lower: value + 0, upper: value + 0 })
        },
      ),
    )
  })

  it('keeps its digits far from 0 and at any size', () => {
    for (const size of [1e-300, 1e-160, 1, 1e160, 1e290]) {
      expectRelative(
        sampleMoments([1, 2, 3, 4].map((value) => value * size)).deviation,
        Math.sqrt(5 / 3) * size,
        1e-15,
      )
    }
    expectRelative(
      sampleMoments([1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4]).deviation,
      Math.sqrt(5 / 3),
      1e-15,
    )
  })

  it('takes the mean and the deviation of the sample', () => {
    const { n, mean, deviation } = sampleMoments([1, 2, 3, 4])
    expect([n, mean]).toEqual([4, 2.5])
    expectRelative(deviation, Math.sqrt(5 / 3), 1e-15)
    expect(sampleMoments([])).toEqual({ n: 0, mean: 0, deviation: 0 })
    expect(sampleMoments([7])).toEqual({ n: 1, mean: 7, deviation: 0 })
    expect(sampleMoments([1, Number.NaN])).toEqual({
      n: 2,
      mean: Number.NaN,
      deviation: Number.NaN,
    })
    expect(sampleMoments([Number.POSITIVE_INFINITY])).toEqual({
      n: 1,
      mean: Number.POSITIVE_INFINITY,
      deviation: Number.NaN,
    })
  })

  it('loses no digit at sums beyond the mean’s, whichever unit they need', () => {
    for (const offset of [0, 80_000_000, 4e10, 7e12]) {
      expectRelative(
        sampleMoments([0.01, 0.02, 0.04].map((cents) => cents + offset)).deviation,
        Math.sqrt(7 / 30_000),
        1e-12,
      )
    }
    for (const size of [5e-324, 1e-310, 1e307]) {
      expectRelative(
        sampleMoments([2, 4, 9].map((value) => value * size)).deviation,
        Math.sqrt(13) * size,
        size < 1e-300 ? 0.5 : 1e-14,
      )
    }
  })

  it('loses none of many small squares beside a few large ones', () => {
    const small = Array.from({ length: 10_000 }, (_, i) => (i % 2 === 0 ? 1e-8 : -1e-8))
    for (const values of [
      [1, -1, ...small],
      [...small, 1, -1],
    ]) {
      expectRelative(sampleMoments(values).deviation, Math.sqrt((2 + 1e-12) / 10_001), 2e-16)
    }
  })

  it.each([[[]], [[5]]])('is null for the values %j', (values) => {
    expect(meanInterval(values)).toBeNull()
  })

  it('is NaN where a value is not finite, and refuses a level outside 0 and 1', () => {
    expect(meanInterval([1, Number.NaN])).toEqual({ lower: Number.NaN, upper: Number.NaN })
    expect(meanInterval([1, Number.POSITIVE_INFINITY])).toEqual({
      lower: Number.NaN,
      upper: Number.NaN,
    })
    expect(() => meanInterval([1, 2], 1)).toThrow(RangeError)
  })
})
