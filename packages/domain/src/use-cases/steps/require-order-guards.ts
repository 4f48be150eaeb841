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
import type { Book, BookLimits, ChallengeStanding, OrderSize } from '../../orders/guards.ts'
import type { Broker } from '../../ports/broker.ts'
import type { AccountGuards, DeskGuard } from '../../ports/guard-store.ts'

interface Ports {
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

const isUnlimited = ({ trader, desks }: AccountGuards): boolean => trader === null && desks.length === 0

const requireWithinLimits =
  (ports: Ports) =>
  (account: Account, order: OrderSize, guards: AccountGuards): TE.TaskEither<GuardRefusal, void> =>
    pipe(
      TE.Do,
      TE.bind('desks', () => TE.traverseArray(readDesk(ports))(guards.desks)),
      TE.bindW('book', () => readTraderBook(ports)(account, guards)),
      TE.flatMapEither(({ desks, book }) => requireLimits(order, guards, desks, book)),
    )

interface DeskWithBook extends DeskGuard {
  readonly book: Book
}

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

const readDesk =
  (ports: Ports) =>
  (desk: DeskGuard): TE.TaskEither<LimitCheckUnavailable, DeskWithBook> =>
    pipe(
      readBook(ports)(desk.limits, desk.accounts, desk.pendingVolumes),
      TE.map((book) => ({ ...desk, book })),
    )

const readTraderBook =
  (ports: Ports) =>
  (account: Account, { trader, pendingVolumes }: AccountGuards): TE.TaskEither<LimitCheckUnavailable, Book> =>
    trader === null ? TE.right([]) : readBook(ports)(trader, [account], pendingVolumes)

const readBook =
  (ports: Ports) =>
  (limits: BookLimits, accounts: readonly Account[], pendingVolumes: readonly number[]): TE.TaskEither<LimitCheckUnavailable, Book> =>
    isBookNeeded(limits)
      ? pipe(
          TE.traverseArray(readOpenVolumes(ports))(accounts),
          TE.map((volumes) => [...volumes.flat(), ...pendingVolumes]),
        )
      : TE.right([])

const readOpenVolumes =
  (ports: Ports) =>
  (account: Account): TE.TaskEither<LimitCheckUnavailable, readonly number[]> =>
    pipe(
      TE.fromEither(requireBrokerAccount(account)),
      TE.flatMap(ports.broker.positions),
      TE.mapBoth(
        ({ _tag }) => limitCheckUnavailable(`the book of account ${account.id} cannot be read: ${_tag}`),
        ({ positions }) => positions.map(({ volume }) => volume),
      ),
    )

const requireLimits = (
  order: OrderSize,
  { trader }: AccountGuards,
  desks: readonly DeskWithBook[],
  book: Book,
): E.Either<DeskLimitBreached | TraderLimitBreached | ApprovalRequired, void> =>
  pipe(
    E.traverseArray(({ limits, book: deskBook }: DeskWithBook) => requireDeskLimits(order, limits, deskBook))(desks),
    E.flatMap(() => (trader === null ? E.right(undefined) : requireTraderLimits(order, trader, book))),
    E.flatMap(() => (trader === null ? E.right(undefined) : requireNoApproval(order, trader))),
  )
