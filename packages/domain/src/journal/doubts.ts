// What a read of the history leaves in doubt even where the balance agrees, because deals that moved
// no money do not show in it.
import { MonoidAny } from 'fp-ts/lib/boolean.js'
import { struct, type Monoid } from 'fp-ts/lib/Monoid.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { FoldedPosition, SkipReason } from '../trades/fold.ts'
import type { BrokerDeal } from './broker-deal.ts'

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
  /** Whether a new buy or sell lacks what a trade is folded from: its page may have been broken. */
  readonly hasIncompleteDeals: boolean
}

export const { empty: noDoubts, concat: eitherDoubts }: Monoid<Doubts> = struct({
  isDifferent: MonoidAny,
  lacksOpening: MonoidAny,
  mayHaveChanged: MonoidAny,
  hasIncompleteDeals: MonoidAny,
})

export const hasDoubts = (doubts: Doubts): boolean => Object.values(doubts).includes(true)

/** What `deals`, which are new or changed, leave in doubt by themselves. */
export const doubtsOfDeals = (deals: readonly BrokerDeal[]): Doubts => ({
  ...noDoubts,
  hasIncompleteDeals: deals.some(
    ({ kind, ...deal }) => (kind === 'buy' || kind === 'sell') && !isComplete(deal),
  ),
})

const isComplete = (deal: Omit<BrokerDeal, 'kind'>): boolean =>
  Number.isFinite(deal.time) &&
  [deal.positionId, deal.entry, deal.symbol, deal.volume, deal.price].every(
    (field) => field !== undefined,
  )

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
export const doubtsOfCloses = (
  positionsOfNewCloses: readonly FoldedPosition[],
  { platform }: BrokerAccount,
): Doubts => ({
  ...noDoubts,
  lacksOpening: positionsOfNewCloses.some(
    (one) => one.status === 'skipped' && missingOpeningReasons.includes(one.reason),
  ),
  mayHaveChanged:
    platform === 'mt4' && positionsOfNewCloses.some(({ status }) => status === 'open'),
})
