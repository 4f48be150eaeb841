// A market order: one record per status, each with what that status guarantees
// (docs/behaviour.md#outcome).
import * as O from 'fp-ts/lib/Option.js'
import type { Brand } from '../primitives/brand.ts'
import type { AccountId, Owner, Ticket } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** `ord_` and an opaque suffix. */
export type OrderId = Brand<string, 'OrderId'>

const idPattern = /^ord_([0-9a-z]{10})([0-9a-z]{10})$/

/** Reads an order id; none where it could not be one. */
export const parseOrderId = (text: string): O.Option<OrderId> =>
  idPattern.test(text) ? O.some(text as OrderId) : O.none

/**
 * The id under which the broker keeps an order: derived from ours, so that whoever settles the
 * order looks for the same. Three alphanumeric parts, 24 characters; the first two alone are
 * unique, because brokers may replace the last.
 */
export const brokerClientId = (id: OrderId): string => id.replace(idPattern, 'TP_$1_$2')

/**
 * The first two of a client id's three parts, with what ends them: what a position keeps of it. One
 * that has no such parts is kept whole.
 */
export const clientIdFamily = (clientId: string): string =>
  /^[^_]+_[^_]+_(?=[^_]+$)/.exec(clientId)?.[0] ?? clientId

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

/**
 * What the caller asked for. Volume in lots, prices as levels; the comment and clientId stay ours
 * and never reach the broker.
 */
export interface OrderRequest {
  readonly accountId: AccountId
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly volume: number
  /** Recorded, not sent to the broker. */
  readonly price?: number
  readonly stopLoss?: number
  readonly takeProfit?: number
  readonly comment?: string
  readonly clientId?: string
}

/** What is known of an execution; a part that the broker has not told is absent. */
export interface Fill {
  readonly price?: number
  readonly volume?: number
  readonly at?: Instant
  readonly positionId?: Ticket
}

/** Why an order came to nothing: the broker's code, or one of ours, and words. */
export interface RejectReason {
  readonly code: string
  readonly message: string
}

interface OrderRecord {
  readonly id: OrderId
  readonly owner: Owner
  readonly request: OrderRequest
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface PendingOrder extends OrderRecord {
  readonly status: 'pending'
}
export interface FilledOrder extends OrderRecord {
  readonly status: 'filled' | 'partially_filled'
  readonly fill: Fill
}
export interface RejectedOrder extends OrderRecord {
  readonly status: 'rejected'
  readonly reason: RejectReason
}
/**
 * Orders as they can be today: nothing leads to open, cancelled or expired, which callers may still
 * filter by.
 */
export type Order = PendingOrder | FilledOrder | RejectedOrder
