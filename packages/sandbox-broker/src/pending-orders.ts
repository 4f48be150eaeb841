// Pending orders: they wait for a price, and are filled by the market when it is reached, as a
// market order would be then. A limit order is therefore filled at its price or better, and a stop
// order with what the price has moved beyond it.
import { isDeepStrictEqual } from 'node:util'
import {
  type Account,
  enterOrder,
  type Moment,
  newOrderId,
  type PendingOrder,
  type OrderTerms,
  type Side,
} from './account.ts'
import {
  areStopsValid,
  filledVolume,
  fitsVolume,
  hasMoneyFor,
  leastDistanceOf,
  result,
  rounded,
  type TradeFault,
} from './checks.ts'
import { fillVolume } from './fills.ts'
import { type Instrument, instrumentOf } from './market.ts'
import {
  brokerAheadMs,
  brokerText,
  decimal,
  type Decimal,
  midnightAfter,
  toNumber,
  utcText,
} from './numbers.ts'
import { entryPriceOf } from './positions.ts'
import type { Result } from './return-codes.ts'
import type { OrderRow, PendingType, TradeReply } from './rows.ts'
import type { RequestedTerms, TradeRequest } from './trade-request.ts'

type Request<Action extends TradeRequest['action']> = Extract<TradeRequest, { action: Action }>

export const placePendingOrder = (
  moment: Moment,
  { type, symbol, volume, terms, origin }: Request<'place'>,
  fault: TradeFault,
): TradeReply => {
  const { account, at } = moment
  const { market, settings } = account
  const instrument = instrumentOf(market, symbol)
  if (settings.platform === 'mt4' && type.endsWith('STOP_LIMIT'))
    return result(moment, 'orderTypeNotSupported')
  if (!fitsVolume(instrument, volume)) return result(moment, 'invalidVolume')
  const refusal = refusalOf(moment, instrument, type, terms, at)
  if (refusal !== undefined) return result(moment, refusal)
  const id = fault.orderId ?? newOrderId(account)
  account.pending.push({
    id,
    type,
    side: sideOf(type),
    symbol,
    placedAt: at,
    volume: toNumber(volume),
    remaining: toNumber(volume),
    terms: termsOf(instrument, terms),
    origin,
    // MT4 fills a pending order whole: it becomes the position.
    fillFraction: settings.platform === 'mt4' ? undefined : fault.fillFraction,
    lastFillPrice: undefined,
    positionId: undefined,
  })
  account.revision++
  return result(moment, 'done', { orderId: id })
}

/**
 * Replaces all terms: a level that is left out is removed. Only a stop limit price is kept then.
 */
export const modifyPendingOrder = (
  moment: Moment,
  { orderId, terms }: Request<'modify-order'>,
): TradeReply => {
  const order = findPending(moment, orderId)
  if (order === undefined) return result(moment, 'orderNotFound')
  const instrument = instrumentOf(moment.account.market, order.symbol)
  const { stopLimitPrice } = order.terms
  const whole = {
    ...terms,
    stopLimitPrice:
      stopLimitPrice === undefined ? undefined : (terms.stopLimitPrice ?? decimal(stopLimitPrice)),
  }
  const replacement = termsOf(instrument, whole)
  if (isDeepStrictEqual(replacement, order.terms)) return result(moment, 'noChanges', { orderId })
  const refusal = refusalOf(moment, instrument, order.type, whole, order.placedAt)
  if (refusal !== undefined) return result(moment, refusal)
  order.terms = replacement
  moment.account.revision++
  return result(moment, 'done', { orderId })
}

export const cancelPendingOrder = (moment: Moment, orderId: string): TradeReply => {
  const order = findPending(moment, orderId)
  if (order === undefined) return result(moment, 'orderNotFound')
  if (!moment.account.market.isOpen(order.symbol)) return result(moment, 'marketClosed')
  finish(moment, order, order.lastFillPrice === undefined ? 'CANCELED' : 'PARTIAL')
  return result(moment, 'done', { orderId })
}

/** Gives an open order another ticket. */
export const replaceTicket = (account: Account, orderId: string | undefined): void => {
  const order = account.pending.find(({ id }) => id === orderId)
  if (order !== undefined) order.id = newOrderId(account)
}

/** Ends what has expired, and fills what the price has reached. */
export const executePendingOrders = (moment: Moment): void => {
  // An order that ends replaces the list, so this one can be walked to its end.
  for (const order of moment.account.pending) {
    const expiresAt = expiryOf(order.terms, order.placedAt)
    if (expiresAt !== undefined && moment.at >= expiresAt)
      expire({ ...moment, at: expiresAt }, order)
    else execute(moment, order)
  }
}

export const pendingRows = (moment: Moment): readonly OrderRow[] =>
  moment.account.pending.map((order) => ({
    ...rowOf(moment.account, order),
    currentPrice: toNumber(
      entryPriceOf(moment, instrumentOf(moment.account.market, order.symbol), order.side),
    ),
    state: order.lastFillPrice === undefined ? 'ORDER_STATE_PLACED' : 'ORDER_STATE_PARTIAL',
  }))

const findPending = (moment: Moment, orderId: string): PendingOrder | undefined =>
  moment.account.pending.find(({ id }) => id === orderId)

const sideOf = (type: PendingType): Side => (type.startsWith('ORDER_TYPE_BUY') ? 'buy' : 'sell')

const termsOf = (instrument: Instrument, requested: RequestedTerms): OrderTerms => {
  const { stopLoss, takeProfit } = rounded(instrument, requested.levels)
  const price = (value: Decimal): number => toNumber(value.round(instrument.digits))
  const { stopLimitPrice, expirationTime } = requested
  return {
    openPrice: price(requested.openPrice),
    ...(stopLimitPrice !== undefined && { stopLimitPrice: price(stopLimitPrice) }),
    ...(stopLoss !== undefined && { stopLoss: toNumber(stopLoss) }),
    ...(takeProfit !== undefined && { takeProfit: toNumber(takeProfit) }),
    expirationType: requested.expirationType,
    ...(expirationTime !== undefined && { expirationTime: utcText(expirationTime) }),
  }
}

/** Days end at midnight of the broker's clock. */
const expiryOf = (
  { expirationType, expirationTime = '' }: OrderTerms,
  placedAt: number,
): number | undefined => {
  switch (expirationType) {
    case 'ORDER_TIME_GTC':
      return undefined
    case 'ORDER_TIME_DAY':
      return midnightAfter(placedAt, brokerAheadMs(placedAt))
    case 'ORDER_TIME_SPECIFIED':
      return Date.parse(expirationTime)
  }
}

/** Why an order cannot wait on such terms, or undefined. */
const refusalOf = (
  moment: Moment,
  instrument: Instrument,
  type: PendingType,
  requested: RequestedTerms,
  placedAt: number,
): Result | undefined => {
  if (!moment.account.market.isOpen(instrument.symbol)) return 'marketClosed'
  const terms = termsOf(instrument, requested)
  const isKnownExpiration =
    moment.account.settings.platform === 'mt5' || terms.expirationType !== 'ORDER_TIME_DAY'
  const expiresAt = expiryOf(terms, placedAt)
  if (!isKnownExpiration || (expiresAt !== undefined && expiresAt <= moment.at))
    return 'invalidExpiration'
  const distance = distanceOf(moment, instrument, { type, terms })
  const limit = decimal(terms.stopLimitPrice ?? terms.openPrice)
  const isBuy = sideOf(type) === 'buy'
  const isLimitBeyondStop =
    terms.stopLimitPrice !== undefined &&
    (isBuy ? limit.gte(terms.openPrice) : limit.lte(terms.openPrice))
  if (distance.lte(0) || limit.lte(0) || isLimitBeyondStop) return 'invalidPrice'
  const isFarEnough = distance.gte(leastDistanceOf(instrument))
  return isFarEnough && areStopsValid(instrument, sideOf(type), limit, requested.levels)
    ? undefined
    : 'invalidStops'
}

/**
 * How far the market still is from the price that an order waits for; 0 or less where it is
 * reached.
 */
const distanceOf = (
  moment: Moment,
  instrument: Instrument,
  { type, terms }: Pick<PendingOrder, 'type' | 'terms'>,
): Decimal => {
  const side = sideOf(type)
  const rise = decimal(terms.openPrice).minus(entryPriceOf(moment, instrument, side))
  const isLimit = type === 'ORDER_TYPE_BUY_LIMIT' || type === 'ORDER_TYPE_SELL_LIMIT'
  return (side === 'buy') === isLimit ? rise.times(-1) : rise
}

const execute = (moment: Moment, order: PendingOrder): void => {
  const { market } = moment.account
  if (!market.isOpen(order.symbol)) return
  const instrument = instrumentOf(market, order.symbol)
  if (distanceOf(moment, instrument, order).gt(0)) return
  if (order.terms.stopLimitPrice !== undefined) return becomeLimit(moment, order)
  const { side, terms, origin } = order
  const price = toNumber(entryPriceOf(moment, instrument, side))
  // The rest of an order is filled at another price.
  if (price === order.lastFillPrice) return
  const part = filledVolume(instrument, decimal(order.volume), order)
  const volume = part.lt(order.remaining) ? part : decimal(order.remaining)
  if (!hasMoneyFor(moment, instrument, { side, volume })) return finish(moment, order, 'REJECTED')
  const levels = { stopLoss: levelOf(terms.stopLoss), takeProfit: levelOf(terms.takeProfit) }
  const { identifier } = fillVolume(
    moment,
    { instrument, side, volume, ...levels, origin },
    order.id,
  )
  order.remaining = toNumber(decimal(order.remaining).minus(volume))
  order.lastFillPrice = price
  order.positionId = identifier
  if (order.remaining === 0) finish(moment, order, 'FILLED')
}

const levelOf = (level: number | undefined): Decimal | undefined =>
  level === undefined ? undefined : decimal(level)

const becomeLimit = ({ account }: Moment, order: PendingOrder): void => {
  const { stopLimitPrice, ...terms } = order.terms
  order.type = order.side === 'buy' ? 'ORDER_TYPE_BUY_LIMIT' : 'ORDER_TYPE_SELL_LIMIT'
  order.terms = { ...terms, openPrice: stopLimitPrice ?? terms.openPrice }
  account.revision++
}

/** MT4 knows no expired orders: it cancels them with a comment. */
const expire = (moment: Moment, order: PendingOrder): void =>
  moment.account.settings.platform === 'mt4'
    ? finish(moment, order, 'CANCELED', { brokerComment: '[expiration]' })
    : finish(moment, order, 'EXPIRED')

const finish = (
  moment: Moment,
  order: PendingOrder,
  state: 'FILLED' | 'PARTIAL' | 'CANCELED' | 'EXPIRED' | 'REJECTED',
  more: { readonly brokerComment?: string } = {},
): void => {
  const { account, at } = moment
  account.pending = account.pending.filter((other) => other !== order)
  enterOrder(account, {
    ...rowOf(account, order),
    state: `ORDER_STATE_${state}`,
    doneTime: utcText(at),
    doneBrokerTime: brokerText(at),
    ...more,
  })
}

const rowOf = ({ settings }: Account, order: PendingOrder) => {
  const { comment, clientId, magic = 0, reason } = order.origin
  return {
    id: order.id,
    platform: settings.platform,
    type: order.type,
    time: utcText(order.placedAt),
    brokerTime: brokerText(order.placedAt),
    symbol: order.symbol,
    magic,
    volume: order.volume,
    currentVolume: order.remaining,
    ...order.terms,
    ...(order.positionId !== undefined && { positionId: order.positionId }),
    ...(comment !== undefined && { comment }),
    ...(clientId !== undefined && { clientId }),
    reason: `ORDER_REASON_${reason}`,
    fillingMode: 'ORDER_FILLING_RETURN',
  }
}
