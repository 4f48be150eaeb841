// Orders of all tenants, as the operator sees them. No route of users reaches this port.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { Slice } from '../operator/listing.ts'
import type { OrderId } from '../orders/order.ts'
import type { ManualFinish } from '../orders/placement.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { OrderPlacement } from './order-store.ts'

export interface OperatorOrder extends OrderPlacement {
  /**
   * When a process goes on with the order, by the database's clock; null once nothing more is to be
   * done.
   */
  readonly dueAt: Instant | null
  /** Who ended the order by hand, at its `updatedAt`; null where nobody did. */
  readonly finish: ManualFinish | null
}

/** Orders of any of these tenants, users or accounts. */
export interface OrderOwners {
  readonly tenants: readonly TenantId[]
  readonly users: readonly UserId[]
  readonly accounts: readonly AccountId[]
}

export interface UnderWayFilter {
  /** Undefined for the orders of everybody. */
  readonly of?: OrderOwners | undefined
  /** Only orders that are pending and were made at this moment or before. */
  readonly pendingSince?: Instant | undefined
}

/** Where an order stands in a list that runs by creation time, then by id. */
export interface OrderPlace {
  readonly createdAt: Instant
  readonly id: OrderId
}

export interface OperatorOrders {
  /**
   * Orders with which something is still to be done, oldest first. It costs what is under way,
   * however many orders have ended.
   */
  readonly underWay: (
    filter: UnderWayFilter,
    slice: Slice<OrderPlace>,
  ) => TE.TaskEither<ServiceUnavailable, readonly OperatorOrder[]>
  /** Any order, under way or ended. */
  readonly find: (id: OrderId) => TE.TaskEither<ServiceUnavailable, O.Option<OperatorOrder>>
}
