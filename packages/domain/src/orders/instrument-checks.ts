// What the broker's terms for an instrument and its quote say of a new order: checks of a preview
// alone, since the answer to the order itself is the broker's, and the estimates of a preview.
import type { AccountFigures } from '../accounts/account.ts'
import {
  weekdays,
  type BrokerInstrument,
  type Quote,
  type TradingSession,
} from '../market/market-data.ts'
import { moneyUnit, roundAmount, sumExactly, wholeUnits } from '../primitives/exact-sum.ts'
import { dayMs, hourMs, minuteMs, secondMs, type Instant } from '../primitives/instant.ts'
import { belongsBelow, type LevelName } from '../primitives/prices.ts'
import type { OrderRequest } from './order.ts'

/** Why the broker would refuse the order. */
export interface InstrumentFinding {
  readonly code:
    | 'INVALID_PRICE'
    | 'INVALID_VOLUME'
    | 'MARKET_CLOSED'
    | 'TRADING_DISABLED'
    | 'INSUFFICIENT_MARGIN'
  readonly message: string
  readonly details: Readonly<Record<string, number | string>>
}

interface InstrumentFacts {
  readonly order: OrderRequest
  readonly instrument: BrokerInstrument
  /** Undefined where it cannot be read. */
  readonly quote: Quote | undefined
  readonly now: Instant
}

/** Undefined where the broker cannot say. */
type InstrumentCheck = (facts: InstrumentFacts) => 'passed' | InstrumentFinding | undefined

const checkTradeMode: InstrumentCheck = ({ order: { side }, instrument: { tradeMode } }) => {
  if (tradeMode === null) return undefined
  const accepted =
    tradeMode === 'full' || tradeMode === (side === 'buy' ? 'long_only' : 'short_only')
  if (accepted) return 'passed'
  const message = `The broker accepts no ${side} orders for this instrument now; its trade mode is ${tradeMode}.`
  return { code: 'TRADING_DISABLED', message, details: { tradeMode } }
}

const checkMarketOpen: InstrumentCheck = ({ instrument: { sessions }, now }) => {
  const isOpen = isOpenAt(sessions, now)
  if (isOpen === undefined) return undefined
  if (isOpen) return 'passed'
  const message = 'The market is closed by the trading hours of the broker.'
  return { code: 'MARKET_CLOSED', message, details: {} }
}

const checkVolume =
  (
    name: 'minVolume' | 'maxVolume' | 'volumeStep',
    words: string,
    isGood: (volume: number, bound: number) => boolean,
  ): InstrumentCheck =>
  ({ order: { volume }, instrument: { [name]: bound } }) => {
    if (isGood(volume, bound)) return 'passed'
    const message = `volume must be ${words} ${bound} lots; got ${volume}.`
    return { code: 'INVALID_VOLUME', message, details: { [name]: bound, volume } }
  }

/** Whether a price of the order is on its side of another, and as far away as the broker requires. */
const checkDistance = (
  { order, instrument }: InstrumentFacts,
  name: LevelName | 'price' | 'stopLimitPrice',
  isBelow: boolean,
  price: number | undefined,
): ReturnType<InstrumentCheck> => {
  const value = order[name]
  if (value === undefined) return 'passed'
  if (price === undefined) return undefined
  const distance = sumExactly(isBelow ? [price, -value] : [value, -price])
  const minDistance = Number(`${instrument.stopsLevel}e-${instrument.digits}`)
  if (distance > 0 && distance >= minDistance) return 'passed'
  const place = isBelow ? 'below' : 'above'
  return {
    code: 'INVALID_PRICE',
    message: `${name} must be ${minDistance === 0 ? place : `at least ${minDistance} ${place}`} the price of ${price}; got ${value}.`,
    details: { currentPrice: price, minDistance, [name]: value },
  }
}

/**
 * A limit order waits for a better price than the market's, and a stop order for a worse one. A
 * stop-limit order becomes a limit order when the market reaches its price. An exchange also accepts
 * a limit order at the market's price or past it, so that no refusal is certain.
 */
const checkPrice: InstrumentCheck = (facts) => {
  const { order, quote } = facts
  if (order.orderType === 'market') return 'passed'
  const isBuy = order.side === 'buy'
  const marketPrice = entryPriceOf({ ...order, orderType: 'market' }, quote)
  const isLimit = order.orderType === 'limit'
  const result = checkDistance(facts, 'price', isBuy === isLimit, marketPrice)
  if (isLimit) return result === 'passed' ? result : undefined
  const limit = checkDistance(facts, 'stopLimitPrice', isBuy, order.price)
  return result === 'passed' && limit !== 'passed' ? undefined : result
}

/** Levels of a market order are measured from the price at which it would be closed. */
const checkLevel =
  (name: LevelName): InstrumentCheck =>
  (facts) => {
    const { order, quote } = facts
    const closing = { ...order, side: order.side === 'buy' ? 'sell' : 'buy' } as const
    return checkDistance(facts, name, belongsBelow(name, order.side), entryPriceOf(closing, quote))
  }

/** In their order. */
export const instrumentChecks = [
  { name: 'trade_mode', check: checkTradeMode },
  { name: 'market_open', check: checkMarketOpen },
  {
    name: 'volume_minimum',
    check: checkVolume('minVolume', 'at least', (volume, least) => volume >= least),
  },
  {
    name: 'volume_maximum',
    check: checkVolume('maxVolume', 'at most', (volume, most) => volume <= most),
  },
  {
    name: 'volume_step',
    check: checkVolume(
      'volumeStep',
      'a multiple of',
      (volume, step) =>
        step === 0 || wholeUnits(volume, moneyUnit) % wholeUnits(step, moneyUnit) === 0,
    ),
  },
  { name: 'price', check: checkPrice },
  { name: 'stop_loss', check: checkLevel('stopLoss') },
  { name: 'take_profit', check: checkLevel('takeProfit') },
] as const

// Sessions are by the broker's clock, whose zone is not known: open or closed is what holds in
// every zone of whole and half hours.
const zoneOffsetsMs = Array.from({ length: 53 }, (_, index) => (index / 2 - 12) * hourMs)

const isOpenAt = (sessions: readonly TradingSession[], now: Instant): boolean | undefined => {
  if (sessions.length === 0) return undefined
  const inZones = zoneOffsetsMs.map((offsetMs) => isOpenByClock(sessions, now + offsetMs))
  return inZones.every((isOpen) => isOpen === inZones[0]) ? inZones[0] : undefined
}

const isOpenByClock = (
  sessions: readonly TradingSession[],
  local: Instant,
): boolean | undefined => {
  const day = Math.floor(local / dayMs)
  const timeMs = local - day * dayMs
  // 1 January 1970 was a Thursday.
  const today = sessions.filter((session) => session.day === weekdays[(day + 3) % 7])
  if (!today.every(isReadable)) return undefined
  return today.some(({ from, to }) => {
    const [fromMs, toMs] = [timeOfDayMs(from), timeOfDayMs(to)]
    // One that ends at 00:00 lasts until midnight.
    return timeMs >= fromMs && (timeMs < toMs || toMs <= fromMs)
  })
}

/** Some terminals give a day as its first minute, whether it is all open or all closed. */
const isReadable = ({ from, to }: TradingSession): boolean =>
  [from, to].every((text) => /^\d\d?:\d\d(:\d\d(\.\d+)?)?$/.test(text)) &&
  (timeOfDayMs(from) > 0 || timeOfDayMs(to) === 0 || timeOfDayMs(to) >= minuteMs)

const timeOfDayMs = (text: string): number => {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number)
  return hours * hourMs + minutes * minuteMs + seconds * secondMs
}

/** The price at which the order would open a position now, or once it is triggered. */
export const entryPriceOf = (order: OrderRequest, quote: Quote | undefined): number | undefined =>
  order.orderType === 'market'
    ? quote && (order.side === 'buy' ? quote.ask : quote.bid)
    : (order.stopLimitPrice ?? order.price)

/**
 * Money in the account's currency. Null where the broker cannot say, or where there is no level.
 */
export interface OrderEstimate {
  readonly price: number | null
  readonly spread: number | null
  readonly margin: number | null
  /** Percent. */
  readonly marginLevelAfter: number | null
  /** What is lost at the stop loss. */
  readonly riskAmount: number | null
  /** What is gained at the take profit. */
  readonly rewardAmount: number | null
}

export interface EstimateFacts {
  readonly quote: Quote | undefined
  readonly instrument: BrokerInstrument | undefined
  readonly margin: number | undefined
  readonly figures: Pick<AccountFigures, 'equity' | 'margin' | 'freeMargin'> | undefined
}

export const estimateOrder = (
  order: OrderRequest,
  { quote, instrument, margin, figures }: EstimateFacts,
): OrderEstimate => {
  const price = entryPriceOf(order, quote)
  const { side, stopLoss, takeProfit } = order
  const moneyBetween = (
    from: number | undefined,
    to: number | undefined,
    tickValue: number | null | undefined,
  ): number | null => {
    if (from === undefined || to === undefined) return null
    // A provider that does not know a tick's size or value may report 0.
    if (!instrument?.tickSize || !tickValue) return null
    const distance = sumExactly(side === 'buy' ? [to, -from] : [from, -to])
    // A level on the wrong side of the price.
    if (distance <= 0) return null
    return roundAmount((distance * tickValue * order.volume) / instrument.tickSize)
  }
  return {
    price: price ?? null,
    spread: quote === undefined ? null : sumExactly([quote.ask, -quote.bid]),
    margin: margin ?? null,
    marginLevelAfter: marginLevelAfter(figures, margin),
    riskAmount: moneyBetween(stopLoss, price, quote?.lossTickValue),
    rewardAmount: moneyBetween(price, takeProfit, quote?.profitTickValue),
  }
}

const marginLevelAfter = (
  figures: EstimateFacts['figures'],
  margin: number | undefined,
): number | null => {
  if (figures === undefined || margin === undefined) return null
  const inUse = sumExactly([figures.margin, margin])
  return inUse <= 0 ? null : roundAmount((100 * figures.equity) / inUse)
}
