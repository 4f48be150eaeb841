// Laws of exact decimal arithmetic: results are the doubles nearest to the exact values, for any
// finite numbers.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addDecimals,
  decimalOf,
  decimalToNumber,
  divideDecimals,
  multiplyDecimals,
  subtractDecimals,
  zero,
  type Decimal,
} from '../../src/primitives/decimal.ts'
import { ExactSum, sumExactly } from '../../src/primitives/exact-sum.ts'
import { money } from '@tradeport/testkit'

const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
const runs = { numRuns: 500 }

const nearestDouble = (numerator: bigint, denominator: bigint) =>
  divideDecimals({ units: numerator, scale: 0 }, { units: denominator, scale: 0 })

/** JavaScript reads a decimal text as the double nearest to it. */
const asRead = ({ units, scale }: Decimal) => Number(`${units}e${-scale}`) + 0

/** More digits than distinguish two doubles, and one that says whether more follow. */
const asDivided = (numerator: bigint, denominator: bigint) => {
  const scaled = numerator * 10n ** 1_200n
  const rest = scaled % denominator === 0n ? 0 : 1
  return Number(`${scaled / denominator}${rest}e-1201`) + 0
}

describe('the double nearest to a fraction', () => {
  const denominator = fc.oneof(
    fc.bigInt({ min: 1n, max: 10n ** 340n }),
    fc.bigInt({ min: 1n, max: 1000n }),
    // Powers of two make ties.
    fc.integer({ min: 0, max: 1100 }).map((power) => 1n << BigInt(power)),
  )
  const numerator = fc.oneof(
    fc.bigInt({ min: -(10n ** 340n), max: 10n ** 340n }),
    fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n - 1n }),
  )

  it('is the one that its digits are read as', () => {
    fc.assert(
      fc.property(numerator, denominator, (a, b) => {
        expect(nearestDouble(a, b)).toBe(asDivided(a, b))
      }),
      runs,
    )
  })

  it.each([
    [0n, 5n, 0],
    [(2n ** 53n + 1n) * 10n ** 40n + 1n, 10n ** 40n, 2 ** 53 + 2],
    [(2n ** 53n + 1n) * 10n ** 40n, 10n ** 40n, 2 ** 53],
    [(2n ** 53n + 3n) * 10n ** 40n - 1n, 10n ** 40n, 2 ** 53 + 2],
    [1n, -4n, -0.25],
    [-1n, 10n ** 400n, 0],
    [-(10n ** 400n), 3n, Number.NEGATIVE_INFINITY],
    [5n, 10n ** 324n, 5e-324],
  ])('of %s / %s is %d', (numerator, denominator, expected) => {
    expect(nearestDouble(numerator, denominator)).toBe(expected)
  })
})

describe('a double read as a decimal', () => {
  it('reads back as itself; multiplies, subtracts and divides to the nearest double', () => {
    fc.assert(
      fc.property(
        finite,
        finite.filter((b) => b !== 0),
        (a, b) => {
          const [x, y] = [decimalOf(a), decimalOf(b)]
          expect(decimalToNumber(x)).toBe(a + 0)
          const product = multiplyDecimals(x, y)
          expect(decimalToNumber(product)).toBe(asRead(product))
          const difference = subtractDecimals(x, y)
          expect(decimalToNumber(difference)).toBe(asRead(difference))
          expect(divideDecimals(product, y)).toBe(a + 0)
        },
      ),
      runs,
    )
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '0' as never])('refuses %s', (value) => {
    expect(() => decimalOf(value)).toThrow(`finite numbers; got the ${typeof value} ${value}`)
  })
})

type Pairs = readonly (readonly [number, number])[]

const sumOfProducts = (pairs: Pairs): ExactSum => {
  const sum = new ExactSum()
  for (const [a, b] of pairs) sum.addProduct(a, b)
  return sum
}

const exactly = (pairs: Pairs): Decimal =>
  pairs.map(([a, b]) => multiplyDecimals(decimalOf(a), decimalOf(b))).reduce(addDecimals, zero)

describe('an exact sum', () => {
  it('is the exact sum of the decimals, rounded once, in any order', () => {
    const value = fc.oneof({ weight: 3, arbitrary: money }, { weight: 1, arbitrary: finite })
    fc.assert(
      fc.property(fc.array(value), (values) => {
        expect(sumExactly(values)).toBe(asRead(values.map(decimalOf).reduce(addDecimals, zero)))
        expect(sumExactly(values.toReversed())).toBe(sumExactly(values))
      }),
      runs,
    )
  })

  it('adds products exactly, and divides with one rounding', () => {
    const amount = fc.oneof(
      { weight: 3, arbitrary: money },
      { weight: 1, arbitrary: fc.double({ min: -1e9, max: 1e9, noNaN: true }) },
    )
    const pairs = fc.array(fc.tuple(amount, amount), { maxLength: 5 })
    fc.assert(
      fc.property(pairs, pairs, fc.integer({ min: 1, max: 50 }), (a, b, count) => {
        const [one, other] = [sumOfProducts(a), sumOfProducts(b)]
        const [x, y] = [exactly(a), exactly(b)]
        expect(one.value()).toBe(decimalToNumber(x))
        expect(subtractDecimals(one.toDecimal(), x).units).toBe(0n)
        expect(one.dividedBy(count)).toBe(divideDecimals(x, decimalOf(count)))
        if (y.units !== 0n) expect(one.ratioTo(other) + 0).toBe(divideDecimals(x, y))
      }),
      runs,
    )
  })

  it.each([
    [[0.1, 0.2], 0.3],
    [[0.8, -0.7, -0.1], 0],
    [[1e300, 1e-300, -1e300], 1e-300],
    [[90_000_000, 90_000_000, 0.01], 180_000_000.01],
    [[9_007_199_254_740_992, 890.04, -971.54], 9_007_199_254_740_910],
    [[], 0],
    [[-0], 0],
  ])('of %j is %d', (values, expected) => {
    expect(sumExactly(values)).toBe(expected)
  })
})
