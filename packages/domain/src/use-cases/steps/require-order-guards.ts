// The guards of an order that are read rather than computed: the challenge, then the limits of desk and trader over the broker's book
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
  TraderLimitBreached,
} from '../../errors.ts'
import { isBookNeeded, requireDeskLimits, requireNoApproval, requireTraderLimits, requireUnlocked } from '../../orders/guards.ts'
import type { Book, BookLimits, OrderSize } from '../../orders/guards.ts'
import type { Broker } from '../../ports/broker.ts'
import type { AccountGuards, DeskGuard, GuardStore } from '../../ports/guard-store.ts'

interface Ports {
  readonly guards: GuardStore
  readonly broker: Pick<Broker, 'positions'>
}

export type GuardRefusal =
  | ChallengeLocked
  | ChallengeCheckUnavailable
  | LimitCheckUnavailable
  | DeskLimitBreached
  | TraderLimitBreached
  | ApprovalRequired

export const requireOrderGuards =
  (ports: Ports) =>
  (account: Account, order: OrderSize): TE.TaskEither<GuardRefusal, void> =>
    pipe(
      requireChallenge(ports)(account),
      TE.flatMap(() => readGuards(ports)(account)),
      TE.bindTo('guards'),
      TE.bindW('desks', ({ guards }) => TE.traverseArray(readDesk(ports))(guards.desks)),
      TE.bindW('book', ({ guards }) => readTraderBook(ports)(account, guards)),
      TE.flatMapEither(({ guards, desks, book }) => requireLimits(order, guards, desks, book)),
    )

interface DeskWithBook extends DeskGuard {
  readonly book: Book
}

const requireChallenge =
  (ports: Ports) =>
  ({ owner, id }: Account): TE.TaskEither<ChallengeLocked | ChallengeCheckUnavailable, void> =>
    pipe(
      ports.guards.challenges(owner, id),
      TE.mapLeft(({ reason }): ChallengeLocked | ChallengeCheckUnavailable => challengeCheckUnavailable(reason)),
      TE.flatMapEither(requireUnlocked),
    )

const readGuards =
  (ports: Ports) =>
  ({ owner, id }: Account): TE.TaskEither<GuardRefusal, AccountGuards> =>
    pipe(
      ports.guards.guards(owner, id),
      TE.mapLeft(({ reason }) => limitCheckUnavailable(reason)),
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
