// Orders and their placements in memory.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse } from '@tradeport/domain/errors'
import {
  requireCountsInLimit,
  type Order,
  type OrderId,
  type PendingOrder,
  isUnderWay,
  withStep,
} from '@tradeport/domain/orders'
import type {
  Clock,
  NewOrder,
  OrderPlacement,
  OrdersQuery,
  OrderStore,
  RecordRefusal,
} from '@tradeport/domain/ports'
import {
  isSameOwner,
  type Owner,
  dayMs,
  minuteMs,
  startOfUtcDay,
  type Instant,
  pageOf,
} from '@tradeport/domain/primitives'
import { requireOrderLimits } from '@tradeport/domain/use-cases'
import { keepInMemory, unansweredKey } from './fake-idempotency-store.ts'
import { fakeServerRun, limitsOf, type StoredOrder } from './fake-limit-store.ts'
import type { FakeRecords } from './fake-records.ts'

export interface FakeOrderStore extends OrderStore {
  /** Every order there is, oldest first. */
  readonly all: () => readonly StoredOrder[]
}

const listMs = 10 * minuteMs

/**
 * @param clock says which orders are due, and serves as stopwatch
 * @param records hold the limits of traders and desks, and the idempotency keys
 */
export const createFakeOrderStore = (clock: Clock, records: FakeRecords): FakeOrderStore => {
  // In the order of recording.
  const orders = new Map<OrderId, StoredOrder>()
  /** Per list, when it began and how many of the user's orders it covers. */
  const listStarts = new Map<string, { readonly at: Instant; readonly orders: number }>()

  const listeners = new Map<OrderId, Set<() => void>>()

  const own = (owner: Owner, id: OrderId): StoredOrder | undefined => {
    const stored = orders.get(id)
    return stored !== undefined && isSameOwner(stored.order.owner, owner) ? stored : undefined
  }
  const ownOrders = (owner: Owner): readonly Order[] =>
    [...orders.values()]
      .map(({ order }) => order)
      .filter((order) => isSameOwner(order.owner, owner))

  const requireLimits = (
    owner: Owner,
    { request }: PendingOrder,
    openPositions: NewOrder['openPositions'],
  ): E.Either<RecordRefusal, void> => {
    if (openPositions === undefined) return E.right(undefined)
    const account = records.tables.accounts.get(request.accountId)
    if (account === undefined || !isSameOwner(account.owner, owner))
      return E.left(refuse('LimitCheckUnavailable', { reason: 'the account is gone' }))
    return requireOrderLimits(
      account,
      request,
      limitsOf(records, [...orders.values()], owner, account.id, clock.now(), openPositions.asOf),
      openPositions,
    )
  }
  const countsOf = (owner: Owner, now: Instant) => {
    const own = ownOrders(owner)
    return {
      today: own.filter(({ createdAt }) => startOfUtcDay(createdAt) === startOfUtcDay(now)).length,
      open: own.filter(isUnderWay).length,
    }
  }
  const record = (
    owner: Owner,
    { order, destination, sendDeadlineMs, keep, openPositions }: NewOrder,
  ): E.Either<RecordRefusal, PendingOrder> => {
    if (keep !== undefined && unansweredKey(records, owner, keep.claim) === undefined)
      return E.left(refuse('IdempotencyInProgress'))
    const allowed = pipe(
      requireLimits(owner, order, openPositions),
      E.flatMap((): E.Either<RecordRefusal, void> =>
        requireCountsInLimit(countsOf(owner, order.createdAt), order.createdAt),
      ),
    )
    if (E.isLeft(allowed)) return allowed
    if (orders.has(order.id))
      return E.left(refuse('ServiceUnavailable', { reason: 'the order is there already' }))
    const stored = {
      order: { ...order, owner },
      placement: { step: 'recorded' },
      destination,
      version: 1,
    } as const
    orders.set(order.id, { ...stored, sendDeadlineMs, dueAt: clock.now(), endedAt: null })
    if (keep !== undefined) keepInMemory(records, owner, keep)
    return E.right(order)
  }

  return {
    record: (owner, order) => TE.fromIOEither(() => record(owner, order)),
    counts: (owner, now) => TE.fromIO(() => countsOf(owner, now)),
    find: (owner, id) => TE.fromIO(() => O.fromNullable(own(owner, id)?.order)),
    list: (owner, program, query, now) =>
      TE.fromIO(() => {
        const key = JSON.stringify([owner.tenantId, owner.userId, program, { ...query, page: 1 }])
        const all = ownOrders(owner)
        const matching = all.filter(isMatching(query))
        if (query.page === 1) {
          if (matching.length < query.limit) listStarts.delete(key)
          else listStarts.set(key, { at: now, orders: all.findLastIndex(isMatching(query)) + 1 })
          return pageOf(newestFirst(matching), query)
        }
        const start = listStarts.get(key)
        const isOver = start === undefined || now - start.at > listMs
        return pageOf(
          newestFirst(isOver ? matching : all.slice(0, start.orders).filter(isMatching(query))),
          query,
        )
      }),
    placement: (owner, id) =>
      TE.fromIO(() =>
        pipe(
          O.fromNullable(own(owner, id)),
          O.map(({ order, placement, destination, version }) => ({
            order,
            placement,
            destination,
            version,
          })),
        ),
      ),
    advance: (
      owner,
      { order: { id }, placement: before, version, serverRun = fakeServerRun },
      step,
      now,
    ) =>
      TE.fromIO(() => {
        const stored = own(owner, id)
        if (stored === undefined || stored.version !== version || stored.placement.step === 'ended')
          return false
        if (sentAtOf(stored.placement) !== sentAtOf(before) || serverRun !== fakeServerRun)
          return false
        const { placement, continueInMs } = step
        const { accountId } = stored.order.request
        const { halts, ownHalts } = records.tables
        if (placement.step === 'sending' && (halts.has(accountId) || ownHalts.has(accountId)))
          return false
        const order = withStep(stored.order, step, now)
        const dueAt = continueInMs === null ? null : clock.now() + continueInMs
        const nowEndedAt = isUnderWay(order) ? null : clock.now()
        const endedAt = order === stored.order ? stored.endedAt : nowEndedAt
        orders.set(id, { ...stored, order, placement, version: version + 1, dueAt, endedAt })
        if (order.status !== stored.order.status)
          for (const receive of listeners.get(id) ?? []) receive()
        return true
      }),
    onOutcome: (id, receive) => {
      const receivers = listeners.get(id) ?? new Set()
      listeners.set(id, receivers.add(receive))
      return () => receivers.delete(receive)
    },
    othersTickets: (owner, { order, destination }) =>
      TE.fromIO(() =>
        [...orders.values()]
          .filter((one) => isSameOwner(one.order.owner, owner) && one.order.id !== order.id)
          .filter((one) => one.destination.providerAccountId === destination.providerAccountId)
          .filter((one) => Math.abs(one.order.createdAt - order.createdAt) <= dayMs)
          .flatMap((one) => [
            ...('fill' in one.order && one.order.fill.positionId !== undefined
              ? [one.order.fill.positionId]
              : []),
            ...brokerNumbersOf(one),
          ]),
      ),
    openOrders: (owner, accountId) =>
      TE.fromIO(() =>
        [...orders.values()]
          .filter(({ order }) => isSameOwner(order.owner, owner) && order.status === 'open')
          .filter(({ order }) => order.request.accountId === accountId)
          .toSorted((a, b) => a.order.createdAt - b.order.createdAt)
          .map(({ order, placement, destination, version }) => ({
            order,
            placement,
            destination,
            version,
          })),
      ),
    all: () => [...orders.values()],
  }
}

const brokerNumbersOf = ({ order, placement }: StoredOrder): readonly string[] => {
  const inPlacement = 'brokerOrderId' in placement ? placement.brokerOrderId : null
  const number = inPlacement ?? order.brokerOrderId
  return number === undefined ? [] : [number]
}

const sentAtOf = (placement: OrderPlacement['placement']): Instant | undefined =>
  'sentAt' in placement ? placement.sentAt : undefined

const isMatching =
  ({ accountId, status, symbol, clientId, from = -Infinity, to = Infinity }: OrdersQuery) =>
  ({ request, status: held, createdAt }: Order): boolean =>
    (accountId === undefined || accountId === request.accountId) &&
    (status === undefined || status === held) &&
    (symbol === undefined || symbol === request.symbol) &&
    (clientId === undefined || clientId === request.clientId) &&
    createdAt >= from &&
    createdAt <= to

// Those of one instant the last recorded first.
const newestFirst = (oldestFirst: readonly Order[]): readonly Order[] =>
  oldestFirst.toReversed().toSorted((a, b) => b.createdAt - a.createdAt)
