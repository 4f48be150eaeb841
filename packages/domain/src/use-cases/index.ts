// What the API does, one function per operation: `(ports) => (caller, input) => AsyncResult<Result,
// Tags>`.
export { createAccounts, createLiveAccounts, type AccountView } from './accounts.ts'
export { checkThresholds } from './check-thresholds.ts'
export { createCancelWhereHalted, createHalts, type HaltView } from './halts.ts'
export {
  getMe,
  identifyCaller,
  type CallerDescription,
  type DescribedCaller,
} from './identify-caller.ts'
export { createMarketData, type ShownQuote, type StreamedQuote } from './market-data.ts'
export { createStreamSlots, type LiveStream } from './steps/stream-slots.ts'
export { followOpenOrders } from './follow-open-orders.ts'
export { createOpenOrders, type CancelAttempt } from './open-orders.ts'
export { createOperatorDocuments } from './operator-documents.ts'
export { createOperatorHealth, readFeedStanding } from './operator-health.ts'
export { createOrdersUnderWay, type OnFinished } from './operator-orders.ts'
export { createOperatorRecords } from './operator-records.ts'
export { createOrderPreviews, previewCheckNames, type OrderPreview } from './preview-order.ts'
export type { ById, DateRange, WithBody, WithQuery } from './input.ts'
export {
  createOrders,
  createOrderSymbols,
  checkAndRecordOrder,
  symbolAsWritten,
  type PlaceOrderBody,
} from './orders.ts'
export {
  createPositionChanges,
  type CloseAttempt,
  type ClosedPosition,
} from './position-changes.ts'
export { createPositions } from './positions.ts'
export { processOrder, type ProcessedOrder } from './process-order.ts'
export { sendOwnerNotice, type NoticeOutcome } from './send-owner-notice.ts'
export {
  createJournalReads,
  type SynchroniseJournal,
  type WatchRound,
} from './synchronise-journal.ts'
export {
  createTrades,
  type Reconciliation,
  type TradeWarning,
  type TradeExport,
  type TradeProvenance,
  type TradesResult,
  type WarnedTrades,
} from './trades.ts'
export { createWebhooks, noDeliveries } from './webhooks.ts'
export { createEvents } from './events.ts'
export type { EventStream } from './steps/log-followers.ts'
