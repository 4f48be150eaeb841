// Closed trades: listed, summed up, exported and read. The export is written piece by piece, so
// that a long history delays no other request.
import type { ExtendedStatistics, TradeStatistics } from '@tradeport/domain/statistics'
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
import { anyOf, type IsOn, type StreamedReply } from '../route.ts'
import {
  decimal,
  list,
  nullable,
  object,
  oneOf,
  partial,
  queryFlag,
  record,
  type Schema,
  text,
  whole,
  withDefault,
} from '../schema.ts'
import { route } from '../use-cases.ts'
import type { EventLoopYield } from '@tradeport/domain/ports'
import { toUtcDay } from '@tradeport/domain/primitives'
import type { TradeExport, TradeWarning } from '@tradeport/domain/use-cases'

type Cell = string | number | boolean

// 100 decimal places are the most that it can write.
const withoutExponent = new Intl.NumberFormat('en-US', {
  useGrouping: false,
  maximumFractionDigits: 100,
})

/**
 * A cell of CSV (RFC 4180). A number has the shortest digits that read back as the same, without an
 * exponent; text that a spreadsheet would run gets an apostrophe in front.
 */
const csvCell = (cell: Cell): string => {
  const plain = String(cell)
  if (typeof cell === 'number') return plain.includes('e') ? withoutExponent.format(cell) : plain
  const text = /^[=+\-@\t\r\n]/.test(plain) ? `'${plain}` : plain
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const columns =
  'id,accountId,positionId,symbol,type,volume,entryPrice,exitPrice,profit,commission,swap,netProfit,holdingTime,openedAt,closedAt,volumeEstimated'

const csvRow = (encoded: unknown): string => {
  const cells: Readonly<Record<string, Cell>> = { volumeEstimated: false, ...Object(encoded) }
  return `${columns
    .split(',')
    .map((name) => csvCell(cells[name] ?? ''))
    .join()}\r\n`
}

const messageOf = (warning: TradeWarning): string =>
  warning.code === 'mixed_currencies'
    ? `The accounts have ${warning.currencies.join(', ')}, which figures of several accounts add up as they are. Name one account with accountId to get one currency.`
    : `The deals of account ${warning.accounts.join(', ')} do not add up to its balance or could not be compared with it yet, or changed at the broker since they were read, so that trades may be missing or wrong. They are compared, and the whole history is read again where it must be, by itself.`

const warning = record(
  'Warning',
  'Something to know about the trades, or about what was computed of them.',
  {
    code: oneOf(
      ['mixed_currencies', 'history_incomplete'],
      'The figures add up several currencies, or the history of an account may lack deals.',
    ),
    ...partial({
      currencies: list(text('A currency.', 'USD'), 'With mixed_currencies: of the accounts.'),
      accounts: list(accountId, 'With history_incomplete: whose history it is.'),
    }),
    message: text(
      'The same for a person.',
      messageOf({ code: 'mixed_currencies', currencies: ['USD', 'EUR'] }),
    ),
  },
  (given: TradeWarning) => ({ ...given, message: messageOf(given) }),
)
export const meta = {
  provenance: tradeProvenanceShape,
  ...partial({ warnings: list(warning, 'Left out when there is none.') }),
}

const exportFormats = ['csv', 'json'] as const

const tradeFileReply = {
  streamedContent: {
    'text/csv': text(
      `A header row, ${columns}, and a row for each trade (RFC 4180, UTF-8).`,
      `${columns}\r\n${csvRow(tradeShape.example)}`,
    ),
    'application/json': record('TradeExport', 'The trades without the envelope.', {
      trades: list(tradeShape, 'Most recently closed first.'),
      ...meta,
    }),
  },
  streamedHeaders: {
    'Content-Disposition': {
      description: 'attachment, with the name trades_<YYYY-MM-DD> of the UTC day.',
      schema: { type: 'string' },
    },
    'X-Skipped-Positions': {
      description: 'How many positions could not be folded into a trade.',
      schema: { type: 'integer', minimum: 0 },
    },
    'X-Warnings': {
      description: 'The codes of the warnings, with commas between them; left out without any.',
      schema: { type: 'string' },
    },
  },
}

const endOfFile = object('', meta)

/** Well below a millisecond of work, also when the code has only just been loaded. */
const tradesPerPiece = 50

const tradeFile = (
  { pages, provenance, warnings: given, exportedAt }: TradeExport,
  format: (typeof exportFormats)[number],
): StreamedReply => {
  const file =
    format === 'csv'
      ? {
          type: 'text/csv; charset=utf-8',
          start: `${columns}\r\n`,
          row: csvRow,
          separator: '',
          end: '',
        }
      : {
          type: 'application/json',
          start: '{"trades":[\n',
          row: JSON.stringify,
          separator: ',\n',
          end: `\n],${JSON.stringify(endOfFile.encode({ provenance, warnings: given })).slice(1)}\n`,
        }
  return {
    headers: {
      'Content-Type': file.type,
      'Content-Disposition': `attachment; filename="trades_${toUtcDay(exportedAt)}.${format}"`,
      'X-Skipped-Positions': String(provenance.skipped.length),
      ...(given && { 'X-Warnings': given.map(({ code }) => code).join() }),
    },
    async *content({ yieldToEventLoop }: EventLoopYield) {
      yield file.start
      let before = ''
      for await (const trades of pages) {
        for (let from = 0; from < trades.length; from += tradesPerPiece) {
          await yieldToEventLoop()
          const rows = trades
            .slice(from, from + tradesPerPiece)
            .map((closed) => file.row(tradeShape.encode(closed)))
          yield before + rows.join(file.separator)
          before = file.separator
        }
      }
      yield file.end
    },
  }
}

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
      "Student's t interval of the mean net profit, in money; null below two trades. A small sample in which rare large losses are missing looks better than it is.",
      3.32,
      15.82,
    ),
  }),
}

/** With the capability `insights`, and `extended=true`. */
const extendedFields = partial({
  sortinoRatio: nullable(
    decimal(
      'The mean trade over its downside deviation from 0, per trade; null with profit and no loss.',
    ),
  ),
  expectancy: decimal('The mean net profit of a trade.'),
  averageHoldingTime: decimal('The mean holdingTime of the trades, in seconds.'),
  longestWinStreak: whole('The most winning trades in a row.'),
  longestLossStreak: whole('The most losing trades in a row.'),
  recoveryFactor: nullable(
    decimal('netProfit over maxDrawdown; null with profit and no drawdown.'),
  ),
  maxDrawdownPercent: nullable(
    decimal(
      'maxDrawdown in percent of the highest balance before its trough, deposits included; null where balances are not known. Withdrawals do not lower that balance, and a smaller drawdown can have a larger drawdownPercent in the curve.',
    ),
  ),
} satisfies Readonly<
  Record<Exclude<keyof ExtendedStatistics, keyof TradeStatistics>, Schema<unknown>>
>)

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

const access = anyOf('trading:read', 'history:read')
export const tradesRoute = {
  access,
  refusals: [...brokerReadRefusals, 'AccountNotFound', 'HistoryTooLarge'],
} as const

export const tradeRoute = {
  access,
  params: { id: tradeId },
  refusals: [...brokerReadRefusals, 'TradeNotFound', 'HistoryTooLarge'],
} as const

export const tradeRoutes = (isOn: IsOn) => [
  route('GET /trades', 'listTrades', 'Closed trades, most recently closed first.', {
    ...tradesRoute,
    query: { ...filters, limit: limit(100, 20), cursor },
    refusals: [...tradesRoute.refusals, 'InvalidCursor'],
    data: list(tradeShape, 'Most recently closed first.'),
    meta: { ...meta, pagination: cursorPaginationShape },
  }),
  route('GET /trades/stats', 'getTradeStatistics', 'Get trade statistics.', {
    ...tradesRoute,
    refusals: [...tradesRoute.refusals, 'RateLimitExceeded'],
    query: {
      ...accountsQuery,
      ...(isOn('insights') && {
        extended: withDefault(queryFlag('Whether to add further statistics.'), false),
      }),
    },
    data: statistics(isOn('insights')),
    meta,
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
    ...tradeRoute,
    data: tradeShape,
    meta,
  }),
]
