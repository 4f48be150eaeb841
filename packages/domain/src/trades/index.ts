// Closed trades: the fold of a broker's deals, and the filters, places and cursors of lists of
// trades.
export { placeOf, profitFilters } from './closed-trade.ts'
export type { ClosedTrade, ClosingPlace, TradeFilter } from './closed-trade.ts'
export { positionIdOf } from './deal.ts'
export type { Deal } from './deal.ts'
export { foldDeals, groupByPosition } from './fold-deals.ts'
export { foldPosition } from './fold-position.ts'
export { skipReasons } from './folded-trade.ts'
export type {
  FoldedPosition,
  FoldedTrade,
  SkipReason,
  SkippedOnAccount,
  SkippedPosition,
} from './folded-trade.ts'
