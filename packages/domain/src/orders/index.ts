// Orders: their states and transitions, their placement at the broker, and the limits that are
// checked before.
export {
  maxLotsPerOrder,
  maxOpenOrders,
  maxOrdersPerDay,
  requireCountsInLimit,
  type CountedOrder,
} from './limits.ts'
export {
  brokerClientId,
  clientIdPrefix,
  notFoundAtBrokerCode,
  orderStatuses,
  parseOrderId,
  withOutcome,
  type Fill,
  type Order,
  type OrderId,
  type OrderRequest,
  type PendingOrder,
  type RejectReason,
  type OrderOutcome,
} from './order.ts'
export {
  sendTimeoutMs,
  type LookupAnswer,
  type Placement,
  type PlacementAnswer,
  type PlacementStep,
} from './placement.ts'
