// The journal: each account's stored deals, and the positions folded from them.
import type * as O from 'fp-ts/lib/Option.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import type { AsyncResult } from '../errors.ts'
import type { BrokerDeal, ChangedDeal, DealKey } from '../journal/broker-deal.ts'
import type { JournalState, Reread } from '../journal/journal-state.ts'
import type { AccountId, Owner, PositionId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import type { ClosedTrade, TradeListPlace, TradeFilter } from '../trades/closed-trade.ts'
import type {
  CashFlows,
  BalanceHistory,
  KeyedProfits,
  RecordedKey,
  TradeResults,
} from '../statistics/index.ts'
import type { FoldedPosition, FoldedTrade, SkippedOnAccount } from '../trades/fold.ts'
import type { Work } from './time.ts'

/** The exclusive right to write an account's journal, until it lapses. */
export interface JournalClaim {
  readonly account: BrokerAccount
  readonly leaseId: string
  /**
   * By the clock that decides which reads are due, which all processes share: theirs may lag behind
   * it.
   */
  readonly claimedAt: Instant
  readonly state: JournalState
  /** When the account was linked: older deals are no events. */
  readonly linkedAt: Instant
}

/** Deals to write, and what is known after them. */
export interface JournalChange {
  /** Those that the journal already has are ignored. */
  readonly inserted: readonly BrokerDeal[]
  /** Those that the journal does not have as they were are ignored. */
  readonly changed: readonly ChangedDeal[]
  /** Deals that the broker's history does not have any more. */
  readonly vanished: readonly DealKey[]
  /** The account as read with the deals, for events; null where there are none. */
  readonly reading: AccountReading | null
  /**
   * When the whole history is to be read again, given what the positions of new closing deals are
   * now; null where this change is no reason to. A time that is stored already is kept.
   */
  readonly rereadAtFor: (positionsOfNewCloses: readonly FoldedPosition[]) => Instant | null
  /** Where a first read that is interrupted continues; null once it has come to its end. */
  readonly firstReadOffset: number | null
  /** Set where the read was complete. */
  readonly completed: { readonly syncedAt: Instant; readonly latestDealAt: Instant | null } | null
}

/**
 * `too_many_deals`: a first read found more deals than it may. `history_failed`: the history could not be
 * read, but the account's figures could. `retryAfterSeconds`: the provider accepts no request of
 * the tenant until then.
 */
export type JournalReadResult =
  | 'read'
  | 'too_many_deals'
  | 'failed'
  | 'history_failed'
  | { readonly retryAfterSeconds: number }

/** What a write left. */
export interface JournalWritten {
  readonly state: JournalState
  /** What the positions of new closing deals are now. */
  readonly positionsOfNewCloses: readonly FoldedPosition[]
}

/**
 * What is written under a claim that has lapsed is refused with ServiceUnavailable: another process
 * may write.
 */
export interface Journal {
  /** None before the first read, and where the journal belongs to another link of the account. */
  readonly find: (account: BrokerAccount) => AsyncResult<O.Option<JournalState>>
  /**
   * Claims the account's journal, which is made where there is none, and made anew where the
   * account was linked to another account at the provider. None while another process holds it;
   * BrokerUnavailable where the account is not linked like this any more. A claim lapses 30 seconds
   * after it was made or last used.
   */
  readonly claim: (
    account: BrokerAccount,
  ) => AsyncResult<O.Option<JournalClaim>, 'BrokerUnavailable'>
  /** Makes the claim lapse 30 seconds from now. */
  readonly renew: (claim: JournalClaim) => AsyncResult<void>
  /**
   * Ends the claim. After a read, an account of the watch is due again at its next round; after a
   * failure, once a pause has passed that doubles to a minute, or is the interval of the watch where
   * only the history failed. After `too_many_deals`, a read that was wanted is dropped.
   */
  readonly release: (claim: JournalClaim, result: JournalReadResult) => AsyncResult<void>
  /** The first kept deals from a time on, by time; those without a readable time come last. */
  readonly dealsFrom: (
    account: BrokerAccount,
    from: Instant,
    limit: number,
  ) => AsyncResult<readonly BrokerDeal[]>
  /**
   * In one transaction: writes the deals, folds the positions that they belong to, records the
   * events of it (`journalEvents`), and stores the progress. Once the read is complete, no read is
   * wanted any more that was due when it was claimed. The claim is renewed.
   */
  readonly write: (claim: JournalClaim, change: JournalChange) => AsyncResult<JournalWritten>
  /**
   * Compares the exact sum of money that all deals moved with a balance, stores the difference, and
   * returns it: balance minus sum.
   */
  readonly check: (claim: JournalClaim, balance: number, at: Instant) => AsyncResult<number>
  /** Stores when the whole history is to be read again, or that it agrees. */
  readonly setReread: (claim: JournalClaim, reread: Reread) => AsyncResult<void>
  /**
   * Schedules a read that begins after so long or later, and another one after `lateDelayMs`. Of
   * several reads the earliest and the latest are kept, and of late ones the latest.
   */
  readonly wantRead: (
    account: BrokerAccount,
    delayMs: number,
    lateDelayMs?: number,
  ) => AsyncResult<void>
  /** The deals of an order that closed something, from a time on, oldest first. */
  readonly closingDeals: (
    account: BrokerAccount,
    orderId: string,
    from: Instant,
  ) => AsyncResult<readonly BrokerDeal[]>
}

/** Closed trades of some accounts of one owner. */
export interface TradeSelection {
  readonly accountIds: readonly AccountId[]
  readonly filter: TradeFilter
}

/** The deals of an account, and their last comparison with its balance. */
export interface JournalSums extends Pick<JournalState, 'deals' | 'check' | 'disagreements'> {
  /** Of those with a readable time; null without any. */
  readonly firstDealAt: Instant | null
  readonly lastDealAt: Instant | null
  /** Of all that moved the balance. */
  readonly sum: number
}

/** A page of the deals of a position, and exact sums of all of them, each rounded once. */
export interface PositionDeals {
  readonly deals: Page<BrokerDeal>
  readonly sums: Pick<FoldedTrade, 'profit' | 'commission' | 'swap' | 'netProfit'> & {
    /** Lots, as far as the deals report them. */
    readonly openedVolume: number
    readonly closedVolume: number
  }
}

/** Trades of a filter, most recently closed first. All of it is of the same moment. */
export interface TradePage {
  readonly trades: readonly ClosedTrade[]
  /** How many trades match the filter. */
  readonly total: number
  /** How many of them come before the page. */
  readonly before: number
  /** Of the accounts, whatever the filter, in the order of `TradeRecords.skipped`. */
  readonly skipped: readonly SkippedOnAccount[]
}

/** Trades of a filter, most recently closed first. */
export interface TradeExportPage {
  readonly trades: readonly ClosedTrade[]
  /** Changes whenever an existing trade of the accounts was changed or removed. */
  readonly revision: string
}

/** The trades and positions of synchronised journals. Accounts of another owner have none. */
export interface TradeRecords {
  /** The trades after a place. BrokerUnavailable where `skipped` would be. */
  readonly page: (
    owner: Owner,
    selection: TradeSelection,
    after: TradeListPlace | undefined,
    limit: number,
  ) => AsyncResult<TradePage, 'BrokerUnavailable'>
  /** The trades of such a page, without counts. */
  readonly exportPage: (
    owner: Owner,
    selection: TradeSelection,
    after: TradeListPlace | undefined,
    limit: number,
  ) => AsyncResult<TradeExportPage>
  /** In closing order: the arrays have a number for each trade. */
  readonly results: (
    owner: Owner,
    selection: TradeSelection,
  ) => AsyncResult<Readonly<Record<keyof TradeResults, Float64Array>>>
  /** The net profits for each symbol, side or account, in the order of their texts. */
  readonly netProfitsBy: (
    owner: Owner,
    selection: TradeSelection,
    by: RecordedKey,
  ) => AsyncResult<readonly KeyedProfits[]>
  /**
   * What moved the balance of an account from a time on; null where its journal was not compared
   * with the balance since deals last changed, and of an unknown account.
   */
  readonly balances: (
    owner: Owner,
    accountId: AccountId,
    from: Instant | undefined,
  ) => AsyncResult<BalanceHistory | null>
  /**
   * What moved the balance of an account but buys and sells, in a range of times; of an unknown
   * account nothing.
   */
  readonly cashFlows: (
    owner: Owner,
    accountId: AccountId,
    range: Pick<TradeFilter, 'startDate' | 'endDate'>,
    limit: number,
  ) => AsyncResult<CashFlows>
  /** None where the position is open, skipped or unknown. */
  readonly find: (owner: Owner, id: PositionId) => AsyncResult<O.Option<ClosedTrade>>
  /** A page of the deals of a position, in the order in which they are folded. */
  readonly deals: (
    owner: Owner,
    accountId: AccountId,
    positionId: string,
    page: PageRequest,
  ) => AsyncResult<PositionDeals>
  /**
   * Whether the deals of an account add up to its balance. BrokerUnavailable where it was unlinked
   * or linked anew since its journal was read.
   */
  readonly reconciliation: (
    owner: Owner,
    accountId: AccountId,
  ) => AsyncResult<JournalSums, 'BrokerUnavailable'>
  /**
   * By account in the given order, then by position id (shorter first, then by text).
   * BrokerUnavailable where one of the accounts was unlinked or linked anew since its journal was
   * read, so that it has no trades either.
   */
  readonly skipped: (
    owner: Owner,
    accountIds: readonly AccountId[],
  ) => AsyncResult<readonly SkippedOnAccount[], 'BrokerUnavailable'>
}

/** The worker of journals that are to be read. */
export interface JournalJobs {
  /**
   * Claims every journal that is to be read: because a read is wanted, because the whole history is
   * to be read again, or because an account of the watch is due. Calls `read` with each
   * claim, several at once, until `stop`, which waits for those under way. `read` releases the
   * claim. A rejection is logged.
   */
  readonly work: Work<JournalClaim>
}

/**
 * The watch (docs/journal.md#the-watch): accounts that are read every few seconds without a
 * request, because somebody waits for their events. They are the accounts of users with an enabled
 * webhook, or an open stream, for events of the broker, and accounts with risk thresholds or open
 * orders.
 */
export interface Watch {
  /** Watches the accounts of these owners for 20 seconds more, because they have such a stream. */
  readonly keepWatching: (owners: readonly Owner[]) => AsyncResult<void>
}
