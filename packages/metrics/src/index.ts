// The package's entry: the metrics of one instance, and decorators of ports that feed them.
export {
  meteredAddressLimits,
  meteredBroker,
  meteredLimiter,
  meteredMarketData,
  meteredPositionTrading,
  meteredTrading,
  meteredWebhookSender,
} from './decorators.ts'
export { createMetrics, type BacklogReading, type Metrics } from './metrics.ts'
