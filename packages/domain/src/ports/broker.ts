// The broker, through a connectivity provider: reads, orders, and changes of positions.
import type * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError, Refusal, ServiceUnavailable } from '../errors.ts'
import type { DealsPage, DealsWindow } from '../journal/broker-deal.ts'
import type { LimitOrStopType, OrderId, OrderTerms } from '../orders/order.ts'
import type { BrokerOrder, LookupAnswer, PlacementAnswer } from '../orders/placement.ts'
import type { Cancellation, Missing } from '../orders/placement-state.ts'
import type { PositionsReading } from '../positions/position.ts'
import type { Ticket } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Levels, Side } from '../primitives/prices.ts'
import type { MaySend } from './time.ts'

/** The most deals of an account of which trades are shown without `long-histories`. */
export const maxHistoryDeals = 20_000

/** Input of a margin calculation. Volume in lots. */
export interface MarginQuery {
  readonly symbol: string
  readonly side: Side
  readonly volume: number
  readonly openPrice: number
}

/** Reads. Each returns everything requested or fails: a failure is never an empty list. */
export interface Broker {
  /** The provider's name for meta.provenance. */
  readonly source: string
  /** Its figures, in the account's currency. */
  readonly accountInformation: (
    account: BrokerAccount,
  ) => TE.TaskEither<BrokerReadError, AccountReading>
  readonly positions: (account: BrokerAccount) => TE.TaskEither<BrokerReadError, PositionsReading>
  /**
   * A page of the account's history. Pages may repeat a deal, and give deals in any order. Fails
   * while the provider is still loading the history.
   */
  readonly dealsPage: (
    account: BrokerAccount,
    window: DealsWindow,
  ) => TE.TaskEither<BrokerReadError, DealsPage>
  /** In the account's currency; none where the provider cannot compute it. */
  readonly requiredMargin: (
    account: BrokerAccount,
    query: MarginQuery,
  ) => TE.TaskEither<BrokerReadError, O.Option<number>>
}

/** What makes it a limit or stop order; its levels are those of the order. */
export interface LimitOrStop extends Omit<OrderTerms, 'stopLoss' | 'takeProfit'> {
  readonly type: LimitOrStopType
}

/** An order as it is sent: a market order unless it has the terms of another. In lots. */
export interface OrderToSend {
  /**
   * Ours, unique, by which the broker's records are searched: three alphanumeric parts joined by
   * `_`, 26 characters at most.
   */
  readonly clientId: string
  readonly symbol: string
  readonly side: Side
  readonly volume: number
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
  readonly limitOrStop?: LimitOrStop | undefined
}

/** An order that may have been executed, with what is known of its sending. */
export interface SentOrder {
  readonly order: OrderToSend
  /** It was sent between these two, by the clock of this process; by default at the first. */
  readonly sentAt: Instant
  readonly sentAtLatest?: Instant | undefined
  /**
   * When the broker was last known to hold all of it, unexecuted. History is searched from a day
   * before, or else from a day before it was sent.
   */
  readonly unexecutedAt?: Instant | undefined
  /** Of a pending order: null until the broker is known not to hold it any more. */
  readonly missing?: Missing | null | undefined
  /** Of a pending order: our cancellation, if one may have been sent. */
  readonly cancellation?: Pick<Cancellation, 'isConfirmed'> | null | undefined
  /** The broker's number of it; null where the broker gave none. */
  readonly brokerOrderId: string | null
  /**
   * Read positions and open orders from the trading terminal itself, past the copy that the
   * provider keeps. Slower.
   */
  readonly readFromTerminal: boolean
  /** Broker numbers of orders and positions that belong to other orders of ours on the account. */
  readonly ticketsOfOtherOrders: readonly string[]
}

/**
 * The broker does not hold the order any more: it was executed, cancelled or expired, or has
 * another number now.
 */
export interface OrderGone {
  readonly _tag: 'OrderGone'
}

/**
 * What a change at the broker can fail with beyond a read's failures: there is nothing to change any
 * more, the broker refused it, or it may have happened.
 */
export type ChangeError<Gone> =
  | BrokerReadError
  | Gone
  | Refusal<'TradeRejected' | 'BrokerOutcomeUnknown'>
/** Of a change of an open order. */
export type OrderChangeError = ChangeError<OrderGone>
/** Of a change of an open position. */
export type PositionChangeError = ChangeError<Refusal<'PositionNotFound'>>

/**
 * The broker's answer to a change that it accepted: all is done, it found nothing to change, or it
 * may be done later or in part.
 */
export interface ChangeReceipt {
  readonly progress: 'done' | 'unchanged' | 'accepted'
  /**
   * The broker's number of the order that the change made or concerned; null where it gave none.
   */
  readonly brokerOrderId: string | null
}

/**
 * Orders. A placement and a lookup never fail: whatever goes wrong is an answer with what is known
 * of the order. A change is sent at most once; where it may not be sent any more, nothing is sent
 * and the error is BrokerUnavailable.
 */
export interface Trading {
  /**
   * Sends the order at most once. Where it may not be sent any more, nothing is sent and the answer
   * is `not_sent`. A limit or stop order that the broker accepted is `open`.
   */
  readonly placeOrder: (
    account: BrokerAccount,
    order: OrderToSend,
    maySend: MaySend,
  ) => T.Task<PlacementAnswer>
  /** Looks for an order that may have been executed in positions, open orders and history. */
  readonly findOrder: (account: BrokerAccount, sent: SentOrder) => T.Task<LookupAnswer>
  /**
   * The limit and stop orders that the broker holds now, as its terminal has them: past every copy
   * and cache, in one call to the provider. Market orders under way, and orders that are certainly
   * of another program, are left out.
   */
  readonly heldOrders: (
    account: BrokerAccount,
  ) => TE.TaskEither<BrokerReadError, readonly BrokerOrder[]>
  /** Gives a limit or stop order all of these terms at once. */
  readonly modifyOrder: (
    account: BrokerAccount,
    brokerOrderId: string,
    terms: OrderTerms,
    maySend: MaySend,
  ) => TE.TaskEither<OrderChangeError, ChangeReceipt>
  /** Cancels what is not executed of a limit or stop order. It is never `unchanged`. */
  readonly cancelOrder: (
    account: BrokerAccount,
    brokerOrderId: string,
    maySend: MaySend,
  ) => TE.TaskEither<OrderChangeError, ChangeReceipt>
}

/**
 * Resolves with a function that gives the slot back, or with undefined when none came free within
 * so many milliseconds.
 */
export type AcquireSlot = (
  account: BrokerAccount,
  patienceMs: number,
) => T.Task<(() => void) | undefined>

/**
 * Limits how many orders are sent and looked up at once. Slots are shared fairly, so that a hung
 * account or a busy tenant delays only its own orders.
 */
export interface TradeSlots {
  readonly forSend: AcquireSlot
  readonly forLookup: AcquireSlot
}

/**
 * Changes open positions, and reads them past every cache before and after a change. A change is
 * sent at most once. Where it may not be sent any more, nothing is sent and the error is
 * BrokerUnavailable.
 */
export interface PositionTrading {
  /**
   * The positions as the broker's terminal has them now, past every copy and cache; oldest first.
   */
  readonly freshPositions: (
    account: BrokerAccount,
  ) => TE.TaskEither<BrokerReadError, PositionsReading>
  /** Gives a position both levels at once. */
  readonly setLevels: (
    account: BrokerAccount,
    ticket: Ticket,
    levels: Levels,
    maySend: MaySend,
  ) => TE.TaskEither<PositionChangeError, ChangeReceipt>
  /**
   * Closes a position, or so many lots of it. Success means that the broker accepted it; at what
   * price it was executed is not known yet. It is never `unchanged`.
   * @param volume lots, below the position's; null for all that is open
   */
  readonly closePosition: (
    account: BrokerAccount,
    ticket: Ticket,
    volume: number | null,
    maySend: MaySend,
  ) => TE.TaskEither<PositionChangeError, ChangeReceipt>
}

/**
 * How many changes of positions and orders of one account are under way or waiting at one instance.
 */
export const maxChangesPerAccount = 100

/**
 * One change of a position, or of an open order, at a time, on all instances: a change reads both
 * levels and sends both, so that two at once would undo one another.
 */
export interface ChangeLocks {
  /**
   * Runs the work while nobody else holds the position or the order. The lock key is tenant,
   * provider account and the ticket or the order's id, so two links to one account share it. A
   * caller that waits for longer than `patienceMs` gets InternalTimeout, and one beyond
   * `maxChangesPerAccount` BrokerUnavailable; their work does not begin. A lock of a process that
   * died is free within seconds. `isHeld` is true only while the lock certainly holds: it turns
   * false when the lock is lost, or cannot be renewed in time.
   */
  readonly holding: (
    account: BrokerAccount,
    subject: Ticket | OrderId,
    patienceMs: number,
  ) => <E, A>(
    work: (isHeld: () => boolean) => TE.TaskEither<E, A>,
  ) => TE.TaskEither<E | Refusal<'BrokerUnavailable' | 'InternalTimeout'> | ServiceUnavailable, A>
}
