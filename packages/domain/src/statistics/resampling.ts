// The figures of resampled trades, which are computed ten thousand times over.
import { wholeUnits } from '../primitives/exact-sum.ts'
import type { Draw } from './random.ts'

/**
 * Net profits as whole numbers of a unit, so that sums of resamples are exact. What is added up is
 * in tables: that takes a third of the time of computing it for each draw.
 */
export interface Amounts {
  readonly units: Float64Array
  /** Those above 0, and 0 for the others. */
  readonly gains: Float64Array
  /** 1 where it is above 0. */
  readonly wins: Float64Array
  /** Of the offsets from the centre, which is close to the mean so that squares lose few digits. */
  readonly squares: Float64Array
  readonly centre: number
  /** How many units make 1. */
  readonly unitsPerOne: number
}

/** Of some trades. */
export interface Figures {
  readonly expectancy: number
  readonly winRate: number
  /** Infinity with profit and no loss. */
  readonly profitFactor: number
  /** Infinite where all trades are equal and not 0. */
  readonly sharpeRatio: number
}

const scales = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8]

export const amountsOf = (netProfits: Float64Array): Amounts => {
  const isWhole = (unitsPerOne: number): boolean => {
    let size = 0
    for (const netProfit of netProfits) size += Math.abs(wholeUnits(netProfit, unitsPerOne))
    return size <= Number.MAX_SAFE_INTEGER
  }
  const unitsPerOne = scales.find(isWhole)
  // Where no unit fits, sums are those of doubles.
  const units =
    unitsPerOne === undefined
      ? netProfits
      : netProfits.map((amount) => wholeUnits(amount, unitsPerOne))
  const mean = sumOf(units) / units.length
  const centre = unitsPerOne === undefined ? mean : Math.round(mean)
  return {
    units,
    gains: units.map((amount) => Math.max(0, amount)),
    wins: units.map((amount) => (amount > 0 ? 1 : 0)),
    squares: units.map((amount) => (amount - centre) * (amount - centre)),
    centre,
    unitsPerOne: unitsPerOne ?? 1,
  }
}

/** Sums over some trades, in units. */
export interface Totals {
  readonly count: number
  readonly sum: number
  readonly gain: number
  readonly wins: number
  readonly squares: number
}

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0)

export const totalsOf = ({ units, gains, wins, squares }: Amounts): Totals => ({
  count: units.length,
  sum: sumOf(units),
  gain: sumOf(gains),
  wins: sumOf(wins),
  squares: sumOf(squares),
})

export const figuresOf = (
  { unitsPerOne, centre }: Amounts,
  { count, sum, gain, wins, squares }: Totals,
): Figures => {
  const loss = gain - sum
  const offset = sum - count * centre
  const spread = squares - (offset * offset) / count
  return {
    expectancy: sum / (count * unitsPerOne),
    winRate: (100 * wins) / count,
    profitFactor: gain === 0 ? 0 : gain / loss,
    // A spread this small is what rounding leaves of equal trades.
    sharpeRatio: sum / count / Math.sqrt(spread <= 1e-12 * squares ? 0 : spread / (count - 1)) || 0,
  }
}

/**
 * Draws as many trades as there are, with replacement, once for each resample: trade ⌊u · n / 2³²⌋
 * for each random number u.
 */
export const resampledFigures = (
  amounts: Amounts,
  resamples: number,
  fillAtRandom: Draw,
): readonly Figures[] => {
  const { units, gains, wins, squares } = amounts
  const count = units.length
  const perNumber = count / 2 ** 32
  const numbers = new Uint32Array(count)
  return Array.from({ length: resamples }, () => {
    fillAtRandom(numbers)
    let [sum, gain, winCount, squareSum] = [0, 0, 0, 0]
    for (let draw = 0; draw < count; draw++) {
      const drawn = ((numbers[draw] as number) * perNumber) | 0
      sum += units[drawn] as number
      gain += gains[drawn] as number
      winCount += wins[drawn] as number
      squareSum += squares[drawn] as number
    }
    return figuresOf(amounts, { count, sum, gain, wins: winCount, squares: squareSum })
  })
}

/** The figures without each trade. */
export const jackknifeFigures = (amounts: Amounts): readonly Figures[] => {
  const { count, sum, gain, wins, squares } = totalsOf(amounts)
  return Array.from({ length: count }, (_, index) =>
    figuresOf(amounts, {
      count: count - 1,
      sum: sum - (amounts.units[index] as number),
      gain: gain - (amounts.gains[index] as number),
      wins: wins - (amounts.wins[index] as number),
      squares: squares - (amounts.squares[index] as number),
    }),
  )
}

/**
 * The largest drawdown of as many random orders of the trades, in money. Each order is shuffled
 * from the one before (Fisher and Yates): at place i comes trade i + ⌊u · (n − i) / 2³²⌋.
 */
export const resampledDrawdowns = (
  { units, unitsPerOne }: Amounts,
  resamples: number,
  fillAtRandom: Draw,
): Float64Array => {
  const count = units.length
  const order = units.slice()
  const numbers = new Uint32Array(count)
  const drawdowns = new Float64Array(resamples)
  for (let resample = 0; resample < resamples; resample++) {
    fillAtRandom(numbers)
    let [fall, deepest] = [0, 0]
    for (let place = 0; place < count; place++) {
      const drawn = place + (((numbers[place] as number) * ((count - place) / 2 ** 32)) | 0)
      const amount = order[drawn] as number
      order[drawn] = order[place] as number
      order[place] = amount
      fall = Math.max(0, fall - amount)
      deepest = Math.max(deepest, fall)
    }
    drawdowns[resample] = deepest / unitsPerOne
  }
  return drawdowns
}
