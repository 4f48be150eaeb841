// The terms of pending orders: what a new one must have, what a change of them makes, and whether
// the broker shows a change (docs/behaviour.md#pending-orders).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Issue, type Refusal } from '../errors.ts'
import { minuteMs, toIso, type Instant } from '../primitives/instant.ts'
import {
  changedLevels,
  findMisplacedLevel,
  hasRequestedPrices,
  type LevelsChange,
} from '../primitives/prices.ts'
import {
  brokerClientId,
  clientIdPrefix,
  isTriggered,
  termsOf,
  type Order,
  type OrderRequest,
  type OrderTerms,
} from './order.ts'
import type { BrokerOrder } from './placement.ts'

/** What to change of an open order: an absent term stays, and null removes a level. */
export interface TermsChange extends LevelsChange {
  readonly price?: number | undefined
  readonly stopLimitPrice?: number | undefined
  readonly expiresAt?: Instant | undefined
}

const numbers = ['volume', 'price', 'stopLimitPrice', 'stopLoss', 'takeProfit'] as const
type Requested = Pick<
  OrderRequest,
  (typeof numbers)[number] | 'orderType' | 'timeInForce' | 'expiresAt'
>

/**
 * Every fault of the terms of a new order. A market order has a price only for its record, and none
 * of the other terms.
 */
export const issuesOfTerms = (requested: Requested, now: Instant): readonly Issue[] => {
  const { orderType, price, stopLimitPrice, timeInForce, expiresAt } = requested
  const issues: Issue[] = []
  const requireThat = (path: string, isGood: boolean, requirement: string): void => {
    if (!isGood) issues.push({ path, message: `${path} ${requirement}` })
  }
  for (const name of numbers) {
    const value = requested[name]
    const isGood = value === undefined || (value > 0 && Number.isFinite(value))
    requireThat(name, isGood, `must be a number above 0; got ${value}`)
  }
  if (orderType === 'market') {
    requireThat(
      'timeInForce',
      timeInForce === undefined,
      'is for pending orders only; leave it out',
    )
  } else {
    requireThat('price', price !== undefined, `is required where orderType is ${orderType}`)
  }
  requireThat(
    'stopLimitPrice',
    (stopLimitPrice !== undefined) === (orderType === 'stop_limit'),
    orderType === 'stop_limit'
      ? 'is required where orderType is stop_limit'
      : 'is for orderType stop_limit only; leave it out',
  )
  requireThat(
    'expiresAt',
    (expiresAt !== undefined) === (timeInForce === 'gtd'),
    timeInForce === 'gtd'
      ? 'is required where timeInForce is gtd'
      : 'is for timeInForce gtd only; leave it out or send timeInForce gtd',
  )
  if (expiresAt !== undefined && timeInForce === 'gtd')
    issues.push(...issuesOfExpiry(expiresAt, now))
  return issues
}

const issuesOfExpiry = (expiresAt: Instant, now: Instant): readonly Issue[] =>
  expiresAt > now
    ? []
    : [{ path: 'expiresAt', message: `expiresAt must be in the future; got ${toIso(expiresAt)}` }]

/**
 * The levels of a limit or stop order belong on either side of the price at which it would be
 * executed, which for a stop-limit order is its stopLimitPrice.
 */
export const requireLevelsAroundPrice = ({
  side,
  orderType,
  price,
  stopLimitPrice,
  stopLoss,
  takeProfit,
}: Pick<OrderRequest, 'side' | 'orderType'> & Partial<OrderTerms>): E.Either<
  Refusal<'InvalidPrice'>,
  void
> => {
  const executedAt = stopLimitPrice ?? price
  if (orderType === 'market' || executedAt === undefined) return E.right(undefined)
  const misplaced = findMisplacedLevel(side, executedAt, { stopLoss, takeProfit })
  return misplaced === undefined
    ? E.right(undefined)
    : E.left(refuse('InvalidPrice', { ...misplaced, side, price: executedAt }))
}

/** MT4 has no stop-limit orders, and none that end with the trading day. */
export const requireOrderTypeOf = (
  platform: 'mt4' | 'mt5',
  { orderType, timeInForce = 'gtc' }: Pick<OrderRequest, 'orderType' | 'timeInForce'>,
): E.Either<Refusal<'OrderTypeNotSupportedByPlatform'>, void> =>
  platform === 'mt4' && (orderType === 'stop_limit' || timeInForce === 'day')
    ? E.left(refuse('OrderTypeNotSupportedByPlatform', { orderType, timeInForce, platform }))
    : E.right(undefined)

/**
 * The terms of an open order after a change of those on which the broker holds it. A stop-limit
 * order that was triggered is a limit order there, whose price is the stopLimitPrice.
 */
export const changedTerms = (
  { request }: Order,
  current: OrderTerms,
  change: TermsChange,
  now: Instant,
): E.Either<Refusal<'ValidationError' | 'InvalidPrice'>, OrderTerms> => {
  const { side, orderType } = request
  const { price, stopLimitPrice, expiresAt } = change
  const wasTriggered = isTriggered(request, current)
  const issues: Issue[] = []
  if (wasTriggered && price !== undefined && price !== request.price)
    issues.push({
      path: 'price',
      message: 'the market has reached the price; change stopLimitPrice, at which the order waits',
    })
  if (stopLimitPrice !== undefined && orderType !== 'stop_limit')
    issues.push({ path: 'stopLimitPrice', message: `a ${orderType} order has no stopLimitPrice` })
  if (expiresAt !== undefined && current.timeInForce !== 'gtd')
    issues.push({
      path: 'expiresAt',
      message: `expiresAt can be changed where timeInForce is gtd; the order has ${current.timeInForce}`,
    })
  else if (expiresAt !== undefined) issues.push(...issuesOfExpiry(expiresAt, now))
  if (issues.length > 0) return E.left(refuse('ValidationError', { issues }))
  const terms: OrderTerms = {
    ...termsOf(current),
    ...(wasTriggered
      ? { price: stopLimitPrice ?? current.price }
      : {
          price: price ?? current.price,
          stopLimitPrice: stopLimitPrice ?? current.stopLimitPrice,
        }),
    ...changedLevels(current, change),
    expiresAt: expiresAt ?? current.expiresAt,
  }
  return E.map(() => terms)(requireLevelsAroundPrice({ ...terms, side, orderType }))
}

const priceNames = ['price', 'stopLimitPrice', 'stopLoss', 'takeProfit'] as const

/** Brokers keep the time of an expiry in seconds or minutes. */
const expiryToleranceMs = minuteMs

/** Whether the broker holds an order on the requested terms, as far as it can express them. */
export const hasRequestedTerms = (
  after: OrderTerms,
  requested: OrderTerms,
  before: OrderTerms,
): boolean => {
  const isExpiryShown =
    after.expiresAt === requested.expiresAt ||
    (after.expiresAt !== before.expiresAt &&
      Math.abs((after.expiresAt ?? 0) - (requested.expiresAt ?? 0)) <= expiryToleranceMs)
  return isExpiryShown && hasRequestedPrices(priceNames, after, requested, before)
}

/**
 * An order among those that the broker holds: by its number, or by its client id, of which a broker
 * may keep the first two parts only.
 */
export const findBrokerOrder = (
  order: Order,
  shown: readonly BrokerOrder[],
): BrokerOrder | undefined => {
  const prefix = clientIdPrefix(brokerClientId(order.id))
  const held =
    shown.find(({ brokerOrderId }) => brokerOrderId === order.brokerOrderId) ??
    shown.find(({ clientId }) => clientId !== undefined && clientIdPrefix(clientId) === prefix)
  return held && markPartlyExecuted(held, order.request)
}

/**
 * Where the broker holds another volume than was ordered, a part was executed under an earlier
 * number.
 */
export const markPartlyExecuted = (
  held: BrokerOrder,
  { volume }: { readonly volume: number },
): BrokerOrder =>
  held.volume === undefined || held.volume === volume ? held : { ...held, isUnexecuted: false }
