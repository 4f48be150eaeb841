// Where a program outside begins: closed trades from a broker's deals, their statistics, and the
// signature of webhooks. Everything else has a subpath of its own: `@tradeport/domain/orders`,
// `/ports`, `/use-cases` and so on, one for each folder.
export {
  foldDeals,
  type Deal,
  type FoldedTrade,
  type SkippedPosition,
  type SkipReason,
} from './trades/index.ts'
export {
  meanInterval,
  studentTQuantile,
  tradeStatistics,
  wilsonInterval,
  type Interval,
  type TradeStatistics,
} from './statistics/index.ts'
export { signWebhook, verifyWebhookSignature } from './webhooks/index.ts'
