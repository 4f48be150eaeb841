// POST /orders: checks the order and records it; the reply does not wait for the broker. From there `processOrder` (process-order.ts) sends it and follows it
// to its end.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount, requireTradable } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { brokerUnavailable, challengeCheckUnavailable, limitCheckUnavailable } from '../errors.ts'
import type {
  AccountNotFound,
  AccountPurposeRestricted,
  BrokerUnavailable,
  ChallengeCheckUnavailable,
  ChallengeLocked,
  LimitCheckUnavailable,
  LiveAccountRestricted,
  NotProvisioned,
  RiskLimitExceeded,
  ServiceUnavailable,
  UnsupportedBroker,
} from '../errors.ts'
import { requireUnlocked } from '../orders/guards.ts'
import type { ChallengeStanding } from '../orders/guards.ts'
import { requireVolumeInLimit } from '../orders/limits.ts'
import type { OrderRequest, PendingOrder } from '../orders/order.ts'
import { placementWindowMs } from '../orders/placement.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Clock, Stopwatch } from '../ports/clock.ts'
import type { AccountGuards, GuardStore, OpenBooks } from '../ports/guard-store.ts'
import type { ProviderTokens } from '../ports/operator-store.ts'
import type { IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import type { OrderIds } from '../ports/order-ids.ts'
import type { OrderStore, RecordRefusal } from '../ports/order-store.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import { findAccount } from './steps/find-account.ts'
import { accountsInBooks, isLimited } from './steps/order-limits.ts'

interface PlacePorts {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly providerTokens: ProviderTokens
  readonly guards: GuardStore
  /** Read past every copy and cache: a copy that lags would count what was closed, and miss what was opened. */
  readonly positionDesk: Pick<PositionDesk, 'freshPositions'>
  readonly orders: Pick<OrderStore, 'record'>
  readonly orderIds: OrderIds
  readonly clock: Clock
  readonly stopwatch: Stopwatch
}

export interface PlaceOrderInput {
  readonly request: OrderRequest
  /** The claim that the caller made for this request, and the reply that is kept under it together with the order. */
  readonly keep?: { readonly claim: IdempotencyClaim; readonly replyOf: (order: PendingOrder) => KeptReply } | undefined
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

// The order of the checks is part of the contract: volume, account, provider token, challenge, books (here), then limits and counts (in `record`).
export const placeOrder =
  (ports: PlacePorts) =>
  ({ owner }: Caller, { request, keep }: PlaceOrderInput): TE.TaskEither<PlaceOrderRefusal, PendingOrder> =>
    pipe(
      TE.Do,
      TE.tap(() => TE.fromEither(requireVolumeInLimit(request.volume))),
      TE.bindW('read', () => TE.fromTask(readForOrder(ports)(owner, request.accountId))),
      TE.bindW('account', ({ read }) => TE.fromEither(requireOrderable(read))),
      TE.bindW('destination', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.tap(({ read }) => TE.fromEither(requireChallenge(read.challenges))),
      TE.bindW('guards', ({ read }) => TE.fromEither(requireGuards(read.guards))),
      TE.bindW('books', ({ account, guards }) => readBooks(ports)(account, guards)),
      TE.flatMap(({ destination, guards, books }) => {
        const now = ports.clock.now()
        const order: PendingOrder = { id: ports.orderIds.newOrderId(), owner, request, status: 'pending', createdAt: now, updatedAt: now }
        const sendUntilMs = ports.stopwatch.elapsedMs() + placementWindowMs
        return ports.orders.record(owner, {
          order,
          destination,
          sendUntilMs,
          checkedAt: guards.readAt,
          serverRun: guards.serverRun,
          keep: keep && { claim: keep.claim, reply: keep.replyOf(order) },
          books,
        })
      }),
    )

/** What the checks need. A read that failed matters only when the checks before it have passed. */
interface ReadForOrder {
  readonly account: E.Either<AccountNotFound | ServiceUnavailable, Account>
  readonly token: E.Either<ServiceUnavailable, O.Option<string>>
  readonly challenges: E.Either<ServiceUnavailable, readonly ChallengeStanding[]>
  readonly guards: E.Either<ServiceUnavailable, AccountGuards>
}

// All at once, since every read is a round trip to the database.
const readForOrder =
  (ports: PlacePorts) =>
  (owner: Owner, id: AccountId): T.Task<ReadForOrder> =>
  async () => {
    const [account, token, challenges, guards] = await Promise.all([
      findAccount(ports)(owner, id)(),
      ports.providerTokens.find(owner.tenantId)(),
      ports.guards.challenges(owner, id)(),
      ports.guards.guards(owner, id)(),
    ])
    return { account, token, challenges, guards }
  }

const requireOrderable = ({ account, token }: ReadForOrder): E.Either<AccountRefusal, Account> =>
  pipe(
    account,
    E.tap(requireTradable),
    E.tap(requireBrokerAccount),
    E.tap(({ id }) =>
      pipe(token, E.flatMap(E.fromOption((): AccountRefusal => brokerUnavailable(id, 'the tenant has no provider token')))),
    ),
  )

const requireChallenge = (challenges: ReadForOrder['challenges']): E.Either<ChallengeLocked | ChallengeCheckUnavailable, void> =>
  pipe(
    challenges,
    E.mapLeft(({ reason }): ChallengeLocked | ChallengeCheckUnavailable => challengeCheckUnavailable(reason)),
    E.flatMap(requireUnlocked),
  )

const requireGuards = (guards: ReadForOrder['guards']): E.Either<LimitCheckUnavailable, AccountGuards> =>
  pipe(
    guards,
    E.mapLeft(({ reason }) => limitCheckUnavailable(reason)),
  )

/** Undefined where nothing is limited. */
const readBooks =
  ({ positionDesk }: PlacePorts) =>
  (account: Account, guards: AccountGuards): TE.TaskEither<LimitCheckUnavailable, OpenBooks | undefined> => {
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
