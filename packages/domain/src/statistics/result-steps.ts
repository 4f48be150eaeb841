// Steps of equal size for a histogram of results.
import type { Column } from './trade-results.ts'

/** What lies between these shares of all results is divided; what lies beyond is one group each. */
const innerShares = [0.02, 0.98] as const
const mostSteps = 40

interface ResultSteps {
  /** The number of the step that a result is in. */
  readonly placeOf: (result: number) => number
  /** `-20_-10`: above -20, up to -10; `under_-200`: up to -200; `over_400`: above 400. */
  readonly keyOf: (place: number) => string
}

/**
 * A step is 1, 2 or 5 times a power of ten, at least the width of Freedman and Diaconis (1981), twice
 * the interquartile range over the cube root of the number. A result on an edge is in the lower
 * step, so that 0 is among the losses.
 */
export const resultSteps = (results: Column): ResultSteps => {
  const sorted = Float64Array.from(results).toSorted()
  const quantile = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  const [low, high] = innerShares.map(quantile) as [number, number]
  const width = Math.max(
    (2 * (quantile(0.75) - quantile(0.25))) / Math.cbrt(sorted.length),
    (high - low) / mostSteps,
  )
  const [factor, exponent] = roundUp(width || Math.abs(high) || 1)
  // The decimal itself, which a product of doubles would miss.
  const edge = (place: number): number => Number(`${place * factor}e${exponent}`)
  const placeOf = (result: number): number => {
    const place = Math.ceil(result / (factor * 10 ** exponent)) - 1
    if (result <= edge(place)) return place - 1
    return result > edge(place + 1) ? place + 1 : place
  }
  const [first, last] = [placeOf(low), placeOf(high)]
  return {
    placeOf: (result) => Math.min(last + 1, Math.max(first - 1, placeOf(result))),
    keyOf: (place) => {
      if (place < first) return `under_${edge(first)}`
      return place > last ? `over_${edge(place)}` : `${edge(place)}_${edge(place + 1)}`
    },
  }
}

/** The next 1, 2 or 5 times a power of ten, as factor and exponent. */
const roundUp = (value: number): readonly [factor: number, exponent: number] => {
  const exponent = Math.floor(Math.log10(value))
  const factor = [1, 2, 5].find((one) => one * 10 ** exponent >= value * (1 - 1e-9))
  return factor === undefined ? [1, exponent + 1] : [factor, exponent]
}
