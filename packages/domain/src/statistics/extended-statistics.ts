// Further statistics of closed trades (docs/behaviour.md#insights).
import { balancesAt, drawdownPercent, type BalanceHistory } from './balance.ts'
import { deepestDrawdown, drawdownsOf } from './drawdown.ts'
import { meanOf } from './sample-moments.ts'
import { statisticsOf, type TradeStatistics } from './trade-statistics.ts'
import type { Column, TradeResults } from './trade-results.ts'

export interface ExtendedStatistics extends TradeStatistics {
  /** Mean over downside deviation; null when there is profit and no loss, 0 when there is neither. */
  readonly sortinoRatio: number | null
  /** The mean net profit in money. */
  readonly expectancy: number
  /** Seconds from opening to closing. */
  readonly averageHoldingTime: number
  readonly longestWinStreak: number
  readonly longestLossStreak: number
  /**
   * Net profit over the largest drawdown; null when there is profit and no drawdown, 0 when there is
   * neither.
   */
  readonly recoveryFactor: number | null
  /** `maxDrawdown` in percent of the highest balance until then; null without balances. */
  readonly maxDrawdownPercent: number | null
}

/** @param history null over several accounts, and where balances are not known */
export const extendedStatistics = (
  { netProfits, closedAt, holdingTimes }: TradeResults,
  history: BalanceHistory | null,
): ExtendedStatistics => {
  const statistics = statisticsOf(netProfits)
  const expectancy = meanOf(netProfits)
  const streaks = longestStreaks(netProfits)
  const { amount, trough } = deepestDrawdown(drawdownsOf(netProfits))
  const highest = history && trough !== null ? balancesAt(history, closedAt).highest[trough] : 0
  return {
    ...statistics,
    sortinoRatio: profitPerLoss(expectancy, downsideDeviation(netProfits)),
    expectancy,
    averageHoldingTime: meanOf(holdingTimes),
    longestWinStreak: streaks.wins,
    longestLossStreak: streaks.losses,
    recoveryFactor: profitPerLoss(statistics.netProfit, amount),
    maxDrawdownPercent: history && drawdownPercent(amount, highest ?? 0),
  }
}

/** Null when there is profit and no loss, 0 when there is neither. */
const profitPerLoss = (profit: number, loss: number): number | null => {
  if (loss === 0) return profit === 0 ? 0 : null
  return profit / loss
}

/**
 * The downside deviation from 0, in money, which counts every trade: √(Σ min(xᵢ, 0)² / n). The mean
 * trade over it is the Sortino ratio (F. A. Sortino and R. van der Meer, Journal of Portfolio
 * Management 17(4), 1991, with a target of 0): without a unit, per trade, not annualised.
 */
const downsideDeviation = (netProfits: Column): number => {
  let squares = 0
  for (const netProfit of netProfits) squares += Math.min(netProfit, 0) ** 2
  return Math.sqrt(squares / Math.max(1, netProfits.length))
}

/**
 * How many trades in a row, in closing order, had a net profit above 0 (wins), or of 0 or below
 * (losses); 0 without such trades.
 */
const longestStreaks = (netProfits: Column): { readonly wins: number; readonly losses: number } => {
  let [wins, losses, winning, losing] = [0, 0, 0, 0]
  for (const netProfit of netProfits) {
    if (netProfit > 0) [winning, losing] = [winning + 1, 0]
    else [winning, losing] = [0, losing + 1]
    wins = Math.max(wins, winning)
    losses = Math.max(losses, losing)
  }
  return { wins, losses }
}
