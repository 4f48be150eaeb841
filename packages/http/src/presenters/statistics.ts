// Trade statistics and the warnings that go with them (2.6; decisions 37 and 38).
import type { StatisticsResult } from '@tradeport/domain'

export const presentStatistics = ({ statistics }: StatisticsResult): object => ({
  totalTrades: statistics.totalTrades,
  winningTrades: statistics.winningTrades,
  losingTrades: statistics.losingTrades,
  winRate: statistics.winRate,
  profitFactor: statistics.profitFactor,
  averageWin: statistics.averageWin,
  averageLoss: statistics.averageLoss,
  largestWin: statistics.largestWin,
  largestLoss: statistics.largestLoss,
  totalProfit: statistics.totalProfit,
  totalLoss: statistics.totalLoss,
  netProfit: statistics.netProfit,
  sharpeRatio: statistics.sharpeRatio,
  maxDrawdown: statistics.maxDrawdown,
  confidenceIntervals: statistics.confidenceIntervals,
})

export const presentWarning = ({ code, currencies }: StatisticsResult['warnings'][number]): object => ({
  code,
  currencies,
  message: `The figures add up ${currencies.join(', ')} as they are. Name one account with accountId to get one currency.`,
})
