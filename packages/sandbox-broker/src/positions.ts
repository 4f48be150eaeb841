// The value of open positions and of the account: profit, swap, margin, equity, and their rows.
import type { Moment, Position, Side } from './account.ts'
import { type Instrument, pointOf } from './market.ts'
import {
  winterAheadMs,
  brokerText,
  dayMs,
  decimal,
  type Decimal,
  midnightAfter,
  sum,
  toCents,
  toNumber,
  utcText,
  zero,
} from './numbers.ts'
import type { PositionRow } from './rows.ts'

export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')

/** The price at which a side opens; the other side closes there. */
export const entryPriceOf = (
  { account: { market }, at }: Moment,
  instrument: Instrument,
  side: Side,
): Decimal => {
  const { bid, ask } = market.prices.quote(instrument, at)
  return decimal(side === 'buy' ? ask : bid)
}

export const exitPriceOf = (moment: Moment, { instrument, side }: Position): Decimal =>
  entryPriceOf(moment, instrument, opposite(side))

/** What one unit of the instrument's profit currency is worth in the account's currency. */
const rateOf = ({ account, at }: Moment, { profitCurrency }: Instrument): Decimal =>
  account.market.rate(profitCurrency, account.settings.currency, at)

/**
 * Price profit of a volume closed at a price: (close − open) × contract size × volume × side, in
 * the account's currency.
 */
export const profitOf = (
  moment: Moment,
  { instrument, openPrice, side }: Position,
  volume: Decimal,
  price: Decimal,
): Decimal => {
  const distance = side === 'buy' ? price.minus(openPrice) : openPrice.minus(price)
  return toCents(
    distance.times(instrument.contractSize).times(volume).times(rateOf(moment, instrument)),
    moment.account.settings.currencyDigits,
  )
}

/**
 * Counts the nights since swap was last counted. A night is the broker's midnight; Wednesday's
 * counts three times for the weekend.
 */
export const accrueSwap = (moment: Moment, position: Position): void => {
  const { account, at } = moment
  const { instrument } = position
  const points = position.side === 'buy' ? instrument.swapLong : instrument.swapShort
  let midnight = midnightAfter(position.swapUntil, winterAheadMs)
  for (; midnight <= at; midnight += dayMs) {
    const nights = nightsAt(midnight + winterAheadMs)
    if (nights === 0) continue
    const perNight = decimal(points)
      .times(pointOf(instrument))
      .times(instrument.contractSize)
      .times(position.volume)
      .times(rateOf({ ...moment, at: midnight }, instrument))
    const { currencyDigits } = account.settings
    position.swap = position.swap.plus(toCents(perNight.times(nights), currencyDigits))
  }
  if (at > position.swapUntil) position.swapUntil = at
}

export const positionRows = (moment: Moment): readonly PositionRow[] =>
  moment.account.positions.map((position) => positionRow(moment, position))

const positionRow = (moment: Moment, position: Position): PositionRow => {
  accrueSwap(moment, position)
  const { instrument } = position
  const price = exitPriceOf(moment, position)
  const unrealized = profitOf(moment, position, position.volume, price)
  const realized = position.realizedProfit
    .plus(position.realizedCommission)
    .plus(position.realizedSwap)
  const tickValue = decimal(pointOf(instrument))
    .times(instrument.contractSize)
    .times(rateOf(moment, instrument))
  return {
    id: position.id,
    platform: moment.account.settings.platform,
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

/** How many nights' interest falls due at a midnight that ends a day, in the broker's zone. */
const nightsAt = (midnight: number): number => {
  const endedDay = new Date(midnight - 1).getUTCDay()
  if (endedDay === 0 || endedDay === 6) return 0
  return endedDay === 3 ? 3 : 1
}

/** Margin = contract size × volume × price ÷ leverage, in the account's currency. */
export const marginOf = (
  moment: Moment,
  instrument: Instrument,
  volume: Decimal,
  price: Decimal,
): Decimal => {
  const { leverage, currencyDigits } = moment.account.settings
  return toCents(
    decimal(instrument.contractSize)
      .times(volume)
      .times(price)
      .times(rateOf(moment, instrument))
      .div(leverage),
    currencyDigits,
  )
}

export const figuresOf = (moment: Moment) => {
  const { account } = moment
  const floating = account.positions.map((position) => {
    accrueSwap(moment, position)
    return profitOf(moment, position, position.volume, exitPriceOf(moment, position)).plus(
      position.swap,
    )
  })
  const margins = account.positions.map((position) =>
    marginOf(moment, position.instrument, position.volume, position.openPrice),
  )
  const equity = account.balance.plus(account.credit).plus(sum(floating))
  const margin = sum(margins)
  return { equity, margin, freeMargin: equity.minus(margin) }
}

export type AccountInformation = ReturnType<typeof informationOf>

export const informationOf = (moment: Moment) => {
  const { account } = moment
  const { settings } = account
  const { equity, margin, freeMargin } = figuresOf(moment)
  return {
    platform: settings.platform,
    broker: settings.broker,
    currency: settings.currency,
    currencyDigits: settings.currencyDigits,
    server: settings.server,
    balance: toNumber(account.balance),
    equity: toNumber(equity),
    margin: toNumber(margin),
    freeMargin: toNumber(freeMargin),
    leverage: settings.leverage,
    ...(margin.gt(zero) && { marginLevel: toNumber(equity.div(margin).times(100).round(2)) }),
    tradeAllowed: true,
    investorMode: false,
    marginMode: settings.marginMode,
    name: settings.name,
    login: Number(settings.login),
    credit: toNumber(account.credit),
    type: settings.type,
  }
}
