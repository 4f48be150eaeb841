// What the fold makes of a position: a closed trade (2.5), or the reason why it could not be folded (4.5).

/** Why a position is neither a trade nor open, in the order in which the reasons are looked at; the first that applies is given. */
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

/** A position whose whole volume is closed. Times are epoch milliseconds, volume lots, money the account's currency. */
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
  /** Whole seconds from openedAt to closedAt, rounded down; below 0 where the broker's clock says so. */
  readonly holdingTime: number
  /** Present where a closing deal reported no volume. */
  readonly volumeEstimated?: true
}

export interface SkippedPosition {
  readonly positionId: string
  readonly reason: SkipReason
}
