// A caller's orders: placing one, reading them, and the refusals of changes. From its record on,
// `processOrder` sends an order and follows it to its end.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller, CallingProgram } from '../access/credential.ts'
import type { IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import { requireBrokerAccount, requireTradable } from '../accounts/account.ts'
import type { Account, BrokerAccount } from '../accounts/account.ts'
import {
  brokerUnavailable,
  challengeCheckUnavailable,
  limitCheckUnavailable,
  notFound,
} from '../errors.ts'
import type {
  AccountNotFound,
  AccountPurposeRestricted,
  BrokerUnavailable,
  ChallengeCheckUnavailable,
  ChallengeLocked,
  LimitCheckUnavailable,
  LiveAccountRestricted,
  NotFound,
  NotProvisioned,
  OrderInFlight,
  OrderNotCancellable,
  OrderNotModifiable,
  RiskLimitExceeded,
  ServiceUnavailable,
  UnsupportedBroker,
} from '../errors.ts'
import { requireUnlocked } from '../orders/guards.ts'
import { requireVolumeInLimit } from '../orders/limits.ts'
import { parseOrderId } from '../orders/order.ts'
import type { Order, OrderRequest, PendingOrder } from '../orders/order.ts'
import { placementWindowMs } from '../orders/placement.ts'
import { requireCancellable, requireModifiable } from '../orders/transitions.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { AccountGuards, OpenBooks } from '../ports/guard-store.ts'
import type { OrderStore, OrdersQuery, RecordRefusal } from '../ports/order-store.ts'
import type { Ports } from '../ports/ports.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Page } from '../primitives/pages.ts'
import { findAccount } from './steps/accounts.ts'
import { accountsInBooks, isLimited } from './steps/order-limits.ts'

export const createOrders = (ports: PlacePorts & Pick<Ports, 'orders'>) => {
  const { orders, clock } = ports

  /** Malformed, unknown and another user's are all not found. */
  const getOrder = (
    { owner }: Caller,
    id: string,
  ): TE.TaskEither<NotFound | ServiceUnavailable, Order> =>
    pipe(
      TE.fromOption(() => notFound('order'))(parseOrderId(id)),
      TE.flatMap((orderId) => orders.find(owner, orderId)),
      TE.flatMap(TE.fromOption(() => notFound('order'))),
    )

  return {
    placeOrder: placeOrder(ports),

    /** GET /orders: newest first, in pages that hold still while orders arrive. */
    listOrders: (
      { owner, program }: CallingProgram,
      query: OrdersQuery,
    ): TE.TaskEither<AccountNotFound | ServiceUnavailable, Page<Order>> =>
      pipe(
        TE.right(query.accountId),
        TE.tap((accountId) =>
          accountId === undefined ? TE.right(undefined) : findAccount(ports)(owner, accountId),
        ),
        TE.flatMap(() => orders.list(owner, program, query, clock.now())),
      ),

    /** GET /orders/:id. */
    getOrder,

    /** PUT /orders/:id: only an open order can be modified, and none is open today. */
    modifyOrder: (
      caller: Caller,
      id: string,
    ): TE.TaskEither<NotFound | OrderInFlight | OrderNotModifiable | ServiceUnavailable, never> =>
      pipe(getOrder(caller, id), TE.flatMapEither(requireModifiable)),

    /** DELETE /orders/:id: only an open order can be cancelled, and none is open today. */
    cancelOrder: (
      caller: Caller,
      id: string,
    ): TE.TaskEither<NotFound | OrderInFlight | OrderNotCancellable | ServiceUnavailable, never> =>
      pipe(getOrder(caller, id), TE.flatMapEither(requireCancellable)),
  }
}

interface PlacePorts extends Pick<
  Ports,
  'guards' | 'providerTokens' | 'orderIds' | 'clock' | 'stopwatch'
> {
  readonly accounts: Pick<AccountStore, 'find'>
  /**
   * Read past every copy and cache: a copy that lags would count what was closed, and miss what was
   * opened.
   */
  readonly positionDesk: Pick<PositionDesk, 'freshPositions'>
  readonly orders: Pick<OrderStore, 'record'>
}

export interface PlaceOrderInput {
  readonly request: OrderRequest
  /**
   * The claim that the caller made for this request, and the reply that is kept under it together
   * with the order.
   */
  readonly keep?:
    | { readonly claim: IdempotencyClaim; readonly replyOf: (order: PendingOrder) => KeptReply }
    | undefined
}

type AccountRefusal =
  | AccountNotFound
  | AccountPurposeRestricted
  | LiveAccountRestricted
  | UnsupportedBroker
  | NotProvisioned
  | BrokerUnavailable
  | ServiceUnavailable

export type PlaceOrderRefusal =
  | RiskLimitExceeded
  | AccountRefusal
  | ChallengeLocked
  | ChallengeCheckUnavailable
  | LimitCheckUnavailable
  | RecordRefusal

/**
 * POST /orders: checks the order and records it; the reply does not wait for the broker. The order
 * of the checks is part of the contract: volume, account, provider token, challenge, books (here),
 * then limits and counts (in `record`).
 */
export const placeOrder =
  (ports: PlacePorts) =>
  (
    { owner }: Caller,
    { request, keep }: PlaceOrderInput,
  ): TE.TaskEither<PlaceOrderRefusal, PendingOrder> =>
    pipe(
      TE.fromEither(requireVolumeInLimit(request.volume)),
      TE.flatMap(() => readForOrder(ports, owner, request.accountId)),
      TE.bindW('books', (checked) => readBooks(ports, checked)),
      TE.flatMap(({ destination, guards, books }) => {
        const now = ports.clock.now()
        const order: PendingOrder = {
          id: ports.orderIds.newOrderId(),
          owner,
          request,
          status: 'pending',
          createdAt: now,
          updatedAt: now,
        }
        return ports.orders.record(owner, {
          order,
          destination,
          sendUntilMs: ports.stopwatch.elapsedMs() + placementWindowMs,
          checkedAt: guards.readAt,
          serverRun: guards.serverRun,
          keep: keep && { claim: keep.claim, reply: keep.replyOf(order) },
          books,
        })
      }),
    )

interface CheckedAccount {
  readonly account: Account
  readonly destination: BrokerAccount
  readonly guards: AccountGuards
}

// All reads at once, since each is a round trip to the database. One that failed matters only when
// the checks before it have passed.
const readForOrder =
  (
    ports: PlacePorts,
    owner: Owner,
    id: AccountId,
  ): TE.TaskEither<PlaceOrderRefusal, CheckedAccount> =>
  async () => {
    const [account, token, challenges, guards] = await Promise.all([
      findAccount(ports)(owner, id)(),
      ports.providerTokens.find(owner.tenantId)(),
      ports.guards.challenges(owner, id)(),
      ports.guards.guards(owner, id)(),
    ])
    if (E.isLeft(account)) return account
    const tradable = requireTradable(account.right)
    if (E.isLeft(tradable)) return tradable
    const destination = requireBrokerAccount(account.right)
    if (E.isLeft(destination)) return destination
    if (E.isLeft(token)) return token
    if (O.isNone(token.right))
      return E.left(brokerUnavailable(id, 'the tenant has no provider token'))
    if (E.isLeft(challenges)) return E.left(challengeCheckUnavailable(challenges.left.reason))
    const unlocked = requireUnlocked(challenges.right)
    if (E.isLeft(unlocked)) return unlocked
    if (E.isLeft(guards)) return E.left(limitCheckUnavailable(guards.left.reason))
    return E.right({ account: account.right, destination: destination.right, guards: guards.right })
  }

/** Undefined where nothing is limited. */
const readBooks = (
  { positionDesk }: PlacePorts,
  { account, guards }: CheckedAccount,
): TE.TaskEither<LimitCheckUnavailable, OpenBooks | undefined> => {
  if (!isLimited(guards)) return TE.right(undefined)
  return pipe(
    accountsInBooks(account, guards),
    TE.traverseArray((one) =>
      pipe(
        TE.fromEither(requireBrokerAccount(one)),
        TE.bindTo('linked'),
        TE.bindW('read', ({ linked }) => positionDesk.freshPositions(linked)),
        TE.bimap(
          (error) =>
            limitCheckUnavailable(
              `the positions of account ${one.id} cannot be read: ${error._tag}`,
              error._tag === 'BrokerUnavailable' ? error.cause : undefined,
            ),
          ({ linked, read }) => [linked.providerAccountId, read.positions] as const,
        ),
      ),
    ),
    TE.map((read) => ({ asOf: guards.readAt, positions: new Map(read) })),
  )
}
