// Orders, their placements and jobs in memory, as fakes of the ports; they pass the same contract as the database. Jobs are handed out when the
// test says so, by the test's clock.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ProgramId } from '../access/credential.ts'
import { idempotencyInProgress, idempotencyKeyReused, serviceUnavailable } from '../errors.ts'
import type { IdempotencyInProgress, IdempotencyKeyReused, RiskLimitExceeded, ServiceUnavailable } from '../errors.ts'
import { orderCreated, settlementEvents } from '../events/order-events.ts'
import type { ServiceEvent } from '../events/service-event.ts'
import { requireCountsInLimit, startOfUtcDay } from '../orders/limits.ts'
import type { Order, OrderId, PendingOrder } from '../orders/order.ts'
import type { Placement } from '../orders/placement.ts'
import { settle } from '../orders/transitions.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdempotencyClaim, OrderPlacement, OrdersQuery, OrderStore, PlacementJob, PlacementJobs } from '../ports/order-store.ts'
import { isSameOwner } from '../primitives/ids.ts'
import type { Owner } from '../primitives/ids.ts'
import { dayMs, minuteMs, secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { pageOf } from '../primitives/pages.ts'
import type { Page } from '../primitives/pages.ts'

interface StoredOrder {
  readonly order: Order
  readonly placement: Placement
  readonly version: number
  readonly dueAt: Instant | null
}

interface StoredKey {
  readonly bodyHash: string
  readonly claimedAt: Instant
  /** As it was first answered. */
  readonly order: PendingOrder | null
}

interface ListStart {
  readonly at: Instant
  /** How many orders the user had up to the last one of the list, in the order of recording. */
  readonly orders: number
}

export interface FakePlacementJobs extends PlacementJobs {
  /** Starts every job that is due by the clock; the promises are those of the settlers. */
  readonly handOut: () => readonly Promise<void>[]
}

export interface FakeOrderStore extends OrderStore {
  readonly jobs: FakePlacementJobs
  /** Every order there is, oldest first. */
  readonly all: () => readonly Order[]
  /** Makes every method fail until it is called with false. */
  readonly takeDown: (isDown: boolean) => void
}

const leaseMs = minuteMs
const listMs = 10 * minuteMs
/** When a job whose settler does not come back is handed out again. */
const forgottenAfterMs = 3 * secondMs

/**
 * @param clock says which jobs are due
 * @param happened is told what happened as it is written
 */
export const createFakeOrderStore = (
  clock: Clock,
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void = () => undefined,
): FakeOrderStore => {
  // In the order of recording.
  const orders = new Map<OrderId, StoredOrder>()
  const keys = new Map<string, StoredKey>()
  const listStarts = new Map<string, ListStart>()
  const settlers = new Set<(job: PlacementJob) => Promise<void>>()
  let isDown = false

  const answer = <Refusal, A>(read: () => E.Either<Refusal, A>): TE.TaskEither<ServiceUnavailable | Refusal, A> =>
    TE.fromIOEither((): E.Either<ServiceUnavailable | Refusal, A> => (isDown ? E.left(serviceUnavailable('the fake is down')) : read()))
  const own = (owner: Owner, id: OrderId): StoredOrder | undefined => {
    const stored = orders.get(id)
    return stored !== undefined && isSameOwner(stored.order.owner, owner) ? stored : undefined
  }
  const ownOrders = (owner: Owner): readonly Order[] =>
    [...orders.values()].map(({ order }) => order).filter((order) => isSameOwner(order.owner, owner))

  const turn = (
    owner: Owner,
    order: PendingOrder,
    { key, bodyHash }: IdempotencyClaim,
  ): E.Either<typeof idempotencyKeyReused, PendingOrder> => {
    const held = keys.get(keyOf(owner, key))
    if (held !== undefined && held.bodyHash !== bodyHash) return E.left(idempotencyKeyReused)
    return E.right(held?.order ?? order)
  }

  const record = (
    owner: Owner,
    order: PendingOrder,
    claim: IdempotencyClaim | undefined,
  ): E.Either<ServiceUnavailable | RiskLimitExceeded | IdempotencyKeyReused, PendingOrder> => {
    const turned = claim === undefined ? E.right(order) : turn(owner, order, claim)
    if (E.isLeft(turned) || turned.right !== order) return turned
    const before = ownOrders(owner)
    const today = before.filter(({ createdAt }) => startOfUtcDay(createdAt) === startOfUtcDay(order.createdAt)).length
    const open = before.filter(({ status }) => status === 'pending').length
    const allowed = requireCountsInLimit({ today, open }, order.createdAt)
    if (E.isLeft(allowed)) {
      if (claim !== undefined) keys.delete(keyOf(owner, claim.key))
      return allowed
    }
    if (orders.has(order.id) || !isStorable(order)) return E.left(serviceUnavailable('the fake cannot store that order'))
    orders.set(order.id, { order: { ...order, owner }, placement: { step: 'recorded' }, version: 1, dueAt: clock.now() })
    if (claim !== undefined) keys.set(keyOf(owner, claim.key), { bodyHash: claim.bodyHash, claimedAt: order.createdAt, order })
    happened(owner, [orderCreated(order)])
    return turned
  }

  const list = (owner: Owner, program: ProgramId, query: OrdersQuery, now: Instant): Page<Order> => {
    const { page, limit, accountId, status, symbol, from, to } = query
    const key = keyOf(owner, JSON.stringify([program, limit, accountId, status, symbol, from, to]))
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

  const handOut = (): readonly Promise<void>[] => {
    const due = [...orders.values()].filter(({ dueAt }) => dueAt !== null && dueAt <= clock.now())
    return [...settlers].slice(0, 1).flatMap((settleJob) =>
      due.map(async (stored) => {
        const { id, owner } = stored.order
        orders.set(id, { ...stored, dueAt: clock.now() + forgottenAfterMs })
        await settleJob({ owner, orderId: id, version: stored.version }).catch(() => undefined)
      }),
    )
  }

  return {
    claim: (owner, { key, bodyHash }, now) =>
      answer((): E.Either<IdempotencyKeyReused | IdempotencyInProgress, O.Option<PendingOrder>> => {
        const held = keys.get(keyOf(owner, key))
        if (held === undefined || !isCounting(held, now)) {
          keys.set(keyOf(owner, key), { bodyHash, claimedAt: now, order: null })
          return E.right(O.none)
        }
        if (held.bodyHash !== bodyHash) return E.left(idempotencyKeyReused)
        return held.order === null ? E.left(idempotencyInProgress) : E.right(O.some(held.order))
      }),
    release: (owner, { key, bodyHash }) =>
      answer(() => {
        const held = keys.get(keyOf(owner, key))
        if (held?.order === null && held.bodyHash === bodyHash) keys.delete(keyOf(owner, key))
        return E.right(undefined)
      }),
    record: (owner, order, claim) => answer(() => record(owner, order, claim)),
    find: (owner, id) => answer(() => E.right(O.fromNullable(own(owner, id)?.order))),
    list: (owner, program, query, now) => answer(() => E.right(list(owner, program, query, now))),
    placement: (owner, id) =>
      answer((): E.Either<never, O.Option<OrderPlacement>> => {
        const stored = own(owner, id)
        if (stored === undefined) return E.right(O.none)
        const { order, placement, version } = stored
        return E.right(O.some({ order, placement, version }))
      }),
    advance: (owner, id, version, { placement, continueInMs }, now) =>
      answer(() => {
        const stored = own(owner, id)
        if (stored === undefined || stored.version !== version || stored.placement.step === 'settled') return E.right(false)
        const order = placement.step === 'settled' ? settle(stored.order, placement.settlement, now) : stored.order
        const dueAt = continueInMs === null ? null : clock.now() + continueInMs
        orders.set(id, { order, placement, version: version + 1, dueAt })
        if (placement.step === 'settled') happened(owner, settlementEvents(order))
        return E.right(true)
      }),
    jobs: {
      handOut,
      work: async (settleJob) => {
        const underWay = new Set<Promise<void>>()
        const settler = async (job: PlacementJob): Promise<void> => {
          const run = settleJob(job)
          underWay.add(run)
          await run.finally(() => underWay.delete(run))
        }
        settlers.add(settler)
        return {
          stop: async () => {
            settlers.delete(settler)
            await Promise.allSettled(underWay)
          },
        }
      },
    },
    all: () => [...orders.values()].map(({ order }) => order),
    takeDown: (down) => {
      isDown = down
    },
  }
}

const isStorable = ({ request: { volume, price = 0, stopLoss = 0, takeProfit = 0 } }: PendingOrder): boolean =>
  [volume, price, stopLoss, takeProfit].every(Number.isFinite)

const keyOf = ({ tenantId, userId }: Owner, key: string): string => JSON.stringify([tenantId, userId, key])

const isCounting = ({ claimedAt, order }: StoredKey, now: Instant): boolean =>
  order === null ? Math.abs(now - claimedAt) < leaseMs : now - claimedAt < dayMs

const isMatching =
  ({ accountId, status, symbol, from = -Infinity, to = Infinity }: OrdersQuery) =>
  ({ request, status: held, createdAt }: Order): boolean =>
    (accountId === undefined || accountId === request.accountId) &&
    (status === undefined || status === held) &&
    (symbol === undefined || symbol === request.symbol) &&
    createdAt >= from &&
    createdAt <= to

// Those of one instant the last recorded first.
const newestFirst = (oldestFirst: readonly Order[]): readonly Order[] =>
  oldestFirst.toReversed().toSorted((a, b) => b.createdAt - a.createdAt)
