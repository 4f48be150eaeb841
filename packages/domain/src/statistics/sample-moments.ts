// Mean and standard deviation of a sample, for the Sharpe ratio and the interval of the average
// trade.
import { decimalOf, decimalToNumber, subtractDecimals } from '../primitives/decimal.ts'
import { exactSumOf, moneyUnit, wholeUnits } from '../primitives/exact-sum.ts'
import type { Column } from './trade-results.ts'

export interface SampleMoments {
  readonly mean: number
  /** √(Σ (x − mean)² / (n − 1)); 0 below two values, and exactly 0 when all values are equal. */
  readonly deviation: number
}

/** The mean of values read as decimals, rounded once; 0 of no values. */
export const meanOf = (values: Column): number =>
  exactSumOf(values).dividedBy(Math.max(1, values.length))

/**
 * Mean and sample standard deviation of the values, in their unit. The offsets of the values from
 * the mean are exact decimals before they are squared, so that cents far from 0 lose nothing.
 */
export const sampleMoments = (values: Column): SampleMoments => {
  const mean = meanOf(values)
  return { mean, deviation: values.length < 2 ? 0 : deviationFrom(mean, values) }
}

const deviationFrom = (mean: number, values: Column): number => {
  // Almost all money is a whole number of these units, where offsets need no decimals.
  const centre = Math.round(mean * moneyUnit)
  const deviation = deviationOf(values, (value) => wholeUnits(value, moneyUnit) - centre)
  if (!Number.isNaN(deviation)) return deviation / moneyUnit
  const exactMean = decimalOf(mean)
  const offsets = Array.from(values, (value) =>
    decimalToNumber(subtractDecimals(decimalOf(value), exactMean)),
  )
  const largest = offsets.reduce((size, offset) => Math.max(size, Math.abs(offset)), 0)
  // A power of two keeps the squares inside the range of doubles.
  const scale = 2 ** -Math.min(1000, Math.max(-1000, Math.floor(Math.log2(largest))))
  return deviationOf(offsets, (offset) => offset * scale) / scale
}

/** √(Σ (x − m)² / (n − 1)) from offsets around a number close to the mean m. */
const deviationOf = (values: Column, offsetOf: (value: number) => number): number => {
  let squares = 0
  let lost = 0
  let total = 0
  for (const value of values) {
    const offset = offsetOf(value)
    const square = offset * offset
    const sum = squares + square
    // Both are at least 0, so the lost part of the smaller one is known exactly.
    lost += squares >= square ? squares - sum + square : square - sum + squares
    squares = sum
    total += offset
  }
  const variance = (squares + lost - (total * total) / values.length) / (values.length - 1)
  return Math.sqrt(Math.max(0, variance))
}
