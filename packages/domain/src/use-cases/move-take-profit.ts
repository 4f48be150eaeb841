// PUT /positions/:id/tp: an open position gets another take profit and keeps its stop loss (4.3 rules 4 to 7 and 9).
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { levelsOf, requireTakeProfitSide } from '../positions/levels.ts'
import { changeLevels } from './steps/change-levels.ts'
import type { DecideLevels, LevelPorts, LevelRefusal } from './steps/change-levels.ts'
import type { PositionResult } from './steps/show-position.ts'

/** The position with its new take profit, a price above 0. */
export const moveTakeProfit =
  (ports: LevelPorts) =>
  ({ owner }: Caller, id: string, takeProfit: number): TE.TaskEither<LevelRefusal, PositionResult> =>
    changeLevels(ports)(owner, id, withTakeProfit(takeProfit))

const withTakeProfit =
  (asked: number): DecideLevels =>
  (position) =>
    pipe(
      requireTakeProfitSide(position, asked),
      // The held stop loss travels along, or the provider would take it off (decision 30).
      E.map((takeProfit) => ({ ...levelsOf(position), takeProfit })),
    )
