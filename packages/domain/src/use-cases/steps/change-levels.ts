// A change of an open position's levels from its id to the reply: one at a time, decided on what the broker has at that moment (4.3 rules 4 to 6).
import type * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerChangeError, InternalTimeout, InvalidPrice, ServiceUnavailable } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Pauser } from '../../ports/clock.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import type { PositionLocks } from '../../ports/position-locks.ts'
import type { Levels } from '../../positions/levels.ts'
import type { BrokerPosition } from '../../positions/position.ts'
import type { Owner } from '../../primitives/ids.ts'
import { findChangeTarget } from './find-change-target.ts'
import type { ChangeTarget, TargetRefusal } from './find-change-target.ts'
import { readOpenPosition } from './read-open-position.ts'
import { setLevels } from './set-levels.ts'
import { showPosition } from './show-position.ts'
import type { OpenPosition, PositionResult } from './show-position.ts'

export interface LevelPorts extends Pauser {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
  readonly broker: Pick<Broker, 'source' | 'requiredMargin'>
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'setLevels'>
  readonly positionLocks: PositionLocks
}

export type LevelRefusal = TargetRefusal | InvalidPrice | BrokerChangeError | ServiceUnavailable | InternalTimeout

/** Both levels that a position is to have, or why it may not have them. */
export type DecideLevels = (position: BrokerPosition) => E.Either<InvalidPrice, Levels>

export const changeLevels =
  (ports: LevelPorts) =>
  (owner: Owner, id: string, decide: DecideLevels): TE.TaskEither<LevelRefusal, PositionResult> =>
    pipe(
      TE.Do,
      TE.bind('target', () => findChangeTarget(ports)(owner, id)),
      TE.bindW('changed', ({ target }) => ports.positionLocks.holding(owner, target.id)(changeHeld(ports)(target, decide))),
      TE.flatMapTask(({ target, changed }) => showPosition(ports)(target.brokerAccount, changed)),
    )

const changeHeld =
  (ports: LevelPorts) =>
  (target: ChangeTarget, decide: DecideLevels): TE.TaskEither<InvalidPrice | BrokerChangeError, OpenPosition> =>
    pipe(
      TE.Do,
      TE.bind('before', () => readOpenPosition(ports)(target)),
      TE.bindW('levels', ({ before }) => TE.fromEither(decide(before.position))),
      TE.flatMap(({ before, levels }) => setLevels(ports)(target, before, levels)),
    )
