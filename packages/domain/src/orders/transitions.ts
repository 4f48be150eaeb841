// Which order status follows which, as literal rows, and what a caller may still change.
import * as E from 'fp-ts/lib/Either.js'
import { orderInFlight, orderNotCancellable, orderNotModifiable } from '../errors.ts'
import type { OrderInFlight, OrderNotCancellable, OrderNotModifiable } from '../errors.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Fill, Order, OrderStatus, RejectReason } from './order.ts'

/** How an order ended. */
export type Settlement =
  | { readonly kind: 'filled'; readonly fill: Fill }
  | { readonly kind: 'partially_filled'; readonly fill: Fill }
  | { readonly kind: 'rejected'; readonly reason: RejectReason }

/**
 * Why an order was rejected that the broker's records did not show. It is the only end that is
 * corrected, when the order appears there after all.
 */
export const notFoundAtBrokerCode = 'NOT_FOUND_AT_BROKER'

interface Transition {
  readonly from: OrderStatus
  /** Only from an order that was rejected with this code. */
  readonly rejectedWith?: string
  readonly on: Settlement['kind']
  readonly to: OrderStatus
}

export const transitions: readonly Transition[] = [
  { from: 'pending', on: 'filled', to: 'filled' },
  { from: 'pending', on: 'partially_filled', to: 'partially_filled' },
  { from: 'pending', on: 'rejected', to: 'rejected' },
  { from: 'rejected', rejectedWith: notFoundAtBrokerCode, on: 'filled', to: 'filled' },
  {
    from: 'rejected',
    rejectedWith: notFoundAtBrokerCode,
    on: 'partially_filled',
    to: 'partially_filled',
  },
  { from: 'rejected', rejectedWith: notFoundAtBrokerCode, on: 'rejected', to: 'rejected' },
]

/**
 * The order after it ended so. Where no transition applies it stays as it is, so that an end that
 * is reported twice changes nothing.
 */
export const settle = (order: Order, settlement: Settlement, at: Instant): Order => {
  const isKnown = transitions.some(
    ({ from, rejectedWith, on }) =>
      from === order.status &&
      on === settlement.kind &&
      (rejectedWith === undefined || isRejectedWith(order, rejectedWith)),
  )
  if (!isKnown) return order
  const { id, owner, request, createdAt } = order
  const record = { id, owner, request, createdAt, updatedAt: at }
  if (settlement.kind === 'rejected')
    return { ...record, status: 'rejected', reason: settlement.reason }
  return { ...record, status: settlement.kind, fill: settlement.fill }
}

const isRejectedWith = (order: Order, code: string): boolean =>
  order.status === 'rejected' && order.reason.code === code

/**
 * Whether the end of an order is corrected by another: it was rejected as not found, and the
 * broker's records show it.
 */
export const isCorrection = (before: Order, after: Order): boolean =>
  before !== after && before.status !== 'pending'

/**
 * Only an open order can be modified. No order is open today, so this always refuses: a pending one
 * may still end in any way.
 */
export const requireModifiable = (
  order: Order,
): E.Either<OrderInFlight | OrderNotModifiable, never> =>
  order.status === 'pending' ? E.left(orderInFlight) : E.left(orderNotModifiable(order.status))

/** Only an open order can be cancelled; none is open today. */
export const requireCancellable = (
  order: Order,
): E.Either<OrderInFlight | OrderNotCancellable, never> =>
  order.status === 'pending' ? E.left(orderInFlight) : E.left(orderNotCancellable(order.status))
