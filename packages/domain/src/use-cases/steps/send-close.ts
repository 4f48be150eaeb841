// Sends a close at most once and returns what is known of it. Where the outcome is unknown, one read of the positions decides.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerChangeError, BrokerOutcomeUnknown } from '../../errors.ts'
import type { MaySend } from '../../ports/clock.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import { closeShownBy, isDoneAsSent } from '../../positions/close.ts'
import type { CloseOrder, CloseOutcome } from '../../positions/close.ts'
import type { PositionsReading } from '../../positions/position.ts'
import type { ChangeTarget } from './find-change-target.ts'
import type { OpenPosition } from './show-position.ts'

/** A close that is to be made: of what, and how much. */
export interface DecidedClose {
  readonly target: ChangeTarget
  readonly before: OpenPosition
  readonly order: CloseOrder
}

/** What a read of the account shows of a close. */
export interface ShownClose {
  readonly outcome: CloseOutcome
  readonly reading: PositionsReading
}

/** A close that the broker accepted, or that a read shows to be done. */
export interface ReceivedClose {
  /** The broker's number of the closing order; null where it did not say. */
  readonly orderId: string | null
  /** Whether the broker said that all of it was done; otherwise only a read shows how much was. */
  readonly isConfirmed: boolean
  /** Undefined where no read has shown it. */
  readonly shown: ShownClose | undefined
}

interface Ports {
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closePosition'>
}

export const sendClose =
  (ports: Ports) =>
  (close: DecidedClose, maySend: MaySend): TE.TaskEither<BrokerChangeError, ReceivedClose> => {
    const { brokerAccount, id } = close.target
    return pipe(
      ports.positionDesk.closePosition(brokerAccount, id.ticket, close.order.volume, maySend),
      TE.map(({ orderId, progress }): ReceivedClose => ({ orderId, isConfirmed: progress === 'done', shown: undefined })),
      TE.orElse((error): TE.TaskEither<BrokerChangeError, ReceivedClose> =>
        error._tag === 'BrokerOutcomeUnknown' ? decideByRead(ports)(close, error) : TE.left(error),
      ),
    )
  }

/** What a read shows of a close; undefined where it does not show it yet. On MT4 the rest of a position gets a new number. */
export const showClose =
  ({ target, before, order }: DecidedClose) =>
  (reading: PositionsReading): ShownClose | undefined => {
    const bookBefore = { position: before.position, positions: before.reading.positions }
    const outcome = closeShownBy(bookBefore, order, reading.positions, target.brokerAccount.platform === 'mt4')
    return outcome && { outcome, reading }
  }

const decideByRead =
  (ports: Ports) =>
  (close: DecidedClose, unknown: BrokerOutcomeUnknown): TE.TaskEither<BrokerOutcomeUnknown, ReceivedClose> =>
    pipe(
      ports.positionDesk.freshPositions(close.target.brokerAccount),
      TE.map(showClose(close)),
      TE.filterOrElseW(
        (shown) => shown !== undefined && isDoneAsSent(shown.outcome, close.order),
        () => unknown,
      ),
      TE.bimap(
        () => unknown,
        (shown) => ({ orderId: null, isConfirmed: false, shown }),
      ),
    )
