// Mean and standard deviation of a sample, for the Sharpe ratio and the interval of the average
// trade.
import { exactSumOf } from '../primitives/exact-sum.ts'
import type { Column } from './trade-results.ts'

export interface SampleMoments {
  readonly mean: number
  /** √(Σ (x − mean)² / (n − 1)); 0 below two values, and exactly 0 when all values are equal. */
  readonly deviation: number
}

/** The mean of values read as decimals, rounded once; 0 of no values. */
export const meanOf = (values: Column): number =>
  exactSumOf(values).dividedBy(Math.max(1, values.length))

/** Mean and sample standard deviation of the values, in their unit. */
export const sampleMoments = (values: Column): SampleMoments => {
  const mean = meanOf(values)
  let squares = 0
  for (const value of values) squares += (value - mean) ** 2
  return { mean, deviation: Math.sqrt(squares / Math.max(1, values.length - 1)) }
}
