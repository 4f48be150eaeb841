// A caller's orders: placing one, and reading them. Placing only records an order: `processOrder`
// sends it and follows it to its end.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { IdempotencyClaim, StoredReply } from '../access/idempotency-key.ts'
import { requireBrokerAccount, type Account, type BrokerAccount } from '../accounts/account.ts'
import {
  refuse,
  requireNoIssues,
  type AsyncResult,
  type Refusal,
  type ServiceUnavailable,
} from '../errors.ts'
import { resolveSymbol, type BrokerSymbol } from '../market/broker-symbol.ts'
import {
  accountChecks,
  requestChecks,
  requireEach,
  type AccountCheckTag,
  type AccountFacts,
} from '../orders/checks.ts'
import { accountsToRead, type AccountLimits, type OpenPositions } from '../orders/limits.ts'
import { parseOrderId, type Order, type OrderRequest, type PendingOrder } from '../orders/order.ts'
import { issuesOfTerms } from '../orders/order-terms.ts'
import { maxSendAgeMs } from '../orders/placement.ts'
import type { OrdersQuery, Ports, RecordRefusal } from '../ports/index.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Page } from '../primitives/pages.ts'
import type { Side } from '../primitives/prices.ts'
import type { ById, DateRange, WithBody, WithQuery } from './input.ts'
import { readWithin } from './steps/broker-change.ts'
import { findAccount, requireById, requireOwnAccount } from './steps/find.ts'
import { createOutcomeWaits, type OutcomeWait } from './steps/outcome-wait.ts'

/** Placing orders, and reading them. */
export const createOrders = (ports: PlacePorts & Pick<Ports, 'idempotency' | 'pause'>) => {
  const { orders, idempotency } = ports
  const checkAndRecord = checkAndRecordOrder(ports)
  const waitForOutcome = createOutcomeWaits(ports)

  /**
   * The reply that was stored with the order is replaced before the caller gets another. Where that
   * fails, or the caller is gone, the order is answered as it was recorded.
   */
  const waitAndReplaceReply =
    (wait: OutcomeWait, keyedReply: KeyedReply | undefined) =>
    (recorded: PendingOrder): T.Task<Order> =>
    async () => {
      const order = await waitForOutcome(recorded, wait)()
      if (order === recorded || !wait.mayWait()) return recorded
      if (keyedReply === undefined) return order
      const { claim, replyOf } = keyedReply
      const replaced = await idempotency.replaceReply(recorded.owner, claim, replyOf(order))()
      return E.isRight(replaced) ? order : recorded
    }

  return {
    /** POST /orders. With `wait` the answer is held back until the order has left `pending`. */
    placeOrder: (
      caller: Caller,
      {
        query: { wait: seconds },
        body,
        mayWait,
        keyedReply,
      }: WithQuery<{ readonly wait?: number }> &
        WithBody<PlaceOrderBody> & {
          readonly mayWait: () => boolean
          readonly keyedReply?: KeyedReply | undefined
        },
    ): AsyncResult<Order, PlaceOrderTag> => {
      const placed = checkAndRecord(caller, requestOf(body), keyedReply)
      return seconds === undefined
        ? placed
        : pipe(placed, TE.flatMapTask(waitAndReplaceReply({ seconds, mayWait }, keyedReply)))
    },

    /** GET /orders: newest first. */
    listOrders: (
      { owner }: Caller,
      {
        query: { startDate: from, endDate: to, ...query },
      }: WithQuery<Omit<OrdersQuery, 'from' | 'to'> & DateRange>,
    ): AsyncResult<Page<Order>, 'AccountNotFound'> =>
      pipe(
        requireOwnAccount(ports)(owner, query.accountId),
        TE.flatMap(() => orders.list(owner, { ...query, from, to })),
      ),

    /** GET /orders/:id. Malformed, unknown and another user's are all not found. */
    getOrder: ({ owner }: Caller, { id }: ById): AsyncResult<Order, 'NotFound'> =>
      requireById('order', parseOrderId(id), (orderId) => orders.find(owner, orderId)),
  }
}

/** As the API has it. */
export interface PlaceOrderBody extends Omit<OrderRequest, 'side' | 'brokerSymbol'> {
  readonly type: Side
}

/** An order in the words of the domain. */
export const requestOf = ({ type: side, ...request }: PlaceOrderBody): OrderRequest => ({
  ...request,
  side,
})

/** What the checks of an order read. */
export interface CheckPorts extends Pick<
  Ports,
  'accounts' | 'orderLimits' | 'orders' | 'positionTrading' | 'providerTokens' | 'halts' | 'clock'
> {
  readonly resolveOrderSymbol: ResolveOrderSymbol
}

type PlacePorts = CheckPorts & Pick<Ports, 'orderIds' | 'stopwatch'>

/** The claim of the request's Idempotency-Key, and the reply to store under it with the order. */
interface KeyedReply {
  readonly claim: IdempotencyClaim
  readonly replyOf: (order: Order) => StoredReply
}

type PlaceOrderTag =
  | 'ValidationError'
  | 'InvalidPrice'
  | AccountCheckTag
  | 'SymbolAmbiguous'
  | RecordRefusal['_tag']

/**
 * Checks an order and records it; the caller is answered without waiting for the broker. The order
 * of the checks is part of the contract (`orderCheckNames`); limits and counts come last, in
 * `OrderStore.record`.
 */
export const checkAndRecordOrder =
  (ports: PlacePorts) =>
  (
    { owner }: Caller,
    request: OrderRequest,
    keyedReply?: KeyedReply,
  ): AsyncResult<PendingOrder, PlaceOrderTag> =>
  async () => {
    const { clock, stopwatch } = ports
    // Before anything is read: a body that could never be an order.
    const terms = requireNoIssues(issuesOfTerms(request, clock.now()))
    if (E.isLeft(terms)) return terms
    const possible = requireEach(requestChecks(request))
    if (E.isLeft(possible)) return possible
    const facts = await readAccountFacts(ports, owner, request.accountId)
    if (E.isLeft(facts)) return facts
    const { account, limits } = facts.right
    const allowed = requireEach(accountChecks(request, facts.right))
    if (E.isLeft(allowed)) return allowed
    const destination = requireBrokerAccount(account)
    if (E.isLeft(destination)) return destination
    const symbol = await ports.resolveOrderSymbol(destination.right, request.symbol)()
    if (E.isLeft(symbol)) return symbol
    if (E.isLeft(limits)) return limits
    // A symbol that could not be looked up is sent as it was written, and the broker decides.
    const brokerSymbol = symbol.right?.spelling ?? request.symbol
    const openPositions = await readOpenPositions(ports, account, limits.right)()
    if (E.isLeft(openPositions)) return openPositions
    const now = clock.now()
    const order: PendingOrder = {
      id: ports.orderIds.newOrderId(),
      owner,
      request: brokerSymbol === request.symbol ? request : { ...request, brokerSymbol },
      status: 'pending',
      createdAt: now,
      updatedAt: now,
    }
    return ports.orders.record(owner, {
      order,
      destination: destination.right,
      sendDeadlineMs: stopwatch.elapsedMs() + maxSendAgeMs,
      checkedAt: limits.right.readAt,
      databaseRun: limits.right.databaseRun,
      replyToStore: keyedReply && {
        claim: keyedReply.claim,
        reply: keyedReply.replyOf(order),
      },
      openPositions: openPositions.right,
    })()
  }

// All reads at once, since each is a round trip to the database. One that failed matters only when
// the checks before it have passed.
export const readAccountFacts = async (
  ports: CheckPorts,
  owner: Owner,
  id: AccountId,
): Promise<E.Either<Refusal<'AccountNotFound'> | ServiceUnavailable, AccountFacts>> => {
  const [account, halt, providerToken, challenges, limits] = await Promise.all([
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
    providerToken,
    challenges: E.mapLeft(({ reason }: ServiceUnavailable) =>
      refuse('ChallengeCheckUnavailable', { reason }),
    )(challenges),
    limits: E.mapLeft(({ reason }: ServiceUnavailable) =>
      refuse('LimitCheckUnavailable', { reason }),
    )(limits),
  })
}

/**
 * Undefined where nothing is limited. Reads bypass caches: stale positions would make the limit
 * check wrong.
 */
export const readOpenPositions = (
  { positionTrading }: Pick<Ports, 'positionTrading'>,
  account: Account,
  limits: AccountLimits,
): TE.TaskEither<Refusal<'LimitCheckUnavailable'>, OpenPositions | undefined> => {
  if (limits.trader === null && limits.desks.length === 0) return TE.right(undefined)
  return pipe(
    accountsToRead(account, limits),
    TE.traverseArray((one) =>
      pipe(
        positionTrading.freshPositions(one),
        TE.bimap(
          (error) =>
            refuse('LimitCheckUnavailable', {
              reason: `the positions of account ${one.accountId} cannot be read: ${error._tag}`,
              cause: error._tag === 'BrokerUnavailable' ? error.cause : undefined,
              isOfAnother: one.providerAccountId !== account.provider?.providerAccountId,
              ...('retryAfterSeconds' in error && { retryAfterSeconds: error.retryAfterSeconds }),
            }),
          (read) => [one.providerAccountId, read.positions] as const,
        ),
      ),
    ),
    TE.map((read) => ({ readAt: limits.readAt, positions: new Map(read) })),
  )
}

/**
 * Finds the broker's spelling of the symbol of an order; undefined where it cannot be found now.
 */
export type ResolveOrderSymbol = (
  account: BrokerAccount,
  symbol: string,
) => TE.TaskEither<Refusal<'SymbolAmbiguous'>, BrokerSymbol | undefined>

/** Without the capability `market-data`. */
export const symbolAsWritten: ResolveOrderSymbol = (_, symbol) =>
  TE.right({ spelling: symbol, isListed: false })

/** The symbols of an account are read seldom; an order does not wait for longer. */
const maxSymbolWaitMs = 2 * secondMs

/**
 * The broker's spelling of a symbol; one that the broker does not list is left as it is.
 * Undefined while the list cannot be read.
 */
export const createOrderSymbols =
  ({ marketData, pause }: Pick<Ports, 'marketData' | 'pause'>): ResolveOrderSymbol =>
  (account, symbol) =>
  async () => {
    const symbols = await readWithin({ pause }, maxSymbolWaitMs, marketData.symbols(account))
    if (symbols === undefined) return E.right(undefined)
    const found = resolveSymbol(symbol, symbols)
    if (found.kind === 'ambiguous')
      return E.left(refuse('SymbolAmbiguous', { symbol, candidates: found.candidates }))
    return found.kind === 'found'
      ? E.right({ spelling: found.symbol, isListed: true })
      : symbolAsWritten(account, symbol)()
  }
