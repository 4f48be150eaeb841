// How far the journal of an account was read, and whether it agrees with the broker.
import { dayMs, minuteMs, type Instant } from '../primitives/instant.ts'
import { roundAmount, sumExactly } from '../primitives/exact-sum.ts'
import type { BrokerDeal, DealsWindow } from './broker-deal.ts'

/** How far an account's journal is synchronised. */
export interface JournalState {
  /**
   * The offset of the next page of a first read that has not reached the end; null before it begins
   * and after it ends.
   */
  readonly firstReadOffset: number | null
  /** When the last read that came to its end began; null before the first has. */
  readonly syncedAt: Instant | null
  /** A read that begins then or later is wanted; null where none is. */
  readonly wantedAt: Instant | null
  /** How many deals are kept. */
  readonly deals: number
  /**
   * The latest deal of reads that came to their end, and never later than such a read; null where
   * there is none.
   */
  readonly latestDealAt: Instant | null
  /** The last comparison with the balance; null where there was none since deals last changed. */
  readonly check: { readonly at: Instant; readonly difference: number } | null
  /**
   * When the whole history is read again, because the journal disagrees with the broker, or an old
   * deal may have changed; null where it is not.
   */
  readonly rereadAt: Instant | null
  /** How often in a row the journal disagreed; 0 where it agrees as far as that is known. */
  readonly disagreements: number
}

// What is read next of an account's history, and whether what was read is fresh enough.

/**
 * `first` goes on until it reaches the end of the history, also in another process. `tail` reads
 * from a day before the latest deal, because deals can arrive late. `full` reads everything again.
 */
export interface PlannedRead {
  readonly kind: 'first' | 'tail' | 'full'
  readonly window: DealsWindow
}

/**
 * Deals that arrive later than this after a later one are found by the comparison with the balance.
 */
const overlapMs = dayMs
/** A broker's clock may be ahead of ours, and the end of a window is not included. */
const aheadMs = dayMs
const firstRereadPauseMs = minuteMs
const longestRereadPauseMs = 60 * minuteMs

export const planRead = (state: JournalState, now: Instant): PlannedRead => {
  const to = now + aheadMs
  if (state.syncedAt === null)
    return { kind: 'first', window: { from: 0, to, offset: state.firstReadOffset ?? 0 } }
  if (state.rereadAt !== null && state.rereadAt <= now)
    return { kind: 'full', window: { from: 0, to, offset: 0 } }
  return { kind: 'tail', window: tailWindow(state, now) }
}

/** From a day before the latest deal. */
export const tailWindow = ({ latestDealAt }: JournalState, now: Instant): DealsWindow => ({
  from: Math.max(0, (latestDealAt ?? 0) - overlapMs),
  to: now + aheadMs,
  offset: 0,
})

/**
 * Whether a read that came to its end began after `since`, and none that began later is wanted by
 * now.
 */
export const isFresh = (
  { syncedAt, wantedAt, rereadAt }: JournalState,
  since: Instant,
  now: Instant,
): boolean => {
  // A time that is still to come was written before the clock was set back.
  if (syncedAt === null || syncedAt <= since || syncedAt > now) return false
  if (rereadAt !== null && rereadAt <= now) return false
  return wantedAt === null || wantedAt > now || wantedAt <= syncedAt
}

/** The latest time among deals; a time after `now` counts as `now`. */
export const latestOf = (
  deals: readonly BrokerDeal[],
  before: Instant | null,
  now: Instant,
): Instant | null => {
  let latest = before
  for (const { time } of deals) {
    if (time !== undefined && Number.isFinite(time) && (latest === null || time > latest))
      latest = Math.min(time, now)
  }
  return latest
}

/** What a read found out about the journal. */
export interface JournalComparison {
  readonly kind: PlannedRead['kind']
  /** Whether a deal changed or vanished since it was first read. */
  readonly isDifferent: boolean
  /**
   * Whether deals are kept that the broker does not show although the read of the tail covers their
   * time.
   */
  readonly lacksLatest: boolean
  /** Balance less the sum of the deals; undefined where the balance could not be read. */
  readonly difference: number | undefined
  /** Whether deals kept coming between the reads of the history and those of the balance. */
  readonly isInconclusive: boolean
}

/** A balance less the sum of deals, without what the binary fractions of a broker add to it. */
export const differenceOf = (balance: number, sum: number): number =>
  roundAmount(sumExactly([balance, -sum]))

/**
 * `disagrees` is to be reported; after both `disagrees` and `reread` the whole history is read
 * again. The provider's history lags behind the balance, so that a read of its end alone never
 * `disagrees`.
 * @param before the journal before the read
 */
export const verdictOn = (
  before: Pick<JournalState, 'check' | 'rereadAt' | 'disagreements'>,
  { kind, isDifferent, lacksLatest, difference, isInconclusive }: JournalComparison,
): 'agrees' | 'disagrees' | 'reread' | 'undecided' => {
  const isUnknown = difference === undefined || isInconclusive
  if (kind === 'full') {
    if (isUnknown) return 'reread'
    if (difference !== 0) return 'disagrees'
    return lacksLatest ? 'reread' : 'agrees'
  }
  // Deals that were shown late explain a balance that disagreed before.
  if (difference === 0 && !isDifferent)
    return before.rereadAt !== null && (before.check?.difference ?? 0) !== 0
      ? 'agrees'
      : 'undecided'
  if (before.disagreements > 0 || (isUnknown && !isDifferent)) return 'undecided'
  return kind === 'first' ? 'disagrees' : 'reread'
}

/**
 * When the whole history is read again after the journal and the broker disagreed: after a minute,
 * then with doubling pauses up to an hour.
 */
export const rereadAfter = (
  disagreements: number,
  now: Instant,
): Pick<JournalState, 'rereadAt' | 'disagreements'> => ({
  rereadAt: now + Math.min(firstRereadPauseMs * 2 ** disagreements, longestRereadPauseMs),
  disagreements: disagreements + 1,
})

/** The whole history is read again, although nothing disagrees. */
export const precautionaryReread = (now: Instant): typeof noReread => ({
  rereadAt: now + firstRereadPauseMs,
  disagreements: 0,
})

export const noReread: Pick<JournalState, 'rereadAt' | 'disagreements'> = {
  rereadAt: null,
  disagreements: 0,
}
