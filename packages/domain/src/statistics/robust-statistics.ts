// How far the statistics could have come out otherwise: a bootstrap of whole trades
// (docs/behaviour.md#robust-statistics).
import { bcaInterval, quantileOf, type Bounds } from './bca-interval.ts'
import { tailProbability } from './intervals.ts'
import { createRandom, seedOf } from './random.ts'
import {
  amountsOf,
  figuresOf,
  jackknifeFigures,
  resampledDrawdowns,
  resampledFigures,
  totalsOf,
  type Figures,
} from './resampling.ts'
import { meanOf } from './sample-moments.ts'
import { statisticsOf } from './trade-statistics.ts'

interface RobustInterval extends Bounds {
  /** Of the trades themselves; null where it is unbounded. */
  readonly estimate: number | null
}

export interface RobustStatistics {
  readonly method: 'bca'
  readonly resamples: number
  /** Follows from the trades, so that the same trades have the same figures. */
  readonly seed: number
  readonly trades: number
  /** Null below 10 trades. */
  readonly intervals: {
    /** The mean net profit, in money. */
    readonly expectancy: RobustInterval
    /** Percent. */
    readonly winRate: RobustInterval
    readonly profitFactor: RobustInterval
    readonly sharpeRatio: RobustInterval
    /** In money; its bounds are quantiles over random orders of the same trades. */
    readonly maxDrawdown: RobustInterval
  } | null
  /** The share of resamples whose sum is below 0; null below 10 trades. */
  readonly probabilityOfLoss: number | null
}

const minTrades = 10

const column = (figures: readonly Figures[], name: keyof Figures): Float64Array =>
  Float64Array.from(figures, (one) => one[name])

/**
 * Resamples the trades with replacement, as many as there are, and takes 95 % BCa intervals of the
 * statistics over the resamples. The drawdown depends on the order of trades, so its bounds are the
 * 2.5 % and 97.5 % quantiles of its value over as many random orders of the trades themselves.
 * 10,000 resamples of 5,000 trades take about a second.
 * @param netProfits finite, in closing order
 */
export const robustStatistics = (netProfits: Float64Array, resamples: number): RobustStatistics => {
  const seed = seedOf(netProfits)
  const common = { method: 'bca', resamples, seed, trades: netProfits.length } as const
  if (netProfits.length < minTrades) return { ...common, intervals: null, probabilityOfLoss: null }
  const amounts = amountsOf(netProfits)
  const fillAtRandom = createRandom(seed)
  const resampled = resampledFigures(amounts, resamples, fillAtRandom)
  const jackknife = jackknifeFigures(amounts)
  const estimates = figuresOf(amounts, totalsOf(amounts))
  const drawdowns = resampledDrawdowns(amounts, resamples, fillAtRandom).toSorted()
  const interval = (name: keyof Figures, estimate: number | null): RobustInterval => ({
    estimate,
    ...bcaInterval(estimates[name], column(resampled, name).toSorted(), column(jackknife, name)),
  })
  const { winRate, profitFactor, sharpeRatio, maxDrawdown } = statisticsOf(netProfits)
  return {
    ...common,
    intervals: {
      expectancy: interval('expectancy', meanOf(netProfits)),
      winRate: interval('winRate', winRate),
      profitFactor: interval('profitFactor', profitFactor),
      sharpeRatio: interval('sharpeRatio', sharpeRatio),
      maxDrawdown: {
        estimate: maxDrawdown,
        lower: quantileOf(drawdowns, tailProbability),
        upper: quantileOf(drawdowns, 1 - tailProbability),
      },
    },
    probabilityOfLoss: resampled.filter(({ expectancy }) => expectancy < 0).length / resamples,
  }
}
