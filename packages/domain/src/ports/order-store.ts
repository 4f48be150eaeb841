// Orders and how far each is on its way to the broker, as they are stored. Every method that a
// user's request reaches takes the owner first.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ProgramId } from '../access/credential.ts'
import type { BrokerAccount } from '../accounts/account.ts'
import type {
  ApprovalRequired,
  DeskLimitBreached,
  IdempotencyInProgress,
  LimitCheckUnavailable,
  RiskLimitExceeded,
  ServiceUnavailable,
  TraderLimitBreached,
} from '../errors.ts'
import type { Order, OrderId, OrderStatus, PendingOrder } from '../orders/order.ts'
import type { Placement, PlacementStep } from '../orders/placement.ts'
import type { OpenBooks } from './guard-store.ts'
import type { IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'

export interface OrdersQuery extends PageRequest {
  readonly accountId?: AccountId | undefined
  readonly status?: OrderStatus | undefined
  /** As it stands on the order, in capitals. */
  readonly symbol?: string | undefined
  /** The caller's own id of the order, exactly as it was sent. */
  readonly clientId?: string | undefined
  /** By creation time, included. */
  readonly from?: Instant | undefined
  /** By creation time, included. */
  readonly to?: Instant | undefined
}

/** An order with its placement. */
export interface OrderPlacement {
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
   * The run of the database server in which this was read; what follows from it is written in the
   * same run alone. A server that takes over may lack the last writes, and with them that the order
   * was sent. Without it the run does not matter.
   */
  readonly serverRun?: string | undefined
}

/** An order that is due for its next step. */
export interface OrderJob extends OrderPlacement {
  /** Whether this process has followed the order in memory since it recorded it. */
  readonly isOwn: boolean
  /** Until when the order may be sent, by the stopwatch of this process. */
  readonly sendUntilMs: number
}

/** An order that was certainly not sent, to be tried again by the same process. */
export interface OrderRetry {
  readonly job: OrderJob
  readonly inMs: number
}

/** The reply to an order's request, and the claim under which it is kept. */
export interface ReplyToKeep {
  readonly claim: IdempotencyClaim
  readonly reply: KeptReply
}

/** An order that is about to be recorded. */
export interface NewOrder {
  readonly order: PendingOrder
  readonly destination: BrokerAccount
  /** Until when the order may be sent, by the stopwatch of this process. */
  readonly sendUntilMs: number
  /**
   * When the checks of the order began, by the clock of the store: its age counts from then,
   * however long it takes to be recorded.
   */
  readonly checkedAt: Instant
  /** The run of the database server in which the checks began. */
  readonly serverRun: string | undefined
  /** Undefined where the request has no idempotency key. */
  readonly keep: ReplyToKeep | undefined
  /** The books that the account's limits need; undefined where nothing is limited. */
  readonly books: OpenBooks | undefined
}

export type LimitRefusal =
  | LimitCheckUnavailable
  | DeskLimitBreached
  | TraderLimitBreached
  | ApprovalRequired

export type RecordRefusal =
  | ServiceUnavailable
  | LimitRefusal
  | RiskLimitExceeded
  | IdempotencyInProgress

export interface OrderStore {
  /**
   * In one transaction: decides the limits of trader and desks under row locks
   * (`requireOrderLimits` with the orders pending at that moment), then the user's counts
   * (`requireCountsInLimit` over the orders of the UTC day of `order.createdAt` and the pending
   * ones), and writes the order, its placement (`recorded`), its event and the reply to keep.
   * Limits and counts are exact however many requests and instances write at once. Where the claim
   * of the reply does not hold its key any more, or has a reply already, nothing is written and the
   * order is refused with `IdempotencyInProgress`. A refusal leaves the claim without a reply.
   */
  readonly record: (owner: Owner, order: NewOrder) => TE.TaskEither<RecordRefusal, PendingOrder>
  readonly find: (owner: Owner, id: OrderId) => TE.TaskEither<ServiceUnavailable, O.Option<Order>>
  /**
   * Newest first: by creation time, then in the order of recording. Page 1 is read anew, and when
   * it is full it begins a list: the further pages that the same program asks for with the same
   * filters and limit within ten minutes, of any instance, hold and count no order that was
   * recorded after the last one of that list, whatever its creation time. A further page that
   * belongs to no list is read anew too. An order that changes its status goes into a filter by
   * status or out of it at any moment.
   */
  readonly list: (
    owner: Owner,
    program: ProgramId,
    query: OrdersQuery,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable, Page<Order>>
  readonly placement: (
    owner: Owner,
    id: OrderId,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<OrderPlacement>>
  /**
   * Writes a step of the placement if the stored version is still that of `from`, in one
   * transaction with what its outcome means for the order (`settle`) and with its event. False when
   * another process was quicker, or the database server is in another run; a settled placement
   * stays as it is.
   */
  readonly advance: (
    owner: Owner,
    from: OrderPlacement,
    step: PlacementStep,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable, boolean>
  /**
   * Broker numbers of orders and positions that belong to the owner's other orders at the
   * destination, created within a day of this one.
   */
  readonly othersTickets: (
    owner: Owner,
    placement: OrderPlacement,
  ) => TE.TaskEither<ServiceUnavailable, readonly string[]>
}

export interface OrderJobs {
  /**
   * Gives every order that is due to `process`, several at once, until `stop`, which waits for
   * those under way: orders that this process records at once, those that `process` wants to retry
   * after their pause, and all others as they fall due. An order whose process died, or whose
   * `process` was rejected, is given out again within seconds: `process` must bear being called
   * twice, also at the same time. A rejection is logged.
   */
  readonly work: (
    process: (job: OrderJob) => Promise<OrderRetry | undefined>,
  ) => Promise<{ readonly stop: () => Promise<void> }>
}
