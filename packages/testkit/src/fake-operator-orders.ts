// Orders of all tenants in memory, with the write that ends one: a fake of what the operator's use
// cases need of orders.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '@tradeport/domain/accounts'
import { refuse, type AsyncResult } from '@tradeport/domain/errors'
import { withStep, type Order, type OrderId, type Placement } from '@tradeport/domain/orders'
import type {
  OperatorOrder,
  OperatorOrders,
  UnderWayFilter,
  OrderStore,
} from '@tradeport/domain/ports'
import { isSameOwner, type Instant } from '@tradeport/domain/primitives'
import { newOrderOn } from './stored-orders.ts'

export interface FakeOperatorOrders extends OperatorOrders, Pick<OrderStore, 'advance'> {
  /** Stores an order, in the place of one with the same id. */
  readonly put: (...orders: readonly OperatorOrder[]) => void
  /** Makes every read and write fail until it is called with false. */
  readonly takeDown: (isDown: boolean) => void
}

/**
 * A pending order of 0.1 lots that has been looked up three times; due a minute after it was made.
 */
export const newOrderUnderWay = (
  account: Account,
  createdAt: Instant,
  fields: Partial<OperatorOrder> = {},
): OperatorOrder => ({
  order: newOrderOn(account, createdAt),
  placement: {
    step: 'looking_up',
    sentAt: createdAt,
    brokerOrderId: '4711',
    lookups: 3,
    absence: null,
  },
  destination: {
    accountId: account.id,
    owner: account.owner,
    platform: 'mt5',
    providerAccountId: 'provider-1',
    region: 'new-york',
  },
  version: 5,
  dueAt: createdAt + 60_000,
  finish: null,
  ...fields,
})

export const createFakeOperatorOrders = (): FakeOperatorOrders => {
  const stored = new Map<OrderId, OperatorOrder>()
  let isDown = false
  const whileUp = <A>(work: () => A): AsyncResult<A> =>
    TE.flatten(
      TE.fromIO(() =>
        isDown
          ? TE.left(refuse('ServiceUnavailable', { reason: 'orders: the fake is down' }))
          : TE.right(work()),
      ),
    )
  return {
    put: (...orders) => {
      for (const one of orders) stored.set(one.order.id, one)
    },
    takeDown: (down) => {
      isDown = down
    },
    underWay: (filter, { after, limit }) =>
      whileUp(() => {
        const all = [...stored.values()]
          .filter((one) => one.dueAt !== null && isMatching(filter, one))
          .toSorted(comparePlaces)
        return all
          .filter(({ order }) => after === undefined || compare(order, after) > 0)
          .slice(0, limit)
      }),
    find: (id) => whileUp(() => O.fromNullable(stored.get(id))),
    advance: (owner, from, step, now) =>
      whileUp(() => {
        const held = stored.get(from.order.id)
        if (
          held?.version !== from.version ||
          !isSameOwner(held.order.owner, owner) ||
          held.placement.step === 'ended'
        )
          return false
        stored.set(from.order.id, {
          ...held,
          order: withStep(held.order, step, now),
          placement: step.placement,
          version: held.version + 1,
          dueAt: step.continueInMs === null ? null : now + step.continueInMs,
          finish: step.finish ?? held.finish,
        })
        return true
      }),
  }
}

const isMatching = (
  { of, pendingSince }: UnderWayFilter,
  { order, placement }: OperatorOrder,
): boolean =>
  (of === undefined ||
    of.tenants.includes(order.owner.tenantId) ||
    of.users.includes(order.owner.userId) ||
    of.accounts.includes(order.request.accountId)) &&
  (pendingSince === undefined || unknownSince(order, placement) <= pendingSince)

const unknownSince = (order: Order, placement: Placement): Instant => {
  if (order.status === 'pending') return order.createdAt
  return placement.step === 'working' ? (placement.missing?.since ?? Infinity) : Infinity
}

const compare = (a: Pick<Order, 'createdAt' | 'id'>, b: Pick<Order, 'createdAt' | 'id'>): number =>
  a.createdAt - b.createdAt || Number(a.id > b.id) - Number(a.id < b.id)

const comparePlaces = (a: OperatorOrder, b: OperatorOrder): number => compare(a.order, b.order)
