// The confidence intervals of the statistics: Wilson's for a share, Student's t for a mean.
import type { Column } from './trade-results.ts'
import { sampleMoments } from './sample-moments.ts'
import { studentTQuantile } from './student-t.ts'

/** Both bounds in the unit of the estimate; `lower` is at most `upper`. */
export interface Interval {
  readonly lower: number
  readonly upper: number
}

/** The confidence level of every interval in the statistics. */
export const confidenceLevel = 0.95
/** That a value is beyond one of the bounds, on either side. */
export const tailProbability = (1 - confidenceLevel) / 2

/**
 * Wilson's score interval for the probability of success, as fractions of 1; null when `n` is 0.
 * At 95 %: with p = successes / n and z the normal quantile of 0.975,
 *   (p + z²/2n ± z · √(p(1 − p)/n + z²/4n²)) / (1 + z²/n) (E. B. Wilson, JASA 22, 1927). Always
 * within [0, 1] and around p; 0 and 1 themselves are bounds when no trial, or every trial,
 * succeeded. Throws a RangeError unless 0 ≤ successes ≤ n.
 */
export const wilsonInterval = (successes: number, n: number): Interval | null => {
  if (!(successes >= 0 && successes <= n && n < Number.POSITIVE_INFINITY))
    throw new RangeError(`successes must be from 0 to n; got ${successes} of ${n}`)
  if (n === 0) return null
  const share = successes / n
  const z = normalCriticalValue
  const square = z * z
  // The roots of the score equation: the greater is a sum of positive terms, and the lesser the
  // product of both over the greater, so that neither loses digits.
  const sum = 2 * successes + square + z * Math.sqrt(square + 4 * successes * ((n - successes) / n))
  return {
    lower: Math.min(share, (2 * successes * share) / sum),
    upper: Math.min(1, Math.max(share, sum / (2 * (n + square)))),
  }
}

/**
 * Student's t interval at 95 % for the mean of the values, in their unit: mean ± t · s / √n, with s
 * the sample standard deviation and t the quantile of 0.975 at n − 1 degrees of freedom. Null below
 * two values; of zero width when all values are equal. Throws a RangeError unless the values are
 * finite.
 */
export const meanInterval = (values: Column): Interval | null => {
  if (values.length < 2) return null
  const { mean, deviation } = sampleMoments(values)
  const halfWidth = (criticalValue(values.length - 1) * deviation) / Math.sqrt(values.length)
  return { lower: mean - halfWidth, upper: mean + halfWidth }
}

const criticalValue = (degreesOfFreedom: number): number =>
  -studentTQuantile(tailProbability, degreesOfFreedom)

const normalCriticalValue = criticalValue(Number.POSITIVE_INFINITY)
