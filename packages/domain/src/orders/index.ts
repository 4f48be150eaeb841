// Orders: their states and transitions, their placement at the broker, and the limits that are
// checked before.
export { orderCheckNames, requireCountsInLimit, requireOrderLimits } from './checks.ts'
export {
  maxLotsPerOrder,
  maxOrdersUnderWay,
  maxOrdersPerDay,
  type AccountLimits,
  type CountedOrder,
  type LimitedDesk,
  type OpenPositions,
} from './limits.ts'
export {
  brokerClientId,
  cancelReasons,
  clientIdPrefix,
  isOwnClientId,
  notFoundAtBrokerCode,
  orderStatuses,
  orderTypes,
  parseOrderId,
  limitOrStopTypes,
  timesInForce,
  isCorrection,
  isUnderWay,
  type Fill,
  type Order,
  type OrderId,
  type OrderRequest,
  type OrderType,
  type PendingOrder,
  type OrderTerms,
  type RejectReason,
  type OrderOutcome,
} from './order.ts'
export { markPartlyExecuted } from './order-terms.ts'
export {
  renumberingMs,
  renumberingWaitMs,
  maxSendAgeMs,
  withTransition,
  type LookupAnswer,
  type PlacementAnswer,
  type Transition,
  type BrokerOrder,
} from './placement.ts'
export type { Placement } from './placement-state.ts'
