// Orders at the broker. Neither method can fail: whatever goes wrong is an answer that says what is
// known of the order.
import type * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { LookupAnswer, PlacementAnswer } from '../orders/placement.ts'
import type { MaySend } from './clock.ts'
import type { Side } from '../positions/position.ts'
import type { Instant } from '../primitives/instant.ts'

/** A market order as it is sent. Volume in lots. */
export interface BrokerOrder {
  /**
   * Ours, unique, by which the broker's records are searched: three alphanumeric parts joined by
   * `_`, 26 characters at most.
   */
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
  /** The broker's number of it; null where the broker gave none. */
  readonly orderId: string | null
  /**
   * Read positions and working orders from the trading terminal itself, past the copy that the
   * provider keeps. Slower.
   */
  readonly refresh: boolean
  /** Broker numbers of orders and positions that belong to other orders of ours on the account. */
  readonly othersTickets: readonly string[]
}

export interface Trading {
  /**
   * Sends the order at most once. Where it may not be sent any more, nothing is sent and the answer
   * is `not_sent`.
   */
  readonly placeOrder: (
    account: BrokerAccount,
    order: BrokerOrder,
    maySend: MaySend,
  ) => T.Task<PlacementAnswer>
  /** Looks for an order that may have been executed in positions, working orders and history. */
  readonly findOrder: (account: BrokerAccount, sent: SentOrder) => T.Task<LookupAnswer>
}
