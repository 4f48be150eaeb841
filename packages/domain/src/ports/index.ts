// What the use cases need from outside: stores, the broker, clock and secrets. Adapters implement
// them.
export type { AccountStore, SnapshotQuery } from './account-store.ts'
export type { AddressLimits, CallerAddress } from './address-limits.ts'
export { maxHistoryDeals } from './broker.ts'
export type { Broker, MarginQuery } from './broker.ts'
export type { Breather, Clock, MaySend, Stopwatch } from './clock.ts'
export type { CredentialStore } from './credential-store.ts'
export type { AccountGuards, DeskGuard, GuardStore, OpenBooks } from './guard-store.ts'
export { withoutKey } from './idempotency.ts'
export type { IdempotencyStore, Once } from './idempotency.ts'
export type {
  Journal,
  JournalChange,
  JournalClaim,
  JournalJobs,
  JournalLost,
  TradeRecords,
  TradeSelection,
} from './journal.ts'
export type { LiveAccounts } from './live-accounts.ts'
export type { OperatorOrder, OperatorOrders } from './operator-orders.ts'
export type { OperatorStore, ProviderTokens } from './operator-store.ts'
export type {
  NewOrder,
  OrderJob,
  OrderJobs,
  OrderPlacement,
  OrderRetry,
  OrderStore,
  OrdersQuery,
  RecordRefusal,
  ReplyToKeep,
} from './order-store.ts'
export type {
  Mail,
  MailAnswer,
  Mailer,
  OwnerNoticeJob,
  OwnerNoticeJobs,
  OwnerNotices,
} from './owner-notices.ts'
export type { PeerNotice, PeerNotices } from './peer-notices.ts'
export type { Ports } from './ports.ts'
export type { CloseReceipt, PositionDesk } from './position-desk.ts'
export { maxChangesPerAccount } from './position-locks.ts'
export type { PositionLocks } from './position-locks.ts'
export type { HeldPosition, PositionViews } from './position-views.ts'
export type { LocalRateLimiter, RateLimiter, SuspensionListener } from './rate-limiter.ts'
export type { SealedSecrets } from './sealed-secrets.ts'
export type { Secrets } from './secrets.ts'
export type { JournalHealth, ProviderProbe } from './service-health.ts'
export type { OwnedSlice, TenantRecords } from './tenant-records.ts'
export type { TokenVerifier, VerifiedToken } from './token-verifier.ts'
export type { AcquireSlot } from './trade-slots.ts'
export type { BrokerOrder, SentOrder, Trading } from './trading.ts'
export type { UserStore } from './user-store.ts'
export type {
  DeliveriesQuery,
  DeliveryJobs,
  DueDelivery,
  WebhookDeliveries,
} from './webhook-deliveries.ts'
export type { DeliveryAnswer, SendFailure, WebhookSender } from './webhook-sender.ts'
export type { WebhookStore } from './webhook-store.ts'
