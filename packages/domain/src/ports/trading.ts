// Orders at the broker. Neither method can fail: whatever goes wrong is an answer that says what is known of the order.
import type * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { LookupAnswer, PlacementAnswer } from '../orders/placement.ts'
import type { Side } from '../positions/position.ts'
import type { Instant } from '../primitives/instant.ts'

/** A market order as it is sent. Volume in lots. */
export interface BrokerOrder {
  /** Ours, unique, by which the broker's records are searched: three alphanumeric parts joined by `_`, 26 characters at most. */
  readonly clientId: string
  readonly symbol: string
  readonly side: Side
  readonly volume: number
  readonly stopLoss?: number
  readonly takeProfit?: number
}

/** An order that may have been executed, with what is known of its sending. */
export interface SentOrder {
  readonly order: BrokerOrder
  /** History is searched from a little before. */
  readonly sentAt: Instant
  /** The broker's number of it; null where none was told. */
  readonly orderId: string | null
}

export interface Trading {
  /** Sends the order once and never again, whatever comes back. */
  readonly placeOrder: (account: BrokerAccount, order: BrokerOrder) => T.Task<PlacementAnswer>
  /** Looks for an order that may have been executed in positions, working orders and history. */
  readonly findOrder: (account: BrokerAccount, sent: SentOrder) => T.Task<LookupAnswer>
}
