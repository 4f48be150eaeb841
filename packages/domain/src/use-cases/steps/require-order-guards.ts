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
import type { Book, ChallengeStanding, OrderSize } from '../../orders/guards.ts'
import type { Broker } from '../../ports/broker.ts'
import type { AccountGuards, DeskGuard } from '../../ports/guard-store.ts'
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
      TE.fromEither,
      TE.flatMap((read) => (isUnlimited(read) ? TE.right(undefined) : requireWithinLimits(ports)(account, order, read))),
    )

// Of nearly every account nothing is to be read.
const isUnlimited = ({ trader, desks }: AccountGuards): boolean => trader === null && desks.length === 0

const requireWithinLimits =
  (ports: Ports) =>
  (account: Account, order: OrderSize, guards: AccountGuards): TE.TaskEither<GuardRefusal, void> =>
    pipe(
      accountsInBooks(account, guards),
      TE.traverseArray(readOpenVolumes(ports)),
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
  const ofTrader = trader !== null && isBookNeeded(trader) ? [account] : []
  return [...new Map([...ofDesks, ...ofTrader].map((one) => [one.id, one])).values()]
}

/** The volumes of the open positions, in lots, of every account that is in a book. */
type OpenVolumes = ReadonlyMap<AccountId, readonly number[]>

const readOpenVolumes =
  (ports: Ports) =>
  (account: Account): TE.TaskEither<LimitCheckUnavailable, readonly [AccountId, readonly number[]]> =>
    pipe(
      TE.fromEither(requireBrokerAccount(account)),
      TE.flatMap(ports.broker.positions),
      TE.mapBoth(
        ({ _tag }) => limitCheckUnavailable(`the book of account ${account.id} cannot be read: ${_tag}`),
        ({ positions }) => [account.id, positions.map(({ volume }) => volume)] as const,
      ),
    )

const bookOf = (volumes: OpenVolumes, accounts: readonly Account[], pendingVolumes: readonly number[]): Book => [
  ...accounts.flatMap(({ id }) => volumes.get(id) ?? []),
  ...pendingVolumes,
]

const requireLimits = (
  account: Account,
  order: OrderSize,
  { trader, pendingVolumes, desks }: AccountGuards,
  volumes: OpenVolumes,
): E.Either<DeskLimitBreached | TraderLimitBreached | ApprovalRequired, void> =>
  pipe(
    desks,
    E.traverseArray((desk: DeskGuard) => requireDeskLimits(order, desk.limits, bookOf(volumes, desk.accounts, desk.pendingVolumes))),
    E.flatMap(() =>
      trader === null ? E.right(undefined) : requireTraderLimits(order, trader, bookOf(volumes, [account], pendingVolumes)),
    ),
    E.flatMap(() => (trader === null ? E.right(undefined) : requireNoApproval(order, trader))),
  )
