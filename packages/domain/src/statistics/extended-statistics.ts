// Further statistics of closed trades (docs/behaviour.md#insights).
import { balancesAt, drawdownPercent, type BalanceHistory } from './balance.ts'
import { deepestDrawdown, drawdowns } from './drawdown.ts'
import { expectancy } from './expectancy.ts'
import { averageHoldingTime } from './holding-time.ts'
import { recoveryFactor } from './recovery-factor.ts'
import { sortinoRatio } from './sortino-ratio.ts'
import { longestStreaks } from './streaks.ts'
import { statisticsOf, type TradeStatistics } from './trade-statistics.ts'
import type { TradeResults } from './trade-results.ts'

export interface ExtendedStatistics extends TradeStatistics {
  /** Null when there is profit and no loss, 0 when there is neither. */
  readonly sortinoRatio: number | null
  /** Money. */
  readonly expectancy: number
  /** Seconds. */
  readonly averageHoldingTime: number
  readonly longestWinStreak: number
  readonly longestLossStreak: number
  /** Null when there is profit and no drawdown, 0 when there is neither. */
  readonly recoveryFactor: number | null
  /** `maxDrawdown` in percent of the highest balance until then; null without balances. */
  readonly maxDrawdownPercent: number | null
}

/** @param history null over several accounts, whose balances cannot be added up */
export const extendedStatistics = (
  { netProfits, closedAt, holdingTimes }: TradeResults,
  history: BalanceHistory | null,
): ExtendedStatistics => {
  const statistics = statisticsOf(netProfits)
  const streaks = longestStreaks(netProfits)
  const { amount, trough } = deepestDrawdown(drawdowns(netProfits))
  const highest = history && trough !== null ? balancesAt(history, closedAt).highest[trough] : 0
  return {
    ...statistics,
    sortinoRatio: sortinoRatio(netProfits),
    expectancy: expectancy(netProfits),
    averageHoldingTime: averageHoldingTime(holdingTimes),
    longestWinStreak: streaks.wins,
    longestLossStreak: streaks.losses,
    recoveryFactor: recoveryFactor(statistics.netProfit, statistics.maxDrawdown),
    maxDrawdownPercent: history && drawdownPercent(amount, highest ?? 0),
  }
}
