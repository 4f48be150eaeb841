// How orders fill: each fill enters deals and an order, and changes positions, so that balance =
// sum of deals and open volume = in − out.
import {
  enterDeal,
  enterOrder,
  isNetting,
  newDealId,
  newOrderId,
  timesOf,
  type Moment,
  newPosition,
  type OrderOrigin,
  type Position,
  type Side,
} from './account.ts'
import type { Instrument } from './market.ts'
import { decimal, shareOf, toCents, toNumber, zero, type Decimal } from './numbers.ts'
import { accrueSwap, entryPriceOf, exitPriceOf, opposite, profitOf } from './positions.ts'

export type MarketOrder = {
  readonly instrument: Instrument
  readonly side: Side
  readonly volume: Decimal
  readonly stopLoss?: Decimal | undefined
  readonly takeProfit?: Decimal | undefined
  readonly origin: OrderOrigin
  /** The ticket, if it was given out before the fill. */
  readonly orderId?: string | undefined
}

export type Fill = { readonly orderId: string; readonly positionId: string }

/** Fills a market order, and enters it as finished. */
export const fillMarketOrder = (moment: Moment, order: MarketOrder): Fill => {
  const { instrument, side } = order
  const orderId = order.orderId ?? newOrderId(moment.account)
  const price = entryPriceOf(moment, instrument, side)
  const position = fillVolume(moment, order, orderId)
  enterFilledOrder(moment, position, { ...order, orderId, price })
  return { orderId, positionId: position.id }
}

/**
 * Fills an order, or a part of a pending one, at the market: a new position when hedging; adding,
 * reducing, closing or reversing when netting. Returns the position, open or closed.
 */
export const fillVolume = (moment: Moment, order: MarketOrder, orderId: string): Position => {
  const { account } = moment
  const { instrument, side, volume, origin } = order
  // On hedging accounts only an earlier fill of the same order can have opened its position.
  const held = account.positions.find(({ symbol, identifier }) =>
    isNetting(account) ? symbol === instrument.symbol : identifier === orderId,
  )
  if (held === undefined) return open(moment, order, orderId)
  if (held.side === side) add(moment, held, order, orderId)
  else if (volume.lte(held.volume))
    closeVolume(moment, held, volume, exitPriceOf(moment, held), orderId, origin)
  else reverse(moment, held, order, orderId)
  return held
}

/** Closes a volume of a position at the market, or at a price that a level fixed. */
export const fillClose = (
  moment: Moment,
  position: Position,
  volume: Decimal,
  origin: OrderOrigin,
  fixed: { readonly price?: Decimal | undefined; readonly orderId?: string | undefined } = {},
): Fill => {
  const { account } = moment
  const positionId = position.id
  const price = fixed.price ?? exitPriceOf(moment, position)
  const orderId = fixed.orderId ?? closingOrderId(moment, position)
  closeVolume(moment, position, volume, price, orderId, origin)
  if (account.settings.platform !== 'mt4')
    enterFilledOrder(moment, position, {
      side: opposite(position.side),
      orderId,
      volume,
      price,
      origin,
    })
  return { orderId, positionId }
}

/** On MT4 a close has no order of its own. */
export const closingOrderId = ({ account }: Moment, { id }: Position): string =>
  account.settings.platform === 'mt4' ? id : newOrderId(account)

/** Money in or out of the account that is not a trade. */
export const enterBalanceDeal = (
  moment: Moment,
  amount: Decimal,
  comment: string | undefined,
  type: string,
): string => {
  const id = newDealId(moment.account)
  enterDeal(moment.account, {
    id,
    ...timesOf(moment),
    type,
    profit: toNumber(amount),
    commission: 0,
    swap: 0,
    ...(comment !== undefined && { comment }),
  })
  return id
}

const open = (moment: Moment, order: MarketOrder, orderId: string): Position => {
  const { instrument, side, volume, origin } = order
  const price = entryPriceOf(moment, instrument, side)
  const position = newPosition(
    {
      id: orderId,
      side,
      symbol: instrument.symbol,
      instrument,
      volume,
      openPrice: price,
      stopLoss: order.stopLoss,
      takeProfit: order.takeProfit,
      magic: origin.magic ?? 0,
      comment: origin.comment,
      clientId: origin.clientId,
      reason: `POSITION_REASON_${origin.reason}`,
    },
    moment.at,
  )
  moment.account.positions.push(position)
  enterOpening(moment, position, order, orderId, price)
  return position
}

const add = (moment: Moment, position: Position, order: MarketOrder, orderId: string): void => {
  const price = entryPriceOf(moment, order.instrument, order.side)
  accrueSwap(moment, position)
  const volume = position.volume.plus(order.volume)
  position.openPrice = position.openPrice
    .times(position.volume)
    .plus(price.times(order.volume))
    .div(volume)
    .round(10)
  position.volume = volume
  position.updatedAt = moment.at
  position.stopLoss = order.stopLoss ?? position.stopLoss
  position.takeProfit = order.takeProfit ?? position.takeProfit
  enterOpening(moment, position, order, orderId, price)
}

const enterOpening = (
  moment: Moment,
  position: Position,
  order: MarketOrder,
  orderId: string,
  price: Decimal,
): void => {
  const commission = commissionOf(moment, position, order.volume)
  position.entryCommission = position.entryCommission.plus(commission)
  const { side, volume, origin } = order
  enterFill(moment, position, {
    side,
    orderId,
    entryType: 'DEAL_ENTRY_IN',
    volume,
    price,
    profit: zero,
    commission,
    swap: zero,
    origin,
    levels: order,
  })
}

const closeVolume = (
  moment: Moment,
  position: Position,
  volume: Decimal,
  price: Decimal,
  orderId: string,
  origin: OrderOrigin,
): void => {
  const { account, at } = moment
  const { currencyDigits, platform, mt4PartialTicket } = account.settings
  accrueSwap(moment, position)
  const profit = profitOf(moment, position, volume, price)
  const swap = shareOf(position.swap, volume, position.volume, currencyDigits)
  const entryShare = shareOf(position.entryCommission, volume, position.volume, currencyDigits)
  const commission = commissionOf(moment, position, volume)
  enterFill(moment, position, {
    side: opposite(position.side),
    orderId,
    entryType: 'DEAL_ENTRY_OUT',
    volume,
    price,
    profit,
    commission,
    swap,
    origin,
  })
  position.volume = position.volume.minus(volume)
  position.updatedAt = at
  position.swap = position.swap.minus(swap)
  position.entryCommission = position.entryCommission.minus(entryShare)
  position.realizedProfit = position.realizedProfit.plus(profit)
  position.realizedCommission = position.realizedCommission.plus(entryShare).plus(commission)
  position.realizedSwap = position.realizedSwap.plus(swap)
  if (position.volume.eq(zero))
    account.positions = account.positions.filter((other) => other !== position)
  else if (platform === 'mt4' && mt4PartialTicket === 'new') position.id = newOrderId(account)
}

/**
 * One deal closes the whole position and opens the rest on the other side; the position keeps its
 * id.
 */
const reverse = (moment: Moment, position: Position, order: MarketOrder, orderId: string): void => {
  const { at } = moment
  const { side, volume, origin } = order
  const price = exitPriceOf(moment, position)
  accrueSwap(moment, position)
  const rest = volume.minus(position.volume)
  const closing = commissionOf(moment, position, position.volume)
  const opening = commissionOf(moment, position, rest)
  const profit = profitOf(moment, position, position.volume, price)
  enterFill(moment, position, {
    side,
    orderId,
    entryType: 'DEAL_ENTRY_INOUT',
    volume,
    price,
    profit,
    commission: closing.plus(opening),
    swap: position.swap,
    origin,
    levels: order,
  })
  position.realizedProfit = position.realizedProfit.plus(profit)
  position.realizedCommission = position.realizedCommission
    .plus(position.entryCommission)
    .plus(closing)
  position.realizedSwap = position.realizedSwap.plus(position.swap)
  position.side = side
  position.volume = rest
  position.openPrice = price
  position.swap = zero
  position.swapUntil = at
  position.entryCommission = opening
  position.updatedAt = at
  // Levels of the old side make no sense on the new one.
  position.stopLoss = order.stopLoss
  position.takeProfit = order.takeProfit
}

/** Half of a round turn, as a negative amount: the other half is on the other deal. */
const commissionOf = ({ account }: Moment, { instrument }: Position, volume: Decimal): Decimal =>
  toCents(
    decimal(-instrument.commissionPerLot).times(volume).div(2),
    account.settings.currencyDigits,
  )

/** Enters the deal of a fill. */
const enterFill = (
  moment: Moment,
  position: Position,
  fill: {
    readonly side: Side
    readonly orderId: string
    readonly entryType: 'DEAL_ENTRY_IN' | 'DEAL_ENTRY_OUT' | 'DEAL_ENTRY_INOUT'
    readonly volume: Decimal
    readonly price: Decimal
    readonly profit: Decimal
    readonly commission: Decimal
    readonly swap: Decimal
    readonly origin: OrderOrigin
    /** Of the order that opens or reverses it; those of the position if absent. */
    readonly levels?: Pick<MarketOrder, 'stopLoss' | 'takeProfit'>
  },
): void => {
  const { account } = moment
  const { platform, mt4PartialTicket } = account.settings
  const { stopLoss, takeProfit } = fill.levels ?? position
  // If the ticket were kept after a partial close, two closing deals could not be distinguished by
  // a shared id.
  const isShared = platform === 'mt4' && mt4PartialTicket === 'new'
  enterDeal(account, {
    id: isShared ? position.id : newDealId(account),
    ...fieldsOf(moment, position, fill),
    type: `DEAL_TYPE_${fill.side.toUpperCase()}`,
    entryType: fill.entryType,
    price: toNumber(fill.price),
    commission: toNumber(fill.commission),
    swap: toNumber(fill.swap),
    profit: toNumber(fill.profit),
    orderId: fill.orderId,
    reason: `DEAL_REASON_${fill.origin.reason}`,
    ...(stopLoss !== undefined && { stopLoss: toNumber(stopLoss) }),
    ...(takeProfit !== undefined && { takeProfit: toNumber(takeProfit) }),
  })
}

type FilledVolume = Pick<MarketOrder, 'side' | 'volume' | 'origin'>

/** What the rows of a deal and of its order share. */
const fieldsOf = (moment: Moment, position: Position, { volume, origin }: FilledVolume) => ({
  ...timesOf(moment),
  symbol: position.symbol,
  magic: origin.magic ?? position.magic,
  volume: toNumber(volume),
  positionId: position.identifier,
  ...(origin.comment !== undefined && { comment: origin.comment }),
  ...(origin.clientId !== undefined && { clientId: origin.clientId }),
})

const enterFilledOrder = (
  moment: Moment,
  position: Position,
  order: FilledVolume & { readonly orderId: string; readonly price: Decimal },
): void => {
  const { time, brokerTime } = timesOf(moment)
  enterOrder(moment.account, {
    id: order.orderId,
    ...fieldsOf(moment, position, order),
    type: `ORDER_TYPE_${order.side.toUpperCase()}`,
    state: 'ORDER_STATE_FILLED',
    doneTime: time,
    doneBrokerTime: brokerTime,
    openPrice: toNumber(order.price),
    currentVolume: 0,
    reason: `ORDER_REASON_${order.origin.reason}`,
    fillingMode: 'ORDER_FILLING_FOK',
    expirationType: 'ORDER_TIME_GTC',
  })
}
