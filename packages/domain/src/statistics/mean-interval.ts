// The interval of a mean (2.6: the average trade).
import { sampleMoments } from './sample-moments.ts'
import { studentTQuantile } from './student-t-quantile.ts'
import { defaultLevel, type Interval, requireLevel } from './wilson-interval.ts'

/**
 * Student's t interval for the mean of the values, in their unit: mean ± t · s / √n, with s the
 * sample standard deviation and t the quantile of (1 + level) / 2 at n − 1 degrees of freedom. Null
 * below two values; of zero width when all values are equal; NaN on both sides when a value is not
 * finite. Throws a RangeError unless 0 < level < 1.
 */
export const meanInterval = (
  values: readonly number[],
  level: number = defaultLevel,
): Interval | null => {
  requireLevel(level)
  return values.length < 2 ? null : intervalOfMoments(sampleMoments(values), level)
}

/** The same of a sample whose mean and deviation are known; `n` is at least 2. */
export const intervalOfMoments = (
  { n, mean, deviation }: ReturnType<typeof sampleMoments>,
  level: number,
): Interval => {
  const halfWidth = (-studentTQuantile((1 - level) / 2, n - 1) * deviation) / Math.sqrt(n)
  return { lower: mean - halfWidth, upper: mean + halfWidth }
}
