// A caller's orders: placing one, reading them, and the refusals of changes. From its record on,
// `processOrder` sends an order and follows it to its end.
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller, CallingProgram } from '../access/credential.ts'
import type { IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import {
  requireBrokerAccount,
  requireDemo,
  requireTradingPurpose,
  type Account,
  type BrokerAccount,
} from '../accounts/account.ts'
import { requireNotHalted } from '../accounts/halt.ts'
import {
  refuse,
  requireNoIssues,
  type AsyncResult,
  type Halt,
  type Refusal,
  type ServiceUnavailable,
} from '../errors.ts'
import {
  arePositionsNeeded,
  requireDeskLimits,
  requireNoApproval,
  requireTraderLimits,
  requireUnlocked,
  requireVolumeInLimit,
  type ChallengeStanding,
  type CountedOrder,
  type DeskLimits,
  type OpenVolumes,
  type OrderSize,
} from '../orders/limits.ts'
import {
  brokerClientId,
  clientIdPrefix,
  parseOrderId,
  type Order,
  type OrderRequest,
  type PendingOrder,
} from '../orders/order.ts'
import {
  issuesOfTerms,
  requireLevelsAroundPrice,
  requireOrderTypeOf,
} from '../orders/pending-terms.ts'
import { sendTimeoutMs } from '../orders/placement.ts'
import type { UnusableAccountTag } from '../orders/unusable-account.ts'
import type {
  AccountLimits,
  IdempotencyStore,
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
import { findAccount, requireFound, requireOwnAccount, type AccountReads } from './steps/find.ts'
import { asWritten, type ResolveOrderSymbol } from './steps/order-symbol.ts'
import { createOutcomeWaits, type OutcomeWait } from './steps/outcome-wait.ts'

interface OrdersPorts extends Omit<PlacePorts, 'orders'>, Pick<Ports, 'orders' | 'pause'> {
  readonly idempotency: Pick<IdempotencyStore, 'replace'>
}

export const createOrders = (ports: OrdersPorts) => {
  const { orders, clock, idempotency } = ports
  const place = placeOrder(ports)
  const waitForOutcome = createOutcomeWaits(ports)

  /**
   * The reply that was kept when the order was recorded is replaced before the caller gets another.
   * Where that fails, or the caller is gone, the order is answered as it was recorded.
   */
  const answerAfter =
    (wait: OutcomeWait, replyToStore: PlaceOrderInput['replyToStore']) =>
    (recorded: PendingOrder): T.Task<Order> =>
    async () => {
      const order = await waitForOutcome(recorded, wait)()
      if (order === recorded || !wait.mayGoOn()) return recorded
      if (replyToStore === undefined) return order
      const { claim, replyOf } = replyToStore
      const replaced = await idempotency.replace(recorded.owner, claim, replyOf(order))()
      return E.isRight(replaced) ? order : recorded
    }

  /** Malformed, unknown and another user's are all not found. */
  const getOrder = ({ owner }: Caller, id: string): AsyncResult<Order, 'NotFound'> =>
    pipe(
      requireFound('order')(TE.right(parseOrderId(id))),
      TE.flatMap((orderId) => requireFound('order')(orders.find(owner, orderId))),
    )

  return {
    /** POST /orders. With `wait` the answer is held back until the order has left `pending`. */
    placeOrder: (
      caller: Caller,
      { wait, ...input }: PlaceOrderInput & { readonly wait?: OutcomeWait | undefined },
    ): AsyncResult<Order, PlaceOrderTag> =>
      wait === undefined
        ? place(caller, input)
        : pipe(place(caller, input), TE.flatMapTask(answerAfter(wait, input.replyToStore))),

    /** GET /orders: newest first, in pages that hold still while orders arrive. */
    listOrders: (
      { owner, program }: CallingProgram,
      query: OrdersQuery,
    ): AsyncResult<Page<Order>, 'AccountNotFound'> =>
      pipe(
        requireOwnAccount(ports)(owner, query.accountId),
        TE.flatMap(() => orders.list(owner, program, query, clock.now())),
      ),

    /** GET /orders/:id. */
    getOrder,
  }
}

/** What the checks of an order read. */
export interface CheckPorts
  extends AccountReads, Pick<Ports, 'orderLimits' | 'providerTokens' | 'halts'> {
  /** Left out without the capability `market-data`: a symbol is sent as it is. */
  readonly resolveOrderSymbol?: ResolveOrderSymbol | undefined
  /** Reads bypass caches: stale positions would make the limit check wrong. */
  readonly positionTrading: Pick<PositionTrading, 'freshPositions'>
}

interface PlacePorts extends CheckPorts, Pick<Ports, 'orderIds' | 'clock' | 'stopwatch'> {
  readonly orders: Pick<OrderStore, 'record'>
}

export interface PlaceOrderInput {
  readonly request: OrderRequest
  /**
   * The claim that the caller made for this request, and the reply that is kept under it together
   * with the order.
   */
  readonly replyToStore?:
    | { readonly claim: IdempotencyClaim; readonly replyOf: (order: Order) => KeptReply }
    | undefined
}

type PlaceOrderTag =
  | 'ValidationError'
  | 'InvalidPrice'
  | 'OrderTypeNotSupportedByPlatform'
  | UnusableAccountTag
  | 'BrokerUnavailable'
  | 'ChallengeLocked'
  | 'ChallengeCheckUnavailable'
  | 'SymbolAmbiguous'
  | RecordRefusal['_tag']

/** A check of a new order. */
export interface OrderCheck<Facts, Failure = Refusal<PlaceOrderTag>, Order = OrderRequest> {
  readonly name: OrderCheckName
  readonly require: (order: Order, facts: Facts) => E.Either<Failure, unknown>
}

/** The checks of a new order, in their order. */
export const orderCheckNames = [
  'levels',
  'volume_per_order',
  'account_purpose',
  'demo_account',
  'halt',
  'provider_account',
  'order_type',
  'provider_token',
  'challenge',
  'desk_limits',
  'trader_limits',
  'approval',
  'orders_per_day',
  'open_orders',
] as const
export type OrderCheckName = (typeof orderCheckNames)[number]

/** The refusal of the first check that fails. */
const requireEach = <Facts, Failure, Order>(
  checks: readonly OrderCheck<Facts, Failure, Order>[],
  order: Order,
  facts: Facts,
): E.Either<Failure, void> => {
  for (const check of checks) {
    const passed = check.require(order, facts)
    if (E.isLeft(passed)) return passed
  }
  return E.right(undefined)
}

/**
 * POST /orders: checks the order and records it; the reply does not wait for the broker. The order
 * of the checks is part of the contract: terms, levels, volume, account, halt, provider token, challenge, symbol,
 * open positions (here), then limits and counts (in `record`).
 */
export const placeOrder =
  (ports: PlacePorts) =>
  (
    { owner }: Caller,
    { request, replyToStore }: PlaceOrderInput,
  ): AsyncResult<PendingOrder, PlaceOrderTag> =>
    pipe(
      // Before anything is read: a body that could never be an order.
      TE.fromEither(requireNoIssues(issuesOfTerms(request, ports.clock.now()))),
      TE.flatMapEither(() => requireEach(requestChecks, request, undefined)),
      TE.flatMap(() => readAccountFacts(ports, owner, request.accountId)),
      TE.tapEither((facts) => requireEach(accountChecks, request, facts)),
      TE.flatMapEither(({ account, limits }) =>
        pipe(
          E.Do,
          E.bind('destination', () => requireBrokerAccount(account)),
          E.bindW('limits', () => limits),
          E.let('account', () => account),
        ),
      ),
      TE.bindW('symbols', ({ destination }) => readSymbols(ports, destination, request.symbol)),
      TE.bindW('openPositions', ({ account, limits }) => readOpenPositions(ports, account, limits)),
      TE.flatMap(({ destination, limits, symbols, openPositions }) => {
        const now = ports.clock.now()
        const order: PendingOrder = {
          id: ports.orderIds.newOrderId(),
          owner,
          request: { ...request, ...symbols },
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

const readSymbols = (
  { resolveOrderSymbol = asWritten }: Pick<PlacePorts, 'resolveOrderSymbol'>,
  destination: BrokerAccount,
  symbol: string,
): TE.TaskEither<Refusal<'SymbolAmbiguous'>, Pick<OrderRequest, 'brokerSymbol'>> =>
  pipe(
    resolveOrderSymbol(destination, symbol),
    TE.map((brokerSymbol) => (brokerSymbol === symbol ? {} : { brokerSymbol })),
  )

/** The account of an order, and what else its checks need. A read that failed refuses the order. */
export interface AccountFacts {
  readonly account: Account
  readonly halt: E.Either<ServiceUnavailable, O.Option<Halt>>
  readonly hasToken: E.Either<ServiceUnavailable, boolean>
  readonly challenges: E.Either<Refusal<'ChallengeCheckUnavailable'>, readonly ChallengeStanding[]>
  readonly limits: E.Either<Refusal<'LimitCheckUnavailable'>, AccountLimits>
}

export const requestChecks: readonly OrderCheck<unknown>[] = [
  { name: 'levels', require: requireLevelsAroundPrice },
  { name: 'volume_per_order', require: ({ volume }) => requireVolumeInLimit(volume) },
]

export const accountChecks: readonly OrderCheck<AccountFacts>[] = [
  { name: 'account_purpose', require: (_, { account }) => requireTradingPurpose(account) },
  { name: 'demo_account', require: (_, { account }) => requireDemo(account) },
  {
    name: 'halt',
    require: (_, { account, halt }) =>
      pipe(
        halt,
        E.flatMap((found) => requireNotHalted(account.id, found)),
      ),
  },
  { name: 'provider_account', require: (_, { account }) => requireBrokerAccount(account) },
  {
    name: 'order_type',
    require: (order, { account }) =>
      pipe(
        requireBrokerAccount(account),
        E.flatMap(({ platform }) => requireOrderTypeOf(platform, order)),
      ),
  },
  {
    name: 'provider_token',
    require: (_, { account: { id: accountId }, hasToken }) =>
      pipe(
        hasToken,
        E.filterOrElseW(identity, () =>
          refuse('BrokerUnavailable', { accountId, reason: 'the tenant has no provider token' }),
        ),
      ),
  },
  { name: 'challenge', require: (_, { challenges }) => E.flatMap(requireUnlocked)(challenges) },
]

// All reads at once, since each is a round trip to the database. One that failed matters only when
// the checks before it have passed.
export const readAccountFacts =
  (ports: CheckPorts, owner: Owner, id: AccountId): AsyncResult<AccountFacts, 'AccountNotFound'> =>
  async () => {
    const [account, halt, token, challenges, limits] = await Promise.all([
      findAccount(ports)(owner, id)(),
      ports.halts.find(owner, id)(),
      ports.providerTokens.find(owner.tenantId)(),
      ports.orderLimits.challenges(owner, id)(),
      ports.orderLimits.limitsOf(owner, id)(),
    ])
    if (E.isLeft(account)) return account
    return E.right({
      account: account.right,
      halt,
      hasToken: pipe(
        token,
        E.map((found) => O.isSome(found)),
      ),
      challenges: E.mapLeft(({ reason }: ServiceUnavailable) =>
        refuse('ChallengeCheckUnavailable', { reason }),
      )(challenges),
      limits: E.mapLeft(({ reason }: ServiceUnavailable) =>
        refuse('LimitCheckUnavailable', { reason }),
      )(limits),
    })
  }

/** Undefined where nothing is limited. */
export const readOpenPositions = (
  { positionTrading }: Pick<PlacePorts, 'positionTrading'>,
  account: Account,
  limits: AccountLimits,
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

/** What the limits of an order are decided on: positions read at the broker, and pending orders. */
export interface LimitFacts {
  readonly account: Account
  readonly limits: AccountLimits
  readonly openPositions: OpenPositions
}

export const limitChecks: readonly OrderCheck<LimitFacts, LimitRefusal, OrderSize>[] = [
  {
    name: 'desk_limits',
    require: (order, { limits: { desks }, openPositions }) => {
      for (const { limits, accounts, pending } of desks) {
        const within = pipe(
          volumesFor(limits, accounts, pending, openPositions),
          E.flatMap((openVolumes) => requireDeskLimits(order, limits, openVolumes)),
        )
        if (E.isLeft(within)) return within
      }
      return E.right(undefined)
    },
  },
  {
    name: 'trader_limits',
    require: (order, { account, limits: { trader }, openPositions }) =>
      trader === null
        ? E.right(undefined)
        : pipe(
            volumesFor(trader.limits, [account], trader.pending, openPositions),
            E.flatMap((openVolumes) => requireTraderLimits(order, trader.limits, openVolumes)),
          ),
  },
  {
    name: 'approval',
    require: (order, { limits: { trader } }) =>
      trader === null ? E.right(undefined) : requireNoApproval(order, trader.limits),
  },
]

/**
 * The limits of an account's desks, then of its trader, and whether the order needs an approval:
 * decided on the positions that were read at the broker and the orders pending at this moment. The
 * order store calls this in the transaction that records the order, under the locks of the account
 * and its desks.
 */
export const requireOrderLimits = (
  account: Account,
  order: OrderSize,
  limits: AccountLimits,
  openPositions: OpenPositions,
): E.Either<LimitRefusal, void> =>
  requireEach(limitChecks, order, { account, limits, openPositions })

/** None where the limits do not depend on them. */
const volumesFor = (
  limits: DeskLimits,
  accounts: readonly Account[],
  pending: readonly CountedOrder[],
  openPositions: OpenPositions,
): E.Either<LimitRefusal, OpenVolumes> =>
  arePositionsNeeded(limits) ? openVolumesOf(accounts, pending, openPositions) : E.right([])

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
