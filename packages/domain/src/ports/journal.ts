// The journal: each account's deals as the broker gave them, and the positions folded from them,
// kept in the database.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { BrokerDeal } from '../journal/broker-deal.ts'
import type { JournalState } from '../journal/journal-state.ts'
import type { AccountId, Owner, PositionId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { ClosedTrade, ClosingPlace, TradeFilter, TradeSlice } from '../trades/closed-trade.ts'
import type { SkippedOnAccount } from '../trades/folded-trade.ts'

/** The exclusive right to write an account's journal, until it lapses. */
export interface JournalClaim {
  readonly account: BrokerAccount
  readonly token: string
  readonly state: JournalState
  /** When the account was linked: older deals are no events. */
  readonly linkedAt: Instant
}

/** Deals to write, and what is known after them. */
export interface JournalChange {
  /** Those that the journal already has are passed over. */
  readonly inserted: readonly BrokerDeal[]
  /** Deals that the journal has with other values. */
  readonly changed: readonly BrokerDeal[]
  /** Deals that the broker's history does not have any more. */
  readonly vanished: readonly BrokerDeal[]
  /** The account as read beside the deals, for events; null where no event can come of them. */
  readonly reading: AccountReading | null
  readonly now: Instant
  readonly firstReadOffset: number | null
  /** Set where the read came to its end. */
  readonly completed: { readonly syncedAt: Instant; readonly latestDealAt: Instant | null } | null
}

/** The claim has lapsed, and another process may write. */
export interface JournalLost {
  readonly _tag: 'JournalLost'
}

export interface Journal {
  readonly find: (
    account: BrokerAccount,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<JournalState>>
  /**
   * Claims the account's journal, which is made where there is none, and made anew where the
   * account was linked to another account at the provider. None while another process holds it, and
   * where the account is not linked any more. A claim lapses 30 seconds after it was made or last
   * used.
   */
  readonly claim: (
    account: BrokerAccount,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<JournalClaim>>
  readonly renew: (claim: JournalClaim) => TE.TaskEither<ServiceUnavailable | JournalLost, void>
  readonly release: (claim: JournalClaim) => TE.TaskEither<ServiceUnavailable, void>
  /** The kept deals from a time on, those without a readable time among them. */
  readonly dealsFrom: (
    account: BrokerAccount,
    from: Instant,
  ) => TE.TaskEither<ServiceUnavailable, readonly BrokerDeal[]>
  /**
   * In one transaction: writes the deals, folds the positions that they belong to, records the
   * events of deals that were not there before (`journalEvents`), and notes the progress. The claim
   * is renewed.
   */
  readonly write: (
    claim: JournalClaim,
    change: JournalChange,
  ) => TE.TaskEither<ServiceUnavailable | JournalLost, JournalState>
  /**
   * Compares the exact sum of money that all deals moved with a balance, notes it, and returns
   * balance minus sum.
   */
  readonly check: (
    claim: JournalClaim,
    balance: number,
    at: Instant,
  ) => TE.TaskEither<ServiceUnavailable | JournalLost, number>
  /** Notes when the whole history is to be read again, or that it agrees. */
  readonly setReread: (
    claim: JournalClaim,
    reread: Pick<JournalState, 'rereadAt' | 'disagreements'>,
  ) => TE.TaskEither<ServiceUnavailable | JournalLost, void>
  /**
   * Wants a read that begins at that time or later. Of several wishes the earliest and the latest
   * are kept.
   */
  readonly want: (account: BrokerAccount, at: Instant) => TE.TaskEither<ServiceUnavailable, void>
  /** The deals of an order that closed something, from a time on, oldest first. */
  readonly closingDeals: (
    account: BrokerAccount,
    orderId: string,
    from: Instant,
  ) => TE.TaskEither<ServiceUnavailable, readonly BrokerDeal[]>
}

/** Closed trades of some accounts of one owner. */
export interface TradeSelection {
  readonly accountIds: readonly AccountId[]
  readonly filter: TradeFilter
}

export interface TradeExportPage {
  readonly trades: readonly ClosedTrade[]
  /** Another one whenever a trade of the accounts that was there before was changed or removed. */
  readonly revision: string
}

/** The trades and positions of synchronised journals. Accounts of another owner have none. */
export interface TradeRecords {
  /** The trades after a place, most recently closed first, with how many there are. */
  readonly page: (
    owner: Owner,
    selection: TradeSelection,
    after: ClosingPlace | undefined,
    limit: number,
  ) => TE.TaskEither<ServiceUnavailable, TradeSlice>
  /** As `page`, without counts. */
  readonly exportPage: (
    owner: Owner,
    selection: TradeSelection,
    after: ClosingPlace | undefined,
    limit: number,
  ) => TE.TaskEither<ServiceUnavailable, TradeExportPage>
  /** The results of all selected trades, in closing order. */
  readonly results: (
    owner: Owner,
    selection: TradeSelection,
  ) => TE.TaskEither<
    ServiceUnavailable,
    readonly { readonly netProfit: number; readonly closedAt: Instant }[]
  >
  readonly find: (
    owner: Owner,
    id: PositionId,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<ClosedTrade>>
  /** By account in the given order, then by position id (shorter first, then by text). */
  readonly skipped: (
    owner: Owner,
    accountIds: readonly AccountId[],
  ) => TE.TaskEither<ServiceUnavailable, readonly SkippedOnAccount[]>
}

/** A journal of which a read is wanted. */
export interface JournalJobs {
  /**
   * Gives every account whose journal wants a read, or a full one, to `synchronise`, several at
   * once, until `stop`, which waits for those under way. Accounts that are claimed are left out. A
   * rejection is logged, and the account is given out again after a pause that doubles to a minute.
   */
  readonly work: (
    synchronise: (account: BrokerAccount) => Promise<void>,
  ) => Promise<{ readonly stop: () => Promise<void> }>
}
