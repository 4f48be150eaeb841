// Student's t against an independent computation and exact forms.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { normalProbability, studentTQuantile } from '../../src/statistics/student-t.ts'
import { expectRelative } from './expect-relative.ts'

const degrees = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1_000_000 }))
const probability = fc.double({ min: 1e-300, max: 0.5, noNaN: true })

// Each quantile is from an integral of the density with 34 digits, of the normal distribution with
// 40: far out, on both sides of where one method ends, and close to the middle.
it.each([
  [
    1.5,
    {
      '1e-300': 5.219469427344636e199,
      '1e-9': 521946.94273343723,
      '0.001': 52.18443000899265,
      '0.0199': 7.032052932517791,
      '0.3': 0.6517954826023571,
      '0.4999': 0.000293483228561816,
    },
  ],
  [8, { '1e-9': 29.289321118225654, '0.0201': 2.445787131858836, '0.49': 0.025863148428696695 }],
  [59, { '1e-9': 7.077495050704995, '0.3': 0.5272457458827607, '0.49': 0.0251754202243976 }],
  [1000, { '0.001': 3.098402163912923, '0.3': 0.524567707309227 }],
  [1_000_000, { '1e-9': 5.997862455710895, '0.3': 0.5244006798602089 }],
  [5_000_000, { '1e-9': 5.997818103077862, '0.4999': 0.0002506628426211501 }],
  [
    Number.POSITIVE_INFINITY,
    {
      '1e-300': 37.0470962993612,
      '1e-9': 5.9978070150076865,
      '0.025': 1.959963984540054,
      '0.0999': 1.282121579708774,
      '0.1': 1.2815515655446004,
      '0.25': 0.6744897501960817,
      '0.45': 0.12566134685507402,
      '0.4999': 0.00025066283008800747,
    },
  ],
])('is right in the tails and in the middle at %d degrees of freedom', (df, quantiles) => {
  for (const [tail, t] of Object.entries(quantiles))
    expectRelative(-studentTQuantile(Number(tail), df), t, df < 2 ? 1e-13 : 1e-14)
})

it('has its closed forms at 1 and 2 degrees of freedom', () => {
  fc.assert(
    fc.property(probability, (tail) => {
      expectRelative(
        -studentTQuantile(tail, 1),
        tail < 0.25 ? 1 / Math.tan(Math.PI * tail) : Math.tan(Math.PI * (0.5 - tail)),
        1e-12,
      )
      const alpha = 4 * tail * (1 - tail)
      expectRelative(-studentTQuantile(tail, 2), (1 - 2 * tail) * Math.sqrt(2 / alpha), 1e-12)
    }),
    { numRuns: 20 },
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

it.each([
  [0.5, 7, 0],
  [0, 7, Number.NEGATIVE_INFINITY],
  [1, 7, Number.POSITIVE_INFINITY],
  [1.1, 7, Number.NaN],
  [-0.1, 7, Number.NaN],
  [Number.NaN, 7, Number.NaN],
  [0, 0, Number.NaN],
  [0.9, -1, Number.NaN],
  [0.9, Number.NaN, Number.NaN],
])('of %d at %d degrees of freedom is %d', (p, df, expected) => {
  expect(studentTQuantile(p, df)).toBe(expected)
})

it.each([
  [0, 0.5],
  [1, 0.841_344_746_068_542_9],
  [-1.959_963_984_540_054, 0.025],
  [-3, 0.001_349_898_031_630_094_6],
  [5, 0.999_999_713_348_428],
  [Infinity, 1],
  [-Infinity, 0],
])('the normal probability below %d is %d', (z, probability) => {
  expect(Math.abs(normalProbability(z) - probability)).toBeLessThan(2e-15)
})
