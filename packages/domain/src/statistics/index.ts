// Statistics of closed trades, and the intervals and quantiles behind them.
export { cashFlowReasons, type BalanceHistory, type CashFlows } from './balance.ts'
export {
  breakdownKeys,
  groupsOf,
  groupStatistics,
  type BreakdownKey,
  type KeyedProfits,
  type RecordedKey,
  type TradeGroup,
} from './breakdown.ts'
export {
  calculateHere,
  type CalculationInputs,
  type CalculationName,
  type CalculationResult,
} from './calculations.ts'
export { tradeCurve, type CashFlowPoint, type CurvePoint, type TradeCurve } from './curve.ts'
export { extendedStatistics, type ExtendedStatistics } from './extended-statistics.ts'
export { meanInterval, wilsonInterval, type Interval } from './intervals.ts'
export { parseTimeZone, utc, type TimeZone } from './time-zone.ts'
export { robustStatistics, type RobustStatistics } from './robust-statistics.ts'
export { studentTQuantile } from './student-t.ts'
export type { TradeResults } from './trade-results.ts'
export {
  statisticsOf,
  tradeStatistics,
  type StatedTrade,
  type TradeStatistics,
} from './trade-statistics.ts'
