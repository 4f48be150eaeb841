// Student's t distribution, for the intervals of statistics. With ν degrees of freedom it is that of
// Z / √(V/ν), where Z is normal and V chi-square. The tail of Z by Craig's formula (J. W. Craig,
// IEEE MILCOM, 1991), with sin θ = 1 / cosh v and averaged over V, is
//   P(T > t) = 1/π ∫ (1 + t² cosh² v / ν)^(−ν/2) / cosh v dv, for v from 0 to ∞;
// with 1 − (…)^(−ν/2) instead it is P(0 < T < t). All terms are positive, so that nothing cancels.

// More degrees of freedom than this make the normal distribution to the last digit.
const normalDegrees = 1e17
// A step multiplies t by e at most, and this many end just below the largest double.
const maxSteps = 709

/**
 * The number below which a variable of Student's t distribution falls with probability `p`:
 * −Infinity for 0, Infinity for 1. Infinitely many degrees of freedom make the normal distribution.
 * NaN when `p` is outside [0, 1] or the degrees of freedom are not above 0. Relative error below
 * 1e-12 from 1 degree of freedom up and for any `p`. The lower half has smaller numbers, so
 * compute extreme quantiles there.
 */
export const studentTQuantile = (p: number, degreesOfFreedom: number): number => {
  const tail = Math.min(p, 1 - p)
  if (!(degreesOfFreedom > 0)) return NaN
  if (tail === 0.5) return 0
  if (tail === 0) return p === 0 ? -Infinity : Infinity
  const isTail = tail < 0.1
  // NaN, and so is the result, where p is no probability.
  const goal = Math.log(isTail ? tail : Math.abs(p - 0.5))
  // Newton's method on the logarithms. That of the probability is concave, so that only the first
  // step from t = 1 may go beyond the solution.
  let [logT, change] = [0, 1]
  for (let step = 0; step < maxSteps && Math.abs(change) > 1e-9; step++) {
    const { log, slope } = probabilityOf(Math.exp(logT), degreesOfFreedom, isTail)
    change = (goal - log) / slope
    logT += Math.min(1, change)
  }
  return Math.exp(logT) * Math.sign(p - 0.5)
}

/** The probability that a standard normal variable is below `z`. */
export const normalProbability = (z: number): number => {
  const tail = Math.exp(probabilityOf(Math.min(40, Math.abs(z)), Infinity, true).log)
  return z < 0 ? tail : 1 - tail
}

/**
 * The logarithm of the probability of the tail beyond t, or of the middle from 0 to t, and its
 * derivative by ln t. By the trapezoidal rule, which is exact to the last digits: the integrand is
 * even and analytic, and steps are short beside its width.
 */
const probabilityOf = (t: number, degreesOfFreedom: number, isTail: boolean) => {
  const df = Math.min(degreesOfFreedom, normalDegrees)
  const step = 0.5 / Math.sqrt(16 + 1 / (1 / t / t + 1 / df))
  let [sum, slope, first] = [0, 0, 0]
  for (let v = 0, term = 1; term > 1e-17 * sum; v += step) {
    const x = t * Math.cosh(v)
    const spread = x / Math.sqrt(df)
    // The square of a large one would overflow.
    const log = -df * (spread < 1e8 ? Math.log1p(spread * spread) / 2 : Math.log(spread))
    if (v === 0 && isTail) first = log
    const value = Math.exp(log - first)
    const weight = (v === 0 ? 0.5 : 1) / Math.cosh(v)
    term = weight * (isTail ? value : -Math.expm1(log))
    sum += term
    slope += (weight * value) / (1 / x / x + 1 / df)
  }
  return { log: first + Math.log((sum * step) / Math.PI), slope: (isTail ? -slope : slope) / sum }
}
