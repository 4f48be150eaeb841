// Symbols, their terms and prices, candles and ticks. Prices are a function of the time, so that
// candles of the past are always the same.
import { type Moment, timesOf } from './account.ts'
import {
  type Context,
  type Handler,
  invalid,
  momentOf,
  readPricesQuery,
  symbolNotFound,
} from './http.ts'
import { type Instrument, pointOf, type Quote, spreadAround } from './market.ts'
import {
  brokerAheadMs,
  brokerText,
  DAY_MS,
  decimal,
  HOUR_MS,
  toNumber,
  utcText,
} from './numbers.ts'

export const listSymbols: Handler = (ctx) => {
  ctx.body = [...ctx.state.account.settings.symbols.keys()]
}

/** Answers 404 for a symbol that the broker does not list. */
const ofSymbol =
  (answer: (ctx: Context, instrument: Instrument, symbol: string) => void): Handler =>
  (ctx) => {
    const { symbol = '' } = ctx.params
    const instrument = ctx.state.account.market.instruments.get(symbol)
    if (instrument === undefined) symbolNotFound(ctx)
    else answer(ctx, instrument, symbol)
  }

const allDay = [{ from: '00:00:00.000', to: '24:00:00.000' }]
const sessions = {
  SUNDAY: [],
  MONDAY: allDay,
  TUESDAY: allDay,
  WEDNESDAY: allDay,
  THURSDAY: allDay,
  FRIDAY: allDay,
  SATURDAY: [],
}

export const getSpecification = ofSymbol((ctx, instrument, symbol) => {
  const { digits, minVolume, maxVolume, volumeStep, contractSize, stopsLevel } = instrument
  const point = pointOf(instrument)
  ctx.body = {
    symbol,
    tickSize: point,
    minVolume,
    maxVolume,
    volumeStep,
    contractSize,
    digits,
    point,
    description: instrument.description,
    path: `${instrument.path}\\${symbol}`,
    fillingModes: ['SYMBOL_FILLING_FOK', 'SYMBOL_FILLING_IOC'],
    executionMode: 'SYMBOL_TRADE_EXECUTION_MARKET',
    tradeMode: 'SYMBOL_TRADE_MODE_FULL',
    stopsLevel,
    freezeLevel: 0,
    initialMargin: 0,
    maintenanceMargin: 0,
    marginCurrency: instrument.baseCurrency,
    baseCurrency: instrument.baseCurrency,
    profitCurrency: instrument.profitCurrency,
    swapMode: 'SYMBOL_SWAP_MODE_POINTS',
    swapLong: instrument.swapLong,
    swapShort: instrument.swapShort,
    swapRollover3Days: 'WEDNESDAY',
    allowedExpirationModes: ['SYMBOL_EXPIRATION_GTC', 'SYMBOL_EXPIRATION_SPECIFIED'],
    allowedOrderTypes: ['SYMBOL_ORDER_MARKET', 'SYMBOL_ORDER_LIMIT', 'SYMBOL_ORDER_STOP'],
    quoteSessions: sessions,
    tradeSessions: sessions,
  }
})

export const getPrice = ofSymbol((ctx, instrument, symbol) => {
  const moment = momentOf(ctx)
  const { account, at } = moment
  const { market } = account
  const { bid, ask } = market.prices.quote(instrument, at)
  const rate = market.rate(instrument.profitCurrency, account.settings.currency, at)
  const tickValue = toNumber(
    decimal(pointOf(instrument)).times(instrument.contractSize).times(rate).round(8),
  )
  const { time, brokerTime } = timesOf(moment)
  ctx.body = {
    symbol,
    bid,
    ask,
    profitTickValue: tickValue,
    lossTickValue: tickValue,
    time,
    brokerTime,
  }
})

const MINUTE_MS = 60_000
const YEAR_MS = 365 * DAY_MS
/** How far back candles and ticks go from the sandbox's anchor. */
const HISTORY_MS = 5 * YEAR_MS

/** Milliseconds; those of a week and a month are only used to step over them. */
const PERIODS: Readonly<Record<string, number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '1d': DAY_MS,
  '1w': 7 * DAY_MS,
  '1mn': 31 * DAY_MS,
}
const MT5_PERIODS: typeof PERIODS = {
  ...PERIODS,
  ...Object.fromEntries([2, 3, 4, 6, 10, 12, 20].map((n) => [`${n}m`, n * MINUTE_MS])),
  ...Object.fromEntries([2, 3, 6, 8, 12].map((n) => [`${n}h`, n * HOUR_MS])),
}

/**
 * When the candle that a time belongs to opened. The broker's clock decides: days begin at its
 * midnight, weeks on Sunday.
 */
const openingOf = (timeframe: string, period: number, at: number): number => {
  const ahead = brokerAheadMs(at)
  const local = new Date(at + ahead)
  const midnight = Math.floor(local.getTime() / DAY_MS) * DAY_MS
  const opening =
    timeframe === '1mn'
      ? Date.UTC(local.getUTCFullYear(), local.getUTCMonth())
      : timeframe === '1w'
        ? midnight - local.getUTCDay() * DAY_MS
        : midnight + Math.floor((local.getTime() - midnight) / period) * period
  const aheadThen = brokerAheadMs(opening - ahead)
  return opening - aheadThen
}

/** When the candle after one opens; it may be shorter or longer by the hour of a clock change. */
const nextOpening = (timeframe: string, period: number, opening: number): number =>
  period <= HOUR_MS
    ? opening + period
    : openingOf(timeframe, period, opening + period + Math.min(period / 2, 3 * DAY_MS))

/** Prices are sampled at this many moments of a candle. */
const SAMPLES = 8

const candleRow = (
  moment: Moment,
  instrument: Instrument,
  opening: number,
  nextOpeningAt: number,
): Readonly<Record<string, unknown>> => {
  const until = Math.min(nextOpeningAt - 1, moment.at)
  const bids = Array.from(
    { length: SAMPLES + 1 },
    (_, index) => quoteAt(moment, instrument, opening + ((until - opening) * index) / SAMPLES).bid,
  )
  return {
    time: utcText(opening),
    brokerTime: brokerText(opening),
    open: bids[0],
    high: Math.max(...bids),
    low: Math.min(...bids),
    close: bids.at(-1),
    tickVolume: Math.floor((until - opening) / TICK_MS) + 1,
    spread: instrument.spreadPoints,
    volume: 0,
  }
}

/** Without the price that a test may have pinned, which only quotes show. */
const quoteAt = ({ account: { market } }: Moment, instrument: Instrument, at: number): Quote =>
  spreadAround(instrument, market.prices.mid(instrument, at))

/** The last candles that opened at `startTime` or before, oldest first. */
export const listCandles = ofSymbol((ctx, instrument, symbol) => {
  const { core, account, at } = ctx.state
  const { timeframe = '' } = ctx.params
  const period = (account.settings.platform === 'mt4' ? PERIODS : MT5_PERIODS)[timeframe]
  const { details, start, limit } = readPricesQuery(ctx)
  if (period === undefined)
    details.push({ parameter: 'timeframe', value: timeframe, message: 'Value is no timeframe' })
  if (period === undefined || details.length > 0) return invalid(details)(ctx)
  const moment = momentOf(ctx)
  const since = core.anchor - HISTORY_MS
  const rows: unknown[] = []
  let opening = openingOf(timeframe, period, Math.min(start, at))
  while (rows.length < limit && opening >= since) {
    const gap = account.settings.candleGaps.find(({ from, to }) => opening >= from && opening < to)
    if (gap === undefined)
      rows.push({
        symbol,
        timeframe,
        ...candleRow(moment, instrument, opening, nextOpening(timeframe, period, opening)),
      })
    opening = openingOf(timeframe, period, (gap?.from ?? opening) - 1)
  }
  ctx.body = rows.toReversed()
})

/** A tick every second. */
const TICK_MS = 1_000

/** The first ticks from `startTime` on. */
export const listTicks = ofSymbol((ctx, instrument, symbol) => {
  const { core, account, at } = ctx.state
  const { details, start, offset, limit } = readPricesQuery(ctx)
  if (account.settings.platform === 'mt4')
    details.push({ parameter: 'symbol', value: symbol, message: 'MT4 keeps no ticks' })
  if (details.length > 0) return invalid(details)(ctx)
  const moment = momentOf(ctx)
  const first = Math.ceil(Math.max(start, core.anchor - HISTORY_MS) / TICK_MS) + offset
  const count = Math.max(0, Math.min(limit, Math.floor(at / TICK_MS) - first + 1))
  ctx.body = Array.from({ length: count }, (_, index) => {
    const time = (first + index) * TICK_MS
    return {
      symbol,
      time: utcText(time),
      brokerTime: brokerText(time),
      ...quoteAt(moment, instrument, time),
    }
  })
})
