// Which order may become what, as literal rows (3.1), and what a caller may still change (decision 24).
import * as E from 'fp-ts/lib/Either.js'
import { orderInFlight, orderNotCancellable, orderNotModifiable } from '../errors.ts'
import type { OrderInFlight, OrderNotCancellable, OrderNotModifiable } from '../errors.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Fill, Order, OrderStatus, RejectReason } from './order.ts'

/** What the broker's records say became of an order, once they say it for certain. */
export type Settlement =
  | { readonly kind: 'filled'; readonly fill: Fill }
  | { readonly kind: 'partially_filled'; readonly fill: Fill }
  | { readonly kind: 'rejected'; readonly reason: RejectReason }

interface Transition {
  readonly from: OrderStatus
  readonly on: Settlement['kind']
  readonly to: OrderStatus
}

/** A market order leaves pending once and for all; no other move exists today. */
export const transitions: readonly Transition[] = [
  { from: 'pending', on: 'filled', to: 'filled' },
  { from: 'pending', on: 'partially_filled', to: 'partially_filled' },
  { from: 'pending', on: 'rejected', to: 'rejected' },
]

/** The order after a settlement. One that is already settled stays as it is, so that a settlement told twice changes nothing. */
export const settle = (order: Order, settlement: Settlement, at: Instant): Order => {
  const isKnown = transitions.some(({ from, on }) => from === order.status && on === settlement.kind)
  if (!isKnown) return order
  const { id, owner, request, createdAt } = order
  const record = { id, owner, request, createdAt, updatedAt: at }
  if (settlement.kind === 'rejected') return { ...record, status: 'rejected', reason: settlement.reason }
  return { ...record, status: settlement.kind, fill: settlement.fill }
}

/** Only an open order can be modified (3.1). No order is open today, so this always refuses: one under way may become anything yet. */
export const requireModifiable = (order: Order): E.Either<OrderInFlight | OrderNotModifiable, never> =>
  order.status === 'pending' ? E.left(orderInFlight) : E.left(orderNotModifiable(order.status))

/** Only an open order can be cancelled (3.1); as for modifying, none is. */
export const requireCancellable = (order: Order): E.Either<OrderInFlight | OrderNotCancellable, never> =>
  order.status === 'pending' ? E.left(orderInFlight) : E.left(orderNotCancellable(order.status))
