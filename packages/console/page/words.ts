// Orders, positions and what is done with them, in words that say all of it.
import {
  isTradeportError,
  type Account,
  type Client,
  type DataOf,
  type NewOrder,
  type Order,
  type Position,
} from '@tradeport/client'
import { decimalsOf, localSecond, lots, money, plural, priceIn } from './format.ts'

/** A price with the broker's decimals, or with all that it has. */
export const priceText = (value: number, digits = 0): string =>
  priceIn(Math.max(digits, 2, decimalsOf([value])))(value)

/** Prices of one symbol with as many decimals as the longest of them; `none` without a price. */
export const sameDigits = (...prices: readonly (number | undefined)[]) => {
  const digits = decimalsOf(prices.filter((value) => value !== undefined))
  return (value: number | undefined): string =>
    value === undefined ? 'none' : priceText(value, digits)
}

interface Terms extends Pick<
  NewOrder,
  | 'type'
  | 'orderType'
  | 'volume'
  | 'symbol'
  | 'price'
  | 'stopLimitPrice'
  | 'timeInForce'
  | 'expiresAt'
> {
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
}

export const kindNames: Readonly<Record<NewOrder['orderType'], string>> = {
  market: 'Market',
  limit: 'Limit',
  stop: 'Stop',
  stop_limit: 'Stop limit',
}

const executionOf = (
  {
    orderType,
    price = 0,
    stopLimitPrice = 0,
  }: Pick<Terms, 'orderType' | 'price' | 'stopLimitPrice'>,
  digits?: number,
): string =>
  ({
    market: 'at market',
    limit: `at ${priceText(price, digits)} or better`,
    stop: `at market once the price reaches ${priceText(price, digits)}`,
    stop_limit: `at ${priceText(stopLimitPrice, digits)} or better once the price reaches ${priceText(price, digits)}`,
  })[orderType]

/** How long the broker holds it. */
export const untilOf = ({
  timeInForce = 'gtc',
  expiresAt,
}: Pick<Terms, 'timeInForce' | 'expiresAt'>): string =>
  timeInForce === 'day'
    ? 'until the end of the trading day'
    : timeInForce === 'gtd' && expiresAt !== undefined
      ? `until ${localSecond(expiresAt)}`
      : 'until it is cancelled'

/** Buy 0.10 EURUSD at market on First, stop 1.0700, no target. */
export const orderWords = (order: Terms, accountName: string, digits: number): string =>
  [
    `${order.type === 'buy' ? 'Buy' : 'Sell'} ${lots(order.volume)} ${order.symbol} ${executionOf(order, digits)} on ${accountName}`,
    order.stopLoss === undefined ? 'no stop' : `stop ${priceText(order.stopLoss, digits)}`,
    order.takeProfit === undefined ? 'no target' : `target ${priceText(order.takeProfit, digits)}`,
    ...(order.orderType === 'market' ? [] : [untilOf(order)]),
  ].join(', ')

/** A change of one of the fields; `to` is null where it is removed. */
export const changeWords = (
  name: string,
  from: number | undefined,
  to: number | null,
  digits: number,
): string => {
  if (to === null) return `${name} ${priceText(from ?? 0, digits)} removed`
  return from === undefined
    ? `${name} set to ${priceText(to, digits)}`
    : `${name} from ${priceText(from, digits)} to ${priceText(to, digits)}`
}

/** The buy position of 0.10 EURUSD, number 5, on First. */
export const positionName = (
  { type, volume, symbol, brokerPositionId }: Position,
  accountName: string,
): string =>
  `the ${type} position of ${lots(volume)} ${symbol}, number ${brokerPositionId}, on ${accountName}`

/** The order to buy 0.10 EURUSD at 1.07 or better, number 5, on First. */
export const orderName = (order: Order, accountName: string): string =>
  `the order to ${order.type} ${lots(order.volume)} ${order.symbol} ${executionOf(order)}, number ${order.brokerOrderId ?? order.id}, on ${accountName}`

/** The id where the account is not known. */
export const accountName = (accounts: readonly Account[] | undefined, id: string): string =>
  accounts?.find((account) => account.id === id)?.name ?? id

/** The outcome of an order so far. */
export const orderOutcome = (order: Order): string => {
  const { status, filledVolume, fillPrice, rejectReason, brokerOrderId } = order
  const filled = `${filledVolume === undefined ? '' : ` ${lots(filledVolume)} of ${lots(order.volume)}`}${fillPrice === undefined ? '' : ` at ${priceText(fillPrice)}`}`
  switch (status) {
    case 'pending':
      return 'The broker has not answered yet.'
    case 'open':
      return `The broker holds it${brokerOrderId === undefined ? '' : ` as number ${brokerOrderId}`}.`
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
  }
}

/** Without a result it says that the price is not known yet. */
export const closeOutcome = (
  {
    closedVolume = 0,
    remainingVolume = 0,
    closePrice,
    realizedPnl,
  }: {
    readonly closedVolume?: number
    readonly remainingVolume?: number
    readonly closePrice?: number | null
    readonly realizedPnl?: number | null
  },
  currency: string | undefined,
): string =>
  [
    `Closed ${lots(closedVolume)}`,
    typeof closePrice === 'number' ? ` at ${priceText(closePrice)}` : '',
    typeof realizedPnl === 'number'
      ? `, result ${money(realizedPnl, currency, 'exceptZero')} before commission and swap`
      : '; its price is not in the history yet',
    remainingVolume > 0 ? `; ${lots(remainingVolume)} stay open` : '',
    '.',
  ].join('')

export type Provenance = Awaited<ReturnType<Client['getTradeStatistics']>>['meta']['provenance']

/** Why the deals of a position make no trade. */
export const skipReasons: Readonly<Record<Provenance['skipped'][number]['reason'], string>> = {
  unsupported_deal_entry_type:
    'it was reversed or closed by an opposite position, or a deal does not say whether it opens or closes',
  no_open_deal: 'the deal that opened it is not in the history',
  zero_open_volume: 'its opening deals have no volume',
  closed_exceeds_opened: 'more was closed than was opened',
  invalid_timestamp: 'a deal has a time that cannot be read',
  missing_symbol_or_times: 'its symbol or a time is missing',
  missing_price: 'a price is missing',
}

/** Whether the deals of an account add up to the balance at its broker. */
export const reconciledWords = (
  { deals, balance, difference, complete, checkedAt }: DataOf<'getReconciliation'>,
  currency: string | undefined,
): string => {
  if (balance === null || difference === null || checkedAt === null)
    return "Not checked: the broker's balance could not be read since the deals last changed, so whether any are missing is not known."
  const sum = `the ${plural(deals, 'deal')} add up to`
  if (complete) return `It agrees: ${sum} the broker's balance.`
  return difference === 0
    ? `It agrees now: ${sum} the broker's balance. The history is being read again, because it did not agree before.`
    : `It differs: the broker's balance is ${money(Math.abs(difference), currency)} ${difference > 0 ? 'more' : 'less'} than ${sum}. Figures may be wrong by that much.`
}

/** An error as a sentence for a person. */
export const sentenceOf = (error: unknown): string => {
  if (!isTradeportError(error)) return error instanceof Error ? error.message : String(error)
  const { code, message, outcome } = error
  if (code === 'UNAUTHORIZED') return 'The service does not accept this key.'
  if (['NETWORK_FAILURE', 'TIMED_OUT', 'UNREADABLE_ANSWER'].includes(code))
    return 'The service does not answer.'
  // These messages end with advice for programmers.
  return outcome === 'unknown' && code !== 'BROKER_OUTCOME_UNKNOWN'
    ? `The service could not complete the request (${code}).`
    : message
}

/** The one that the service finds for a symbol; undefined where there is none or several. */
export const meantBy = <A extends { readonly symbol: string }>(
  wanted: string,
  all: readonly A[],
): A | undefined => {
  const name = wanted.toUpperCase()
  const rules = [
    (symbol: string) => symbol === wanted,
    (symbol: string) => symbol.toUpperCase() === name,
    // US300 is no US30.
    (symbol: string) =>
      symbol.toUpperCase().startsWith(name) &&
      /^([^A-Za-z\d].*|[a-z]+)$/.test(symbol.slice(name.length)),
  ]
  const [found, ...others] =
    rules.map((fits) => all.filter(({ symbol }) => fits(symbol))).find((some) => some.length > 0) ??
    []
  return others.length === 0 ? found : undefined
}
