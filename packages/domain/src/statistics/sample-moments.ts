// Mean and standard deviation of a sample, for the Sharpe ratio and the interval of the average
// trade.
import { decimalOf, decimalToNumber, subtractDecimals } from '../primitives/decimal.ts'
import { type ExactSum, exactSumOf, moneyUnit, wholeUnits } from '../primitives/exact-sum.ts'

export interface SampleMoments {
  readonly n: number
  /** The exact mean of the values read as decimals, rounded once; 0 of no values. */
  readonly mean: number
  /** √(Σ (x − mean)² / (n − 1)); 0 below two values, and exactly 0 when all values are equal. */
  readonly deviation: number
}

/**
 * Mean and sample standard deviation of the values, in their unit. The values are decimals here
 * too: their offsets from the mean are exact before they are squared, so that cents far from 0 lose
 * nothing. NaN where a value is not finite.
 */
export const sampleMoments = (values: readonly number[]): SampleMoments =>
  momentsOfSum(values, exactSumOf(values))

/** The same of values whose sum is known. */
export const momentsOfSum = (values: readonly number[], sum: ExactSum): SampleMoments => {
  const n = values.length
  if (n === 0) return { n, mean: 0, deviation: 0 }
  const mean = sum.dividedBy(n)
  if (!Number.isFinite(mean)) return { n, mean, deviation: Number.NaN }
  return { n, mean, deviation: n === 1 ? 0 : deviationFrom(mean, values) }
}

const deviationFrom = (mean: number, values: readonly number[]): number => {
  for (const perOne of commonUnits) {
    const deviation = deviationOf(
      values,
      (value) => wholeUnits(value, perOne) - Math.round(mean * perOne),
    )
    if (!Number.isNaN(deviation)) return deviation / perOne
  }
  const centre = decimalOf(mean)
  const offsets = values.map((value) => decimalToNumber(subtractDecimals(decimalOf(value), centre)))
  // A power of two keeps the squares inside the range of doubles.
  const scale = 2 ** -Math.min(1000, Math.max(-1000, Math.floor(Math.log2(largestSize(offsets)))))
  return deviationOf(offsets, (offset) => offset * scale) / scale
}

// Money is a whole number of one of these parts of 1; the coarser ones are for greater sums.
const commonUnits = [moneyUnit, 1e4, 1e2]

/**
 * √(Σ (x − m)² / (n − 1)) from offsets around a number close to the mean m; NaN as soon as one
 * offset is.
 */
const deviationOf = (values: readonly number[], offsetOf: (value: number) => number): number => {
  let squares = 0
  let lost = 0
  let offsets = 0
  for (const value of values) {
    const offset = offsetOf(value)
    const square = offset * offset
    const sum = squares + square
    // Both are at least 0, so the lost part of the smaller one is known exactly.
    lost += squares >= square ? squares - sum + square : square - sum + squares
    squares = sum
    offsets += offset
    if (Number.isNaN(sum)) return Number.NaN
  }
  return Math.sqrt(
    Math.max(0, squares + lost - (offsets * offsets) / values.length) / (values.length - 1),
  )
}

const largestSize = (values: readonly number[]): number => {
  let largest = 0
  for (const value of values) largest = Math.max(largest, Math.abs(value))
  return largest
}
