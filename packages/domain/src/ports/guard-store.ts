// What the head trader set for an account, as it is stored, with what is under way on the accounts that it covers.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../accounts/account.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { BookLimits, ChallengeStanding, OrderLimits, PendingSize } from '../orders/guards.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'

export interface DeskGuard {
  readonly limits: BookLimits
  /** All accounts of the desk, whoever of the tenant owns them. */
  readonly accounts: readonly Account[]
  /** The orders pending on them. */
  readonly pending: readonly PendingSize[]
}

export interface TraderGuard {
  readonly limits: OrderLimits
  /** The orders pending on the account. */
  readonly pending: readonly PendingSize[]
}

export interface AccountGuards {
  /** null where no limits are set. */
  readonly trader: TraderGuard | null
  /** The desks that the account is on, by id. */
  readonly desks: readonly DeskGuard[]
}

export interface GuardStore {
  readonly challenges: (owner: Owner, id: AccountId) => TE.TaskEither<ServiceUnavailable, readonly ChallengeStanding[]>
  readonly guards: (owner: Owner, id: AccountId) => TE.TaskEither<ServiceUnavailable, AccountGuards>
}
