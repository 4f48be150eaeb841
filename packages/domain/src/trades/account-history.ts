// One account's closed trades in closing order, and how several accounts' trades are filtered, ordered and paged (4.5; decision 36).
import type { AccountId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { sortInSteps } from '../primitives/sort-in-steps.ts'
import type { Steps } from '../primitives/run-steps.ts'
import { compareTickets } from '../primitives/tickets.ts'
import { isSymbolMatch } from '../primitives/symbol-filter.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import type { FoldedTrade, SkippedPosition } from './folded-trade.ts'

/** A trade with whose it is and the deal that closed it, which orders trades that closed in the same millisecond. */
export interface ClosedTrade {
  readonly accountId: AccountId
  readonly userId: UserId
  readonly closingDealId: string
  readonly trade: FoldedTrade
}

export interface AccountHistory {
  readonly accountId: AccountId
  readonly readAt: Instant
  /** In closing order, the oldest first. */
  readonly trades: readonly ClosedTrade[]
  readonly skipped: readonly SkippedPosition[]
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

const sortStep = 256

export const placeOf = ({ trade, closingDealId, accountId }: ClosedTrade): ClosingPlace => ({
  closedAt: trade.closedAt,
  closingDealId,
  accountId,
})

/** Closing order: close time, then the closing deal's id (shorter first, then by text), then the account (decision 36). */
export const byClosing = (a: ClosingPlace, b: ClosingPlace): number =>
  a.closedAt - b.closedAt || compareTickets(a.closingDealId, b.closingDealId) || compareTickets(a.accountId, b.accountId)

/** Whether the filter lets a trade through; the account is for whoever chooses the histories. */
const isTradeMatch = ({ symbol, from, to, profit }: TradeFilter, { trade }: ClosedTrade): boolean =>
  (from === undefined || trade.closedAt >= from) &&
  (to === undefined || trade.closedAt <= to) &&
  (profit === 'all' || trade.netProfit > 0 === (profit === 'profit')) &&
  isSymbolMatch(symbol, trade.symbol)

/** Every trade that the filter lets through, in closing order over all accounts; an account, or some hundred trades to order, a step. */
export function* matchingTrades(histories: readonly AccountHistory[], filter: TradeFilter): Steps<readonly ClosedTrade[]> {
  const matches: (readonly ClosedTrade[])[] = []
  for (const { trades } of histories) {
    matches.push(trades.filter((trade) => isTradeMatch(filter, trade)))
    yield
  }
  const [only] = matches
  if (matches.length === 1 && only !== undefined) return only
  return yield* sortInSteps(matches.flat(), (a, b) => byClosing(placeOf(a), placeOf(b)), sortStep)
}

/**
 * The next `limit` trades, most recently closed first, after a place in the list (the whole list's beginning when it is undefined).
 * @param matches in closing order, as `matchingTrades` gives them
 */
export const sliceAfter = (matches: readonly ClosedTrade[], after: ClosingPlace | undefined, limit: number): TradeSlice => {
  const end = after === undefined ? matches.length : countBefore(matches, after)
  return {
    trades: matches.slice(Math.max(0, end - limit), end).toReversed(),
    total: matches.length,
    before: matches.length - end,
  }
}

// How many matches closed before the place: binary search, since they stand in closing order.
const countBefore = (matches: readonly ClosedTrade[], place: ClosingPlace): number => {
  let [low, high] = [0, matches.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const match = matches[middle]
    if (match !== undefined && byClosing(placeOf(match), place) < 0) low = middle + 1
    else high = middle
  }
  return low
}
