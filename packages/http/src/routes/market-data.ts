// GET /symbols, and the three routes that say what is not there yet (4.4). No credential is asked.
import { instrumentTypes } from '@tradeport/domain'
import { instrumentShape, presentInstrument } from '../presenters/instrument.ts'
import { instantAt, oneOf, pageSize, symbol, textOf } from '../requests/parameter-kinds.ts'
import { optional, required, withDefault } from '../requests/parameter.ts'
import { openRoute } from '../routing/route.ts'
import type { Route } from '../routing/route.ts'
import type { Reply } from '../replies/reply.ts'
import { list } from '../schema/shapes.ts'
import type { UseCases } from '../use-cases.ts'

const timeframes = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w', '1M'] as const

const access = { kind: 'public' } as const
const range = ['startTime', 'endTime'] as const
const times = {
  startTime: optional(instantAt('start', 'The earliest, included.')),
  endTime: optional(instantAt('end', 'The latest, included.')),
}

// No use case gives market data yet, so that none is presented.
const notYet = { kind: 'none' } as const
const marketDataRefusals = ['NotFound', 'NotImplemented'] as const
const present = (nothing: never): Reply => nothing

export const marketDataRoutes: readonly Route<UseCases>[] = [
  openRoute({
    operationId: 'listSymbols',
    method: 'GET',
    path: '/symbols',
    summary: 'List instruments',
    description: 'The instruments.',
    access,
    query: {
      type: optional(oneOf(instrumentTypes, 'Instruments of one type.')),
      search: optional(textOf(50, 'Text in the symbol or the description, in any case.')),
    },
    refusals: [],
    useCase: (useCases: UseCases, { query }) => useCases.listSymbols(query),
    reply: { kind: 'data', data: list(instrumentShape, 'In the order of the fixed list.'), isCacheable: true },
    present: (instruments) => ({ kind: 'data', data: instruments.map(presentInstrument), maxAgeSeconds: 60 }),
  }),
  openRoute({
    operationId: 'getQuote',
    method: 'GET',
    path: '/quotes/:symbol',
    summary: 'Get a quote',
    description: 'The current bid and ask of an instrument. Not available yet.',
    limit: { requests: 1_000, periodSeconds: 60 },
    access,
    params: { symbol },
    refusals: marketDataRefusals,
    useCase: (useCases: UseCases, { params }) => useCases.getMarketData(params.symbol),
    reply: notYet,
    present,
  }),
  openRoute({
    operationId: 'listCandles',
    method: 'GET',
    path: '/candles/:symbol',
    summary: 'List candles',
    description: 'Candles of an instrument. Not available yet.',
    limit: { requests: 200, periodSeconds: 60 },
    access,
    params: { symbol },
    query: {
      timeframe: required(oneOf(timeframes, 'The length of a candle.')),
      ...times,
      limit: withDefault(pageSize(1_000), 100),
    },
    range,
    refusals: marketDataRefusals,
    useCase: (useCases: UseCases, { params }) => useCases.getMarketData(params.symbol),
    reply: notYet,
    present,
  }),
  openRoute({
    operationId: 'listTicks',
    method: 'GET',
    path: '/ticks/:symbol',
    summary: 'List ticks',
    description: 'Ticks of an instrument. Not available yet.',
    access,
    params: { symbol },
    query: { ...times, limit: withDefault(pageSize(10_000), 1_000) },
    range,
    refusals: marketDataRefusals,
    useCase: (useCases: UseCases, { params }) => useCases.getMarketData(params.symbol),
    reply: notYet,
    present,
  }),
]
