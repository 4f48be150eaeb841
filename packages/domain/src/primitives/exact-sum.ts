// Exact sums of doubles read as decimals. Almost all money has at most eight decimals and is below
// ten million, so it is added as whole hundred-millionths in a plain number while the sum stays
// below ninety million; the rest is added as a Decimal.
import {
  addDecimals,
  compareDecimals,
  decimalOf,
  decimalToNumber,
  divideDecimals,
  multiplyDecimals,
  zero,
  type Decimal,
} from './decimal.ts'

/** Decimals of the unit in which ordinary money is added, and how many such units make 1. */
const moneyScale = 8
export const moneyUnit = 1e8

// Two decimals of at most fifteen digits are never the same double, so a match below this bound is
// the shortest decimal itself.
const fifteenDigits = 1e15

/**
 * How many units of size `1 / perOne` the shortest decimal of `value` is, or NaN when it is not a
 * whole number of them below 1e15. `perOne` is a power of ten up to 1e22.
 */
export const wholeUnits = (value: number, perOne: number): number => {
  const units = Math.round(value * perOne)
  return units / perOne === value && units < fifteenDigits && units > -fifteenDigits
    ? units
    : Number.NaN
}

/**
 * What does not fit into whole units: the exact decimals, and the plain sum of everything that was
 * no finite number (0 where there was none).
 */
type Remainder = { decimal: Decimal; nonFinite: number }

const noRemainder = (): Remainder => ({ decimal: zero, nonFinite: 0 })

const addToRemainder = (remainder: Remainder, value: number): void => {
  if (Number.isFinite(value)) remainder.decimal = addDecimals(remainder.decimal, decimalOf(value))
  else remainder.nonFinite += value
}

const addProductToRemainder = (remainder: Remainder, a: number, b: number): void => {
  if (!Number.isFinite(a) || !Number.isFinite(b)) remainder.nonFinite += a * b
  else
    remainder.decimal = addDecimals(remainder.decimal, multiplyDecimals(decimalOf(a), decimalOf(b)))
}

/**
 * A running sum of doubles: `add` in any order, then `value()` is the exact sum rounded once to the
 * nearest double. A NaN, or infinities of both signs, make it NaN; an infinity alone makes it that
 * infinity, as addition of doubles does.
 */
export class ExactSum {
  #units = 0
  #remainder: Remainder | undefined

  add(value: number): void {
    if (value === 0) return
    const sum = this.#units + wholeUnits(value, moneyUnit)
    if (Math.abs(sum) <= Number.MAX_SAFE_INTEGER) this.#units = sum
    else addToRemainder((this.#remainder ??= noRemainder()), value)
  }

  /**
   * Adds the product of both, exactly. Lots of three decimals times prices of five are a whole
   * number of units too.
   */
  addProduct(a: number, b: number): void {
    const product = wholeUnits(a, 1e3) * wholeUnits(b, 1e5)
    const sum = this.#units + product
    if (Math.abs(product) <= Number.MAX_SAFE_INTEGER && Math.abs(sum) <= Number.MAX_SAFE_INTEGER)
      this.#units = sum
    else addProductToRemainder((this.#remainder ??= noRemainder()), a, b)
  }

  /** A sum of everything that was added to either. */
  plus(other: ExactSum): ExactSum {
    const both = new ExactSum()
    const sum = this.#units + other.#units
    if (
      this.#remainder === undefined &&
      other.#remainder === undefined &&
      Math.abs(sum) <= Number.MAX_SAFE_INTEGER
    )
      both.#units = sum
    else {
      const nonFinite = (this.#remainder?.nonFinite ?? 0) + (other.#remainder?.nonFinite ?? 0)
      both.#remainder = { decimal: addDecimals(this.toDecimal(), other.toDecimal()), nonFinite }
    }
    return both
  }

  /**
   * Below 0 when this sum is less than another, 0 when they are equal, above 0 when it is more.
   * Whatever was not finite is left out of both.
   */
  compareTo(other: ExactSum): number {
    if (this.#remainder === undefined && other.#remainder === undefined)
      return this.#units - other.#units
    return compareDecimals(this.toDecimal(), other.toDecimal())
  }

  /** The sum, rounded once. */
  value(): number {
    if (this.#remainder === undefined) return this.#units / moneyUnit
    return this.#remainder.nonFinite === 0
      ? decimalToNumber(this.toDecimal())
      : this.#remainder.nonFinite
  }

  /** The sum over a whole number `count` from 1 to 90 million, rounded once. */
  dividedBy(count: number): number {
    if (this.#remainder === undefined) return this.#units / (moneyUnit * count)
    if (this.#remainder.nonFinite !== 0) return this.#remainder.nonFinite
    return divideDecimals(this.toDecimal(), decimalOf(count))
  }

  /** This sum over another, rounded once; the other must not be zero. */
  ratioTo(other: ExactSum): number {
    if (this.#remainder === undefined && other.#remainder === undefined)
      return this.#units / other.#units
    const nonFinite =
      (this.#remainder?.nonFinite ?? 0) !== 0 || (other.#remainder?.nonFinite ?? 0) !== 0
    return nonFinite
      ? this.value() / other.value()
      : divideDecimals(this.toDecimal(), other.toDecimal())
  }

  /** The sum of everything that was finite. */
  toDecimal(): Decimal {
    return addDecimals(
      { units: BigInt(this.#units), scale: moneyScale },
      this.#remainder?.decimal ?? zero,
    )
  }
}

export const exactSumOf = (values: Iterable<number>): ExactSum => {
  const sum = new ExactSum()
  for (const value of values) sum.add(value)
  return sum
}

/**
 * The sum of doubles read as decimals, exact and rounded once: 0.1 + 0.2 is 0.3, and 0.8 − 0.7 −
 * 0.1 is 0.
 */
export const sumExactly = (values: Iterable<number>): number => exactSumOf(values).value()
