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

  // Each from an integral of the density with 34 digits: both sides of where one method ends, far out and close to the middle.
  it.each([
    [
      1.5,
      [
        521946.94273343723, 52.18443000899265, 7.032052932517791, 6.984317839469211, 0.6517954826023571, 0.029355346255080506,
        0.000293483228561816,
      ],
    ],
    [
      3,
      [
        1033.1096745038078, 10.214531852407386, 3.4888452424769185, 3.4750163066227655, 0.5843897274398187, 0.027211467049118022,
        0.00027206990911047337,
      ],
    ],
    [
      5,
      [
        98.93722464836995, 5.89342953135601, 2.7607342345906916, 2.752306122084431, 0.5594296444693608, 0.026346712342273263,
        0.0002634305560701855,
      ],
    ],
    [
      8,
      [
        29.289321118225654, 4.500790933723724, 2.4521990315371234, 2.445787131858836, 0.545933763540483, 0.025863148428696695,
        0.000258599054647853,
      ],
    ],
    [
      30,
      [
        8.445862796274243, 3.385184866829305, 2.1492880477721914, 2.144654830800634, 0.5300190039065045, 0.025278783971765813,
        0.00025276002539339365,
      ],
    ],
    [
      59,
      [
        7.077495050704995, 3.234207344447293, 2.1023465538409782, 2.0979686397198734, 0.5272457458827607, 0.0251754202243976,
        0.00025172716319790824,
      ],
    ],
    [
      61,
      [
        7.037210504185458, 3.2292960935404738, 2.100788817373465, 2.0964192747236914, 0.5271520762018074, 0.02517192116705772,
        0.00025169219866141965,
      ],
    ],
    [
      200,
      [
        6.286347426852263, 3.1314798142211213, 2.069335326905913, 2.065133412028484, 0.5252373340155535, 0.025100283615498636,
        0.00025097635325019844,
      ],
    ],
    [
      1000,
      [
        6.053690272079834, 3.098402163912923, 2.0585082025643815, 2.054363363349531, 0.524567707309227, 0.025075180209466443,
        0.00025072550362288887,
      ],
    ],
    [
      100_000,
      [
        5.998361461679076, 3.0903138094272378, 2.055845508231526, 2.0517146559161645, 0.5244021842335458, 0.025068970970446705,
        0.0002506634567459054,
      ],
    ],
    [
      1_000_000,
      [
        5.997862455710895, 3.09024045631652, 2.0558213327434913, 2.051690607329871, 0.5244006798602089, 0.02506891452987755,
        0.00025066289275372676,
      ],
    ],
    [
      1_000_001,
      [
        5.997862455655454, 3.0902404563083694, 2.0558213327408055, 2.051690607327199, 0.5244006798600418, 0.025068914529871276,
        0.00025066289275366415,
      ],
    ],
    [
      5_000_000,
      [
        5.997818103077862, 3.090233936194404, 2.0558191838380737, 2.0516884697043887, 0.5244005461384676, 0.02506890951294423,
        0.0002506628426211501,
      ],
    ],
  ])('is right in the tails and in the middle at %d degrees of freedom', (df, row) => {
    const tails = [1e-9, 0.001, 0.0199, 0.0201, 0.3, 0.49, 0.4999]
    for (const [i, tail] of tails.entries()) expectRelative(-studentTQuantile(tail, df), row[i] as number, df < 2 ? 1e-13 : 1e-14)
  })

  // So far out that the leading term of the tail is all of it.
  it.each([
    [1.5, [5.219469427344636e199, 1.1245005997832135e133, 2.422663101134615e66]],
    [3, [1.033110836044653e100, 4.795275720469223e66, 2.225769823822442e33]],
    [5, [1.5683925590993378e60, 1.568392559099338e40, 1.5683925590993378e20]],
    [8, [6.97466741730068e37, 2.205583496083423e25, 6974667417300.681]],
  ])('is right as far out as doubles reach at %d degrees of freedom', (df, row) => {
    for (const [i, tail] of [1e-300, 1e-200, 1e-100].entries()) expectRelative(-studentTQuantile(tail, df), row[i] as number, 1e-12)
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
    [0.5, 1, 0],
    [0.5, 2, 0],
    [0.5, Number.POSITIVE_INFINITY, 0],
    [0, 7, Number.NEGATIVE_INFINITY],
    [1, 7, Number.POSITIVE_INFINITY],
    [1.5, 7, Number.NaN],
    [-0.1, 7, Number.NaN],
    [1.1, 1, Number.NaN],
    [-0.1, 1, Number.NaN],
    [0, 0, Number.NaN],
    [1, -1, Number.NaN],
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
    [1e-300, -37.0470962993612],
    [1e-100, -21.273453560965326],
    [1e-20, -9.262340089798407],
    [1e-12, -7.034483825301132],
    [2e-11, -6.604077590405634],
    [1e-9, -5.9978070150076865],
    [0.00001, -4.264890793922825],
    [0.001, -3.0902323061678136],
    [0.07, -1.4757910281791706],
    [0.0749, -1.4402382675279637],
    [0.0751, -1.43882539275254],
    [0.1, -1.2815515655446004],
    [0.3, -0.5244005127080408],
    [0.45, -0.12566134685507402],
    [0.4999, -0.00025066283008800747],
    [0.5, 0],
    [0, Number.NEGATIVE_INFINITY],
    [1, Number.POSITIVE_INFINITY],
    [1.1, Number.NaN],
    [-0.1, Number.NaN],
    [Number.NaN, Number.NaN],
  ])('of %d is %d', (p, z) => {
    if (Number.isFinite(z)) expectRelative(normalQuantile(p), z, 1e-15)
    else expect(normalQuantile(p)).toBe(z)
  })

  it('passes without a step from one approximation to the next', () => {
    for (const p of [0.075, Math.exp(-25)]) expectRelative(normalQuantile(p * (1 - 1e-15)), normalQuantile(p * (1 + 1e-15)), 2e-15)
  })
})
