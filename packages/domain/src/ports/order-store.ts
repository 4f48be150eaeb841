// Orders, how far each is on its way to the broker, and the jobs that take them there, as they are stored. Every method takes the owner first.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ProgramId } from '../access/credential.ts'
import type { IdempotencyInProgress, IdempotencyKeyReused, RiskLimitExceeded, ServiceUnavailable } from '../errors.ts'
import type { Order, OrderId, OrderStatus, PendingOrder } from '../orders/order.ts'
import type { Placement, PlacementStep } from '../orders/placement.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'

/** What makes two requests the same (decision 25). */
export interface IdempotencyClaim {
  readonly key: string
  /** SHA-256 of the body as a JSON value, in lower-case hex: members in the order of their names, no white space. */
  readonly bodyHash: string
}

export interface OrdersQuery extends PageRequest {
  readonly accountId?: AccountId | undefined
  readonly status?: OrderStatus | undefined
  /** As it stands on the order, in capitals. */
  readonly symbol?: string | undefined
  /** By creation time, included. */
  readonly from?: Instant | undefined
  /** By creation time, included. */
  readonly to?: Instant | undefined
}

/** An order under way, as a settler takes it up. */
export interface OrderPlacement {
  readonly order: Order
  readonly placement: Placement
  /** 1 when the order is recorded, and one more with every write; a write that expects another one than is stored is not made. */
  readonly version: number
}

export interface OrderStore {
  /**
   * Claims an idempotency key for a request that is about to be checked. `none` when it is now this request's; else the order that the key
   * made, as it was first answered. A claim that was neither released nor turned into an order for a minute, and any claim after 24 hours, counts no more.
   */
  readonly claim: (
    owner: Owner,
    claim: IdempotencyClaim,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable | IdempotencyKeyReused | IdempotencyInProgress, O.Option<PendingOrder>>
  /** Gives a claim back, for a request that was refused before an order was recorded. */
  readonly release: (owner: Owner, claim: IdempotencyClaim) => TE.TaskEither<ServiceUnavailable, void>
  /**
   * Writes the order, its placement (`recorded`), the job that places it and what its key made, in one transaction, if the user's counts allow it
   * (`requireCountsInLimit` over the orders of the UTC day of `order.createdAt` and the pending ones). The counts are exact however many requests
   * and instances write at once. A key makes one order whatever became of claims in between: where another request with the same body turned it
   * into an order, nothing is written and that order is the answer, as it was first given; where another body took it, it is refused.
   */
  readonly record: (
    owner: Owner,
    order: PendingOrder,
    claim: IdempotencyClaim | undefined,
  ) => TE.TaskEither<ServiceUnavailable | RiskLimitExceeded | IdempotencyKeyReused, PendingOrder>
  readonly find: (owner: Owner, id: OrderId) => TE.TaskEither<ServiceUnavailable, O.Option<Order>>
  /**
   * Newest first: by creation time, then in the order of recording. Page 1 is read anew, and when it is full it begins a list: the further pages that
   * the same program asks for with the same filters and limit within ten minutes, of any instance, hold and count no order that was recorded after
   * the last one of that list, whatever its creation time. A further page that belongs to no list is read anew too. An order that changes its status
   * goes into a filter by status or out of it at any moment.
   */
  readonly list: (owner: Owner, program: ProgramId, query: OrdersQuery, now: Instant) => TE.TaskEither<ServiceUnavailable, Page<Order>>
  readonly placement: (owner: Owner, id: OrderId) => TE.TaskEither<ServiceUnavailable, O.Option<OrderPlacement>>
  /**
   * Writes a step of the placement if the stored version is still the expected one, in one transaction with what it means for the order
   * (`settle`) and with the job that goes on after `continueInMs`. False when another settler was quicker; a settled placement stays as it is.
   */
  readonly advance: (
    owner: Owner,
    id: OrderId,
    version: number,
    step: PlacementStep,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable, boolean>
}

/** A job: whose order is to be taken on, and from where. A placement that has moved on has another job. */
export interface PlacementJob {
  readonly owner: Owner
  readonly orderId: OrderId
  readonly version: number
}

export interface PlacementJobs {
  /**
   * Hands every due job to `settle`, several at once, until `stop`, which waits for those under way. A job whose process died, and an order under
   * way that has no job for whatever reason, is handed out again within seconds: `settle` must bear being called twice, also at the same time.
   * A rejection of `settle` is logged, and the order handed out again.
   */
  readonly work: (settle: (job: PlacementJob) => Promise<void>) => Promise<{ readonly stop: () => Promise<void> }>
}
