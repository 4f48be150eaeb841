// What the fold makes of a position: a closed trade, or the reason why it could not be folded
// (docs/behaviour.md#skipped-positions).
import type { AccountId } from '../primitives/ids.ts'

/**
 * Why a position is neither a trade nor open, in the order in which the reasons are looked at; the
 * first that applies is given.
 */
export const skipReasons = [
  'unsupported_deal_entry_type',
  'no_open_deal',
  'zero_open_volume',
  'closed_exceeds_opened',
  'invalid_timestamp',
  'missing_symbol_or_times',
  'missing_price',
] as const

export type SkipReason = (typeof skipReasons)[number]

/**
 * A position whose whole volume is closed. Times are epoch milliseconds, volume lots, money the
 * account's currency.
 */
export interface FoldedTrade {
  readonly positionId: string
  readonly symbol: string
  /** The side of the first opening deal. */
  readonly side: 'buy' | 'sell'
  /** The volume opened, which is the volume closed. */
  readonly volume: number
  /** Weighted by volume, as exitPrice. */
  readonly entryPrice: number
  readonly exitPrice: number
  /** Summed over all deals of the position, as commission and swap. */
  readonly profit: number
  readonly commission: number
  readonly swap: number
  /** profit + commission + swap, added exactly and rounded once. */
  readonly netProfit: number
  /** The first opening deal. */
  readonly openedAt: number
  /** The last closing deal. */
  readonly closedAt: number
  /**
   * Whole seconds from openedAt to closedAt, rounded down; below 0 where the broker's clock says
   * so.
   */
  readonly holdingTime: number
  /** Present where a closing deal reported no volume. */
  readonly volumeEstimated?: true
}

export interface SkippedPosition {
  readonly positionId: string
  readonly reason: SkipReason
}

/** A position that could not be folded, and on which account. */
export interface SkippedOnAccount extends SkippedPosition {
  readonly accountId: AccountId
}

/** A position of which less was closed than opened. What its deals do not say is undefined. */
export interface OpenPosition {
  readonly positionId: string
  readonly symbol: string | undefined
  readonly side: 'buy' | 'sell' | undefined
  /** Lots that are still open. */
  readonly volume: number
  /** Volume-weighted over all opening deals. */
  readonly entryPrice: number | undefined
  readonly openedAt: number | undefined
}

/** A position that became a trade, with the last deal that closed it. */
export interface FinishedPosition {
  readonly status: 'closed'
  readonly trade: FoldedTrade
  readonly closingDealId: string
}

/** What a position is by its deals. */
export type FoldedPosition =
  | FinishedPosition
  | { readonly status: 'open'; readonly position: OpenPosition }
  | { readonly status: 'skipped'; readonly position: SkippedPosition }
