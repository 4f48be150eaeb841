// Sends both levels of a position at most once. Confirmed levels are set, whatever is read afterwards; accepted ones are set when a read shows them; and where
// the outcome is unknown, one read decides.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { brokerOutcomeUnknown } from '../../errors.ts'
import type { BrokerChangeError, BrokerOutcomeUnknown } from '../../errors.ts'
import type { MaySend, Pauser } from '../../ports/clock.ts'
import type { LevelsReceipt, PositionDesk } from '../../ports/position-desk.ts'
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
  (target: ChangeTarget, before: OpenPosition, levels: Levels, maySend: MaySend): TE.TaskEither<BrokerChangeError, OpenPosition> =>
    pipe(
      ports.positionDesk.setLevels(target.brokerAccount, target.id.ticket, levels, maySend),
      TE.matchE(
        (error): TE.TaskEither<BrokerChangeError, OpenPosition> =>
          error._tag === 'BrokerOutcomeUnknown' ? decideByRead(ports)(target, before, levels) : TE.left(error),
        ({ progress }) => readAfter[progress](ports)(target, before, levels),
      ),
    )

type Reading = (
  ports: Ports,
) => (target: ChangeTarget, before: OpenPosition, levels: Levels) => TE.TaskEither<BrokerOutcomeUnknown, OpenPosition>

// A position that is gone may have had the new level and been closed by it, so that its absence proves nothing.
const decideByRead: Reading = (ports) => (target, before, levels) =>
  pipe(
    readOpenPosition(ports)(target),
    TE.filterOrElseW(
      ({ position }) => hasLevelsAsAsked(position, levels, before.position),
      () => undefined,
    ),
    TE.mapLeft(() => brokerOutcomeUnknown(target.id.accountId)),
  )

// A read that lags behind is repeated, so that the next change of the position does not send the old level back. Where the position is gone or cannot be read,
// the result is the position as it was, with the confirmed levels.
const readConfirmed: Reading = (ports) => (target, before, levels) =>
  pipe(
    readUntil(ports)(target, before, ({ position }) => !showsOldLevel(position, levels, before.position)),
    T.map((latest) => ({ ...latest, position: withConfirmedLevels(latest.position, levels, before.position) })),
    TE.fromTask,
  )

// The broker compared what was asked with what it holds and found no difference.
const readUnchanged: Reading = (ports) => (target, before) => TE.fromTask(readUntil(ports)(target, before, () => true))

const readAccepted: Reading = (ports) => (target, before, levels) => {
  const isMade = ({ position }: OpenPosition): boolean => hasLevelsAsAsked(position, levels, before.position)
  return pipe(
    TE.fromTask(readUntil(ports)(target, before, isMade)),
    TE.filterOrElse(isMade, () => brokerOutcomeUnknown(target.id.accountId)),
  )
}

const readAfter: { readonly [Progress in LevelsReceipt['progress']]: Reading } = {
  done: readConfirmed,
  unchanged: readUnchanged,
  accepted: readAccepted,
}

/** Reads the position until `isShown`, for at most two seconds. Returns the last read that came in time, or `before`. */
const readUntil =
  (ports: Ports) =>
  (target: ChangeTarget, before: OpenPosition, isShown: (latest: OpenPosition) => boolean): T.Task<OpenPosition> =>
  async () => {
    let latest = before
    const look = async (): Promise<boolean> => {
      const read = await readOpenPosition(ports)(target)()
      if (E.isLeft(read)) return read.left._tag !== 'BrokerUnavailable'
      latest = read.right
      return isShown(latest)
    }
    await watch(ports)(look)()
    return latest
  }
