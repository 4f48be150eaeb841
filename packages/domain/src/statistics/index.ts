// Statistics of closed trades, and the intervals and quantiles behind them.
export { meanInterval } from './mean-interval.ts'
export { studentTQuantile } from './student-t-quantile.ts'
export { tradeStatistics } from './trade-statistics.ts'
export type { StatedTrade, TradeStatistics } from './trade-statistics.ts'
export { wilsonInterval } from './wilson-interval.ts'
export type { Interval } from './wilson-interval.ts'
