// The package's entry: the metrics of one instance, and decorators of ports that feed them.
export {
  meteredAddressLimits,
  meteredLimiter,
  meteredProvider,
  meteredWebhookSender,
} from './decorators.ts'
export { createMetrics, type Metrics } from './metrics.ts'
