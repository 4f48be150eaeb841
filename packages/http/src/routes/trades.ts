// Closed trades: listed, summed up, exported and read.
import { profitFilters } from '@tradeport/domain/trades'
import {
  accountId,
  brokerReadRefusals,
  cursor,
  cursorPaginationShape,
  dateRange,
  limit,
  symbolFilter,
  tradeId,
  tradeProvenanceShape,
  tradeShape,
} from '../fields.ts'
import { anyOf, type IsOn } from '../route.ts'
import {
  decimal,
  flagText,
  keptList,
  list,
  nullable,
  object,
  oneOf,
  partial,
  record,
  type Schema,
  partialWithoutExample,
  text,
  whole,
  withDefault,
  encodedFrom,
} from '../schema.ts'
import { route } from '../use-cases.ts'
import { exportFormats, tradeFile, tradeFileReply } from './trade-file.ts'

const interval = (description: string, lower: number, upper: number) =>
  nullable(
    object(description, {
      lower: decimal('Its lower end.', lower),
      upper: decimal('Its upper end.', upper),
    }),
  )

export const statisticsFields = {
  totalTrades: whole('How many trades there are.', 312),
  winningTrades: whole('Trades with a net profit above 0.', 187),
  losingTrades: whole('Trades with a net profit of 0 or below.', 125),
  winRate: decimal('Winning trades in percent of all.', 59.94),
  profitFactor: nullable(
    decimal('totalProfit over totalLoss; null with profit and no loss, 0 with neither.', 1.62),
  ),
  averageWin: decimal('Mean of the winning trades.', 41.7),
  averageLoss: decimal('Mean of the losing trades.', 38.5),
  largestWin: decimal('The best trade.', 402.1),
  largestLoss: decimal('The worst trade.', 288.4),
  totalProfit: decimal('Sum of the winning trades.', 7_797.9),
  totalLoss: decimal('Sum of the losing trades.', 4_812.5),
  netProfit: decimal('totalProfit less totalLoss.', 2_985.4),
  sharpeRatio: decimal(
    'The mean trade over its standard deviation, per trade, not annualised; 0 below two trades.',
    0.17,
  ),
  maxDrawdown: decimal('The deepest fall of the summed net profit from a peak, in money.', 811.2),
  confidenceIntervals: object('How sure the figures are.', {
    level: decimal('The level of both.', 0.95),
    winRate: interval(
      "Wilson's interval of winRate, in percent; null without trades.",
      54.41,
      65.23,
    ),
    averageTrade: interval(
      "Student's t interval of the mean net profit, in money; null below two trades.",
      3.32,
      15.82,
    ),
  }),
}

/** With the capability `insights`, and `extended=true`. */
const extendedFields = partialWithoutExample({
  sortinoRatio: nullable(
    decimal(
      'The mean trade over its downside deviation from 0, per trade; null with profit and no loss.',
    ),
  ),
  expectancy: decimal('The mean net profit of a trade.'),
  averageHoldingTime: decimal('The mean time that a position was open, in seconds.'),
  longestWinStreak: whole('The most winning trades in a row.'),
  longestLossStreak: whole('The most losing trades in a row.'),
  recoveryFactor: nullable(
    decimal('netProfit over maxDrawdown; null with profit and no drawdown.'),
  ),
  maxDrawdownPercent: nullable(
    decimal(
      'maxDrawdown in percent of the highest balance before it, deposits included; null over several accounts.',
    ),
  ),
})

const sumWarning = (currencies: readonly string[]): string =>
  `The figures add up ${currencies.join(', ')} as they are. Name one account with accountId to get one currency.`

const warning = encodedFrom(
  record('Warning', 'Something to know about the figures.', {
    code: oneOf(
      ['mixed_currencies'],
      'The accounts have several currencies, whose figures were added up as they are.',
    ),
    currencies: list(text('A currency.', 'USD'), 'The currencies of the accounts.'),
    message: text('The same for a person.', sumWarning(['USD', 'EUR'])),
  }),
  ({ currencies }: { readonly currencies: readonly string[] }) => ({
    code: 'mixed_currencies' as const,
    currencies,
    message: sumWarning(currencies),
  }),
)

export const accountsQuery = {
  ...partial({ accountId, symbol: symbolFilter }),
  ...dateRange,
}
const filters = {
  ...accountsQuery,
  profitFilter: withDefault(
    oneOf(
      profitFilters,
      'Trades with a net profit above 0 (profit), of 0 or below (loss), or all.',
    ),
    'all',
  ),
}
const statistics = (hasInsights: boolean) =>
  record(
    'TradeStatistics',
    'Statistics over the net profits of closed trades. Losses are positive magnitudes.',
    { ...statisticsFields, ...(hasInsights && extendedFields) },
  )

export const access = anyOf('trading:read', 'history:read')
export const meta = { provenance: tradeProvenanceShape }
export const tradesRoute = {
  access,
  range: ['startDate', 'endDate'],
  refusals: [...brokerReadRefusals, 'AccountNotFound', 'HistoryTooLarge'],
} as const

/** What was computed of all trades of a filter. */
export const sumsReply = <A>(data: Schema<A>) => ({
  data,
  meta: {
    ...meta,
    ...partialWithoutExample({ warnings: list(warning, 'Left out when there is none.') }),
  },
})

export const tradeRoutes = (isOn: IsOn) => [
  route('GET /trades', 'listTrades', 'Closed trades, most recently closed first.', {
    ...tradesRoute,
    query: { ...filters, limit: limit(100, 20), cursor },
    refusals: [...tradesRoute.refusals, 'InvalidCursor'],
    data: keptList(tradeShape, 'Most recently closed first.'),
    meta: { ...meta, pagination: cursorPaginationShape },
  }),
  route('GET /trades/stats', 'getTradeStatistics', 'Get trade statistics.', {
    ...tradesRoute,
    refusals: [...tradesRoute.refusals, 'RateLimitExceeded'],
    query: {
      ...accountsQuery,
      ...(isOn('insights') && {
        extended: withDefault(flagText('Whether to add further statistics.'), false),
      }),
    },
    ...sumsReply(statistics(isOn('insights'))),
  }),
  route(
    'GET /trades/export',
    'exportTrades',
    'Closed trades as a file, most recently closed first.',
    {
      limit: { requests: 10, periodSeconds: 3_600 },
      ...tradesRoute,
      query: {
        ...filters,
        format: withDefault(oneOf(exportFormats, 'The format of the file.'), 'csv'),
      },
      ...tradeFileReply,
      stream: (exported, { query }) => tradeFile(exported, query.format),
    },
  ),
  route('GET /trades/:id', 'getTrade', 'Get a closed trade.', {
    access,
    params: { id: tradeId },
    refusals: [...brokerReadRefusals, 'TradeNotFound', 'HistoryTooLarge'],
    data: tradeShape,
    meta,
  }),
]
