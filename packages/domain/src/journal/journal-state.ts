// How far the journal of an account was read, and whether it agrees with the broker.
import type { Instant } from '../primitives/instant.ts'

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
   * When the whole history is read again, because the journal disagrees with the broker; null where
   * it agrees.
   */
  readonly rereadAt: Instant | null
  /** How often in a row the journal disagreed. */
  readonly disagreements: number
}
