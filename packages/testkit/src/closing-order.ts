// The order and the filters of trades as plain functions, to hold the database against.
import { isSymbolMatch, compareTickets } from '@tradeport/domain/primitives'
import type { ClosedTrade, TradeListPlace, TradeFilter } from '@tradeport/domain/trades'

/**
 * Closing order: close time, then the closing deal's id (shorter first, then by text), then the
 * account.
 */
export const byClosing = (a: TradeListPlace, b: TradeListPlace): number =>
  a.closedAt - b.closedAt ||
  compareTickets(a.closingDealId, b.closingDealId) ||
  compareTickets(a.accountId, b.accountId)

/** Whether the filter lets a trade through; the account is for whoever chooses the histories. */
export const isTradeMatch = (
  { symbol, from, to, profit }: TradeFilter,
  { trade }: ClosedTrade,
): boolean =>
  (from === undefined || trade.closedAt >= from) &&
  (to === undefined || trade.closedAt <= to) &&
  (profit === 'all' || trade.netProfit > 0 === (profit === 'profit')) &&
  isSymbolMatch(symbol, trade.symbol)
