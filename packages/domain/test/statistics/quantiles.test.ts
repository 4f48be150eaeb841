// The quantiles of Student's t and of the normal distribution against printed tables and exact forms (2.6).
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalQuantile } from '../../src/statistics/normal-quantile.ts'
import { studentTQuantile } from '../../src/statistics/student-t-quantile.ts'
import { expectRelative } from './expect-relative.ts'

const degrees = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1_000_000 }))
const probability = fc.double({ min: 1e-300, max: 0.5, noNaN: true })

/** P(0 < T < t) by Simpson's rule over the density as it is written in books, with the gammas by recurrence. */
const middleProbability = (t: number, df: number): number => {
  let constant = df % 2 === 0 ? 1 / (2 * Math.sqrt(2)) : 1 / Math.PI
  for (let v = df % 2 === 0 ? 2 : 1; v < df; v += 2) constant *= ((v + 1) / v) * Math.sqrt(v / (v + 2))
  const density = (x: number): number => constant * (1 + (x * x) / df) ** (-(df + 1) / 2)
  const steps = 2 ** 14
  const width = t / steps
  let sum = density(0) + density(t)
  for (let i = 1; i < steps; i++) sum += density(i * width) * (i % 2 === 0 ? 2 : 4)
  return (sum * width) / 3
}

describe('the quantile of Student t', () => {
  // Upper tails of 10 to 0.1 %, with the three decimals that textbooks print.
  it.each([
    [1, [3.078, 6.314, 12.706, 31.821, 63.657, 318.309]],
    [2, [1.886, 2.92, 4.303, 6.965, 9.925, 22.327]],
    [5, [1.476, 2.015, 2.571, 3.365, 4.032, 5.893]],
    [10, [1.372, 1.812, 2.228, 2.764, 3.169, 4.144]],
    [30, [1.31, 1.697, 2.042, 2.457, 2.75, 3.385]],
    [60, [1.296, 1.671, 2, 2.39, 2.66, 3.232]],
    [100, [1.29, 1.66, 1.984, 2.364, 2.626, 3.174]],
    [Number.POSITIVE_INFINITY, [1.282, 1.645, 1.96, 2.326, 2.576, 3.09]],
  ])('agrees with the printed table at %d degrees of freedom', (df, row) => {
    const tails = [0.1, 0.05, 0.025, 0.01, 0.005, 0.001]
    for (const [i, tail] of tails.entries()) expect(Math.abs(-studentTQuantile(tail, df) - (row[i] as number))).toBeLessThan(0.00055)
  })

  // Each the double nearest to a value computed with 40 digits.
  it.each([
    [0.975, 1, 12.706204736174705],
    [0.975, 4, 2.7764451051977943],
    [0.975, 10, 2.228138851986275],
    [0.975, 28, 2.048407141795245],
    [0.975, 55, 2.004044783289146],
  ])('of %d at %d degrees of freedom is %d', (p, df, t) => {
    expectRelative(studentTQuantile(p, df), t, 1e-14)
  })

  it('has its closed forms at 1, 2 and 4 degrees of freedom', () => {
    fc.assert(
      fc.property(probability, (tail) => {
        expectRelative(-studentTQuantile(tail, 1), tail < 0.25 ? 1 / Math.tan(Math.PI * tail) : Math.tan(Math.PI * (0.5 - tail)), 1e-12)
        const alpha = 4 * tail * (1 - tail)
        expectRelative(-studentTQuantile(tail, 2), (1 - 2 * tail) * Math.sqrt(2 / alpha), 1e-12)
        const cosine = Math.cos(Math.acos(Math.sqrt(alpha)) / 3) / Math.sqrt(alpha)
        // Near the middle the textbook's form of ν = 4 cancels.
        if (tail < 0.2) expectRelative(-studentTQuantile(tail, 4), 2 * Math.sqrt(cosine - 1), 1e-12)
      }),
    )
  })

  it('inverts the integral of the density', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 0.499, noNaN: true }), fc.integer({ min: 3, max: 400 }), (tail, df) => {
        expectRelative(middleProbability(-studentTQuantile(tail, df), df), 0.5 - tail, 2e-11)
      }),
      { numRuns: 200 },
    )
  })

  it('is symmetric, and grows with p', () => {
    fc.assert(
      fc.property(probability, probability, degrees, (a, b, df) => {
        const upper = 1 - a
        fc.pre(upper !== 0.5)
        expect(studentTQuantile(upper, df)).toBe(-studentTQuantile(1 - upper, df))
        fc.pre(Math.abs(a / b - 1) > 1e-11)
        expect(studentTQuantile(a, df) < studentTQuantile(b, df)).toBe(a < b)
      }),
    )
  })

  it('draws nearer to the normal quantile with every degree of freedom', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 0.49, noNaN: true }), fc.integer({ min: 1, max: 100_000 }), (tail, df) => {
        const [fewer, more] = [-studentTQuantile(tail, df), -studentTQuantile(tail, df * 2)]
        expect(fewer).toBeGreaterThan(more)
        expect(more).toBeGreaterThan(-normalQuantile(tail) * (1 - 1e-14))
      }),
    )
  })

  it('passes without a step from one method to the next', () => {
    for (const df of [3, 8, 50, 999, 1e5, 1e6]) {
      const [below, above] = [studentTQuantile(0.02 - 1e-15, df), studentTQuantile(0.02 + 1e-15, df)]
      expectRelative(below, above, 1e-12)
    }
    for (const tail of [1e-300, 1e-9, 0.01, 0.3]) expectRelative(studentTQuantile(tail, 1e6), studentTQuantile(tail, 1e6 + 1e-4), 1e-12)
  })

  it.each([
    [0.5, 7, 0],
    [0, 7, Number.NEGATIVE_INFINITY],
    [1, 7, Number.POSITIVE_INFINITY],
    [1.5, 7, Number.NaN],
    [-0.1, 7, Number.NaN],
    [Number.NaN, 7, Number.NaN],
    [0.9, 0, Number.NaN],
    [0.9, -1, Number.NaN],
    [0.9, Number.NaN, Number.NaN],
  ])('of %d at %d degrees of freedom is %d', (p, df, expected) => {
    expect(studentTQuantile(p, df)).toBe(expected)
  })
})

describe('the quantile of the normal distribution', () => {
  // Each the double nearest to a value computed with 40 digits; the tails of 0.075 and e^-25 are where one approximation ends.
  it.each([
    [0.975, 1.959963984540054],
    [0.995, 2.5758293035489004],
    [0.95, 1.6448536269514722],
    [0.75, 0.6744897501960817],
    [1e-300, -37.0471],
    [0, Number.NEGATIVE_INFINITY],
    [1, Number.POSITIVE_INFINITY],
    [1.1, Number.NaN],
  ])('of %d is %d', (p, z) => {
    if (Number.isFinite(z)) expectRelative(normalQuantile(p), z, p < 1e-9 ? 1e-6 : 1e-15)
    else expect(normalQuantile(p)).toBe(z)
  })

  it('passes without a step from one approximation to the next', () => {
    for (const p of [0.075, Math.exp(-25)]) expectRelative(normalQuantile(p * (1 - 1e-15)), normalQuantile(p * (1 + 1e-15)), 2e-15)
  })
})
