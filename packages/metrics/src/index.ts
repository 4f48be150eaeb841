// The package's entry: the meters of one instance, and the decorators of ports that feed them.
export { createMetrics } from './metrics.ts'
export type { BacklogReading, CacheTally, LimiterReading, Metrics, PoolReading } from './metrics.ts'
export { meteredAddressLimits, meteredLimiter } from './metered-limiter.ts'
export { meteredBroker, meteredPositionDesk, meteredTrading } from './metered-provider.ts'
export { meteredWebhookSender } from './metered-webhook-sender.ts'
