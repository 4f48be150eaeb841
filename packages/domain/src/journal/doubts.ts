// What a read of the history leaves in doubt even where the balance agrees, because deals that moved
// no money do not show in it.
import type { BrokerAccount } from '../accounts/account.ts'
import type { FoldedPosition, SkipReason } from '../trades/fold.ts'

export interface Doubts {
  /** Whether a deal changed or vanished since it was first read. */
  readonly isDifferent: boolean
  /** Whether a new deal closes a position of which an opening deal is missing. */
  readonly lacksOpening: boolean
  /**
   * Whether the broker may have changed an old deal: a partial close may have split it in two, or a
   * first read was interrupted after it.
   */
  readonly mayHaveChanged: boolean
}

export const noDoubts: Doubts = { isDifferent: false, lacksOpening: false, mayHaveChanged: false }

export const eitherDoubts = (one: Doubts, other: Doubts): Doubts => ({
  isDifferent: one.isDifferent || other.isDifferent,
  lacksOpening: one.lacksOpening || other.lacksOpening,
  mayHaveChanged: one.mayHaveChanged || other.mayHaveChanged,
})

export const hasDoubts = (doubts: Doubts): boolean => Object.values(doubts).includes(true)

/** Reasons for skipping a position that suggest that one of its opening deals is missing. */
const missingOpeningReasons: readonly SkipReason[] = [
  'no_open_deal',
  'zero_open_volume',
  'closed_exceeds_opened',
]

/**
 * What closing deals that are new say of older opening deals: one may be missing, and a partial
 * close on MT4 may make two of one.
 */
export const doubtsOf = (
  positionsOfNewCloses: readonly FoldedPosition[],
  { platform }: BrokerAccount,
  isDifferent = false,
): Doubts => ({
  isDifferent,
  lacksOpening: positionsOfNewCloses.some(
    (one) => one.status === 'skipped' && missingOpeningReasons.includes(one.position.reason),
  ),
  mayHaveChanged:
    platform === 'mt4' && positionsOfNewCloses.some(({ status }) => status === 'open'),
})
