// How far an order has got at the broker: what is stored of it between two steps of placement.ts.
import type { Instant } from '../primitives/instant.ts'
import type { CancelReason } from './order.ts'

/** Not sent, as far as the process that wrote this knows: earlier tries certainly failed. */
interface Recorded {
  readonly step: 'recorded'
}
/** May be sent at any moment before its deadline, or was sent and the answer is not stored. */
export interface Sending {
  readonly step: 'sending'
  readonly sentAt: Instant
}
/** May have been executed: the broker's records decide. */
export interface LookingUp {
  readonly step: 'looking_up'
  readonly sentAt: Instant
  /** The broker's number of the order; null where the broker gave none. */
  readonly brokerOrderId: string | null
  /** The broker reported that a part was executed, so that its absence proves nothing. */
  readonly isPartlyExecuted?: true | undefined
  /** Lookups so far, readable or not. */
  readonly lookups: number
  /** Null before the first lookup, and after one that was unreadable or showed the order. */
  readonly absence: Absence | null
}
/** Consecutive readable lookups that did not show the order. */
export interface Absence {
  readonly lookups: number
  /**
   * How much time they cover. Each gap is capped at the scheduled pause, so a clock jump cannot
   * shorten the proof.
   */
  readonly coveredMs: number
  readonly lastAt: Instant
}
/**
 * Rejected because the broker's records did not show it; looked up for another day in case they do
 * after all, or for up to seven while the records cannot be read.
 */
export interface Rechecking {
  readonly step: 'rechecking'
  readonly sentAt: Instant
  readonly brokerOrderId: string | null
  /** Lookups since that showed nothing. */
  readonly rechecks: number
}
/** The broker holds a limit or stop order. */
export interface Open {
  readonly step: 'open'
  readonly sentAt: Instant
  /**
   * When the broker last showed it wholly unexecuted. Renewed every 12 hours while it is watched,
   * until a part is executed.
   */
  readonly unexecutedAt: Instant
  /** Null where the broker accepted the order without a number, until a lookup shows one. */
  readonly brokerOrderId: string | null
  readonly cancellation: Cancellation | null
  /** Null while the broker holds it, as far as that is known. */
  readonly missing: Missing | null
}
/** Stored before the broker is asked, and taken back if it refuses. */
export interface Cancellation {
  readonly by: CancelReason
  /** Whether the broker confirmed it; otherwise it may not even have been sent. */
  readonly isConfirmed: boolean
}
/**
 * Since when the broker's list of open orders is known to lack the order, and how often it was looked
 * up since.
 */
export interface Missing {
  readonly since: Instant
  /** Readable or not; of an order that ended, those since its end. */
  readonly lookups: number
}
interface Ended {
  readonly step: 'ended'
}

/**
 * Ended as a lookup showed it, cancelled or executed in part, without a cancellation of ours that the
 * broker confirmed. Looked up again: the broker may have placed it again under a number that no list
 * showed yet.
 */
export interface Confirming extends Omit<Open, 'step' | 'missing'> {
  readonly step: 'confirming'
  readonly missing: Missing
}

export type Placement = Recorded | Sending | LookingUp | Open | Confirming | Rechecking | Ended
