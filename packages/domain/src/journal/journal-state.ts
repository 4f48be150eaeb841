// How far the journal of an account was read, and whether it agrees with the broker.
import * as O from 'fp-ts/lib/Option.js'
import type { Account } from '../accounts/account.ts'
import { dayMs, minuteMs, type Instant } from '../primitives/instant.ts'
import { roundAmount, sumExactly } from '../primitives/exact-sum.ts'
import type { BrokerDeal, DealsWindow } from './broker-deal.ts'
import type { Doubts } from './doubts.ts'

/** A comparison of the deals with the balance that the broker reported. */
export interface BalanceCheck {
  readonly at: Instant
  readonly balance: number
  /** The balance less the sum of the deals. */
  readonly difference: number
}

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
  readonly check: BalanceCheck | null
  /**
   * When the whole history is read again, because the journal disagrees with the broker, or an old
   * deal may have changed; null where it is not.
   */
  readonly rereadAt: Instant | null
  /** How often in a row the journal disagreed; 0 where it agrees as far as that is known. */
  readonly disagreements: number
  /** Whether only the balance disagrees: the reread is dropped once it agrees. */
  readonly isDueToBalanceAlone: boolean
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

/** A deal that is shown later than this is noticed by the comparison with the balance only. */
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
 * Whether the last read that came to its end began after `since`, and no later one is wanted by now.
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
  known: Instant | null,
  now: Instant,
): Instant | null => {
  let latest = known
  for (const { time } of deals) {
    if (time !== undefined && Number.isFinite(time) && (latest === null || time > latest))
      latest = Math.min(time, now)
  }
  return latest
}

/** A balance less the sum of deals, without what the binary fractions of a broker add to it. */
export const differenceOf = (balance: number, sum: number): number =>
  roundAmount(sumExactly([balance, -sum]))

/** Whether the account was read since the comparison, with another balance. */
export const hasOtherBalance = (check: BalanceCheck, account: O.Option<Account>): boolean =>
  O.isSome(account) &&
  (account.value.lastReadAt ?? 0) > check.at &&
  account.value.figures.balance !== check.balance

/** When the whole history is read again, and how often in a row the journal disagreed. */
export type Reread = Pick<JournalState, 'rereadAt' | 'disagreements' | 'isDueToBalanceAlone'>

const noReread: Reread = { rereadAt: null, disagreements: 0, isDueToBalanceAlone: false }

/** When the whole history is read again, although nothing is known to disagree. */
export const precautionaryRereadAt = (now: Instant): Instant => now + firstRereadPauseMs

const precautionaryReread = (now: Instant): Reread => ({
  ...noReread,
  rereadAt: precautionaryRereadAt(now),
})

/** How a read that came to its end, and the balance, agree with the kept deals. */
export interface JournalComparison extends Doubts {
  readonly kind: PlannedRead['kind']
  /**
   * Whether deals are kept that the broker does not show although the read of the tail covers their
   * time.
   */
  readonly brokerOmitsLatest: boolean
  /**
   * Balance less the sum of the deals; undefined where the balance could not be read, or deals kept
   * coming between the reads of the history and those of the balance.
   */
  readonly difference: number | undefined
}

/**
 * When the whole history is to be read again: after a minute, and while it goes on disagreeing with
 * doubling pauses up to an hour.
 * @param before as it was before the read
 */
export const rereadAfter = (
  before: Reread,
  comparison: JournalComparison,
  now: Instant,
): Reread => {
  const { kind, isDifferent, lacksOpening, hasIncompleteDeals } = comparison
  const { brokerOmitsLatest, difference } = comparison
  const { rereadAt, disagreements } = before
  // An opening deal that moved no money does not show in the balance.
  const isUncertain = lacksOpening || comparison.mayHaveChanged || hasIncompleteDeals
  const differsFromBalance = difference !== undefined && difference !== 0
  const disagree = (isDueToBalanceAlone: boolean): Reread => ({
    rereadAt: now + Math.min(firstRereadPauseMs * 2 ** disagreements, longestRereadPauseMs),
    disagreements: disagreements + 1,
    isDueToBalanceAlone,
  })
  if (kind === 'full') {
    // Nothing was known to disagree: it is not repeated, and later reads compare the balance again.
    const wasPrecaution = difference === undefined && disagreements === 0
    if (hasIncompleteDeals || (!wasPrecaution && (difference !== 0 || brokerOmitsLatest)))
      return disagree(differsFromBalance && !brokerOmitsLatest && !isUncertain)
    return isUncertain ? precautionaryReread(now) : noReread
  }
  const differs =
    isDifferent || differsFromBalance || hasIncompleteDeals || (lacksOpening && kind === 'tail')
  const isDueToBalanceAlone =
    (rereadAt === null || before.isDueToBalanceAlone) && !isDifferent && !isUncertain
  if (differs && disagreements === 0) return disagree(isDueToBalanceAlone)
  // Deals that were shown late explain a balance that disagreed before.
  const isSettled = rereadAt === null || (isDueToBalanceAlone && difference === 0)
  const remaining = isSettled ? noReread : { rereadAt, disagreements, isDueToBalanceAlone }
  return isUncertain && remaining.rereadAt === null ? precautionaryReread(now) : remaining
}
