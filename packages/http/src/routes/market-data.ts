// Market data: the list of instruments, and with the capability `market-data` the broker's own
// instruments, quotes, candles and ticks.
import { codeOf } from '@tradeport/domain/errors'
import {
  instrumentTradeModes,
  instrumentTypes,
  timeframes,
  weekdays,
  type BrokerInstrument,
  type Instrument,
} from '@tradeport/domain/market'
import { parseSymbolFilter, type SymbolFilter } from '@tradeport/domain/primitives'
import type { StreamedQuote } from '@tradeport/domain/use-cases'
import * as O from 'fp-ts/lib/Option.js'
import { eventFrame, eventStreamOf, eventStreamReply } from '../event-stream.ts'
import {
  accountId,
  brokerReadRefusals,
  instant,
  limit,
  paginationShape,
  symbolFilter,
  timeRange,
} from '../fields.ts'
import { anybody, publicUnlessQueryHas, anyOf, type IsOn, onlyIf } from '../route.ts'
import {
  decimal,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  parsedString,
  partial,
  queryInteger,
  record,
  type Schema,
  text,
  time,
  whole,
  withDescription,
} from '../schema.ts'
import { route } from '../use-cases.ts'

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

const listFilters = partial({
  type: oneOf(instrumentTypes, 'Instruments of one type.'),
  search: text('Text in the symbol or the description, in any case.', undefined, { maxLength: 50 }),
})
const listed = list(instrument, 'In the order of the fixed list.')
const session = object('Trading hours of a weekday.', {
  day: oneOf(weekdays, 'The day.'),
  from: text("By the broker's clock.", '00:00:00.000'),
  to: text("By the broker's clock.", '24:00:00.000'),
})
const brokerInstrument = record('BrokerInstrument', "An instrument on its broker's terms.", {
  symbol: text('As the broker spells it.', 'EURUSD'),
  description: nullable(text('Its name.', 'Euro / US Dollar')),
  tickSize: decimal('The smallest step of its price.', 0.00001),
  contractSize: decimal('Units in one lot.', 100_000),
  minVolume: decimal('The fewest lots of an order.', 0.01),
  maxVolume: decimal('The most lots of an order.', 100),
  volumeStep: decimal('The smallest step of a volume.', 0.01),
  digits: whole('Decimals of its price.', 5),
  stopsLevel: decimal(
    'The smallest distance of a stop loss or take profit from the price, in points: steps of the last decimal.',
    10,
  ),
  tradeMode: nullable(oneOf(instrumentTradeModes, 'Which orders the broker accepts.', 'full')),
  baseCurrency: nullable(text('The currency that is bought and sold.', 'EUR')),
  profitCurrency: nullable(text('The currency of its prices.', 'USD')),
  swapLong: nullable(decimal("For a night, in the unit of the broker's terms.", -7.1)),
  swapShort: nullable(decimal("For a night, in the unit of the broker's terms.", 3.2)),
  sessions: list(session, 'When it is traded.'),
})

const instrumentList = (hasPrices: boolean) =>
  ({
    ...listed,
    ...(hasPrices && {
      json: {
        anyOf: [listed.json, list(brokerInstrument, 'In the order of their symbols.').json],
        description: "The fixed list, or with accountId a page of the broker's instruments.",
      },
    }),
    encode: (found: readonly (Instrument | BrokerInstrument)[]) =>
      found.map((one) =>
        'minVolume' in one ? brokerInstrument.encode(one) : instrument.encode(one),
      ),
  }) as Schema<readonly (Instrument | BrokerInstrument)[]>

const quote = record('Quote', 'The current price of an instrument.', {
  symbol: text('As it was asked for.', 'EURUSD'),
  bid: decimal('What a seller gets.', 1.08415),
  ask: decimal('What a buyer pays.', 1.08427),
  spread: decimal('ask - bid.', 0.00012),
  time: time('When the broker quoted it.'),
  stale: flag('Whether the quote is more than 60 seconds from now.', false),
})

const candle = record('Candle', 'The prices of one period.', {
  time: time("Its opening. Days, weeks and months begin by the broker's clock."),
  open: decimal('The first bid.', 1.0842),
  high: decimal('The highest bid.', 1.0851),
  low: decimal('The lowest bid.', 1.0838),
  close: decimal('The last bid.', 1.0847),
  volume: whole('How many ticks there were.', 1_804),
  complete: flag('False while the period lasts.'),
})

const price = (description: string) => nullable(decimal(description, 1.08415))
const tick = record('Tick', 'One change of the price.', {
  time: instant,
  bid: price('Null where the tick did not report it.'),
  ask: price('Null where the tick did not report it.'),
})

const maxSymbols = 50
// Of a symbol in a list, which has no comma.
const symbolPattern = '[!-+--`{-~]{1,32}'
const symbolNames = parsedString<readonly SymbolFilter[]>(
  `1 to ${maxSymbols} symbols in capitals, separated by commas, such as EURUSD,XAUUSD`,
  (sent) => {
    const names = sent.split(',')
    return names.length > maxSymbols ? O.none : O.traverseArray(parseSymbolFilter)(names)
  },
  'Instruments, in capitals, separated by commas.',
  'EURUSD,XAUUSD',
  { pattern: `^${symbolPattern}(,${symbolPattern}){0,${maxSymbols - 1}}$` },
)

const frameOf = (streamed: StreamedQuote): string =>
  'refusal' in streamed
    ? eventFrame('quote_unavailable', {
        symbol: streamed.symbol,
        code: codeOf(streamed.refusal._tag),
      })
    : eventFrame('quote', quote.encode(streamed))

/** Without the capability only the fixed list has data. */
export const marketDataRoutes = (isOn: IsOn) => {
  const hasPrices = isOn('market-data')
  const access = hasPrices ? publicUnlessQueryHas('accountId', 'market-data:read') : anybody
  const account =
    hasPrices &&
    partial({
      accountId: withDescription(
        accountId,
        "A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments.",
      ),
    })
  const refusals = [
    'NotFound',
    'NotImplemented',
    ...onlyIf(hasPrices, 'AccountNotFound', 'SymbolAmbiguous', ...brokerReadRefusals),
  ] as const
  const refusalsOfPast = [...refusals, ...onlyIf(hasPrices, 'NotAvailableOnPlatform')]
  const symbolRoute = { access, params: { symbol: symbolFilter }, refusals }
  const ofSeveral = { capability: 'market-data', query: { symbols: symbolNames, ...account } }
  const whetherOff = hasPrices ? '' : ' The capability market-data is off.'
  return [
    route(
      'GET /symbols',
      'listSymbols',
      hasPrices
        ? "List instruments: the fixed list, or with `accountId` a page of the broker's own, which come with `meta.pagination`."
        : 'List instruments.',
      {
        access,
        query: {
          ...listFilters,
          ...(hasPrices &&
            partial({
              accountId: withDescription(
                accountId,
                "A linked account, whose broker's instruments are listed.",
              ),
              page: queryInteger('With accountId: the page, counted from 1.', 1, 1_000_000),
              limit: queryInteger(
                'With accountId: the maximum of items on a page, by default 20.',
                1,
                50,
              ),
            })),
        },
        refusals: onlyIf(hasPrices, 'AccountNotFound', ...brokerReadRefusals),
        data: instrumentList(hasPrices),
        meta: { ...(hasPrices && { pagination: optional(paginationShape) }) },
        maxAgeSeconds: 60,
      },
    ),
    route('GET /quotes', 'listQuotes', 'The current bid and ask of up to 50 instruments.', {
      access,
      ...ofSeveral,
      refusals,
      data: list(quote, 'In the order of the request.'),
    }),
    route(
      'GET /quotes/stream',
      'streamQuotes',
      'Quotes as they change, at most one a second of each instrument.',
      {
        access: anyOf('market-data:read'),
        ...ofSeveral,
        refusals: [...refusals, 'StreamLimitReached'],
        ...eventStreamOf(
          'Each `quote` is one line of `data`. A `quote_unavailable` names a symbol that cannot be read now, with the code of the error.',
        ),
        stream: (quotes) => eventStreamReply(quotes, (batch) => batch.map(frameOf).join('')),
      },
    ),
    route(
      'GET /quotes/:symbol',
      'getQuote',
      `The current bid and ask of an instrument.${whetherOff}`,
      {
        limit: { requests: 1_000, periodSeconds: 60 },
        ...symbolRoute,
        query: { ...account },
        ...(hasPrices && { data: quote }),
      },
    ),
    route(
      'GET /candles/:symbol',
      'listCandles',
      `Candles of an instrument.${hasPrices ? ' With `startTime` the first from there, else the last up to `endTime`; both by opening time.' : whetherOff}`,
      {
        limit: { requests: 200, periodSeconds: 60 },
        ...symbolRoute,
        query: {
          timeframe: oneOf(timeframes, 'The length of a candle: 1m is a minute, 1M a month.'),
          ...timeRange,
          limit: limit(1_000, 100),
          ...account,
        },
        refusals: refusalsOfPast,
        ...(hasPrices && { data: list(candle, 'Oldest first. The current one is included.') }),
      },
    ),
    route(
      'GET /ticks/:symbol',
      'listTicks',
      `Ticks of an instrument.${hasPrices ? ' With `startTime` the first from there, else the last up to `endTime`. MT4 accounts have none.' : whetherOff}`,
      {
        ...symbolRoute,
        query: { ...timeRange, limit: limit(10_000, 1_000), ...account },
        refusals: refusalsOfPast,
        ...(hasPrices && { data: list(tick, 'Oldest first.') }),
      },
    ),
  ]
}
