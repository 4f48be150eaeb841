// Exact sums of doubles read as decimals. Almost all money has at most eight decimals and is below
// ten million, so it is added as whole hundred-millionths in a plain number while the sum stays
// below ninety million; the rest is added as a Decimal.
import {
  addDecimals,
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
 * Lots or money, also of an account in a cryptocurrency, rounded to eight decimals: smaller
 * differences are binary residue, as of 0.1 + 0.2. Rounded as decimal text, because multiplying by
 * 1e8 and dividing again changes amounts from 33,554,432 upward; most have nothing to round, which
 * costs less to see.
 */
export const roundAmount = (amount: number): number =>
  (Number.isNaN(wholeUnits(amount, moneyUnit)) ? Number(amount.toFixed(moneyScale)) : amount) + 0

/**
 * A running sum of doubles: `add` in any order, then `value()` is the exact sum rounded once to the
 * nearest double. Throws a RangeError for what is not finite.
 */
export class ExactSum {
  #units = 0
  /** What does not fit into whole units. */
  #remainder = zero

  add(value: number): void {
    if (value === 0) return
    const sum = this.#units + wholeUnits(value, moneyUnit)
    if (Math.abs(sum) <= Number.MAX_SAFE_INTEGER) this.#units = sum
    else this.#remainder = addDecimals(this.#remainder, decimalOf(value))
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
    else
      this.#remainder = addDecimals(this.#remainder, multiplyDecimals(decimalOf(a), decimalOf(b)))
  }

  /** The sum, rounded once. */
  value(): number {
    return this.#remainder === zero ? this.#units / moneyUnit : decimalToNumber(this.toDecimal())
  }

  /** The sum over a whole number `count` from 1 to 90 million, rounded once. */
  dividedBy(count: number): number {
    return this.ratioTo(exactSumOf([count]))
  }

  /** This sum over another, rounded once; the other must not be zero. */
  ratioTo(other: ExactSum): number {
    return this.#remainder === zero && other.#remainder === zero
      ? this.#units / other.#units
      : divideDecimals(this.toDecimal(), other.toDecimal())
  }

  toDecimal(): Decimal {
    return addDecimals({ units: BigInt(this.#units), scale: moneyScale }, this.#remainder)
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
