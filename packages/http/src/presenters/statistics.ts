// Trade statistics and the warnings that go with them (2.6; decisions 37 and 38).
import type { StatisticsResult } from '@tradeport/domain'
import { always, decimal, list, object, orNull, record, text, whole } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'

const interval = (description: string, lower: number, upper: number) =>
  orNull(object(description, { lower: decimal('Its lower end.', lower), upper: decimal('Its upper end.', upper) }))

export const statisticsShape = record(
  'TradeStatistics',
  'Statistics over the net profits of closed trades. Losses are positive magnitudes.',
  {
    totalTrades: whole('How many trades there are.', 312),
    winningTrades: whole('With a net profit above 0.', 187),
    losingTrades: whole('With a net profit of 0 or below.', 125),
    winRate: decimal('Winning trades in percent of all.', 59.94),
    profitFactor: orNull(decimal('totalProfit over totalLoss; null where there is profit and no loss, 0 where there is neither.', 1.62)),
    averageWin: decimal('Of the winning trades.', 41.7),
    averageLoss: decimal('Of the losing trades.', 38.5),
    largestWin: decimal('The best trade.', 402.1),
    largestLoss: decimal('The worst trade.', 288.4),
    totalProfit: decimal('Of the winning trades.', 7_797.9),
    totalLoss: decimal('Of the losing trades.', 4_812.5),
    netProfit: decimal('totalProfit less totalLoss.', 2_985.4),
    sharpeRatio: decimal('The mean trade over its standard deviation, per trade, not annualised; 0 below two trades.', 0.17),
    maxDrawdown: decimal('The deepest fall of the summed net profit from a peak, in money.', 811.2),
    confidenceIntervals: object('How far the figures can be trusted.', {
      level: decimal('The level of both.', 0.95),
      winRate: interval("Wilson's interval of winRate, in percent; null without trades.", 54.41, 65.23),
      averageTrade: interval("Student's t interval of the mean net profit, in money; null below two trades.", 3.32, 15.82),
    }),
  },
)

export const warningShape = record('Warning', 'Something to know of the figures.', {
  code: always('mixed_currencies', 'The accounts are of several currencies, whose figures were added up as they are.'),
  currencies: list(text('A currency.', 'USD'), 'Those of the accounts.'),
  message: text('The same for a person.', 'The figures add up USD, EUR as they are. Name one account with accountId to get one currency.'),
})

export const presentStatistics = ({ statistics }: StatisticsResult): Shown<typeof statisticsShape> => ({
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

export const presentWarning = ({ code, currencies }: StatisticsResult['warnings'][number]): Shown<typeof warningShape> => ({
  code,
  currencies,
  message: `The figures add up ${currencies.join(', ')} as they are. Name one account with accountId to get one currency.`,
})
