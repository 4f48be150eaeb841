// Orders, the limits on them, and idempotency keys.
import type * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Claimed, IdempotencyClaim, StoredReply } from '../access/idempotency-key.ts'
import type { BrokerAccount } from '../accounts/account.ts'
import type { AsyncResult, Refusal } from '../errors.ts'
import type {
  AccountLimits,
  ChallengeStanding,
  LimitTag,
  OpenPositions,
  OrderCounts,
} from '../orders/limits.ts'
import type { Order, OrderId, OrderStatus, PendingOrder } from '../orders/order.ts'
import type { Transition, SentBefore } from '../orders/placement.ts'
import type { Placement } from '../orders/placement-state.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import type { Work } from './time.ts'

/** Which orders of an owner; without a filter all. */
export interface OrdersQuery extends PageRequest {
  readonly accountId?: AccountId | undefined
  readonly status?: OrderStatus | undefined
  /** As on the order, in capitals. */
  readonly symbol?: string | undefined
  /** The caller's own id of the order, exactly as it was sent. */
  readonly clientId?: string | undefined
  /** By creation time, included. */
  readonly from?: Instant | undefined
  /** By creation time, included. */
  readonly to?: Instant | undefined
}

/** An order with its placement, as it was read. Writes are made from it. */
export interface StoredOrder {
  readonly order: Order
  readonly placement: Placement
  /** Where the order is to be sent, or was sent. */
  readonly destination: BrokerAccount
  /**
   * 1 when the order is recorded, and one more with every write; a write that expects another
   * version than the stored one is not made.
   */
  readonly version: number
  /**
   * Id of the database server process. A write is rejected if it changed, since a failover may have
   * lost the record of a send. Undefined: not checked.
   */
  readonly databaseRun?: string | undefined
}

/** An order that is due for its next step. */
export interface OrderJob extends StoredOrder {
  readonly sentBefore: SentBefore
  /** The deadline of the send, by the stopwatch of this process. */
  readonly sendDeadlineMs: number
}

/** An order that was certainly not sent, to be tried again by the same process. */
export interface OrderRetry {
  readonly job: OrderJob
  readonly inMs: number
}

/** The reply to an order's request, and the claim under which it is stored. */
export interface ReplyToStore {
  readonly claim: IdempotencyClaim
  readonly reply: StoredReply
}

/** An order that is about to be recorded. */
export interface NewOrder {
  readonly order: PendingOrder
  readonly destination: BrokerAccount
  /** The deadline of the send, by the stopwatch of this process. */
  readonly sendDeadlineMs: number
  /**
   * When the checks of the order began, by the clock of the store: its age counts from then,
   * however long it takes to be recorded.
   */
  readonly checkedAt: Instant
  /** Id of the database server process in which the checks began. */
  readonly databaseRun: string | undefined
  /** Undefined where the request has no idempotency key. */
  readonly replyToStore: ReplyToStore | undefined
  /**
   * The positions that the account's limits need; undefined where nothing was limited when the
   * checks began. A limit that is set after that applies from the next order on.
   */
  readonly openPositions: OpenPositions | undefined
}

/** Why an order was not recorded. */
export type RecordRefusal = Refusal<
  LimitTag | 'RiskLimitExceeded' | 'IdempotencyInProgress' | 'ServiceUnavailable'
>

/**
 * Orders and their placements, as they are stored. Every method that a user's request reaches has
 * the owner first.
 */
export interface OrderStore {
  /**
   * In one transaction: decides the limits of trader and desks under row locks
   * (`requireOrderLimits` with the orders pending at that moment), then the user's counts
   * (`requireCountsInLimit` over the orders of the UTC day of `order.createdAt` and those pending
   * or open), and writes the order, its placement (`recorded`), its event and the reply to store.
   * Limits and counts are exact however many requests and instances write at once. Where the claim
   * of the reply does not hold its key any more, or has a reply already, nothing is written and the
   * order is refused with `IdempotencyInProgress`. A refusal leaves the claim without a reply.
   */
  readonly record: (owner: Owner, order: NewOrder) => TE.TaskEither<RecordRefusal, PendingOrder>
  /**
   * Orders of the UTC day of `now`, and those pending or open, for a check that records nothing.
   */
  readonly counts: (owner: Owner, now: Instant) => AsyncResult<OrderCounts>
  /** None where it does not exist, or is another owner's. */
  readonly find: (owner: Owner, id: OrderId) => AsyncResult<O.Option<Order>>
  /**
   * Newest first: by creation time, then in the order of recording. An order that is recorded
   * between two pages moves the later ones by one: a reader sees an order twice, and misses none.
   */
  readonly list: (owner: Owner, query: OrdersQuery) => AsyncResult<Page<Order>>
  /** None for an order of a user who was removed, which `find` does not show either. */
  readonly findStored: (owner: Owner, id: OrderId) => AsyncResult<O.Option<StoredOrder>>
  /**
   * Writes a transition of the placement if the stored version is still that of `from`, in one
   * transaction with the order (`withTransition`) and its event. False when another process was
   * quicker, or `databaseRun` changed; an ended placement stays as it is. False also for `sending`
   * while the account is halted, so that no send begins once a halt stands.
   */
  readonly advance: (
    owner: Owner,
    from: StoredOrder,
    transition: Transition,
    now: Instant,
  ) => AsyncResult<boolean>
  /**
   * Calls `receive` once this process has written another status of the order. Other processes'
   * writes are not reported. Returns a function that ends it.
   */
  readonly onOutcome: (id: OrderId, receive: () => void) => () => void
  /**
   * Broker numbers of orders and positions that belong to the owner's other orders at the
   * destination, created within a day of this one.
   */
  readonly ticketsOfOtherOrders: (
    owner: Owner,
    placement: StoredOrder,
  ) => AsyncResult<readonly string[]>
  /** The open orders of an account, wherever they were sent to, oldest first. */
  readonly openOrders: (owner: Owner, accountId: AccountId) => AsyncResult<readonly StoredOrder[]>
}

/**
 * The worker of due orders. An open order of an account whose halt cancels orders is made due each
 * minute by the store, so that no cancellation is forgotten.
 */
export interface OrderJobs {
  /**
   * Calls `process` with every due order, several at once, until `stop`, which waits for
   * those under way: orders that this process records at once, those that `process` wants to retry
   * after their pause, and all others as they fall due. An order whose process died, or whose
   * `process` was rejected, is processed again within seconds: `process` may be called twice for
   * one order, also at the same time. A rejection is logged.
   */
  readonly work: Work<OrderJob, OrderRetry | undefined>
  /** Reads at once what is due, since something has just become due. */
  readonly wake: () => void
}

/** Makes the ids of orders. */
export interface OrderIds {
  /**
   * `ord_` and 20 random characters of a-z and 0-9, from which the broker's client id is derived.
   */
  readonly newOrderId: () => OrderId
}

/**
 * What the head trader set for an account, as it is stored, with the counted orders on the accounts
 * that it covers.
 */
export interface LimitStore {
  /** Newest first, whatever their status; none for an unknown account. */
  readonly challenges: (owner: Owner, id: AccountId) => AsyncResult<readonly ChallengeStanding[]>
  /** For an unknown account nothing is limited. */
  readonly limitsOf: (owner: Owner, id: AccountId) => AsyncResult<AccountLimits>
}

/**
 * Idempotency keys: one key of one user has at most one effect within 24 hours, on any route.
 * Placing an order never calls `begin` or `storeReply`: its claim is answered by the transaction that
 * records the order (`OrderStore.record`), and `replaceReply` is for its `wait` alone.
 */
export interface IdempotencyStore {
  /**
   * Claims a key for a request. Of several attempts at once exactly one is `claimed`; the others
   * are refused until it has a reply. A claim that has not begun lapses after 10 seconds and may be
   * given to another attempt. One that has begun never is: it is in progress for 30 seconds, and
   * `unknown` after that. A key is kept for 24 hours from its claim or, where it began, from then.
   */
  readonly claim: (
    owner: Owner,
    claim: IdempotencyClaim,
  ) => AsyncResult<Claimed, 'IdempotencyKeyReused' | 'IdempotencyInProgress'>
  /**
   * From here on the request may have an effect. Refused unless this claim holds the key and has
   * neither begun nor been answered.
   */
  readonly begin: (
    owner: Owner,
    claim: IdempotencyClaim,
  ) => AsyncResult<void, 'IdempotencyInProgress'>
  /**
   * Stores the first reply of the attempt that holds the key. Does nothing where another attempt
   * holds it.
   */
  readonly storeReply: (
    owner: Owner,
    claim: IdempotencyClaim,
    reply: StoredReply,
  ) => AsyncResult<void>
  /**
   * Replaces the reply that is stored for this claim. Does nothing where another attempt holds the
   * key.
   */
  readonly replaceReply: (
    owner: Owner,
    claim: IdempotencyClaim,
    reply: StoredReply,
  ) => AsyncResult<void>
  /**
   * Frees the key of an attempt that certainly had no effect, begun or not. Does nothing where
   * another attempt holds the key, or where a reply is stored.
   */
  readonly release: (owner: Owner, claim: IdempotencyClaim) => AsyncResult<void>
}

/**
 * Call `begin` immediately before the effect: after that the key is never given to another attempt.
 */
export interface IdempotencyGuard {
  readonly begin: AsyncResult<void, 'IdempotencyInProgress'>
}

/** For a request that has no key. */
export const withoutKey: IdempotencyGuard = { begin: TE.right(undefined) }
