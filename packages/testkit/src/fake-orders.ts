// Orders and their placements in memory, and idempotency keys.
import {
  answerOfHeldKey,
  mayBeClaimed,
  type Claimed,
  type IdempotencyClaim,
} from '@tradeport/domain/access'
import type { Account } from '@tradeport/domain/accounts'
import { refuse, type Refusal } from '@tradeport/domain/errors'
import {
  isUnderWay,
  requireCountsInLimit,
  requireOrderLimits,
  withTransition,
  type Order,
  type OrderId,
  type PendingOrder,
  type Placement,
} from '@tradeport/domain/orders'
import type {
  Clock,
  IdempotencyStore,
  NewOrder,
  OperatorOrder,
  OperatorOrders,
  StoredOrder,
  OrdersQuery,
  OrderStore,
  RecordRefusal,
  ReplyToStore,
  UnderWayFilter,
} from '@tradeport/domain/ports'
import {
  dayMs,
  isSameOwner,
  pageOf,
  startOfUtcDay,
  type Instant,
  type Owner,
} from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import { brokerOrderIdOf, limitsOf } from './fake-accounts.ts'
import { portOf } from './fake-port.ts'
import {
  byText,
  ownAccount,
  type FakeRecords,
  type StoredKey,
  type OrderRow,
} from './fake-records.ts'
import { newOrderOn } from './stored-orders.ts'

/**
 * @param clock says which orders are due, and serves as stopwatch
 * @param records hold the limits of traders and desks, and the idempotency keys
 */
export const createFakeOrderStore = (clock: Clock, records: FakeRecords): OrderStore => {
  const listeners = new Map<OrderId, Set<() => void>>()

  const own = (owner: Owner, id: OrderId): OrderRow | undefined => {
    const stored = records.tables.orders.get(id)
    return stored && isSameOwner(stored.order.owner, owner) ? stored : undefined
  }
  const ownOrders = (owner: Owner): readonly OrderRow[] =>
    records.tables.orders.where(({ order }) => isSameOwner(order.owner, owner))

  const requireLimits = (
    owner: Owner,
    { request }: PendingOrder,
    openPositions: NewOrder['openPositions'],
  ): E.Either<RecordRefusal, void> => {
    if (!openPositions) return E.right(undefined)
    const account = ownAccount(records, owner, request.accountId)
    if (!account) return E.left(refuse('LimitCheckUnavailable', { reason: 'the account is gone' }))
    const limits = limitsOf(records, owner, account.id, clock.now(), openPositions.readAt)
    return requireOrderLimits(account, request, limits, openPositions)
  }
  const countsOf = (owner: Owner, now: Instant) => {
    const orders = ownOrders(owner).map(({ order }) => order)
    return {
      today: orders.filter(({ createdAt }) => startOfUtcDay(createdAt) === startOfUtcDay(now))
        .length,
      underWay: orders.filter(isUnderWay).length,
    }
  }

  return {
    ...portOf<Omit<OrderStore, 'onOutcome'>>({
      record: (owner, { order, destination, checkedAt, replyToStore, openPositions }) => {
        const claimed = replyToStore && unansweredKey(records, owner, replyToStore.claim)
        if (replyToStore && claimed?.state !== 'claimed')
          return E.left(refuse('IdempotencyInProgress'))
        const allowed = pipe(
          requireLimits(owner, order, openPositions),
          E.flatMap((): E.Either<RecordRefusal, void> =>
            requireCountsInLimit(countsOf(owner, order.createdAt), order.createdAt),
          ),
        )
        if (E.isLeft(allowed)) return allowed
        if (records.tables.orders.has(order.id))
          return E.left(refuse('ServiceUnavailable', { reason: 'the order is there already' }))
        records.tables.orders.put({
          order: { ...order, owner },
          placement: { step: 'recorded' },
          destination,
          version: 1,
          recordedRun: records.databaseRun,
          checkedAt,
          dueAt: clock.now(),
          endedAt: null,
          finish: null,
        })
        if (replyToStore) putReply(records, owner, replyToStore)
        return order
      },
      counts: countsOf,
      find: (owner, id) => O.fromNullable(own(owner, id)?.order),
      list: (owner, query) => {
        const matching = ownOrders(owner)
          .map(({ order }) => order)
          .filter(isInList(query))
        return pageOf(newestFirst(matching), query)
      },
      findStored: (owner, id) => O.map(placementIn)(O.fromNullable(own(owner, id))),
      advance: (owner, from, transition, now) => {
        const stored = own(owner, from.order.id)
        if (stored?.version !== from.version || stored.placement.step === 'ended') return false
        if (sentAtOf(stored.placement) !== sentAtOf(from.placement)) return false
        if (from.databaseRun !== undefined && from.databaseRun !== records.databaseRun) return false
        const { accountId } = stored.order.request
        const { halts, ownHalts, orders } = records.tables
        const { placement, continueInMs, finish } = transition
        if (placement.step === 'sending' && (halts.has(accountId) || ownHalts.has(accountId)))
          return false
        const order = withTransition(stored.order, transition, now)
        const nowEndedAt = isUnderWay(order) ? null : clock.now()
        orders.put({
          ...stored,
          order,
          placement,
          version: stored.version + 1,
          dueAt: continueInMs === null ? null : clock.now() + continueInMs,
          endedAt: order === stored.order ? stored.endedAt : nowEndedAt,
          finish: finish ?? stored.finish,
        })
        if (order.status !== stored.order.status)
          for (const receive of listeners.get(order.id) ?? []) receive()
        return true
      },
      ticketsOfOtherOrders: (owner, { order, destination }) =>
        ownOrders(owner)
          .filter(
            (one) =>
              one.order.id !== order.id &&
              one.destination.providerAccountId === destination.providerAccountId &&
              (Math.abs(one.order.createdAt - order.createdAt) <= dayMs ||
                one.order.createdAt > clock.now() - 2 * dayMs),
          )
          .flatMap(ticketsOf),
      openOrders: (owner, accountId) =>
        ownOrders(owner)
          .filter(({ order }) => order.status === 'open' && order.request.accountId === accountId)
          .toSorted((a, b) => a.order.createdAt - b.order.createdAt)
          .map(placementIn),
    }),
    onOutcome: (id, receive) => {
      const receivers = listeners.get(id) ?? new Set()
      listeners.set(id, receivers.add(receive))
      return () => receivers.delete(receive)
    },
  }
}

const placementIn = ({ order, placement, destination, version }: OrderRow): StoredOrder => ({
  order,
  placement,
  destination,
  version,
})

const ticketsOf = (row: OrderRow) => {
  const position = 'fill' in row.order ? row.order.fill.positionId : undefined
  return [position, brokerOrderIdOf(row)].filter((one) => one !== undefined)
}

const sentAtOf = (placement: Placement): Instant | undefined =>
  'sentAt' in placement ? placement.sentAt : undefined

const isInList =
  ({ accountId, status, symbol, clientId, from = -Infinity, to = Infinity }: OrdersQuery) =>
  ({ request, status: held, createdAt }: Order) =>
    (accountId === undefined || accountId === request.accountId) &&
    (status === undefined || status === held) &&
    (symbol === undefined || symbol === request.symbol) &&
    (clientId === undefined || clientId === request.clientId) &&
    createdAt >= from &&
    createdAt <= to

// Those of one instant the last recorded first.
const newestFirst = (oldestFirst: readonly Order[]): readonly Order[] =>
  oldestFirst.toReversed().toSorted((a, b) => b.createdAt - a.createdAt)

// --- what the operator sees of them ---

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

/** Stores orders, in the place of those with the same ids. */
export const putOrders = (
  { tables, databaseRun: recordedRun }: FakeRecords,
  ...orders: readonly OperatorOrder[]
): void => {
  for (const one of orders)
    tables.orders.put({ recordedRun, checkedAt: one.order.createdAt, endedAt: null, ...one })
}

export const createFakeOperatorOrders = (records: FakeRecords): OperatorOrders =>
  portOf<OperatorOrders>({
    underWay: (filter, { after, limit }) =>
      records.tables.orders
        .where(
          (one) => (one.dueAt !== null || one.order.status === 'open') && isMatching(filter, one),
        )
        .filter(({ order }) => after === undefined || compare(order, after) > 0)
        .toSorted((a, b) => compare(a.order, b.order))
        .slice(0, limit)
        .map(shown),
    find: (id) => O.map(shown)(O.fromNullable(records.tables.orders.get(id))),
  })

const shown = (stored: OrderRow): OperatorOrder => ({
  ...placementIn(stored),
  dueAt: stored.dueAt,
  finish: stored.finish,
})

const isMatching = ({ of, unresolvedSince }: UnderWayFilter, { order, placement }: OperatorOrder) =>
  (of === undefined ||
    of.tenants.includes(order.owner.tenantId) ||
    of.users.includes(order.owner.userId) ||
    of.accounts.includes(order.request.accountId)) &&
  (unresolvedSince === undefined || unknownSince(order, placement) <= unresolvedSince)

const unknownSince = (order: Order, placement: Placement): Instant => {
  if (order.status === 'pending') return order.createdAt
  return placement.step === 'open' ? (placement.missing?.since ?? Infinity) : Infinity
}

const compare = (a: Pick<Order, 'createdAt' | 'id'>, b: Pick<Order, 'createdAt' | 'id'>) =>
  a.createdAt - b.createdAt || byText(a.id, b.id)

// --- idempotency keys ---

export const createFakeIdempotencyStore = (
  records: FakeRecords,
  clock: Clock,
): IdempotencyStore => {
  const put = (key: StoredKey): StoredKey => records.tables.idempotencyKeys.put(key)
  return portOf<IdempotencyStore>({
    claim: (
      owner,
      claim,
    ): E.Either<Refusal<'IdempotencyKeyReused' | 'IdempotencyInProgress'>, Claimed> => {
      const since = clock.now()
      const stored = storedKey(records, owner, claim)
      const key = stored && { ...stored, ageMs: since - stored.since }
      if (key && !mayBeClaimed(key)) return answerOfHeldKey(key, claim)
      const { id: claimId, requestHash } = claim
      put({ place: placeOf(owner, claim), claimId, requestHash, since, ageMs: 0, state: 'claimed' })
      return E.right({ kind: 'claimed' })
    },
    begin: (owner, claim) => {
      const key = unansweredKey(records, owner, claim)
      if (key?.state !== 'claimed') return E.left(refuse('IdempotencyInProgress'))
      put({ ...key, since: clock.now(), state: 'begun' })
      return E.right(undefined)
    },
    storeReply: (owner, claim, reply) => {
      if (unansweredKey(records, owner, claim)) putReply(records, owner, { claim, reply })
    },
    replaceReply: (owner, claim, reply) => {
      const key = storedKey(records, owner, claim)
      if (key?.claimId === claim.id && key.state === 'replied')
        putReply(records, owner, { claim, reply })
    },
    release: (owner, claim) => {
      if (unansweredKey(records, owner, claim))
        records.tables.idempotencyKeys.delete(placeOf(owner, claim))
    },
  })
}

const placeOf = ({ tenantId, userId }: Owner, { key }: IdempotencyClaim) =>
  JSON.stringify([tenantId, userId, key])

const storedKey = ({ tables }: FakeRecords, owner: Owner, claim: IdempotencyClaim) =>
  tables.idempotencyKeys.get(placeOf(owner, claim))

/** What is stored of a claim that holds its key and has no reply. */
const unansweredKey = (records: FakeRecords, owner: Owner, claim: IdempotencyClaim) => {
  const key = storedKey(records, owner, claim)
  return key?.claimId === claim.id && key.state !== 'replied' ? key : undefined
}

/** For a claim that holds its key. */
const putReply = (records: FakeRecords, owner: Owner, { claim, reply }: ReplyToStore) => {
  const key = storedKey(records, owner, claim)
  if (key) records.tables.idempotencyKeys.put({ ...key, state: 'replied', reply })
}
