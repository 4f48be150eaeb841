// What is done with orders and positions, and its outcome, in words that say all of it.
import type { DataOf, NewOrder, Order, Position } from '@tradeport/client'
import { localSecond, lots, result } from './format.ts'
import { priceText, timeInForceText } from './words.ts'

const executionOf = (
  {
    orderType,
    price = 0,
    stopLimitPrice = 0,
  }: Pick<Order, 'orderType' | 'price' | 'stopLimitPrice'>,
  digits?: number,
): string =>
  ({
    market: 'at market',
    limit: `at ${priceText(price, digits)} or better`,
    stop: `at market once the price reaches ${priceText(price, digits)}`,
    stop_limit: `at ${priceText(stopLimitPrice, digits)} or better once the price reaches ${priceText(price, digits)}`,
  })[orderType]

/** Buy 0.10 EURUSD at market on First, stop loss 1.0700, no take profit. */
export const orderWords = (order: NewOrder, accountName: string, digits: number): string =>
  [
    `${order.type === 'buy' ? 'Buy' : 'Sell'} ${lots(order.volume)} ${order.symbol} ${executionOf(order, digits)} on ${accountName}`,
    order.stopLoss === undefined
      ? 'no stop loss'
      : `stop loss ${priceText(order.stopLoss, digits)}`,
    order.takeProfit === undefined
      ? 'no take profit'
      : `take profit ${priceText(order.takeProfit, digits)}`,
    ...(order.orderType === 'market' ? [] : [timeInForceText(order)]),
  ].join(', ')

/** The buy position of 0.10 EURUSD, ticket 5, on First. */
export const positionName = (
  { type, volume, symbol, brokerPositionId }: Position,
  accountName: string,
): string =>
  `the ${type} position of ${lots(volume)} ${symbol}, ticket ${brokerPositionId}, on ${accountName}`

/** The order to buy 0.10 EURUSD at 1.07 or better, ticket 5, on First. */
export const orderName = (order: Order, accountName: string): string =>
  `the order to ${order.type} ${lots(order.volume)} ${order.symbol} ${executionOf(order)}, ${order.brokerOrderId === undefined ? `id ${order.id}` : `ticket ${order.brokerOrderId}`}, on ${accountName}`

/** Prices that can be changed. */
export const changeableNames = {
  price: 'Price',
  stopLimitPrice: 'Price of the limit order',
  stopLoss: 'Stop loss',
  takeProfit: 'Take profit',
} as const

export type ChangeableField = keyof typeof changeableNames
/** The prices that the broker holds. */
export type CurrentPrices = Partial<Record<ChangeableField, number>>
/** Null removes. */
export type FieldChanges = Partial<Record<ChangeableField, number | null>>

/** Stop loss from 1.0700 to 1.0710, take profit 1.0900 removed. */
export const changeWords = (
  held: CurrentPrices,
  { expiresAt, ...prices }: FieldChanges & { readonly expiresAt?: string },
  digits: number,
): string => {
  const text = (price: number): string => priceText(price, digits)
  const words = (Object.entries(prices) as [ChangeableField, number | null][]).map(([name, to]) => {
    const from = held[name]
    const label = changeableNames[name].toLowerCase()
    if (to === null) return `${label} ${text(from ?? 0)} removed`
    return `${label} ${from === undefined ? 'set' : `from ${text(from)}`} to ${text(to)}`
  })
  return [...words, ...(expiresAt ? [`held until ${localSecond(expiresAt)}`] : [])].join(', ')
}

/** The outcome of an order so far. */
export const orderOutcome = (order: Order): string => {
  const { status, filledVolume, fillPrice, rejectReason, brokerOrderId } = order
  const filled = `${filledVolume === undefined ? '' : ` ${lots(filledVolume)} of ${lots(order.volume)}`}${fillPrice === undefined ? '' : ` at ${priceText(fillPrice)}`}`
  switch (status) {
    case 'pending':
      return `It is recorded as ${order.id}, and the broker may have it. The service goes on looking for it.`
    case 'open':
      return `The broker holds it${brokerOrderId === undefined ? '' : ` with the ticket ${brokerOrderId}`}.`
    case 'filled':
      return `Filled${filled}.`
    case 'partially_filled':
      return `Filled in part:${filled}.`
    case 'cancelled':
      return 'It was cancelled before it was filled.'
    case 'expired':
      return 'It has expired.'
    case 'rejected':
      return `Rejected: ${rejectReason?.message ?? 'without a reason.'}`
    default:
      return `This page does not know its status, ${String(status)}: look at the order.`
  }
}

/** Without a result it says that the price is not known yet. */
export const closeOutcome = (
  { closedVolume, remainingVolume, closePrice, realizedPnl }: DataOf<'closePosition'>,
  currency: string,
): string =>
  [
    `Closed ${lots(closedVolume)}`,
    closePrice === null ? '' : ` at ${priceText(closePrice)}`,
    realizedPnl === null
      ? '; its price is not known yet'
      : `, result ${result(realizedPnl, currency)} before commission and swap`,
    remainingVolume > 0 ? `; ${lots(remainingVolume)} stay open` : '',
    '.',
  ].join('')
