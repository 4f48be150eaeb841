// Orders, their placements and jobs in memory, as fakes of the ports; they pass the same contract as the database. Jobs are handed out when the
// test says so, by the test's clock.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ProgramId } from '../access/credential.ts'
import { idempotencyInProgress, limitCheckUnavailable, serviceUnavailable } from '../errors.ts'
import type { ServiceUnavailable } from '../errors.ts'
import { orderCreated, settlementEvents } from '../events/order-events.ts'
import type { ServiceEvent } from '../events/service-event.ts'
import { requireCountsInLimit, startOfUtcDay } from '../orders/limits.ts'
import type { Order, OrderId, PendingOrder } from '../orders/order.ts'
import { requireOrderLimits } from '../use-cases/steps/order-limits.ts'
import type { Placement } from '../orders/placement.ts'
import { settle } from '../orders/transitions.ts'
import type { Clock } from '../ports/clock.ts'
import type { NewOrder, OrderJob, OrderJobs, OrderPlacement, OrdersQuery, OrderStore, RecordRefusal } from '../ports/order-store.ts'
import { keepInMemory, unansweredKey } from './fake-idempotency-store.ts'
import type { FakeRecords } from './fake-records.ts'
import { fakeServerRun, guardsOf } from './fake-guard-store.ts'
import type { StoredOrder } from './stored-orders.ts'
import { isSameOwner } from '../primitives/ids.ts'
import type { Owner } from '../primitives/ids.ts'
import { dayMs, minuteMs, secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { pageOf } from '../primitives/pages.ts'
import type { Page } from '../primitives/pages.ts'

interface ListStart {
  readonly at: Instant
  /** How many orders the user had up to the last one of the list, in the order of recording. */
  readonly orders: number
}

export interface FakeOrderJobs extends OrderJobs {
  /** Gives out every order that is due by the clock, as one that this process recorded or not. */
  readonly handOut: (isOwn?: boolean) => readonly Promise<void>[]
}

export interface FakeOrderStore extends OrderStore {
  readonly jobs: FakeOrderJobs
  /** Every order there is, oldest first. */
  readonly all: () => readonly StoredOrder[]
  /** Makes every method fail until it is called with false. */
  readonly takeDown: (isDown: boolean) => void
}

const listMs = 10 * minuteMs
/** When an order whose processing does not come back is given out again. */
const forgottenAfterMs = 3 * secondMs

/**
 * @param clock says which orders are due, and serves as stopwatch
 * @param records hold the limits of traders and desks, and the idempotency keys
 * @param happened is called with the events of each write
 */
export const createFakeOrderStore = (
  clock: Clock,
  records: FakeRecords,
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void = () => undefined,
): FakeOrderStore => {
  // In the order of recording.
  const orders = new Map<OrderId, StoredOrder>()
  const listStarts = new Map<string, ListStart>()
  const workers = new Set<(job: OrderJob) => Promise<unknown>>()
  let isDown = false

  const answer = <Refusal, A>(read: () => E.Either<Refusal, A>): TE.TaskEither<ServiceUnavailable | Refusal, A> =>
    TE.fromIOEither((): E.Either<ServiceUnavailable | Refusal, A> => (isDown ? E.left(serviceUnavailable('the fake is down')) : read()))
  const own = (owner: Owner, id: OrderId): StoredOrder | undefined => {
    const stored = orders.get(id)
    return stored !== undefined && isSameOwner(stored.order.owner, owner) ? stored : undefined
  }
  const ownOrders = (owner: Owner): readonly Order[] =>
    [...orders.values()].map(({ order }) => order).filter((order) => isSameOwner(order.owner, owner))

  const record = (owner: Owner, { order, destination, sendUntilMs, keep, books }: NewOrder): E.Either<RecordRefusal, PendingOrder> => {
    if (keep !== undefined && unansweredKey(records, owner, keep.claim) === undefined) return E.left(idempotencyInProgress)
    const allowed = pipe(
      requireLimits(owner, order, books),
      E.flatMap(() => requireCounts(owner, order)),
    )
    if (E.isLeft(allowed)) return allowed
    if (orders.has(order.id) || !isStorable(order)) return E.left(serviceUnavailable('the fake cannot store that order'))
    const stored = { order: { ...order, owner }, placement: { step: 'recorded' }, destination, version: 1 } as const
    orders.set(order.id, { ...stored, sendUntilMs, dueAt: clock.now(), settledAt: null })
    if (keep !== undefined) keepInMemory(records, owner, keep)
    happened(owner, [orderCreated(order)])
    return E.right(order)
  }

  const requireLimits = (owner: Owner, { request }: PendingOrder, books: NewOrder['books']): E.Either<RecordRefusal, void> => {
    if (books === undefined) return E.right(undefined)
    const account = records.tables.accounts.get(request.accountId)
    if (account === undefined) return E.left(limitCheckUnavailable('the account is gone'))
    return requireOrderLimits(account, request, guardsOf(records, [...orders.values()], owner, account.id, clock.now(), books.asOf), books)
  }

  const requireCounts = (owner: Owner, order: PendingOrder): E.Either<RecordRefusal, void> => {
    const before = ownOrders(owner)
    const today = before.filter(({ createdAt }) => startOfUtcDay(createdAt) === startOfUtcDay(order.createdAt)).length
    const open = before.filter(({ status }) => status === 'pending').length
    return requireCountsInLimit({ today, open }, order.createdAt)
  }

  const list = (owner: Owner, program: ProgramId, query: OrdersQuery, now: Instant): Page<Order> => {
    const { page, limit, accountId, status, symbol, clientId, from, to } = query
    const key = keyOf(owner, JSON.stringify([program, limit, accountId, status, symbol, clientId, from, to]))
    const all = ownOrders(owner)
    const matching = all.filter(isMatching(query))
    if (page === 1) {
      listStarts.delete(key)
      if (matching.length >= limit) listStarts.set(key, { at: now, orders: all.findLastIndex(isMatching(query)) + 1 })
      return pageOf(newestFirst(matching), query)
    }
    const start = listStarts.get(key)
    if (start === undefined || now - start.at > listMs) return pageOf(newestFirst(matching), query)
    return pageOf(newestFirst(all.slice(0, start.orders).filter(isMatching(query))), query)
  }

  const handOut = (isOwn = true): readonly Promise<void>[] => {
    const due = [...orders.values()].filter(({ dueAt }) => dueAt !== null && dueAt <= clock.now())
    return [...workers].slice(0, 1).flatMap((handle) =>
      due.map(async (stored) => {
        const { order, placement, destination, version, sendUntilMs } = stored
        orders.set(order.id, { ...stored, dueAt: clock.now() + forgottenAfterMs })
        await handle({ order, placement, destination, version, isOwn, sendUntilMs }).catch(() => undefined)
      }),
    )
  }

  return {
    record: (owner, order) => answer(() => record(owner, order)),
    find: (owner, id) => answer(() => E.right(O.fromNullable(own(owner, id)?.order))),
    list: (owner, program, query, now) => answer(() => E.right(list(owner, program, query, now))),
    placement: (owner, id) =>
      answer((): E.Either<never, O.Option<OrderPlacement>> => {
        const stored = own(owner, id)
        if (stored === undefined) return E.right(O.none)
        const { order, placement, destination, version } = stored
        return E.right(O.some({ order, placement, destination, version }))
      }),
    advance: (owner, { order: { id }, placement: before, version, serverRun = fakeServerRun }, { placement, outcome, continueInMs }, now) =>
      answer(() => {
        const stored = own(owner, id)
        if (stored === undefined || stored.version !== version || stored.placement.step === 'settled') return E.right(false)
        if (sentAtOf(stored.placement) !== sentAtOf(before) || serverRun !== fakeServerRun) return E.right(false)
        const order = outcome === undefined ? stored.order : settle(stored.order, outcome, now)
        orders.set(id, {
          ...stored,
          order,
          placement,
          version: version + 1,
          dueAt: continueInMs === null ? null : clock.now() + continueInMs,
          settledAt: order === stored.order ? stored.settledAt : clock.now(),
        })
        if (order !== stored.order) happened(owner, settlementEvents(order))
        return E.right(true)
      }),
    othersTickets: (owner, { order, destination }) =>
      answer(() =>
        E.right(
          [...orders.values()]
            .filter((one) => isSameOwner(one.order.owner, owner) && one.order.id !== order.id)
            .filter((one) => one.destination.providerAccountId === destination.providerAccountId)
            .filter((one) => Math.abs(one.order.createdAt - order.createdAt) <= dayMs)
            .flatMap((one) => [
              ...('fill' in one.order && one.order.fill.positionId !== undefined ? [one.order.fill.positionId] : []),
              ...('orderId' in one.placement && one.placement.orderId !== null ? [one.placement.orderId] : []),
            ]),
        ),
      ),
    jobs: {
      handOut,
      work: async (handle) => {
        const underWay = new Set<Promise<unknown>>()
        const worker = async (job: OrderJob): Promise<void> => {
          const run = handle(job)
          underWay.add(run)
          await run.finally(() => underWay.delete(run))
        }
        workers.add(worker)
        return {
          stop: async () => {
            workers.delete(worker)
            await Promise.allSettled(underWay)
          },
        }
      },
    },
    all: () => [...orders.values()],
    takeDown: (down) => {
      isDown = down
    },
  }
}

const sentAtOf = (placement: Placement): Instant | undefined => ('sentAt' in placement ? placement.sentAt : undefined)

const isStorable = ({ request: { volume, price = 0, stopLoss = 0, takeProfit = 0 } }: PendingOrder): boolean =>
  [volume, price, stopLoss, takeProfit].every(Number.isFinite)

const keyOf = ({ tenantId, userId }: Owner, key: string): string => JSON.stringify([tenantId, userId, key])

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
