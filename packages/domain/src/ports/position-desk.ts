// Changes open positions at the broker, and reads what a change is decided on and checked against.
// A change is sent at most once. Where it may not be sent any more, nothing is sent and the error
// is BrokerUnavailable.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { BrokerChangeError, BrokerReadError } from '../errors.ts'
import type { Levels } from '../positions/levels.ts'
import type { PositionsReading } from '../positions/position.ts'
import type { MaySend } from './clock.ts'
import type { Ticket } from '../primitives/ids.ts'

/**
 * The broker's answer to accepted levels: all is done, there was nothing to change, or it may be
 * done later or in part.
 */
export interface LevelsReceipt {
  readonly progress: 'done' | 'unchanged' | 'accepted'
}

/** The broker's answer to an accepted close: all is done, or it may be done later or in part. */
export interface CloseReceipt {
  readonly progress: 'done' | 'accepted'
  /** The broker's number of the closing order; null where it did not say. */
  readonly orderId: string | null
}

export interface PositionDesk {
  /**
   * The positions as the broker's terminal has them now, past every copy and cache; oldest first.
   */
  readonly freshPositions: (
    account: BrokerAccount,
  ) => TE.TaskEither<BrokerReadError, PositionsReading>
  /** Gives a position both levels at once. A change that changes nothing is a success. */
  readonly setLevels: (
    account: BrokerAccount,
    ticket: Ticket,
    levels: Levels,
    maySend: MaySend,
  ) => TE.TaskEither<BrokerChangeError, LevelsReceipt>
  /**
   * Closes a position, or so many lots of it. A right says that the broker accepted it, not at what
   * price it was executed.
   * @param volume lots, below the position's; null for all that is open
   */
  readonly closePosition: (
    account: BrokerAccount,
    ticket: Ticket,
    volume: number | null,
    maySend: MaySend,
  ) => TE.TaskEither<BrokerChangeError, CloseReceipt>
}
