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
  cancelReasons,
  clientIdPrefix,
  notFoundAtBrokerCode,
  orderStatuses,
  orderTypes,
  parseOrderId,
  pendingOrderTypes,
  timesInForce,
  isCorrection,
  isPendingOrder,
  isUnderWay,
  withOutcome,
  type CancelReason,
  type Fill,
  type Order,
  type OrderId,
  type OrderRequest,
  type OrderType,
  type PendingOrder,
  type PendingOrderType,
  type PendingTerms,
  type RejectReason,
  type OrderOutcome,
  type TimeInForce,
} from './order.ts'
export { type TermsChange } from './pending-terms.ts'
export {
  sendTimeoutMs,
  goneMissing,
  foundWorking,
  withStep,
  type LookupAnswer,
  type Placement,
  type PlacementAnswer,
  type PlacementStep,
  type WorkingOrder,
} from './placement.ts'
