// Sends both levels of a position once, and tells what became of it: confirmed is done, whatever is read afterwards, and what nobody confirmed is
// for one read to decide (4.3 rules 6 and 9; decisions 30 and 31).
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerChangeError, BrokerOutcomeUnknown } from '../../errors.ts'
import type { Pauser } from '../../ports/clock.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import { hasLevelsAsAsked, showsOldLevel, withConfirmedLevels } from '../../positions/levels.ts'
import type { Levels } from '../../positions/levels.ts'
import type { ChangeTarget } from './find-change-target.ts'
import { readOpenPosition } from './read-open-position.ts'
import type { OpenPosition } from './show-position.ts'
import { watch } from './watch.ts'

interface Ports extends Pauser {
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'setLevels'>
}

/**
 * The position with its new levels.
 * @param before as it was read before
 */
export const setLevels =
  (ports: Ports) =>
  (target: ChangeTarget, before: OpenPosition, levels: Levels): TE.TaskEither<BrokerChangeError, OpenPosition> =>
    pipe(
      ports.positionDesk.setLevels(target.brokerAccount, target.id.ticket, levels),
      TE.matchE(
        (error) => (error._tag === 'BrokerOutcomeUnknown' ? decideByRead(ports)(target, before, levels, error) : TE.left(error)),
        () => TE.fromTask(readConfirmed(ports)(target, before, levels)),
      ),
    )

// A position that is gone by now may have had the new level, and been closed by it: that it is not there says nothing of the change.
const decideByRead =
  (ports: Ports) =>
  (
    target: ChangeTarget,
    before: OpenPosition,
    levels: Levels,
    unknown: BrokerOutcomeUnknown,
  ): TE.TaskEither<BrokerOutcomeUnknown, OpenPosition> =>
    pipe(
      readOpenPosition(ports)(target),
      TE.filterOrElseW(
        ({ position }) => hasLevelsAsAsked(position, levels, before.position),
        () => unknown,
      ),
      TE.mapLeft(() => unknown),
    )

// A read that lags is waited for, so that whoever changes the position next does not send the old level back. Where the position is gone, or cannot
// be read, it is told as it was, with what the broker confirmed.
const readConfirmed =
  (ports: Ports) =>
  (target: ChangeTarget, before: OpenPosition, levels: Levels): T.Task<OpenPosition> =>
  async () => {
    let latest = before
    const look = async (): Promise<boolean> => {
      const read = await readOpenPosition(ports)(target)()
      if (E.isLeft(read)) return read.left._tag !== 'BrokerUnavailable'
      latest = read.right
      return !showsOldLevel(latest.position, levels, before.position)
    }
    await watch(ports)(look)()
    return { ...latest, position: withConfirmedLevels(latest.position, levels, before.position) }
  }
