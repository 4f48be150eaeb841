// A caller's orders: placing one, reading them, and the refusals of changes. From its record on,
// `processOrder` sends an order and follows it to its end.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller, CallingProgram } from '../access/credential.ts'
import type { IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import {
  requireBrokerAccount,
  requireTradable,
  type Account,
  type BrokerAccount,
} from '../accounts/account.ts'
import { requireNotHalted } from '../accounts/halt.ts'
import { refuse, type AsyncResult, type Refusal } from '../errors.ts'
import {
  arePositionsNeeded,
  requireDeskLimits,
  requireNoApproval,
  requireTraderLimits,
  requireUnlocked,
  requireVolumeInLimit,
  type OpenVolumes,
  type OrderSize,
  type CountedOrder,
} from '../orders/limits.ts'
import {
  brokerClientId,
  clientIdPrefix,
  parseOrderId,
  requireCancellable,
  requireModifiable,
  type Order,
  type OrderRequest,
  type PendingOrder,
} from '../orders/order.ts'
import { sendTimeoutMs } from '../orders/placement.ts'
import type {
  AccountLimits,
  AccountStore,
  Halts,
  LimitRefusal,
  OpenPositions,
  OrderStore,
  OrdersQuery,
  Ports,
  PositionTrading,
  RecordRefusal,
} from '../ports/index.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Page } from '../primitives/pages.ts'
import { findAccount } from './steps/find.ts'

export const createOrders = (ports: PlacePorts & Pick<Ports, 'orders'>) => {
  const { orders, clock } = ports

  /** Malformed, unknown and another user's are all not found. */
  const getOrder = ({ owner }: Caller, id: string): AsyncResult<Order, 'NotFound'> =>
    pipe(
      TE.fromOption(() => refuse('NotFound', { what: 'order' }))(parseOrderId(id)),
      TE.flatMap((orderId) => orders.find(owner, orderId)),
      TE.flatMap(TE.fromOption(() => refuse('NotFound', { what: 'order' }))),
    )

  return {
    placeOrder: placeOrder(ports),

    /** GET /orders: newest first, in pages that hold still while orders arrive. */
    listOrders: (
      { owner, program }: CallingProgram,
      query: OrdersQuery,
    ): AsyncResult<Page<Order>, 'AccountNotFound'> =>
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
    ): AsyncResult<never, 'NotFound' | 'OrderInFlight' | 'OrderNotModifiable'> =>
      pipe(getOrder(caller, id), TE.flatMapEither(requireModifiable)),

    /** DELETE /orders/:id: only an open order can be cancelled, and none is open today. */
    cancelOrder: (
      caller: Caller,
      id: string,
    ): AsyncResult<never, 'NotFound' | 'OrderInFlight' | 'OrderNotCancellable'> =>
      pipe(getOrder(caller, id), TE.flatMapEither(requireCancellable)),
  }
}

interface PlacePorts extends Pick<
  Ports,
  'orderLimits' | 'providerTokens' | 'orderIds' | 'clock' | 'stopwatch'
> {
  readonly halts: Pick<Halts, 'find'>
  readonly accounts: Pick<AccountStore, 'find'>
  /** Reads bypass caches: stale positions would make the limit check wrong. */
  readonly positionTrading: Pick<PositionTrading, 'freshPositions'>
  readonly orders: Pick<OrderStore, 'record'>
}

export interface PlaceOrderInput {
  readonly request: OrderRequest
  /**
   * The claim that the caller made for this request, and the reply that is kept under it together
   * with the order.
   */
  readonly replyToStore?:
    | { readonly claim: IdempotencyClaim; readonly replyOf: (order: PendingOrder) => KeptReply }
    | undefined
}

type PlaceOrderTag =
  | 'AccountNotFound'
  | 'AccountPurposeRestricted'
  | 'LiveAccountRestricted'
  | 'AccountHalted'
  | 'UnsupportedBroker'
  | 'NotProvisioned'
  | 'BrokerUnavailable'
  | 'ChallengeLocked'
  | 'ChallengeCheckUnavailable'
  | RecordRefusal['_tag']

/**
 * POST /orders: checks the order and records it; the reply does not wait for the broker. The order
 * of the checks is part of the contract: volume, account, halt, provider token, challenge, open positions
 * (here), then limits and counts (in `record`).
 */
export const placeOrder =
  (ports: PlacePorts) =>
  (
    { owner }: Caller,
    { request, replyToStore }: PlaceOrderInput,
  ): AsyncResult<PendingOrder, PlaceOrderTag> =>
    pipe(
      TE.fromEither(requireVolumeInLimit(request.volume)),
      TE.flatMap(() => readForOrder(ports, owner, request.accountId)),
      TE.bindW('openPositions', (checked) => readOpenPositions(ports, checked)),
      TE.flatMap(({ destination, limits, openPositions }) => {
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
          sendDeadlineMs: ports.stopwatch.elapsedMs() + sendTimeoutMs,
          checkedAt: limits.readAt,
          serverRun: limits.serverRun,
          keep: replyToStore && { claim: replyToStore.claim, reply: replyToStore.replyOf(order) },
          openPositions,
        })
      }),
    )

interface CheckedAccount {
  readonly account: Account
  readonly destination: BrokerAccount
  readonly limits: AccountLimits
}

// All reads at once, since each is a round trip to the database. One that failed matters only when
// the checks before it have passed.
const readForOrder =
  (ports: PlacePorts, owner: Owner, id: AccountId): AsyncResult<CheckedAccount, PlaceOrderTag> =>
  async () => {
    const [account, halt, token, challenges, limits] = await Promise.all([
      findAccount(ports)(owner, id)(),
      ports.halts.find(owner, id)(),
      ports.providerTokens.find(owner.tenantId)(),
      ports.orderLimits.challenges(owner, id)(),
      ports.orderLimits.limitsOf(owner, id)(),
    ])
    if (E.isLeft(account)) return account
    const tradable = requireTradable(account.right)
    if (E.isLeft(tradable)) return tradable
    if (E.isLeft(halt)) return halt
    const active = requireNotHalted(id, halt.right)
    if (E.isLeft(active)) return active
    const destination = requireBrokerAccount(account.right)
    if (E.isLeft(destination)) return destination
    if (E.isLeft(token)) return token
    if (O.isNone(token.right))
      return E.left(
        refuse('BrokerUnavailable', { accountId: id, reason: 'the tenant has no provider token' }),
      )
    if (E.isLeft(challenges))
      return E.left(refuse('ChallengeCheckUnavailable', { reason: challenges.left.reason }))
    const unlocked = requireUnlocked(challenges.right)
    if (E.isLeft(unlocked)) return unlocked
    if (E.isLeft(limits))
      return E.left(refuse('LimitCheckUnavailable', { reason: limits.left.reason }))
    return E.right({ account: account.right, destination: destination.right, limits: limits.right })
  }

/** Undefined where nothing is limited. */
const readOpenPositions = (
  { positionTrading }: PlacePorts,
  { account, limits }: CheckedAccount,
): TE.TaskEither<Refusal<'LimitCheckUnavailable'>, OpenPositions | undefined> => {
  if (!isLimited(limits)) return TE.right(undefined)
  return pipe(
    accountsToRead(account, limits),
    TE.traverseArray((one) =>
      pipe(
        TE.fromEither(requireBrokerAccount(one)),
        TE.bindTo('linked'),
        TE.bindW('read', ({ linked }) => positionTrading.freshPositions(linked)),
        TE.bimap(
          (error) =>
            refuse('LimitCheckUnavailable', {
              reason: `the positions of account ${one.id} cannot be read: ${error._tag}`,
              cause: error._tag === 'BrokerUnavailable' ? error.cause : undefined,
            }),
          ({ linked, read }) => [linked.providerAccountId, read.positions] as const,
        ),
      ),
    ),
    TE.map((read) => ({ asOf: limits.readAt, positions: new Map(read) })),
  )
}

// --- limits ---

/** Whether anything is limited at all; of most accounts nothing is. */
const isLimited = ({ trader, desks }: AccountLimits): boolean => trader !== null || desks.length > 0

/**
 * The accounts whose positions the limits need, one for each broker account. Accounts that no
 * broker holds (paper, another platform, not provisioned) have no positions that could count.
 */
export const accountsToRead = (
  account: Account,
  { trader, desks }: AccountLimits,
): readonly Account[] => {
  const ofDesks = desks
    .filter(({ limits }) => arePositionsNeeded(limits))
    .flatMap(({ accounts }) => accounts)
  const ofTrader = trader !== null && arePositionsNeeded(trader.limits) ? [account] : []
  return [
    ...new Map(
      [...ofDesks, ...ofTrader].flatMap((one) =>
        providerAccountIdsOf(one).map((id) => [id, one] as const),
      ),
    ).values(),
  ]
}

/**
 * The limits of an account's desks, then of its trader, and whether the order needs an approval:
 * decided on the positions that were read at the broker and the orders pending at this moment. The
 * order store calls this in the transaction that records the order, under the locks of the account
 * and its desks.
 */
export const requireOrderLimits = (
  account: Account,
  order: OrderSize,
  { trader, desks }: AccountLimits,
  openPositions: OpenPositions,
): E.Either<LimitRefusal, void> => {
  for (const { limits, accounts, pending } of desks) {
    const within = pipe(
      arePositionsNeeded(limits) ? openVolumesOf(accounts, pending, openPositions) : E.right([]),
      E.flatMap((openVolumes): E.Either<LimitRefusal, void> =>
        requireDeskLimits(order, limits, openVolumes),
      ),
    )
    if (E.isLeft(within)) return within
  }
  if (trader === null) return E.right(undefined)
  const { limits, pending } = trader
  return pipe(
    arePositionsNeeded(limits) ? openVolumesOf([account], pending, openPositions) : E.right([]),
    E.flatMap((openVolumes): E.Either<LimitRefusal, void> =>
      requireTraderLimits(order, limits, openVolumes),
    ),
    E.flatMap(() => requireNoApproval(order, limits)),
  )
}

/** Empty where no broker holds the account. */
const providerAccountIdsOf = (account: Account): readonly string[] => {
  const linked = requireBrokerAccount(account)
  return E.isRight(linked) ? [linked.right.providerAccountId] : []
}

/**
 * The volume of each open position and of each counted order, in lots. A position and the order
 * that opened it count once, with the larger of the two volumes.
 */
const openVolumesOf = (
  accounts: readonly Account[],
  pending: readonly CountedOrder[],
  { positions }: OpenPositions,
): E.Either<Refusal<'LimitCheckUnavailable'>, OpenVolumes> => {
  const byPrefix = new Map(
    pending.map((order) => [clientIdPrefix(brokerClientId(order.id)), order]),
  )
  const executed = new Set<CountedOrder>()
  const volumes: number[] = []
  for (const id of new Set(accounts.flatMap(providerAccountIdsOf))) {
    const open = positions.get(id)
    // An account that joined the desk, or was linked, after the positions were read.
    if (open === undefined)
      return E.left(
        refuse('LimitCheckUnavailable', {
          reason: 'the accounts that the limits cover changed while the order was checked',
        }),
      )
    for (const { clientId, volume } of open) {
      const order = clientId === undefined ? undefined : byPrefix.get(clientIdPrefix(clientId))
      if (order !== undefined) executed.add(order)
      volumes.push(Math.max(volume, order?.volume ?? 0))
    }
  }
  return E.right([
    ...volumes,
    ...pending.filter((order) => !executed.has(order)).map(({ volume }) => volume),
  ])
}
