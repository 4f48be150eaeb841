// Positions as a page shows them, each with the margin that it needs: what a list reads, and what
// is kept as long as the read of the book.
import type * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { BrokerPosition, Position } from '../positions/position.ts'

/** A broker's position and the account it stands on. */
export interface HeldPosition {
  readonly brokerAccount: BrokerAccount
  readonly position: BrokerPosition
}

export interface PositionViews {
  /** One for each, in their order; a margin that cannot be had is null. */
  readonly view: (held: readonly HeldPosition[]) => T.Task<readonly Position[]>
}
