// Instruments; quotes, candles and ticks are not available yet.
import { instrumentTypes } from '@tradeport/domain/market'
import { absurd } from 'fp-ts/lib/function.js'
import { limit, symbolFilter, timeRange } from '../fields.ts'
import { replyWith, anybody, routesOf } from '../route.ts'
import { decimal, list, oneOf, optional, record, text } from '../schema.ts'
import type { UseCases } from '../use-cases.ts'

const instrument = record('Instrument', 'An instrument of the fixed list.', {
  symbol: text('In capitals.', 'EURUSD'),
  description: text('Its name.', 'Euro / US Dollar'),
  type: oneOf(instrumentTypes, 'Its class.', 'forex'),
  tickSize: decimal('The smallest step of its price.', 0.00001),
  contractSize: decimal('Units in one lot.', 100_000),
  marginRate: decimal(
    "Fraction of a position's value, 0.01 for 1:100. A placeholder, not the rate of any broker.",
    0.01,
  ),
  tradingHours: text('When it is traded, in words.', 'Sunday 22:00 to Friday 22:00 UTC'),
  currency: text('The currency of its prices.', 'USD'),
  baseCurrency: optional(text('Only of forex pairs.', 'EUR')),
  quoteCurrency: optional(text('Only of forex pairs.', 'USD')),
})

const route = routesOf<UseCases>()
const access = anybody

/** A route that can only be refused as yet. */
const notYet = {
  access,
  params: { symbol: symbolFilter },
  refusals: ['NotFound', 'NotImplemented'],
  useCase: (useCases: UseCases, _: unknown, { symbol }: { readonly symbol: string }) =>
    useCases.getMarketData(symbol),
  present: absurd<never>,
} as const

export const marketDataRoutes = [
  route('GET /symbols', 'listSymbols', 'List instruments.', {
    access,
    query: {
      type: optional(oneOf(instrumentTypes, 'Instruments of one type.')),
      search: optional(
        text('Text in the symbol or the description, in any case.', 'euro', {
          minLength: 1,
          maxLength: 50,
        }),
      ),
    },
    refusals: [],
    useCase: (useCases, _, { query }) => useCases.listSymbols(query),
    ...replyWith(list(instrument, 'In the order of the fixed list.')),
    maxAgeSeconds: 60,
  }),
  route(
    'GET /quotes/:symbol',
    'getQuote',
    'The current bid and ask of an instrument. Not available yet.',
    {
      limit: { requests: 1_000, periodSeconds: 60 },
      ...notYet,
    },
  ),
  route('GET /candles/:symbol', 'listCandles', 'Candles of an instrument. Not available yet.', {
    limit: { requests: 200, periodSeconds: 60 },
    ...notYet,
    query: {
      timeframe: oneOf(
        ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w', '1M'],
        'The length of a candle.',
      ),
      ...timeRange,
      limit: limit(1_000, 100),
    },
    range: ['startTime', 'endTime'],
  }),
  route('GET /ticks/:symbol', 'listTicks', 'Ticks of an instrument. Not available yet.', {
    ...notYet,
    query: { ...timeRange, limit: limit(10_000, 1_000) },
    range: ['startTime', 'endTime'],
  }),
]
