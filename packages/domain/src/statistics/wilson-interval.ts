// The interval of a share that was counted (2.6: the win rate).
import { normalQuantile } from './normal-quantile.ts'

export interface Interval {
  readonly lower: number
  readonly upper: number
}

/** The confidence level of every interval in the statistics. */
export const defaultLevel = 0.95

/**
 * Wilson's score interval for the probability of success, as fractions of 1; null when `n` is 0.
 * With p = successes / n and z the normal quantile of (1 + level) / 2,
 *   (p + z²/2n ± z · √(p(1 − p)/n + z²/4n²)) / (1 + z²/n) (E. B. Wilson, JASA 22, 1927). Always within [0, 1] and around p; 0 and 1 themselves are bounds when no trial, or every trial, succeeded. Throws a RangeError unless 0 ≤ successes ≤ n and 0 < level < 1.
 */
export const wilsonInterval = (
  successes: number,
  n: number,
  level: number = defaultLevel,
): Interval | null => {
  requireLevel(level)
  if (!(successes >= 0 && successes <= n && n < Number.POSITIVE_INFINITY))
    throw new RangeError(`${successes} of ${n} is no share`)
  if (n === 0) return null
  const z = -normalQuantile((1 - level) / 2)
  const share = successes / n
  const square = z * z
  // The roots of the score equation: the greater is a sum of positive terms, and the lesser the
  // product of both over the greater, so that neither loses digits.
  const sum = 2 * successes + square + z * Math.sqrt(square + 4 * successes * ((n - successes) / n))
  const lower = Math.min(share, (2 * successes * share) / sum)
  const upper = Math.min(1, Math.max(share, sum / (2 * (n + square))))
  return { lower, upper }
}

/** Throws a RangeError unless the level of confidence lies between 0 and 1. */
export const requireLevel = (level: number): void => {
  if (!(level > 0 && level < 1))
    throw new RangeError(`A level of confidence lies between 0 and 1, and ${level} does not`)
}
