// The statistics of closed trades (docs/behaviour.md#statistics).
import { ExactSum } from '../primitives/exact-sum.ts'
import type { FoldedTrade } from '../trades/fold.ts'
import type { Column } from './trade-results.ts'
import { maxDrawdown } from './drawdown.ts'
import { confidenceLevel, meanInterval, wilsonInterval, type Interval } from './intervals.ts'
import { sampleMoments } from './sample-moments.ts'

/** Money in the accounts' currency; losses are positive magnitudes. */
export interface TradeStatistics {
  readonly totalTrades: number
  /** Net profit above 0. */
  readonly winningTrades: number
  /** Net profit 0 or below. */
  readonly losingTrades: number
  /** Percent. */
  readonly winRate: number
  /** Null when there is profit and no loss. */
  readonly profitFactor: number | null
  readonly averageWin: number
  readonly averageLoss: number
  readonly largestWin: number
  readonly largestLoss: number
  readonly totalProfit: number
  readonly totalLoss: number
  readonly netProfit: number
  /**
   * The mean trade over the sample standard deviation, not annualised; 0 below two trades or
   * without spread.
   */
  readonly sharpeRatio: number
  readonly maxDrawdown: number
  readonly confidenceIntervals: {
    readonly level: number
    /** Wilson's interval of the win rate, in percent; null without trades. */
    readonly winRate: Interval | null
    /** Student's t interval of the mean trade, in money; null below two trades. */
    readonly averageTrade: Interval | null
  }
}

/** What the statistics need of a trade. */
export type StatedTrade = Pick<FoldedTrade, 'netProfit' | 'closedAt'>

/**
 * The statistics over the net profits of trades, in any order; the drawdown follows close time, and
 * trades of one close time keep the given order, which `foldDeals` returns as closing order. Sums
 * are exact decimals, rounded once. Without trades every number is 0 and both intervals are null.
 * Throws a RangeError for a net profit that is not finite. Ten thousand trades need about a
 * millisecond.
 */
export const tradeStatistics = (trades: readonly StatedTrade[]): TradeStatistics =>
  statisticsOf(trades.toSorted((a, b) => a.closedAt - b.closedAt).map(({ netProfit }) => netProfit))

/** The same over net profits in closing order. */
export const statisticsOf = (netProfits: Column): TradeStatistics => {
  const [net, profit, loss] = [new ExactSum(), new ExactSum(), new ExactSum()]
  let [wins, largestWin, largestLoss] = [0, 0, 0]
  for (const netProfit of netProfits) {
    net.add(netProfit)
    if (netProfit > 0) {
      wins += 1
      profit.add(netProfit)
      largestWin = Math.max(largestWin, netProfit)
    } else {
      loss.add(-netProfit)
      largestLoss = Math.max(largestLoss, -netProfit)
    }
  }
  const totalTrades = netProfits.length
  const losses = totalTrades - wins
  const { mean, deviation } = sampleMoments(netProfits)
  return {
    totalTrades,
    winningTrades: wins,
    losingTrades: losses,
    winRate: totalTrades === 0 ? 0 : (100 * wins) / totalTrades,
    profitFactor: profitFactor(profit, loss),
    averageWin: wins === 0 ? 0 : profit.dividedBy(wins),
    averageLoss: losses === 0 ? 0 : loss.dividedBy(losses),
    largestWin,
    largestLoss,
    totalProfit: profit.value(),
    totalLoss: loss.value(),
    netProfit: net.value(),
    sharpeRatio: deviation === 0 ? 0 : mean / deviation,
    maxDrawdown: maxDrawdown(netProfits),
    confidenceIntervals: {
      level: confidenceLevel,
      winRate: inPercent(wilsonInterval(wins, totalTrades)),
      averageTrade: meanInterval(netProfits),
    },
  }
}

/** Null when there is profit and no loss (it is unbounded), 0 when there is neither. */
const profitFactor = (profit: ExactSum, loss: ExactSum): number | null => {
  if (loss.value() !== 0) return profit.ratioTo(loss)
  return profit.value() === 0 ? 0 : null
}

const inPercent = (interval: Interval | null): Interval | null =>
  interval && { lower: interval.lower * 100, upper: interval.upper * 100 }
