// PUT /positions/:id/sl and /tp: an open position gets another stop loss or take profit, and keeps the other level. Each change is decided on what the broker
// has at that moment, and one is made at a time.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { BrokerChangeError, InternalTimeout, InvalidPrice, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { MaySend, Pauser } from '../ports/clock.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import { levelsOf, requireStopLossSide, requireTakeProfitSide } from '../positions/levels.ts'
import type { Levels } from '../positions/levels.ts'
import type { BrokerPosition } from '../positions/position.ts'
import { findChangeTarget } from './steps/find-change-target.ts'
import type { ChangeTarget, TargetRefusal } from './steps/find-change-target.ts'
import { readOpenPosition } from './steps/read-open-position.ts'
import { setLevels } from './steps/set-levels.ts'
import { showPosition } from './steps/show-position.ts'
import type { OpenPosition, PositionResult } from './steps/show-position.ts'

interface Ports extends Pauser {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
  readonly broker: Pick<Broker, 'source' | 'requiredMargin'>
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'setLevels'>
  readonly positionLocks: PositionLocks
}

export type LevelRefusal = TargetRefusal | InvalidPrice | BrokerChangeError | ServiceUnavailable | InternalTimeout

type MoveLevel = (caller: Caller, id: string, price: number) => TE.TaskEither<LevelRefusal, PositionResult>

/** Both levels that a position is to have, since the provider removes the one that is not sent; or why it may not have them. */
type DecideLevels = (position: BrokerPosition, price: number) => E.Either<InvalidPrice, Levels>

const withStopLoss: DecideLevels = (position, price) =>
  pipe(
    requireStopLossSide(position, price),
    E.map((stopLoss) => ({ ...levelsOf(position), stopLoss })),
  )

const withTakeProfit: DecideLevels = (position, price) =>
  pipe(
    requireTakeProfitSide(position, price),
    E.map((takeProfit) => ({ ...levelsOf(position), takeProfit })),
  )

const moveLevel =
  (decide: DecideLevels) =>
  (ports: Ports): MoveLevel =>
  ({ owner }, id, price) =>
    pipe(
      TE.Do,
      TE.bind('target', () => findChangeTarget(ports)(owner, id)),
      TE.bindW('changed', ({ target }) =>
        ports.positionLocks.holding(
          target.brokerAccount,
          target.id.ticket,
        )(changeLevels(ports)(target, (position) => decide(position, price))),
      ),
      TE.flatMapTask(({ target, changed }) => showPosition(ports)(target.brokerAccount, changed)),
    )

const changeLevels =
  (ports: Ports) =>
  (target: ChangeTarget, decide: (position: BrokerPosition) => E.Either<InvalidPrice, Levels>) =>
  (maySend: MaySend): TE.TaskEither<InvalidPrice | BrokerChangeError, OpenPosition> =>
    pipe(
      TE.Do,
      TE.bind('before', () => readOpenPosition(ports)(target)),
      TE.bindW('levels', ({ before }) => TE.fromEither(decide(before.position))),
      TE.flatMap(({ before, levels }) => setLevels(ports)(target, before, levels, maySend)),
    )

/** The position with its new stop loss, a price above 0. */
export const moveStopLoss = moveLevel(withStopLoss)

/** The position with its new take profit, a price above 0. */
export const moveTakeProfit = moveLevel(withTakeProfit)
