// Closed trades: the fold of a broker's deals, and the filters, places and cursors of lists of
// trades.
export {
  placeOf,
  profitFilters,
  type ClosedTrade,
  type TradeListPlace,
  type TradeFilter,
} from './closed-trade.ts'
export { compareDealOrder, isReadableTime, positionIdOf, type Deal } from './deal.ts'
export {
  foldDeals,
  foldPosition,
  groupByPosition,
  skipReasons,
  type FoldedPosition,
  type FoldedTrade,
  type SkipReason,
  type SkippedPosition,
} from './fold.ts'
