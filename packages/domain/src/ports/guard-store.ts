// What the head trader set for an account, as it is stored, with the orders pending on the accounts
// that it covers.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../accounts/account.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { BookLimits, ChallengeStanding, OrderLimits, PendingSize } from '../orders/guards.ts'
import type { BrokerPosition } from '../positions/position.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export interface DeskGuard {
  readonly limits: BookLimits
  /** All accounts of the desk, whoever of the tenant owns them. */
  readonly accounts: readonly Account[]
  /** The orders pending on them, and on other links to the same broker accounts. */
  readonly pending: readonly PendingSize[]
}

export interface TraderGuard {
  readonly limits: OrderLimits
  /** The orders pending on the account, and on other links to the same broker account. */
  readonly pending: readonly PendingSize[]
}

export interface AccountGuards {
  /** null where no limits are set. */
  readonly trader: TraderGuard | null
  /** The desks that the account is on, by id. */
  readonly desks: readonly DeskGuard[]
  /** When this was read, by the clock of the store. */
  readonly readAt: Instant
  /**
   * In which run of the database server: another server may have taken over since, and lack the
   * last writes.
   */
  readonly serverRun: string
}

/**
 * The open positions of broker accounts, by provider account id, as they were read at the broker
 * after `asOf`.
 */
export interface OpenBooks {
  /** By the clock of the store: orders that were filled later may be missing from the positions. */
  readonly asOf: Instant
  readonly positions: ReadonlyMap<string, readonly BrokerPosition[]>
}

export interface GuardStore {
  readonly challenges: (
    owner: Owner,
    id: AccountId,
  ) => TE.TaskEither<ServiceUnavailable, readonly ChallengeStanding[]>
  readonly guards: (owner: Owner, id: AccountId) => TE.TaskEither<ServiceUnavailable, AccountGuards>
}
