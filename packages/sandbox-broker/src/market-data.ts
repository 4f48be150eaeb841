// Symbols, their terms and prices, candles and ticks. Prices are a function of the time, so that
// candles of the past are always the same.
import { type Moment, timesOf } from './account.ts'
import { type Context, type Handler, InvalidInput, momentOf, readPage } from './http.ts'
import { type Instrument, instrumentOf, pointOf, type Quote, spreadAround } from './market.ts'
import { brokerAheadMs, brokerText, dayMs, decimal, hourMs, toNumber, utcText } from './numbers.ts'

export const listSymbols: Handler = (ctx) => {
  ctx.body = [...ctx.state.account.settings.symbols.keys()]
}

const ofSymbol =
  (answer: (ctx: Context, instrument: Instrument, symbol: string) => void): Handler =>
  (ctx) => {
    const { symbol = '' } = ctx.params
    answer(ctx, instrumentOf(ctx.state.account.market, symbol), symbol)
  }

const allDay = [{ from: '00:00:00.000', to: '24:00:00.000' }]
/** As at a broker of cryptocurrencies: the sandbox executes orders on every day of the week. */
const sessions = {
  SUNDAY: allDay,
  MONDAY: allDay,
  TUESDAY: allDay,
  WEDNESDAY: allDay,
  THURSDAY: allDay,
  FRIDAY: allDay,
  SATURDAY: allDay,
}

export const getSpecification = ofSymbol((ctx, instrument, symbol) => {
  const { digits, minVolume, maxVolume, volumeStep, contractSize, stopsLevel } = instrument
  ctx.body = {
    symbol,
    tickSize: pointOf(instrument),
    minVolume,
    maxVolume,
    volumeStep,
    contractSize,
    digits,
    description: instrument.description,
    tradeMode: 'SYMBOL_TRADE_MODE_FULL',
    stopsLevel,
    baseCurrency: instrument.baseCurrency,
    profitCurrency: instrument.profitCurrency,
    swapLong: instrument.swapLong,
    swapShort: instrument.swapShort,
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

const minuteMs = 60_000
const yearMs = 365 * dayMs
/** How far back candles and ticks go from the sandbox's anchor. */
const historyMs = 5 * yearMs

/** Milliseconds; those of a week and a month are only used to step over them. */
const periodsMs: Readonly<Record<string, number>> = {
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  '1h': hourMs,
  '4h': 4 * hourMs,
  '1d': dayMs,
  '1w': 7 * dayMs,
  '1mn': 31 * dayMs,
}
/**
 * When the candle that a time belongs to opened. The broker's clock decides: days begin at its
 * midnight, weeks on Sunday.
 */
const openingOf = (timeframe: string, period: number, at: number): number => {
  const ahead = brokerAheadMs(at)
  const local = new Date(at + ahead)
  const midnight = Math.floor(local.getTime() / dayMs) * dayMs
  const opening =
    timeframe === '1mn'
      ? Date.UTC(local.getUTCFullYear(), local.getUTCMonth())
      : timeframe === '1w'
        ? midnight - local.getUTCDay() * dayMs
        : midnight + Math.floor((local.getTime() - midnight) / period) * period
  const aheadThen = brokerAheadMs(opening - ahead)
  return opening - aheadThen
}

/** When the candle after one opens; it may be shorter or longer by the hour of a clock change. */
const nextOpening = (timeframe: string, period: number, opening: number): number =>
  period <= hourMs
    ? opening + period
    : openingOf(timeframe, period, opening + period + Math.min(period / 2, 3 * dayMs))

/** Prices are sampled at this many moments of a candle. */
const samplesPerCandle = 8

const candleRow = (
  moment: Moment,
  instrument: Instrument,
  opening: number,
  nextOpeningAt: number,
): Readonly<Record<string, unknown>> => {
  const until = Math.min(nextOpeningAt - 1, moment.at)
  const bids = Array.from(
    { length: samplesPerCandle + 1 },
    (_, index) =>
      quoteAt(moment, instrument, opening + ((until - opening) * index) / samplesPerCandle).bid,
  )
  return {
    time: utcText(opening),
    brokerTime: brokerText(opening),
    open: bids[0],
    high: Math.max(...bids),
    low: Math.min(...bids),
    close: bids.at(-1),
    tickVolume: Math.floor((until - opening) / tickMs) + 1,
    spread: instrument.spreadPoints,
    volume: 0,
  }
}

/** Without the price that a test may have pinned, which only quotes show. */
const quoteAt = ({ account: { market } }: Moment, instrument: Instrument, at: number): Quote =>
  spreadAround(instrument, market.prices.mid(instrument, at))

/** The last candles that opened at `startTime` or before, oldest first. */
export const listCandles = ofSymbol((ctx, instrument, symbol) => {
  const { core, at } = ctx.state
  const { timeframe = '' } = ctx.params
  const period = periodsMs[timeframe]
  const { start, limit } = readPage(ctx)
  if (period === undefined) throw new InvalidInput('timeframe', 'Value is no timeframe')
  const moment = momentOf(ctx)
  const since = core.anchor - historyMs
  const rows: unknown[] = []
  let opening = openingOf(timeframe, period, Math.min(start, at))
  while (rows.length < limit && opening >= since) {
    rows.push({
      symbol,
      timeframe,
      ...candleRow(moment, instrument, opening, nextOpening(timeframe, period, opening)),
    })
    opening = openingOf(timeframe, period, opening - 1)
  }
  ctx.body = rows.toReversed()
})

/** A tick every second. */
const tickMs = 1_000

/** The first ticks from `startTime` on. */
export const listTicks = ofSymbol((ctx, instrument, symbol) => {
  const { core, account, at } = ctx.state
  const { start, offset, limit } = readPage(ctx)
  if (account.settings.platform === 'mt4') throw new InvalidInput('symbol', 'MT4 keeps no ticks')
  const moment = momentOf(ctx)
  const first = Math.ceil(Math.max(start, core.anchor - historyMs) / tickMs) + offset
  const count = Math.max(0, Math.min(limit, Math.floor(at / tickMs) - first + 1))
  ctx.body = Array.from({ length: count }, (_, index) => {
    const time = (first + index) * tickMs
    return {
      symbol,
      time: utcText(time),
      brokerTime: brokerText(time),
      ...quoteAt(moment, instrument, time),
    }
  })
})
