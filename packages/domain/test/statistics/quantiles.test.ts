// The quantiles of Student's t and of the normal distribution against printed tables and exact
// forms.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalQuantile } from '../../src/statistics/normal-quantile.ts'
import { studentTQuantile } from '../../src/statistics/student-t-quantile.ts'
import { expectRelative } from './expect-relative.ts'

const degrees = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1_000_000 }))
const probability = fc.double({ min: 1e-300, max: 0.5, noNaN: true })

describe('the quantile of Student t', () => {
  // Each from an integral of the density with 34 digits: both sides of where one method ends, far
  // out and close to the middle.
  it.each([
    [
      1.5,
      [
        521946.94273343723, 52.18443000899265, 7.032052932517791, 6.984317839469211,
        0.6517954826023571, 0.029355346255080506, 0.000293483228561816,
      ],
    ],
    [
      3,
      [
        1033.1096745038078, 10.214531852407386, 3.4888452424769185, 3.4750163066227655,
        0.5843897274398187, 0.027211467049118022, 0.00027206990911047337,
      ],
    ],
    [
      8,
      [
        29.289321118225654, 4.500790933723724, 2.4521990315371234, 2.445787131858836,
        0.545933763540483, 0.025863148428696695, 0.000258599054647853,
      ],
    ],
    [
      59,
      [
        7.077495050704995, 3.234207344447293, 2.1023465538409782, 2.0979686397198734,
        0.5272457458827607, 0.0251754202243976, 0.00025172716319790824,
      ],
    ],
    [
      1000,
      [
        6.053690272079834, 3.098402163912923, 2.0585082025643815, 2.054363363349531,
        0.524567707309227, 0.025075180209466443, 0.00025072550362288887,
      ],
    ],
    [
      1_000_000,
      [
        5.997862455710895, 3.09024045631652, 2.0558213327434913, 2.051690607329871,
        0.5244006798602089, 0.02506891452987755, 0.00025066289275372676,
      ],
    ],
    [
      1_000_001,
      [
        5.997862455655454, 3.0902404563083694, 2.0558213327408055, 2.051690607327199,
        0.5244006798600418, 0.025068914529871276, 0.00025066289275366415,
      ],
    ],
    [
      5_000_000,
      [
        5.997818103077862, 3.090233936194404, 2.0558191838380737, 2.0516884697043887,
        0.5244005461384676, 0.02506890951294423, 0.0002506628426211501,
      ],
    ],
  ])('is right in the tails and in the middle at %d degrees of freedom', (df, row) => {
    const tails = [1e-9, 0.001, 0.0199, 0.0201, 0.3, 0.49, 0.4999]
    for (const [i, tail] of tails.entries())
      expectRelative(-studentTQuantile(tail, df), row[i] as number, df < 2 ? 1e-13 : 1e-14)
  })

  // So far out that the leading term of the tail is all of it.
  it.each([
    [1.5, [5.219469427344636e199, 1.1245005997832135e133, 2.422663101134615e66]],
    [3, [1.033110836044653e100, 4.795275720469223e66, 2.225769823822442e33]],
    [5, [1.5683925590993378e60, 1.568392559099338e40, 1.5683925590993378e20]],
    [8, [6.97466741730068e37, 2.205583496083423e25, 6974667417300.681]],
  ])('is right as far out as doubles reach at %d degrees of freedom', (df, row) => {
    for (const [i, tail] of [1e-300, 1e-200, 1e-100].entries())
      expectRelative(-studentTQuantile(tail, df), row[i] as number, 1e-12)
  })

  it('has its closed forms at 1, 2 and 4 degrees of freedom', () => {
    fc.assert(
      fc.property(probability, (tail) => {
        expectRelative(
          -studentTQuantile(tail, 1),
          tail < 0.25 ? 1 / Math.tan(Math.PI * tail) : Math.tan(Math.PI * (0.5 - tail)),
          1e-12,
        )
        const alpha = 4 * tail * (1 - tail)
        expectRelative(-studentTQuantile(tail, 2), (1 - 2 * tail) * Math.sqrt(2 / alpha), 1e-12)
        const cosine = Math.cos(Math.acos(Math.sqrt(alpha)) / 3) / Math.sqrt(alpha)
        // Near the middle the textbook's form of ν = 4 cancels.
        if (tail < 0.2) expectRelative(-studentTQuantile(tail, 4), 2 * Math.sqrt(cosine - 1), 1e-12)
      }),
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
  // Each the double nearest to a value computed with 40 digits; the tails of 0.075 and e^-25 are
  // where one approximation ends.
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
})
