// Statistics of closed trades, and the intervals and quantiles behind them.
export { meanInterval, wilsonInterval, type Interval } from './intervals.ts'
export { studentTQuantile } from './student-t-quantile.ts'
export { tradeStatistics, type StatedTrade, type TradeStatistics } from './trade-statistics.ts'
