// PUT /positions/:id/sl: an open position gets another stop loss and keeps its take profit (4.3 rules 4 to 7 and 9).
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { levelsOf, requireStopLossSide } from '../positions/levels.ts'
import { changeLevels } from './steps/change-levels.ts'
import type { DecideLevels, LevelPorts, LevelRefusal } from './steps/change-levels.ts'
import type { PositionResult } from './steps/show-position.ts'

/** The position with its new stop loss, a price above 0. */
export const moveStopLoss =
  (ports: LevelPorts) =>
  ({ owner }: Caller, id: string, stopLoss: number): TE.TaskEither<LevelRefusal, PositionResult> =>
    changeLevels(ports)(owner, id, withStopLoss(stopLoss))

const withStopLoss =
  (asked: number): DecideLevels =>
  (position) =>
    pipe(
      requireStopLossSide(position, asked),
      // The held take profit travels along, or the provider would take it off (4.3 rule 6).
      E.map((stopLoss) => ({ ...levelsOf(position), stopLoss })),
    )
