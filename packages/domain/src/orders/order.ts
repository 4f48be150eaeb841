// An order: one record per status, each with what that status guarantees
// (docs/behaviour.md#outcome).
import { parseBy, type AccountId, type Brand, type Owner, type Ticket } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Side } from '../primitives/prices.ts'
import { codeOf, refuse, type Refusal } from '../errors.ts'

/** `ord_` and an opaque suffix. */
export type OrderId = Brand<string, 'OrderId'>

const ownPrefix = 'TP_'
const idPattern = /^ord_([0-9a-z]{10})([0-9a-z]{10})$/

/** Reads an order id; none where it could not be one. */
export const parseOrderId = parseBy<OrderId>(idPattern)

/**
 * The id under which the broker keeps an order: derived from ours, so that whoever looks
 * the order up uses the same. Three alphanumeric parts, 24 characters; the first two alone are
 * unique, because brokers may replace the last.
 */
export const brokerClientId = (id: OrderId): string => id.replace(idPattern, `${ownPrefix}$1_$2`)

/** Whether a client id is one that this service derived, or what a broker preserved of one. */
export const isOwnClientId = (clientId: string): boolean => clientId.startsWith(ownPrefix)

/** The first two parts, `TP_xxxxxxxxxx`: what brokers preserve of a client id on positions. */
export const clientIdPrefix = (clientId: string): string => clientId.split('_', 2).join('_')

export const orderStatuses = [
  'pending',
  'open',
  'filled',
  'partially_filled',
  'cancelled',
  'rejected',
  'expired',
] as const
export type OrderStatus = (typeof orderStatuses)[number]

export const limitOrStopTypes = ['limit', 'stop', 'stop_limit'] as const
/** A pending order waits at the broker until the market reaches its price. */
export type LimitOrStopType = (typeof limitOrStopTypes)[number]

export const orderTypes = ['market', ...limitOrStopTypes] as const
export type OrderType = (typeof orderTypes)[number]

/** How long the broker holds the order: until it is cancelled, the trading day or a time. */
export const timesInForce = ['gtc', 'day', 'gtd'] as const
type TimeInForce = (typeof timesInForce)[number]

/** Of a limit or stop order, what can be changed while the broker holds it. */
export interface OrderTerms {
  /** The price that triggers the order. */
  readonly price: number
  /** Of a stop_limit alone: the price of the limit order that it becomes. */
  readonly stopLimitPrice?: number | undefined
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
  readonly timeInForce: TimeInForce
  /** Of `gtd` alone. */
  readonly expiresAt?: Instant | undefined
}

/**
 * The request of the caller, with what was changed since. Volume in lots, prices as levels; the
 * comment and clientId stay ours and never reach the broker.
 */
export interface OrderRequest {
  readonly accountId: AccountId
  /** As the caller wrote it. */
  readonly symbol: string
  /** As the broker spells it, where that is known to differ; the order is sent with it. */
  readonly brokerSymbol?: string
  readonly side: Side
  readonly orderType: OrderType
  readonly volume: number
  /** Of a market order it is recorded and not sent to the broker. */
  readonly price?: number
  readonly stopLimitPrice?: number
  readonly timeInForce?: TimeInForce
  readonly expiresAt?: Instant
  readonly stopLoss?: number
  readonly takeProfit?: number
  readonly comment?: string
  readonly clientId?: string
}

/** What is known of an execution; what the broker has not reported is absent. */
export interface Fill {
  readonly price?: number | undefined
  readonly volume?: number | undefined
  readonly at?: Instant | undefined
  readonly positionId?: Ticket | undefined
}

/** Why an order was not executed: the broker's code, or one of ours, and a message. */
export interface RejectReason {
  readonly code: string
  readonly message: string
}

/** The account is linked to another broker account than when the order was made. */
interface AccountRelinked {
  readonly _tag: 'AccountRelinked'
}

/** Why no order can be sent to an account. */
export type UnusableAccountTag =
  | 'AccountNotFound'
  | 'AccountPurposeRestricted'
  | 'LiveAccountRestricted'
  | 'AccountHalted'
  | 'ChallengeLocked'
  | 'UnsupportedBroker'
  | 'NotProvisioned'

/** Why an order can no longer be sent to its account, found when it was about to be sent. */
export type UnusableAccount = Refusal<UnusableAccountTag> | AccountRelinked

const unusableMessages: Readonly<Record<UnusableAccount['_tag'], string>> = {
  AccountNotFound: 'The account is no longer linked; the order was not sent.',
  AccountPurposeRestricted: 'The account is no longer for trading; the order was not sent.',
  ChallengeLocked: "The account's challenge failed; the order was not sent.",
  AccountRelinked: 'The account was linked to another broker account; the order was not sent.',
  LiveAccountRestricted:
    'The broker does not confirm that this is a demo account; the order was not sent. Link a demo account to trade.',
  AccountHalted: 'The account was halted; the order was not sent.',
  UnsupportedBroker:
    'The account is now on a platform that is not supported; the order was not sent.',
  NotProvisioned: 'The account is no longer connected to the provider; the order was not sent.',
}

export const unusableReason = (tag: UnusableAccount['_tag']): RejectReason => ({
  code: codeOf(tag),
  message: unusableMessages[tag],
})

const lateMessages = {
  unreachable: 'The order could not be sent to the broker within 30 seconds; it was not placed.',
  token_refused:
    'The provider refused the token that the operator of this service configured; the order was not placed. Tell the operator.',
  token_missing:
    'The operator of this service has configured no token for the provider; the order was not placed. Tell the operator.',
  token_unreadable: 'The token for the provider cannot be read; the order was not placed.',
  told_to_wait:
    'The provider limits requests, or an earlier trade of the account has no answer yet, so that no order could be sent within 30 seconds; it was not placed.',
  no_slot:
    'Other orders were still being sent 30 seconds after this one was made; it was not placed.',
  overdue: 'The service could not send the order within 30 seconds; it was not placed.',
}

/** Why an order could not be sent before its deadline. */
export type LateCause = keyof typeof lateMessages

export const lateReason = (cause: LateCause): RejectReason => ({
  code: 'BROKER_UNAVAILABLE',
  message: lateMessages[cause],
})

interface OrderRecord {
  readonly id: OrderId
  readonly owner: Owner
  readonly request: OrderRequest
  /** The broker's number of a limit or stop order, once it is known. */
  readonly brokerOrderId?: string | undefined
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface PendingOrder extends OrderRecord {
  readonly status: 'pending'
}
/** The broker holds it until its price is reached. */
export interface OpenOrder extends OrderRecord {
  readonly status: 'open'
}
interface FilledOrder extends OrderRecord {
  readonly status: 'filled' | 'partially_filled'
  readonly fill: Fill
}
interface RejectedOrder extends OrderRecord {
  readonly status: 'rejected'
  readonly reason: RejectReason
}
interface CancelledOrder extends OrderRecord {
  readonly status: 'cancelled'
  readonly cancelReason: CancelReason
  readonly cancelledAt: Instant
}
interface ExpiredOrder extends OrderRecord {
  readonly status: 'expired'
  readonly expiredAt: Instant
}
export type Order =
  | PendingOrder
  | OpenOrder
  | FilledOrder
  | RejectedOrder
  | CancelledOrder
  | ExpiredOrder

/** Who cancelled an order: its owner through the API, the broker or its terminal, or a halt. */
export const cancelReasons = ['user', 'broker', 'halt'] as const
export type CancelReason = (typeof cancelReasons)[number]

/**
 * How an order ended. One that was executed in part before it was cancelled or expired is
 * `partially_filled`. `at` is absent where the broker does not show when it was.
 */
export type OrderOutcome =
  | { readonly kind: 'filled' | 'partially_filled'; readonly fill: Fill }
  | { readonly kind: 'rejected'; readonly reason: RejectReason }
  /** A broker's records do not show who cancelled it: their `reason` is always `broker`. */
  | { readonly kind: 'cancelled'; readonly reason: CancelReason; readonly at?: Instant | undefined }
  | { readonly kind: 'expired'; readonly at?: Instant | undefined }

/** The code of the rejection of an order that the broker's records did not show. */
export const notFoundAtBrokerCode = 'NOT_FOUND_AT_BROKER'

export const notFoundAtBroker: RejectReason = {
  code: notFoundAtBrokerCode,
  message:
    'The broker did not confirm the order and its records do not show it; it was not executed.',
}

/**
 * The order with its outcome. One that has ended stays as it is unless it may be corrected, so that
 * an outcome that is reported twice changes nothing.
 */
export const withOutcome = (order: Order, outcome: OrderOutcome, at: Instant): Order => {
  if (!mayChange(order) || hasEndedSo(order, outcome)) return order
  const record = recordOf(order, at)
  switch (outcome.kind) {
    case 'rejected':
      return { ...record, status: outcome.kind, reason: outcome.reason }
    case 'cancelled':
      return {
        ...record,
        status: outcome.kind,
        cancelReason: outcome.reason,
        cancelledAt: outcome.at ?? at,
      }
    case 'expired':
      return { ...record, status: outcome.kind, expiredAt: outcome.at ?? at }
    case 'filled':
    case 'partially_filled':
      return { ...record, status: outcome.kind, fill: outcome.fill }
  }
}

/**
 * Whether the order is under way, or ended because the records did not show it, or not that the
 * broker placed it again after a cancellation.
 */
const mayChange = (order: Order): boolean =>
  isUnderWay(order) ||
  order.status === 'cancelled' ||
  order.status === 'partially_filled' ||
  (order.status === 'rejected' && order.reason.code === notFoundAtBrokerCode)

/** Whether the order has ended so already. What was executed once stays executed. */
const hasEndedSo = (order: Order, outcome: OrderOutcome): boolean => {
  if (order.status === 'cancelled') return outcome.kind === 'cancelled'
  if (order.status !== 'partially_filled' || outcome.kind === 'filled') return false
  const volume = 'fill' in outcome ? (outcome.fill.volume ?? 0) : 0
  return volume <= (order.fill.volume ?? 0)
}

/** A limit or stop order with the broker's number. The same object where nothing changes. */
export const withBrokerOrderId = (order: Order, brokerOrderId: string | null, at: Instant): Order =>
  brokerOrderId === null ||
  brokerOrderId === order.brokerOrderId ||
  order.request.orderType === 'market' ||
  !isUnderWay(order)
    ? order
    : { ...order, brokerOrderId, updatedAt: at }

/**
 * The order once the broker is known to hold it: open, on the terms that are known. One that ended
 * and may be corrected is open again. The same object where nothing changes.
 */
export const withTerms = (order: Order, terms: OrderTerms | undefined, at: Instant): Order => {
  if (!mayChange(order)) return order
  const request = terms === undefined ? order.request : requestWith(order.request, terms)
  return order.status === 'open' && request === order.request
    ? order
    : { ...recordOf({ ...order, request }, at), status: 'open' }
}

/** What an order of any status has. */
const recordOf = (
  { id, owner, request, brokerOrderId, createdAt }: OrderRecord,
  updatedAt: Instant,
): OrderRecord => ({
  id,
  owner,
  request,
  ...(brokerOrderId !== undefined && { brokerOrderId }),
  createdAt,
  updatedAt,
})

const termNames = [
  'price',
  'stopLimitPrice',
  'stopLoss',
  'takeProfit',
  'timeInForce',
  'expiresAt',
] as const

/** The terms of an order, without what else the broker shows of it. */
export const termsOf = (shown: OrderTerms): OrderTerms =>
  Object.fromEntries(termNames.map((name) => [name, shown[name]])) as unknown as OrderTerms

type SomeTerms = { readonly [Name in keyof OrderTerms]?: OrderTerms[Name] | undefined }

export const isSameTerms = (one: SomeTerms, other: SomeTerms): boolean =>
  termNames.every((name) => one[name] === other[name])

/**
 * Whether a stop-limit order has been triggered: the broker then holds it as a limit order, whose
 * price is the stopLimitPrice that was ordered.
 */
export const isTriggered = (
  { orderType }: Pick<OrderRequest, 'orderType'>,
  shown: OrderTerms,
): boolean => orderType === 'stop_limit' && shown.stopLimitPrice === undefined

/** The request with other terms; the same object where it has these. */
const requestWith = (request: OrderRequest, terms: OrderTerms): OrderRequest => {
  // The caller may have left out timeInForce, which is gtc then.
  const isDefault = request.timeInForce === undefined && terms.timeInForce === 'gtc'
  const after = {
    ...termsOf(terms),
    timeInForce: isDefault ? undefined : terms.timeInForce,
    // The record stays that of a stop-limit order, with the price that triggered it.
    ...(isTriggered(request, terms) && { price: request.price, stopLimitPrice: terms.price }),
  }
  if (isSameTerms(request, after)) return request
  const fields = Object.entries({ ...request, ...after }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(fields) as unknown as OrderRequest
}

/** Whether the order has not ended: it is pending or open. */
export const isUnderWay = (order: Order): order is PendingOrder | OpenOrder =>
  order.status === 'pending' || order.status === 'open'

/** Whether a transition changed an order that had ended. */
export const isCorrection = (before: Order, after: Order): boolean =>
  before !== after && !isUnderWay(before)

/** How a change is refused where the order has ended. */
export type EndedTag = 'OrderNotModifiable' | 'OrderNotCancellable'

/**
 * Why an order cannot be modified or cancelled: it has ended, or is pending and may still end in
 * any way. Undefined where it is open.
 */
export const refusalUnlessOpen = <Tag extends EndedTag>(
  order: Order,
  endedTag: Tag,
): Refusal<'OrderInFlight' | Tag> | undefined => {
  const { status } = order
  const filledVolume = 'fill' in order ? order.fill.volume : undefined
  if (status === 'open') return undefined
  return status === 'pending'
    ? refuse('OrderInFlight')
    : (refuse<EndedTag>(endedTag, { status, filledVolume }) as Refusal<Tag>)
}
