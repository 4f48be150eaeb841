// The quantile of Student's t distribution, for the intervals of statistics. With a density f and ν
// degrees of freedom,
//   f(t) = (1 + t²/ν)^(−(ν+1)/2) · Γ((ν+1)/2) / (√(νπ) · Γ(ν/2)),
// both the probability of the tail beyond t and that between 0 and t are t · f(t) times a sum or
// fraction of positive terms, so that nothing cancels.

// Below this tail probability the fraction of the tail is short; above it the series of the middle.
const tailStart = 0.1
// More degrees of freedom than this make the normal distribution to the last digit.
const normalDegrees = 1e17
const precision = 2 ** -53
const termLimit = 20_000
const newtonLimit = 200

/**
 * The number below which a variable of Student's t distribution falls with probability `p`:
 * −Infinity for 0, Infinity for 1. Infinitely many degrees of freedom make the normal distribution.
 * NaN when `p` is outside [0, 1] or the degrees of freedom are not above 0. Relative error below
 * 1e-12 from 1 degree of freedom up and for any `p`. The lower half has smaller numbers, so
 * compute extreme quantiles there.
 */
export const studentTQuantile = (p: number, degreesOfFreedom: number): number => {
  if (!(p >= 0 && p <= 1) || !(degreesOfFreedom > 0)) return Number.NaN
  if (p === 0.5) return 0
  const size = upperQuantile(
    Math.min(p, 1 - p),
    Math.abs(p - 0.5),
    Math.min(degreesOfFreedom, normalDegrees),
  )
  return p < 0.5 ? -size : size
}

/** The t beyond which lies the tail, and below which, from 0 on, lies the middle. */
const upperQuantile = (tail: number, middle: number, df: number): number => {
  if (tail === 0) return Number.POSITIVE_INFINITY
  const logCentre = logDensity(0, df)
  // Each starts from what the probability is like at its far end: a power of t.
  return tail < tailStart
    ? solve(
        tail,
        df,
        tailFactor,
        1,
        (logCentre + ((df - 1) / 2) * Math.log(df) - Math.log(tail)) / df,
      )
    : solve(middle, df, middleFactor, -1, Math.log(middle) - logCentre)
}

/**
 * Newton's method for the t at which t · f(t) · factor(t) is the probability, on the logarithms of
 * both. That of the probability is concave, so no step goes beyond the solution.
 * @param direction 1 where the probability falls with t, −1 where it rises
 */
const solve = (
  probability: number,
  df: number,
  factorAt: (t: number, df: number) => number,
  direction: 1 | -1,
  startLogT: number,
): number => {
  let logT = startLogT
  for (let step = 0; step < newtonLimit; step++) {
    const t = Math.exp(logT)
    const factor = factorAt(t, df)
    const excess = logT + logDensity(t, df) + Math.log(factor) - Math.log(probability)
    const change = direction * factor * excess
    // The logarithm itself keeps fewer digits of a large t than a factor does.
    if (Math.abs(change) <= 1e-9) return t * Math.exp(change)
    logT += change
  }
  return Math.exp(logT)
}

// P(0 < T < t) = t · f(t) · Σ (ν/2 + 1/2)ₙ / (3/2)ₙ · yⁿ with y = t² / (ν + t²).
const middleFactor = (t: number, df: number): number => {
  const y = (t * t) / (df + t * t)
  let term = 1
  let sum = 1
  for (let n = 0; n < termLimit && term > precision * sum; n++) {
    term *= (((df + 1) / 2 + n) / (1.5 + n)) * y
    sum += term
  }
  return sum
}

// P(T > t) = t · f(t) / 2 · F. 1 / F is the continued fraction of the incomplete beta function
// I_x(a, b) over xᵃ yᵇ / B(a, b), with a = ν/2, b = 1/2, x = ν / (ν + t²), y = 1 − x (DiDonato and
// Morris, ACM TOMS 708, 1992): (a + b) y − b takes the place of 1 − x, so that nothing cancels when
// x is close to 1. Evaluated by Lentz's method.
const tailFactor = (t: number, df: number): number => {
  const a = df / 2
  const b = 0.5
  const spread = (t / df) * t
  const x = 1 / (1 + spread)
  const y = spread < Number.MAX_VALUE ? spread * x : 1
  const start = 1 + ((a + b) * y - b)
  const first = 1 + 1 / a
  let fraction = start / first
  let c = fraction
  let d = 0
  for (let n = 1; n < termLimit; n++) {
    const weight = n * (b - n) * x
    const width = a + 2 * n - 1
    const before = (n - 1) / a + 1
    const numerator = before * (before + b / a) * (a / width) ** 2 * weight * x
    const denominator =
      n + weight / width + ((n / a + 1) / (first + (2 * n) / a)) * (start + n * (1 + y))
    d = 1 / (denominator + numerator * d)
    c = denominator + numerator / c
    fraction *= c * d
    if (Math.abs(c * d - 1) <= precision) break
  }
  return 0.5 / fraction
}

const logDensity = (t: number, df: number): number => {
  const spread = (t / df) * t
  // Where t² is beyond the largest double, ln(1 + t²/ν) is ln(t²/ν).
  const logSpread = spread < Number.MAX_VALUE ? Math.log1p(spread) : 2 * Math.log(t) - Math.log(df)
  return Math.log(halfStepGamma(df / 2)) - 0.5 * Math.log(df * Math.PI) - ((df + 1) / 2) * logSpread
}

// Γ(a + 1/2) / Γ(a), carried up by Γ(a + 1) = a · Γ(a) to where its expansion in 1/a (DLMF 5.11.13)
// is exact. The gammas themselves would overflow, and their logarithms would cancel.
const halfStepGamma = (a: number): number => {
  let factor = 1
  let at = a
  for (; at < 30; at++) factor *= at / (at + 0.5)
  const series = expansion.reduceRight((sum, coefficient) => sum / at + coefficient, 0)
  return factor * Math.sqrt(at) * series
}

const expansion = [
  1,
  -1 / 8,
  1 / 128,
  5 / 1024,
  -21 / 32768,
  -399 / 262144,
  869 / 4194304,
  39325 / 33554432,
]
