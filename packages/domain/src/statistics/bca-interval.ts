// The bias-corrected and accelerated bootstrap interval.
import { tailProbability } from './intervals.ts'
import { normalProbability, studentTQuantile } from './student-t.ts'

/** Null: the bound has no finite value. */
export interface Bounds {
  readonly lower: number | null
  readonly upper: number | null
}

const unknown: Bounds = { lower: null, upper: null }

/**
 * BCa (B. Efron, JASA 82(397), 1987): the quantiles at Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) of a
 * statistic over resamples, with z the normal quantiles of 0.025 and 0.975.
 *
 * - The bias correction z₀ is the normal quantile of the share of resamples below the estimate;
 *   those that equal it count half, as for a statistic of few different values.
 * - The acceleration is a = Σ(m − θᵢ)³ / (6 · (Σ(m − θᵢ)²)^1.5) of the jackknife: θᵢ is the
 *   statistic without trade i, m their mean.
 *
 * Bounds are null where the statistic is infinite there, or without some trade, and where all
 * resamples have the same: that says nothing of how far it could have come out otherwise.
 * @param resampled sorted, at least one
 */
export const bcaInterval = (
  estimate: number,
  resampled: Float64Array,
  jackknife: Float64Array,
): Bounds => {
  const acceleration = accelerationOf(jackknife)
  if (!Number.isFinite(acceleration) || !Number.isFinite(estimate)) return unknown
  if (resampled[0] === resampled.at(-1)) return unknown
  const count = resampled.length
  let below = 0
  for (const value of resampled) below += value < estimate ? 1 : value === estimate ? 0.5 : 0
  const share = below / count
  const least = 0.5 / count
  const bias = normalQuantile(Math.min(1 - least, Math.max(least, share)))
  const boundAt = (probability: number): number | null => {
    const z = bias + normalQuantile(probability)
    const corrected = normalProbability(bias + z / (1 - acceleration * z))
    return quantileOf(resampled, corrected)
  }
  return { lower: boundAt(tailProbability), upper: boundAt(1 - tailProbability) }
}

const normalQuantile = (p: number): number => studentTQuantile(p, Infinity)

const accelerationOf = (jackknife: Float64Array): number => {
  const mean = jackknife.reduce((sum, value) => sum + value, 0) / jackknife.length
  let [squares, cubes] = [0, 0]
  for (const value of jackknife) {
    const offset = mean - value
    squares += offset * offset
    cubes += offset * offset * offset
  }
  return cubes / (6 * squares ** 1.5)
}

/**
 * Linear between the values next to it, the first being the quantile of 0 and the last that of 1
 * (type 7 of R. Hyndman and Y. Fan, American Statistician 50(4), 1996). Null where it is infinite.
 * @param sorted at least one value
 */
export const quantileOf = (sorted: Float64Array, probability: number): number | null => {
  const place = probability * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0]
  const value = low === high ? low : low + (place - Math.floor(place)) * (high - low)
  return Number.isFinite(value) ? value : null
}
