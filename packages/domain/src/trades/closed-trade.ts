// A closed trade of an account, the filters of lists of trades, and places in them.
import type { AccountId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import type { FoldedTrade } from './folded-trade.ts'

/**
 * A trade with whose it is and the deal that closed it, which orders trades that closed in the same
 * millisecond.
 */
export interface ClosedTrade {
  readonly accountId: AccountId
  readonly userId: UserId
  readonly closingDealId: string
  readonly trade: FoldedTrade
}

export const profitFilters = ['profit', 'loss', 'all'] as const
export type ProfitFilter = (typeof profitFilters)[number]

export interface TradeFilter {
  readonly accountId?: AccountId | undefined
  readonly symbol?: SymbolFilter | undefined
  /** By close time, included. */
  readonly from?: Instant | undefined
  /** By close time, included. */
  readonly to?: Instant | undefined
  readonly profit: ProfitFilter
}

/** A place in closing order; accounts decide between deals of the same time and id. */
export interface ClosingPlace {
  readonly closedAt: Instant
  readonly closingDealId: string
  readonly accountId: AccountId
}

/** Some trades of a filter, most recently closed first, and where they stand among all of them. */
export interface TradeSlice {
  readonly trades: readonly ClosedTrade[]
  /** How many trades the filter lets through. */
  readonly total: number
  /** How many of them come before the slice. */
  readonly before: number
}

export const placeOf = ({ trade, closingDealId, accountId }: ClosedTrade): ClosingPlace => ({
  closedAt: trade.closedAt,
  closingDealId,
  accountId,
})
