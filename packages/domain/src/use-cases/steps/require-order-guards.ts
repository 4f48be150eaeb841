// The guards of an order that are stored rather than its own: the challenge, then the limits of desk and trader over the broker's book
// (decision 19). What cannot be read refuses the order: nothing is placed on a guess.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../../accounts/account.ts'
import { requireBrokerAccount } from '../../accounts/account.ts'
import { challengeCheckUnavailable, limitCheckUnavailable } from '../../errors.ts'
import type {
  ApprovalRequired,
  ChallengeCheckUnavailable,
  ChallengeLocked,
  DeskLimitBreached,
  LimitCheckUnavailable,
  ServiceUnavailable,
  TraderLimitBreached,
} from '../../errors.ts'
import { isBookNeeded, requireDeskLimits, requireNoApproval, requireTraderLimits, requireUnlocked } from '../../orders/guards.ts'
import type { Book, ChallengeStanding, OrderSize, PendingSize } from '../../orders/guards.ts'
import { brokerClientId, clientIdFamily } from '../../orders/order.ts'
import type { Broker } from '../../ports/broker.ts'
import type { AccountGuards, DeskGuard } from '../../ports/guard-store.ts'
import type { BrokerPosition } from '../../positions/position.ts'
import type { AccountId } from '../../primitives/ids.ts'

interface Ports {
  /** What the broker has now: a copy that lags would count what was closed, and miss what was opened. */
  readonly broker: Pick<Broker, 'positions'>
}

export type GuardRefusal =
  | ChallengeLocked
  | ChallengeCheckUnavailable
  | LimitCheckUnavailable
  | DeskLimitBreached
  | TraderLimitBreached
  | ApprovalRequired

/** What the store says of an account's guards, each as it was read. */
export interface StoredGuards {
  readonly challenges: E.Either<ServiceUnavailable, readonly ChallengeStanding[]>
  readonly guards: E.Either<ServiceUnavailable, AccountGuards>
}

export const requireOrderGuards =
  (ports: Ports) =>
  (account: Account, order: OrderSize, { challenges, guards }: StoredGuards): TE.TaskEither<GuardRefusal, void> =>
    pipe(
      requireChallenge(challenges),
      E.flatMap(() => requireRead(guards)),
      E.matchW(TE.left, (read) => (isUnlimited(read) ? TE.right(undefined) : requireWithinLimits(ports)(account, order, read))),
    )

// Of nearly every account nothing is to be read.
const isUnlimited = ({ trader, desks }: AccountGuards): boolean => trader === null && desks.length === 0

const requireWithinLimits =
  (ports: Ports) =>
  (account: Account, order: OrderSize, guards: AccountGuards): TE.TaskEither<GuardRefusal, void> =>
    pipe(
      accountsInBooks(account, guards),
      TE.traverseArray(readOpenPositions(ports)),
      TE.flatMapEither((read) => requireLimits(account, order, guards, new Map(read))),
    )

const requireChallenge = (challenges: StoredGuards['challenges']): E.Either<ChallengeLocked | ChallengeCheckUnavailable, void> =>
  pipe(
    challenges,
    E.mapLeft(({ reason }): ChallengeLocked | ChallengeCheckUnavailable => challengeCheckUnavailable(reason)),
    E.flatMap(requireUnlocked),
  )

const requireRead = (guards: StoredGuards['guards']): E.Either<GuardRefusal, AccountGuards> =>
  pipe(
    guards,
    E.mapLeft(({ reason }) => limitCheckUnavailable(reason)),
  )

// Each once, in however many books it is.
const accountsInBooks = (account: Account, { trader, desks }: AccountGuards): readonly Account[] => {
  const ofDesks = desks.filter(({ limits }) => isBookNeeded(limits)).flatMap(({ accounts }) => accounts)
  const ofTrader = trader !== null && isBookNeeded(trader.limits) ? [account] : []
  return [...new Map([...ofDesks, ...ofTrader].map((one) => [one.id, one])).values()]
}

/** The open positions of every account that is in a book. */
type OpenPositions = ReadonlyMap<AccountId, readonly BrokerPosition[]>

const readOpenPositions =
  (ports: Ports) =>
  (account: Account): TE.TaskEither<LimitCheckUnavailable, readonly [AccountId, readonly BrokerPosition[]]> =>
    pipe(
      TE.fromEither(requireBrokerAccount(account)),
      TE.flatMap(ports.broker.positions),
      TE.mapBoth(
        ({ _tag }) => limitCheckUnavailable(`the book of account ${account.id} cannot be read: ${_tag}`),
        ({ positions }) => [account.id, positions] as const,
      ),
    )

// An order that was executed and of which that is not known yet is a position already, and counts once: as the whole of what was ordered, since the rest
// of it may still come.
const bookOf = (open: OpenPositions, accounts: readonly Account[], pending: readonly PendingSize[]): Book => {
  const positions = accounts.flatMap(({ id }) => open.get(id) ?? [])
  // By what a position keeps of the client id: both lists of a desk can be long.
  const byFamily = new Map(pending.map((order) => [clientIdFamily(brokerClientId(order.id)), order]))
  const orderOf = ({ clientId }: BrokerPosition) => (clientId === undefined ? undefined : byFamily.get(clientIdFamily(clientId)))
  const held = positions.map((position) => ({ volume: position.volume, order: orderOf(position) }))
  const executed = new Set(held.map(({ order }) => order))
  return [
    ...held.map(({ volume, order }) => Math.max(volume, order?.volume ?? 0)),
    ...pending.filter((order) => !executed.has(order)).map(({ volume }) => volume),
  ]
}

const requireLimits = (
  account: Account,
  order: OrderSize,
  { trader, desks }: AccountGuards,
  open: OpenPositions,
): E.Either<DeskLimitBreached | TraderLimitBreached | ApprovalRequired, void> =>
  pipe(
    desks,
    E.traverseArray((desk: DeskGuard) => requireDeskLimits(order, desk.limits, bookOf(open, desk.accounts, desk.pending))),
    E.flatMap(() =>
      trader === null ? E.right(undefined) : requireTraderLimits(order, trader.limits, bookOf(open, [account], trader.pending)),
    ),
    E.flatMap(() => (trader === null ? E.right(undefined) : requireNoApproval(order, trader.limits))),
  )
