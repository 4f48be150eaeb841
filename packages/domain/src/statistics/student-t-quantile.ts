// The quantile of Student's t distribution, for the interval of the average trade. With a density f
// and ν degrees of freedom,
//   f(t) = (1 + t²/ν)^(−(ν+1)/2) · Γ((ν+1)/2) / (√(νπ) · Γ(ν/2)),
// the quantile is found by Newton's method on the probability of the tail, or, in the middle, on
// that between 0 and t. Both are sums or fractions of positive terms, so that nothing cancels.
import { normalQuantile } from './normal-quantile.ts'

// Above this tail probability the middle's series is short; below it the tail's fraction is.
const tailStart = 0.02
// From here on the expansion around the normal quantile is exact to the last digits.
const expansionStart = 1e6
const precision = 2 ** -53
const newtonLimit = 200
const termLimit = 20_000

/**
 * The number below which a variable of Student's t distribution falls with probability `p`:
 * −Infinity for 0, Infinity for 1. Infinitely many degrees of freedom make the normal distribution.
 * NaN when `p` is outside [0, 1] or the degrees of freedom are not above 0. Relative error below
 * 1e-12 for 1 to 1e6 degrees of freedom and any `p`. The lower half has smaller numbers, so that
 * extreme quantiles are asked for there without loss.
 */
export const studentTQuantile = (p: number, degreesOfFreedom: number): number => {
  if (!(p >= 0 && p <= 1) || !(degreesOfFreedom > 0)) return Number.NaN
  if (p === 0.5) return 0
  const tail = Math.min(p, 1 - p)
  const size =
    tail === 0 ? Number.POSITIVE_INFINITY : upperQuantile(tail, Math.abs(p - 0.5), degreesOfFreedom)
  return p < 0.5 ? -size : size
}

// The t above which lies the tail, and below which, from 0 on, lies the rest of the upper half.
const upperQuantile = (tail: number, middle: number, df: number): number => {
  if (df === 1) return tail < tailStart ? 1 / Math.tan(Math.PI * tail) : Math.tan(Math.PI * middle)
  if (df > expansionStart) return aroundNormal(-normalQuantile(tail), df)
  return tail < tailStart ? quantileOfTail(tail, df) : quantileOfMiddle(middle, df)
}

// Fisher and Cornish's expansion in powers of 1/ν (Abramowitz and Stegun 26.7.5).
const aroundNormal = (z: number, df: number): number => {
  const square = z * z
  const first = (square + 1) / 4
  const second = ((5 * square + 16) * square + 3) / 96
  const third = (((3 * square + 19) * square + 17) * square - 15) / 384
  return z * (1 + (first + (second + third / df) / df) / df)
}

// P(0 < T < t) = t · f(t) · Σ (ν/2 + 1/2)ₙ / (3/2)ₙ · yⁿ with y = t² / (ν + t²). It is concave, so
// Newton's steps from below stay below.
const quantileOfMiddle = (middle: number, df: number): number => {
  let t = middle / Math.exp(logDensity(0, df))
  for (let step = 0; step < newtonLimit; step++) {
    const density = Math.exp(logDensity(t, df))
    const change = (middle - t * density * middleSeries(t, df)) / density
    t += change
    if (Math.abs(change) <= 4 * precision * t) return t
  }
  return t
}

const middleSeries = (t: number, df: number): number => {
  const y = (t * t) / (df + t * t)
  let term = 1
  let sum = 1
  for (let n = 0; n < termLimit && term > precision * sum; n++) {
    term *= (((df + 1) / 2 + n) / (1.5 + n)) * y
    sum += term
  }
  return sum
}

// P(T > t) = t · f(t) / 2 · F, F being the fraction below. The logarithm of the tail falls ever
// faster with the logarithm of t, so that Newton's steps there end from above.
const quantileOfTail = (tail: number, df: number): number => {
  const logTail = Math.log(tail)
  let logT = Math.log(-normalQuantile(tail))
  for (let step = 0; step < newtonLimit; step++) {
    const t = Math.exp(logT)
    const half = tailFraction(t, df) / 2
    const change = half * (logT + logDensity(t, df) + Math.log(half) - logTail)
    logT += change
    // The logarithm itself keeps fewer digits of a large t than a factor does.
    if (Math.abs(change) <= 1e-9) return t * Math.exp(change)
  }
  return Math.exp(logT)
}

// The continued fraction of the incomplete beta function I_x(a, b) over xᵃ yᵇ / B(a, b), with a =
// ν/2, b = 1/2, x = ν / (ν + t²), y = 1 − x (DiDonato and Morris, ACM TOMS 708, 1992): (a + b) y −
// b takes the place of 1 − x, so that nothing cancels when x is close to 1. Evaluated by Lentz's
// method.
const tailFraction = (t: number, df: number): number => {
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
  return 1 / fraction
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
  const u = 1 / at
  const series =
    1 +
    u *
      (-1 / 8 +
        u *
          (1 / 128 +
            u *
              (5 / 1024 +
                u *
                  (-21 / 32768 +
                    u * (-399 / 262144 + u * (869 / 4194304 + u * (39325 / 33554432)))))))
  return factor * Math.sqrt(at) * series
}
