// Orders under way as the operator sees them, of all tenants, and how one is ended by hand.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse, requireNoIssues, type AsyncResult, type Issue, type Refusal } from '../errors.ts'
import { stuckAfterMs } from '../operator/health.ts'
import { allParsed, readList, type ListRequest, type Listed } from '../operator/listing.ts'
import { parseOrderId, isUnderWay, type Order, type OrderOutcome } from '../orders/order.ts'
import type { Transition } from '../orders/placement.ts'
import type { OperatorOrder, OrderListPlace, Ports } from '../ports/index.ts'
import type { TenantId, Ticket } from '../primitives/ids.ts'
import { minuteMs, parseInstant, toIso, type Instant } from '../primitives/instant.ts'
import { requireTenant } from './operator-records.ts'
import type { WithBody, WithQuery } from './input.ts'
import { requireById } from './steps/find.ts'

/** Which orders under way, and which piece of their list. */
export interface OrdersUnderWayQuery extends ListRequest {
  /** Undefined for the orders of all tenants, those of removed tenants included. */
  readonly tenantId?: TenantId | undefined
  /**
   * Only orders whose outcome is still unknown ten minutes after they were made, or after the
   * broker held them no more.
   */
  readonly stuck: 'true' | 'false'
}

/** How an operator ends an order. */
export interface FinishOrder {
  readonly as: 'filled' | 'rejected' | 'cancelled'
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

/** An operator has ended an order by hand. */
export type OnFinished = (orderId: string, finish: FinishOrder) => void

interface OfOrder {
  readonly orderId: string
}

/** The code of a rejection by the operator. */
const finishedByOperatorCode = 'FINISHED_BY_OPERATOR'

/** Orders under way, for the operator. */
export const createOrdersUnderWay = ({
  operatorOrders,
  orders,
  records,
  clock,
  onFinished,
}: Pick<Ports, 'operatorOrders' | 'orders' | 'records' | 'clock'> & {
  readonly onFinished: OnFinished
}) => {
  const getOrder = (_: unknown, { orderId }: OfOrder): AsyncResult<OperatorOrder, 'NotFound'> =>
    requireById('order', parseOrderId(orderId), operatorOrders.find)

  return {
    /** GET /operator/v1/orders: oldest first. */
    listOrdersUnderWay: (
      _: unknown,
      { query: { tenantId, stuck, ...request } }: WithQuery<OrdersUnderWayQuery>,
    ): AsyncResult<Listed<OperatorOrder>, 'NotFound' | 'InvalidCursor'> => {
      const isStuck = stuck === 'true'
      const of =
        tenantId === undefined ? undefined : { tenants: [tenantId], users: [], accounts: [] }
      const unresolvedSince = isStuck ? clock.now() - stuckAfterMs : undefined
      return pipe(
        readList<OrderListPlace, OperatorOrder>(
          {
            name: ['orders', tenantId ?? '', isStuck ? 'stuck' : ''],
            placeOf: ({ order }) => [toIso(order.createdAt), order.id],
            parsePlace: ([createdAt = '', id = '']) =>
              allParsed({ createdAt: parseInstant(createdAt, 'start'), id: parseOrderId(id) }),
            read: (slice) => operatorOrders.underWay({ of, unresolvedSince }, slice),
          },
          request,
        ),
        // A removed tenant may still have orders under way.
        TE.tap(({ data }) =>
          tenantId === undefined || data.length > 0
            ? TE.right(undefined)
            : requireTenant({ records })(tenantId),
        ),
      )
    },

    /** GET /operator/v1/orders/:orderId: any order, under way or ended. */
    getOrder,

    /**
     * POST /operator/v1/orders/:orderId/finish: ends a pending or open order with the operator's
     * outcome, whatever the broker's records show.
     */
    finishOrder: (
      _: unknown,
      { orderId, body: finish }: OfOrder & WithBody<FinishOrder>,
    ): AsyncResult<
      OperatorOrder,
      'NotFound' | 'OrderNotPending' | 'OrderInFlight' | 'OrderChanged' | 'ValidationError'
    > =>
      pipe(
        getOrder(_, { orderId }),
        TE.bindTo('from'),
        TE.bindW('transition', ({ from }) =>
          TE.fromEither(transitionOf(from, finish, clock.now())),
        ),
        TE.flatMap(({ from, transition }) =>
          orders.advance(from.order.owner, from, transition, clock.now()),
        ),
        TE.filterOrElseW(
          (isWritten) => isWritten,
          () => refuse('OrderChanged'),
        ),
        TE.tapIO(() => () => onFinished(orderId, finish)),
        TE.flatMap(() => getOrder(_, { orderId })),
      ),
  }
}

/** How long after it was stored as being sent an order may still be sent or answered. */
const longestSendMs = 2 * minuteMs

const transitionOf = (
  from: OperatorOrder,
  finish: FinishOrder,
  now: Instant,
): E.Either<Refusal<'OrderNotPending' | 'OrderInFlight' | 'ValidationError'>, Transition> => {
  const { order, placement } = from
  if (!isUnderWay(order)) return E.left(refuse('OrderNotPending', { status: order.status }))
  if (placement.step === 'sending' && Math.abs(now - placement.sentAt) < longestSendMs)
    return E.left(refuse('OrderInFlight'))
  const { by, reason } = finish
  return pipe(
    requireNoIssues(issuesOf(order, finish)),
    E.map(() => ({
      placement: { step: 'ended' },
      outcome: outcomeOf(from, finish),
      continueInMs: null,
      finish: { by, reason },
    })),
  )
}

const issuesOf = (
  { request, status }: Order,
  { as, price, volume, position }: FinishOrder,
): readonly Issue[] => {
  if (as === 'cancelled' && status !== 'open')
    return [{ path: 'as', message: `as must be filled or rejected; the order is ${status}` }]
  if (as !== 'filled')
    return Object.entries({ price, volume, position })
      .filter(([, value]) => value !== undefined)
      .map(([path]) => ({ path, message: `${path} must be absent where the order was ${as}` }))
  if (volume === undefined || volume <= request.volume) return []
  return [
    {
      path: 'volume',
      message: `volume must be at most the order's ${request.volume} lots; got ${volume}`,
    },
  ]
}

const outcomeOf = (
  { order: { request }, placement }: OperatorOrder,
  { as, reason, price, volume, position }: FinishOrder,
): OrderOutcome => {
  if (as === 'cancelled') {
    const cancellation = placement.step === 'open' ? placement.cancellation : null
    return { kind: 'cancelled', reason: cancellation?.by ?? 'broker' }
  }
  if (as === 'rejected')
    return { kind: 'rejected', reason: { code: finishedByOperatorCode, message: reason } }
  return {
    kind: volume !== undefined && volume < request.volume ? 'partially_filled' : 'filled',
    fill: { price, volume, positionId: position },
  }
}
