// Reads the position that is to be changed from the broker itself, past every cache.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerReadError, PositionNotFound } from '../../errors.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import { requireOpen } from '../../positions/position.ts'
import type { ChangeTarget } from './find-change-target.ts'
import type { OpenPosition } from './show-position.ts'

export const readOpenPosition =
  (ports: { readonly positionDesk: Pick<PositionDesk, 'freshPositions'> }) =>
  ({ id, brokerAccount }: ChangeTarget): TE.TaskEither<BrokerReadError | PositionNotFound, OpenPosition> =>
    pipe(
      TE.Do,
      TE.bind('reading', () => ports.positionDesk.freshPositions(brokerAccount)),
      TE.bindW('position', ({ reading }) => TE.fromEither(requireOpen(reading, id.ticket))),
    )
