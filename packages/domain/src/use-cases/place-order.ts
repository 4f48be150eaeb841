// POST /orders: checks in the order of decision 19, then records the order with the job that places it; the reply does not wait for the broker (4.2).
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount, requireTradable } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { brokerUnavailable } from '../errors.ts'
import type {
  AccountNotFound,
  AccountPurposeRestricted,
  BrokerUnavailable,
  IdempotencyInProgress,
  IdempotencyKeyReused,
  LiveAccountRestricted,
  NotProvisioned,
  RiskLimitExceeded,
  ServiceUnavailable,
  UnsupportedBroker,
} from '../errors.ts'
import { requireVolumeInLimit } from '../orders/limits.ts'
import type { OrderRequest, PendingOrder } from '../orders/order.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'
import type { GuardStore } from '../ports/guard-store.ts'
import type { ProviderTokens } from '../ports/operator-store.ts'
import type { OrderIds } from '../ports/order-ids.ts'
import type { IdempotencyClaim, OrderStore } from '../ports/order-store.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import { findAccount } from './steps/find-account.ts'
import { requireOrderGuards } from './steps/require-order-guards.ts'
import type { GuardRefusal, StoredGuards } from './steps/require-order-guards.ts'

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly providerTokens: ProviderTokens
  readonly guards: GuardStore
  readonly broker: Pick<Broker, 'positions'>
  readonly orders: Pick<OrderStore, 'claim' | 'release' | 'record'>
  readonly orderIds: OrderIds
  readonly clock: Clock
}

export interface PlaceOrderInput {
  readonly request: OrderRequest
  readonly claim?: IdempotencyClaim | undefined
}

export interface PlacedOrder {
  readonly order: PendingOrder
  /** Whether the same request was answered before and this is that answer again. */
  readonly isReplayed: boolean
}

type CheckRefusal =
  | RiskLimitExceeded
  | AccountNotFound
  | AccountPurposeRestricted
  | LiveAccountRestricted
  | UnsupportedBroker
  | NotProvisioned
  | BrokerUnavailable
  | GuardRefusal
  | IdempotencyKeyReused
  | ServiceUnavailable

export type PlaceOrderRefusal = CheckRefusal | IdempotencyInProgress

export const placeOrder =
  (ports: Ports) =>
  (caller: Caller, { request, claim }: PlaceOrderInput): TE.TaskEither<PlaceOrderRefusal, PlacedOrder> =>
    claim === undefined ? checkAndRecord(ports)(caller, request, undefined) : placeOnce(ports)(caller, request, claim)

const placeOnce =
  (ports: Ports) =>
  (caller: Caller, request: OrderRequest, claim: IdempotencyClaim): TE.TaskEither<PlaceOrderRefusal, PlacedOrder> =>
    pipe(
      ports.orders.claim(caller.owner, claim, ports.clock.now()),
      TE.flatMap(
        O.match(
          () => checkAndRelease(ports)(caller, request, claim),
          (order) => TE.right({ order, isReplayed: true }),
        ),
      ),
    )

// A refusal is not kept: the same key may be used again when its reason has passed (decision 25).
const checkAndRelease =
  (ports: Ports) =>
  (caller: Caller, request: OrderRequest, claim: IdempotencyClaim): TE.TaskEither<PlaceOrderRefusal, PlacedOrder> =>
    pipe(
      checkAndRecord(ports)(caller, request, claim),
      TE.tapError((refusal) => (mayBeRecorded(refusal) ? done : releaseIfPossible(ports)(caller, claim))),
    )

const done: TE.TaskEither<never, void> = TE.right(undefined)

const mayBeRecorded = (refusal: CheckRefusal): boolean => refusal._tag === 'ServiceUnavailable' && refusal.outcome === 'unknown'

// The caller is told why the order was refused, whatever becomes of the key: one that stays claimed is free again in a minute.
const releaseIfPossible =
  (ports: Ports) =>
  ({ owner }: Caller, claim: IdempotencyClaim): TE.TaskEither<never, void> =>
    pipe(
      ports.orders.release(owner, claim),
      TE.orElse(() => done),
    )

const checkAndRecord =
  (ports: Ports) =>
  ({ owner }: Caller, request: OrderRequest, claim: IdempotencyClaim | undefined): TE.TaskEither<CheckRefusal, PlacedOrder> =>
    pipe(
      TE.fromEither(requireVolumeInLimit(request.volume)),
      TE.flatMapTask(() => readForOrder(ports)(owner, request.accountId)),
      TE.flatMap((read) => requireAllowed(ports)(read, request)),
      TE.flatMap(() => recordNew(ports)(owner, request, claim)),
    )

/** What the checks look at, each as it was read: what is wrong with one matters only when the checks before it have passed. */
interface ReadForOrder extends StoredGuards {
  readonly account: E.Either<AccountNotFound | ServiceUnavailable, Account>
  readonly token: E.Either<ServiceUnavailable, O.Option<string>>
}

// All of it at once, since every read is a way to the database and back.
const readForOrder =
  (ports: Ports) =>
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

const requireAllowed =
  (ports: Ports) =>
  (read: ReadForOrder, request: OrderRequest): TE.TaskEither<CheckRefusal, void> =>
    pipe(
      requireOrderable(read),
      E.matchW(TE.left, (account) => requireOrderGuards(ports)(account, request, read)),
    )

const requireOrderable = ({ account, token }: ReadForOrder): E.Either<CheckRefusal, Account> =>
  pipe(
    account,
    E.tap(requireTradable),
    E.tap(requireBrokerAccount),
    E.tap(({ id }) => requireProviderToken(id, token)),
  )

const requireProviderToken = (id: AccountId, token: ReadForOrder['token']): E.Either<BrokerUnavailable | ServiceUnavailable, string> =>
  pipe(token, E.flatMap(E.fromOption(() => brokerUnavailable(id, 'the tenant has no provider token'))))

const recordNew =
  (ports: Ports) =>
  (owner: Owner, request: OrderRequest, claim: IdempotencyClaim | undefined): TE.TaskEither<CheckRefusal, PlacedOrder> => {
    const order = newOrder(ports, owner, request)
    return pipe(
      ports.orders.record(owner, order, claim),
      TE.map((recorded) => ({ order: recorded, isReplayed: recorded.id !== order.id })),
    )
  }

const newOrder = ({ orderIds, clock }: Ports, owner: Owner, request: OrderRequest): PendingOrder => {
  const now = clock.now()
  return { id: orderIds.newOrderId(), owner, request, status: 'pending', createdAt: now, updatedAt: now }
}
