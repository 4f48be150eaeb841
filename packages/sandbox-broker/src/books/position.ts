// An open position: how it earns, what it costs overnight, and how its row reads.
import { decimal, toCents, toNumber, zero, type Decimal } from '../numbers/decimal.ts'
import { BROKER_AHEAD_MS, brokerText, DAY_MS, utcText } from '../numbers/clock-text.ts'
import { pointOf, type Instrument } from '../market/instruments.ts'
import type { Market } from '../market/market.ts'
import type { PositionRow } from '../rows.ts'
import type { AccountSettings } from './account-settings.ts'

export type Side = 'buy' | 'sell'

export type Position = {
  /** The ticket that the broker knows it by now. */
  id: string
  /** The ticket of the order that opened it, which its deals carry. */
  readonly identifier: string
  side: Side
  readonly symbol: string
  readonly instrument: Instrument
  volume: Decimal
  /** On netting accounts the running average. */
  openPrice: Decimal
  readonly openedAt: number
  updatedAt: number
  stopLoss: Decimal | undefined
  takeProfit: Decimal | undefined
  readonly magic: number
  readonly comment: string | undefined
  readonly clientId: string | undefined
  readonly reason: string
  /** Swap gathered on the open volume, and until when it was counted. */
  swap: Decimal
  swapUntil: number
  /** Commission that the opening deals charged for the open volume. */
  entryCommission: Decimal
  realizedProfit: Decimal
  realizedCommission: Decimal
  realizedSwap: Decimal
}

export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')

/** The price at which a side opens; the other side closes there. */
export const entryPriceOf = (
  market: Market,
  instrument: Instrument,
  side: Side,
  at: number,
): Decimal => {
  const { bid, ask } = market.prices.quote(instrument, at)
  return decimal(side === 'buy' ? ask : bid)
}

export const exitPriceOf = (market: Market, position: Position, at: number): Decimal =>
  entryPriceOf(market, position.instrument, opposite(position.side), at)

/**
 * Price profit of a volume closed at a price: (close − open) × contract size × volume × side, in
 * the account's currency.
 */
export const profitOf = (
  settings: AccountSettings,
  market: Market,
  position: Position,
  volume: Decimal,
  price: Decimal,
  at: number,
): Decimal => {
  const { instrument, openPrice, side } = position
  const distance = side === 'buy' ? price.minus(openPrice) : openPrice.minus(price)
  const rate = market.rate(instrument.profitCurrency, settings.currency, at)
  return toCents(
    distance.times(instrument.contractSize).times(volume).times(rate),
    settings.currencyDigits,
  )
}

/**
 * Counts the nights since swap was last counted. A night is the broker's midnight; Wednesday's
 * counts three times for the weekend.
 */
export const accrueSwap = (
  settings: AccountSettings,
  market: Market,
  position: Position,
  at: number,
): void => {
  const { instrument } = position
  const points = position.side === 'buy' ? instrument.swapLong : instrument.swapShort
  let midnight =
    Math.floor((position.swapUntil + BROKER_AHEAD_MS) / DAY_MS) * DAY_MS + DAY_MS - BROKER_AHEAD_MS
  for (; midnight <= at; midnight += DAY_MS) {
    const nights = nightsAt(midnight + BROKER_AHEAD_MS)
    if (nights === 0) continue
    const rate = market.rate(instrument.profitCurrency, settings.currency, midnight)
    const perNight = decimal(points)
      .times(pointOf(instrument))
      .times(instrument.contractSize)
      .times(position.volume)
      .times(rate)
    position.swap = position.swap.plus(toCents(perNight.times(nights), settings.currencyDigits))
  }
  if (at > position.swapUntil) position.swapUntil = at
}

export const positionRow = (
  settings: AccountSettings,
  market: Market,
  position: Position,
  at: number,
): PositionRow => {
  accrueSwap(settings, market, position, at)
  const { instrument } = position
  const price = exitPriceOf(market, position, at)
  const unrealized = profitOf(settings, market, position, position.volume, price, at)
  const realized = position.realizedProfit
    .plus(position.realizedCommission)
    .plus(position.realizedSwap)
  const tickValue = decimal(pointOf(instrument))
    .times(instrument.contractSize)
    .times(market.rate(instrument.profitCurrency, settings.currency, at))
  return {
    id: position.id,
    platform: settings.platform,
    type: position.side === 'buy' ? 'POSITION_TYPE_BUY' : 'POSITION_TYPE_SELL',
    symbol: position.symbol,
    magic: position.magic,
    time: utcText(position.openedAt),
    brokerTime: brokerText(position.openedAt),
    updateTime: utcText(position.updatedAt),
    openPrice: toNumber(position.openPrice),
    currentPrice: toNumber(price),
    currentTickValue: toNumber(tickValue.round(6)),
    ...(position.stopLoss !== undefined && { stopLoss: toNumber(position.stopLoss) }),
    ...(position.takeProfit !== undefined && { takeProfit: toNumber(position.takeProfit) }),
    volume: toNumber(position.volume),
    swap: toNumber(position.realizedSwap.plus(position.swap)),
    realizedSwap: toNumber(position.realizedSwap),
    unrealizedSwap: toNumber(position.swap),
    commission: toNumber(position.realizedCommission.plus(position.entryCommission)),
    realizedCommission: toNumber(position.realizedCommission),
    unrealizedCommission: toNumber(position.entryCommission),
    profit: toNumber(unrealized.plus(realized)),
    unrealizedProfit: toNumber(unrealized),
    realizedProfit: toNumber(realized),
    ...(position.comment !== undefined && { comment: position.comment }),
    ...(position.clientId !== undefined && { clientId: position.clientId }),
    reason: position.reason,
  }
}

export const newPosition = (
  fixed: Pick<
    Position,
    | 'id'
    | 'side'
    | 'symbol'
    | 'instrument'
    | 'volume'
    | 'openPrice'
    | 'magic'
    | 'comment'
    | 'clientId'
    | 'reason'
  > & {
    readonly stopLoss: Decimal | undefined
    readonly takeProfit: Decimal | undefined
  },
  at: number,
): Position => ({
  ...fixed,
  identifier: fixed.id,
  openedAt: at,
  updatedAt: at,
  swap: zero,
  swapUntil: at,
  entryCommission: zero,
  realizedProfit: zero,
  realizedCommission: zero,
  realizedSwap: zero,
})

/** How many nights' interest falls due at a midnight that ends a day, in the broker's zone. */
const nightsAt = (midnight: number): number => {
  const endedDay = new Date(midnight - 1).getUTCDay()
  if (endedDay === 0 || endedDay === 6) return 0
  return endedDay === 3 ? 3 : 1
}
