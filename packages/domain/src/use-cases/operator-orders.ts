// Orders under way as the operator sees them, of all tenants, and how one is ended by hand.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { notFound, orderChanged, orderNotPending, validationError } from '../errors.ts'
import type {
  Issue,
  NotFound,
  OrderChanged,
  OrderNotPending,
  ServiceUnavailable,
  ValidationError,
} from '../errors.ts'
import { stuckAfterMs } from '../operator/health.ts'
import type { Listed, ListRequest } from '../operator/listing.ts'
import { parseOrderId } from '../orders/order.ts'
import type { Fill, Order, OrderId } from '../orders/order.ts'
import type { PlacementStep } from '../orders/placement.ts'
import type { Settlement } from '../orders/transitions.ts'
import type { OperatorOrder, OrderPlace } from '../ports/operator-orders.ts'
import type { OrderStore } from '../ports/order-store.ts'
import type { Ports } from '../ports/ports.ts'
import type { TenantId, Ticket } from '../primitives/ids.ts'
import { parseInstant, toIso } from '../primitives/instant.ts'
import { readList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

export interface OrdersUnderWayQuery extends ListRequest {
  /** Undefined for the orders of all tenants, those of removed tenants included. */
  readonly tenantId?: TenantId | undefined
  /** Only orders whose outcome is still unknown ten minutes after they were made. */
  readonly isStuck: boolean
}

export interface FinishOrder {
  readonly as: 'filled' | 'rejected'
  /** Kept with the order; the message of a rejection. */
  readonly reason: string
  /** Who ends it. */
  readonly by: string
  /**
   * What is known of the execution; none of it for a rejection. Volume in lots, the position by the
   * broker's number.
   */
  readonly price?: number | undefined
  readonly volume?: number | undefined
  readonly position?: Ticket | undefined
}

/** The code of a rejection by the operator. */
export const finishedByOperatorCode = 'FINISHED_BY_OPERATOR'

export const createOrdersUnderWay = ({ operatorOrders, orders, clock }: OrderPorts) => {
  const getOperatorOrder = (
    id: OrderId,
  ): TE.TaskEither<ServiceUnavailable | NotFound, OperatorOrder> =>
    pipe(operatorOrders.find(id), TE.flatMap(TE.fromOption(() => notFound('order'))))

  return {
    /** GET /operator/v1/orders: oldest first. */
    listOrdersUnderWay: ({
      tenantId,
      isStuck,
      ...request
    }: OrdersUnderWayQuery): TE.TaskEither<ListRefusal, Listed<OperatorOrder>> => {
      const of =
        tenantId === undefined ? undefined : { tenants: [tenantId], users: [], accounts: [] }
      const pendingSince = isStuck ? clock.now() - stuckAfterMs : undefined
      return readList<OrderPlace, OperatorOrder>(
        {
          name: ['orders', tenantId ?? '', isStuck ? 'stuck' : ''],
          placeOf: ({ order }) => [toIso(order.createdAt), order.id],
          parsePlace,
          read: (slice) => operatorOrders.underWay({ of, pendingSince }, slice),
        },
        request,
      )
    },

    /** GET /operator/v1/orders/:orderId: any order, under way or ended. */
    getOperatorOrder,

    /**
     * POST /operator/v1/orders/:orderId/finish: ends a pending order as the operator says, whatever
     * the broker's records show.
     */
    finishOrder: (
      id: OrderId,
      finish: FinishOrder,
    ): TE.TaskEither<
      ServiceUnavailable | NotFound | OrderNotPending | OrderChanged | ValidationError,
      OperatorOrder
    > =>
      pipe(
        getOperatorOrder(id),
        TE.bindTo('from'),
        TE.bindW('step', ({ from }) => TE.fromEither(stepOf(from.order, finish))),
        TE.flatMap(({ from, step }) => orders.advance(from.order.owner, from, step, clock.now())),
        TE.filterOrElseW(
          (isWritten) => isWritten,
          () => orderChanged,
        ),
        TE.flatMap(() => getOperatorOrder(id)),
      ),
  }
}

interface OrderPorts extends Pick<Ports, 'operatorOrders' | 'clock'> {
  readonly orders: Pick<OrderStore, 'advance'>
}

const parsePlace = ([
  created = '',
  order = '',
  ...others
]: readonly string[]): O.Option<OrderPlace> => {
  const [createdAt, id] = [parseInstant(created, 'start'), parseOrderId(order)]
  return others.length > 0 || O.isNone(createdAt) || O.isNone(id)
    ? O.none
    : O.some({ createdAt: createdAt.value, id: id.value })
}

const stepOf = (
  order: Order,
  finish: FinishOrder,
): E.Either<OrderNotPending | ValidationError, PlacementStep> => {
  if (order.status !== 'pending') return E.left(orderNotPending(order.status))
  const issues = issuesOf(order, finish)
  if (issues.length > 0) return E.left(validationError(issues))
  const { by, reason } = finish
  return E.right({
    placement: { step: 'settled' },
    outcome: outcomeOf(order, finish),
    continueInMs: null,
    finish: { by, reason },
  })
}

const issuesOf = (
  { request }: Order,
  { as, price, volume, position }: FinishOrder,
): readonly Issue[] => {
  if (as === 'rejected')
    return Object.entries({ price, volume, position })
      .filter(([, value]) => value !== undefined)
      .map(([path]) => ({ path, message: `${path} must be absent where the order was rejected` }))
  if (volume === undefined || volume <= request.volume) return []
  return [
    {
      path: 'volume',
      message: `volume must be at most the order's ${request.volume} lots; got ${volume}`,
    },
  ]
}

const outcomeOf = (
  { request }: Order,
  { as, reason, price, volume, position }: FinishOrder,
): Settlement => {
  if (as === 'rejected')
    return { kind: 'rejected', reason: { code: finishedByOperatorCode, message: reason } }
  const fill: Fill = {
    ...(price === undefined ? {} : { price }),
    ...(volume === undefined ? {} : { volume }),
    ...(position === undefined ? {} : { positionId: position }),
  }
  return {
    kind: volume !== undefined && volume < request.volume ? 'partially_filled' : 'filled',
    fill,
  }
}
