// Symbols, their contract terms and prices, the margin calculation, and the server's clock.
import { Router } from '@koa/router'
import { decimal, toNumber, zero } from '../numbers/decimal.ts'
import { brokerText, utcText } from '../numbers/clock-text.ts'
import { marginOf } from '../books/valuation.ts'
import { pointOf, type Instrument } from '../market/instruments.ts'
import { findInstrument } from '../market/symbols.ts'
import type { Context, Handler, State } from './context.ts'
import { invalid, symbolNotFound, type Detail } from './reply.ts'
import { checkFlag } from './validate.ts'

const withInstrument =
  (read: (ctx: Context, instrument: Instrument, symbol: string) => void): Handler =>
  (ctx) => {
    const symbol = ctx.params['symbol'] ?? ''
    const instrument = findInstrument(ctx.state.core.market, ctx.state.account, symbol)
    return instrument === undefined ? symbolNotFound(ctx) : read(ctx, instrument, symbol)
  }

const allWeek = Object.fromEntries(
  ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'].map((day) => [
    day,
    [{ from: '00:00:00.000', to: '24:00:00.000' }],
  ]),
)

const readSpecification = (ctx: Context, instrument: Instrument, symbol: string): void => {
  const { core, account } = ctx.state
  const open = core.market.isOpen(instrument.symbol)
  ctx.body = {
    symbol,
    description: instrument.description,
    path: `${instrument.path}\\${symbol}`,
    digits: instrument.digits,
    point: pointOf(instrument),
    tickSize: pointOf(instrument),
    contractSize: instrument.contractSize,
    minVolume: instrument.minVolume,
    maxVolume: instrument.maxVolume,
    volumeStep: instrument.volumeStep,
    fillingModes: ['SYMBOL_FILLING_FOK', 'SYMBOL_FILLING_IOC'],
    executionMode: 'SYMBOL_TRADE_EXECUTION_MARKET',
    tradeMode: 'SYMBOL_TRADE_MODE_FULL',
    stopsLevel: instrument.stopsLevel,
    freezeLevel: instrument.freezeLevel ?? 0,
    initialMargin: 0,
    maintenanceMargin: 0,
    hedgedMargin: instrument.contractSize,
    marginCurrency: instrument.baseCurrency,
    priceCalculationMode: instrument.path === 'Forex' ? 'SYMBOL_CALC_MODE_FOREX' : 'SYMBOL_CALC_MODE_CFDLEVERAGE',
    baseCurrency: instrument.baseCurrency,
    profitCurrency: instrument.profitCurrency,
    swapMode: 'SYMBOL_SWAP_MODE_POINTS',
    swapLong: instrument.swapLong,
    swapShort: instrument.swapShort,
    swapRollover3Days: 'WEDNESDAY',
    allowedExpirationModes: ['SYMBOL_EXPIRATION_GTC'],
    allowedOrderTypes: [
      'SYMBOL_ORDER_MARKET',
      'SYMBOL_ORDER_SL',
      'SYMBOL_ORDER_TP',
      ...(account.settings.platform === 'mt5' ? ['SYMBOL_ORDER_CLOSEBY'] : []),
    ],
    quoteSessions: open ? allWeek : {},
    tradeSessions: open ? allWeek : {},
  }
}

const readPrice = (ctx: Context, instrument: Instrument, symbol: string): void => {
  const { core, account, at } = ctx.state
  const details = checkFlag(ctx, 'keepSubscription')
  if (details.length > 0) return invalid(details)(ctx)
  const { currency, brokerUtcOffsetHours } = account.settings
  const { bid, ask } = core.market.prices.quote(instrument, at)
  const rate = core.market.rate(instrument.profitCurrency, currency, at)
  const tickValue = toNumber(decimal(pointOf(instrument)).times(instrument.contractSize).times(rate).round(6))
  ctx.body = {
    symbol,
    bid,
    ask,
    profitTickValue: tickValue,
    lossTickValue: tickValue,
    time: utcText(at),
    brokerTime: brokerText(at, brokerUtcOffsetHours),
  }
}

const calculateMargin: Handler = (ctx) => {
  const { core, account, at, body } = ctx.state
  const { symbol, type, volume, openPrice } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const details: Detail[] = []
  if (typeof symbol !== 'string' || symbol === '') details.push({ parameter: 'symbol', message: 'Value must be a symbol' })
  if (type !== 'ORDER_TYPE_BUY' && type !== 'ORDER_TYPE_SELL')
    details.push({ parameter: 'type', message: 'Value must be ORDER_TYPE_BUY or ORDER_TYPE_SELL' })
  if (!isPositive(volume)) details.push({ parameter: 'volume', message: 'Value must be a number above 0' })
  if (!isPositive(openPrice)) details.push({ parameter: 'openPrice', message: 'Value must be a number above 0' })
  if (details.length > 0 || typeof symbol !== 'string' || !isPositive(volume) || !isPositive(openPrice)) return invalid(details)(ctx)
  const instrument = findInstrument(core.market, account, symbol)
  if (instrument === undefined) return symbolNotFound(ctx)
  ctx.body = { margin: toNumber(marginOf(account.settings, core.market, instrument, decimal(volume), decimal(openPrice), at)) }
}

const isPositive = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && decimal(value).gt(zero)

export const marketRoutes = new Router<State>()
  .post('margin', '/calculate-margin', calculateMargin)
  .get('symbols', '/symbols', (ctx) => {
    const { core, account } = ctx.state
    ctx.body = [...core.market.instruments.keys()].map((symbol) => symbol + account.settings.symbolSuffix)
  })
  .get('specification', '/symbols/:symbol/specification', withInstrument(readSpecification))
  .get('price', '/symbols/:symbol/current-price', withInstrument(readPrice))
  .get('server-time', '/server-time', (ctx) => {
    const { account, at } = ctx.state
    const time = utcText(at)
    const brokerTime = brokerText(at, account.settings.brokerUtcOffsetHours)
    ctx.body = { time, brokerTime, lastQuoteTime: time, lastQuoteBrokerTime: brokerTime }
  })
