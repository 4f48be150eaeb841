// Linked accounts.
import type * as O from 'fp-ts/lib/Option.js'
import type {
  Account,
  AccountReading,
  BalanceSnapshot,
  BrokerAccount,
  AccountLink,
} from '../accounts/account.ts'
import type {
  CheckedThreshold,
  ThresholdBreach,
  ThresholdCheck,
} from '../accounts/risk-threshold.ts'
import type { AsyncResult, BrokerReadTag, Halt } from '../errors.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** Which snapshots of an account, by the time of their reading. */
export interface SnapshotQuery {
  /** Included; undefined for no bound. */
  readonly from?: Instant | undefined
  /** Included; undefined for no bound. */
  readonly to?: Instant | undefined
  readonly limit: number
}

/**
 * Linked accounts and their balance snapshots, as they are stored. Every method has the owner first
 * and sees that owner's records alone.
 */
export interface AccountStore {
  /** Oldest first: by createdAt, then id. */
  readonly list: (owner: Owner) => AsyncResult<readonly Account[]>
  /** None where it does not exist, or is another owner's. */
  readonly find: (owner: Owner, id: AccountId) => AsyncResult<O.Option<Account>>
  /**
   * Writes what `withReading` makes of the stored account, and the snapshot that `snapshotOf`
   * returns, in one transaction on the row as it then is. A reading that a later one has overtaken
   * (`isOvertaken`), or of an account at the broker that is not the linked one any more, changes
   * nothing. The account after it; none when it is no longer linked.
   * @param account as it was linked when it was read
   */
  readonly recordReading: (
    owner: Owner,
    account: AccountLink,
    reading: AccountReading,
  ) => AsyncResult<O.Option<Account>>
  /**
   * Writes what `withFailedRead` makes of the stored account, unless the read was overtaken or is
   * of another account at the broker, as above.
   * @param readAt when the read began
   */
  readonly recordFailedRead: (
    owner: Owner,
    account: AccountLink,
    readAt: Instant,
  ) => AsyncResult<O.Option<Account>>
  /** Newest first. */
  readonly snapshots: (
    owner: Owner,
    id: AccountId,
    query: SnapshotQuery,
  ) => AsyncResult<readonly BalanceSnapshot[]>
}

/** Live reads of accounts' figures, each recorded and shared for as long as the cache keeps it. */
export interface LiveAccounts {
  /**
   * Fails where the broker cannot be read, and with ServiceUnavailable where the outcome cannot be
   * recorded.
   */
  readonly read: (account: Account) => AsyncResult<AccountReading, BrokerReadTag>
}

/** A halt by the owner of an account. */
export interface NewHalt extends Omit<Halt, 'by'> {
  /** Whether every order that is or becomes open is cancelled while it stands. */
  readonly cancelOrders: boolean
}

/** Which accounts are halted, by their owners and by the operator. The owner comes first. */
export interface Halts {
  /** The operator's where both halted the account. */
  readonly find: (owner: Owner, id: AccountId) => AsyncResult<O.Option<Halt>>
  /** Whether a halt of the account cancels its orders for as long as it stands. */
  readonly haltCancelsOrders: (owner: Owner, id: AccountId) => AsyncResult<boolean>
  /**
   * Halts an account for its owner. A halt that stands stays as it is, but cancels orders from now
   * on where this one does.
   * @returns what `find` would; none where the account was removed
   */
  readonly halt: (owner: Owner, id: AccountId, halt: NewHalt) => AsyncResult<O.Option<Halt>>
  /** Lifts the owner's halt unless the operator's stands, and returns what `find` does then. */
  readonly lift: (owner: Owner, id: AccountId) => AsyncResult<O.Option<Halt>>
}

/** The risk thresholds of accounts, and the outcome of their checks. */
export interface RiskThresholds {
  /** By type and severity. */
  readonly ofAccount: (account: BrokerAccount) => AsyncResult<readonly CheckedThreshold[]>
  /**
   * Stores what the checks left, records the events of their breaches (`thresholdBreached`), and
   * halts the account for the operator where a breached threshold says so, in one transaction. A
   * check of a threshold that was changed, removed or checked by another process meanwhile is
   * dropped with its event and its halt. Returns the breaches that were recorded.
   * @param openPositions their ids; undefined where they could not be read
   */
  readonly record: (
    account: BrokerAccount,
    checks: readonly ThresholdCheck[],
    openPositions: readonly string[] | undefined,
  ) => AsyncResult<readonly ThresholdBreach[]>
}
