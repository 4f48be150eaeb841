// Further statistics of closed trades (docs/behaviour.md#insights).
import { balancesAt, drawdownPercent, type BalanceHistory } from './balance.ts'
import { deepestDrawdown, drawdownsOf } from './drawdown.ts'
import { meanOf } from './sample-moments.ts'
import { statisticsOf, type TradeStatistics } from './trade-statistics.ts'
import type { Column, TradeResults } from './trade-results.ts'

export interface ExtendedStatistics extends TradeStatistics {
  /** Null when there is profit and no loss, 0 when there is neither. */
  readonly sortinoRatio: number | null
  /** The mean net profit in money. */
  readonly expectancy: number
  /** Seconds from opening to closing. */
  readonly averageHoldingTime: number
  readonly longestWinStreak: number
  readonly longestLossStreak: number
  /** Null when there is profit and no drawdown, 0 when there is neither. */
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
  const streaks = longestStreaks(netProfits)
  const { amount, trough } = deepestDrawdown(drawdownsOf(netProfits))
  const highest = history && trough !== null ? balancesAt(history, closedAt).highest[trough] : 0
  return {
    ...statistics,
    sortinoRatio: sortinoRatio(netProfits),
    expectancy: meanOf(netProfits),
    averageHoldingTime: meanOf(holdingTimes),
    longestWinStreak: streaks.wins,
    longestLossStreak: streaks.losses,
    recoveryFactor: recoveryFactor(statistics.netProfit, statistics.maxDrawdown),
    maxDrawdownPercent: history && drawdownPercent(amount, highest ?? 0),
  }
}

/**
 * The mean trade over the downside deviation from 0, which counts every trade:
 *   x̄ / √(Σ min(xᵢ, 0)² / n) (F. A. Sortino and R. van der Meer, Journal of Portfolio Management
 * 17(4), 1991, with a target of 0). Without a unit, per trade, not annualised. Null when there is
 * profit and no loss, 0 when there is neither.
 */
const sortinoRatio = (netProfits: Column): number | null => {
  const mean = meanOf(netProfits)
  let squares = 0
  for (const netProfit of netProfits) squares += Math.min(netProfit, 0) ** 2
  if (squares === 0) return mean === 0 ? 0 : null
  return mean / Math.sqrt(squares / netProfits.length)
}

/**
 * Net profit over the largest drawdown, both in money and of closed trades. Null when there is
 * profit and no drawdown, 0 when there is neither.
 */
const recoveryFactor = (netProfit: number, maxDrawdown: number): number | null => {
  if (maxDrawdown === 0) return netProfit === 0 ? 0 : null
  return netProfit / maxDrawdown
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
