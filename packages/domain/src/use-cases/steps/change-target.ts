// What all changes of a position need: the position that may be changed, reads past every cache,
// and what a read shows of a close.
import { pipe } from 'fp-ts/lib/function.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount, requireTradable } from '../../accounts/account.ts'
import type { BrokerAccount } from '../../accounts/account.ts'
import type {
  AccountPurposeRestricted,
  BrokerReadError,
  LiveAccountRestricted,
  PositionNotFound,
  ServiceUnavailable,
} from '../../errors.ts'
import type { Pauser } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PositionDesk } from '../../ports/position-desk.ts'
import { closeShownBy } from '../../positions/close.ts'
import type { CloseOrder, CloseOutcome } from '../../positions/close.ts'
import { requireOpen } from '../../positions/position.ts'
import type { PositionsReading } from '../../positions/position.ts'
import type { Owner, PositionId } from '../../primitives/ids.ts'
import { secondMs } from '../../primitives/instant.ts'
import { confirmDemo } from './accounts.ts'
import { findPositionAccount } from './one-position.ts'
import type { OpenPosition } from './one-position.ts'

/** A position that may be changed, if it is open. */
export interface ChangeTarget {
  readonly id: PositionId
  readonly brokerAccount: BrokerAccount
}

export type TargetRefusal =
  | PositionNotFound
  | AccountPurposeRestricted
  | LiveAccountRestricted
  | BrokerReadError
  | ServiceUnavailable

/**
 * Refuses accounts on which nothing may be changed.
 * @param text a position's id as the caller wrote it
 */
export const findChangeTarget =
  (ports: Pick<Ports, 'accounts' | 'liveAccounts'>) =>
  (owner: Owner, text: string): TE.TaskEither<TargetRefusal, ChangeTarget> =>
    pipe(
      findPositionAccount(ports)(owner, text),
      TE.tap(({ account }) => TE.fromEither(requireTradable(account))),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.tap(({ account }) => confirmDemo(ports)(account)),
      TE.map(({ id, brokerAccount }) => ({ id, brokerAccount })),
    )

/** Reads the position from the broker itself, past every cache. */
export const readOpenPosition =
  ({ positionDesk }: { readonly positionDesk: Pick<PositionDesk, 'freshPositions'> }) =>
  ({
    id,
    brokerAccount,
  }: ChangeTarget): TE.TaskEither<BrokerReadError | PositionNotFound, OpenPosition> =>
    pipe(
      positionDesk.freshPositions(brokerAccount),
      TE.bindTo('reading'),
      TE.bindW('position', ({ reading }) => TE.fromEither(requireOpen(reading, id.ticket))),
    )

/** How long a read may take to show a change that was made. */
const watchMs = 2 * secondMs
/** Between the end of one read and the next. */
const watchPauseMs = 250

/**
 * Reads until a read returns true, or until the time is up, also where a read never returns. One
 * that is still under way then may end later.
 */
export const watch =
  ({ pause }: Pauser) =>
  (read: T.Task<boolean>): T.Task<void> =>
  async () => {
    const watching = { isOver: false }
    const readOn = async (): Promise<void> => {
      while (!watching.isOver && !(await read())) await pause(watchPauseMs)()
    }
    await Promise.race([readOn(), pause(watchMs)()])
    watching.isOver = true
  }

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

/**
 * What a read shows of a close; undefined where it does not show it yet. On MT4 the rest of a
 * position gets a new number.
 */
export const showClose =
  ({ target, before, order }: DecidedClose) =>
  (reading: PositionsReading): ShownClose | undefined => {
    const bookBefore = { position: before.position, positions: before.reading.positions }
    const outcome = closeShownBy(
      bookBefore,
      order,
      reading.positions,
      target.brokerAccount.platform === 'mt4',
    )
    return outcome && { outcome, reading }
  }
