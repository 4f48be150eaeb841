// Orders: their states and transitions, their placement at the broker, and the limits that are
// checked before.
export type { PendingSize } from './guards.ts'
export {
  maxLotsPerOrder,
  maxOpenOrders,
  maxOrdersPerDay,
  requireCountsInLimit,
  startOfUtcDay,
} from './limits.ts'
export { brokerClientId, clientIdFamily, orderStatuses, parseOrderId } from './order.ts'
export type { Fill, Order, OrderId, OrderRequest, PendingOrder, RejectReason } from './order.ts'
export { placementWindowMs } from './placement.ts'
export type { LookupAnswer, Placement, PlacementAnswer, PlacementStep } from './placement.ts'
export { notFoundAtBrokerCode, settle } from './transitions.ts'
export type { Settlement } from './transitions.ts'
