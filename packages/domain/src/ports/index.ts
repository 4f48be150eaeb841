// What the use cases need from outside: stores, the broker, clock and secrets. Adapters implement
// them.
import type { AddressLimits, CredentialStore, Secrets, TokenVerifier, UserStore } from './access.ts'
import type { AccountStore, Halts, LiveAccounts, RiskThresholds } from './accounts.ts'
import type { Broker, PositionTrading, ChangeLocks, TradeSlots, Trading } from './broker.ts'
import type { Calculate } from './calculations.ts'
import type { EventLog } from './events.ts'
import type { Journal, TradeRecords, Watch } from './journal.ts'
import type { CandleStore, MarketData, MarketDataFeeds } from './market-data.ts'
import type { Mailer } from './notices.ts'
import type {
  HealthReads,
  OperatorOrders,
  OperatorStore,
  ProviderAccounts,
  ProviderTokens,
  SealedSecrets,
  TenantRecords,
} from './operator.ts'
import type { IdempotencyStore, LimitStore, OrderIds, OrderStore } from './orders.ts'
import type { Clock, Pauser, Stopwatch } from './time.ts'
import type { WebhookDeliveries, WebhookIds, WebhookSender, WebhookStore } from './webhooks.ts'

export * from './access.ts'
export * from './accounts.ts'
export * from './broker.ts'
export * from './calculations.ts'
export * from './events.ts'
export * from './journal.ts'
export * from './market-data.ts'
export * from './notices.ts'
export * from './operator.ts'
export * from './orders.ts'
export * from './time.ts'
export * from './webhooks.ts'

/** All ports by the names under which a composition passes them. */
export interface Ports extends Pauser {
  readonly accounts: AccountStore
  readonly addressLimits: AddressLimits
  readonly broker: Broker
  readonly calculate: Calculate
  readonly clock: Clock
  readonly credentials: CredentialStore
  readonly eventLog: EventLog
  readonly halts: Halts
  readonly health: HealthReads
  readonly idempotency: IdempotencyStore
  readonly orderLimits: LimitStore
  readonly journal: Journal
  readonly liveAccounts: LiveAccounts
  readonly mailer: Mailer
  readonly candles: CandleStore
  readonly marketData: MarketData
  readonly marketDataFeeds: MarketDataFeeds
  readonly operator: OperatorStore
  readonly operatorOrders: OperatorOrders
  readonly orderIds: OrderIds
  readonly orders: OrderStore
  readonly positionTrading: PositionTrading
  readonly changeLocks: ChangeLocks
  readonly providerAccounts: ProviderAccounts
  readonly providerTokens: ProviderTokens
  readonly records: TenantRecords
  readonly riskThresholds: RiskThresholds
  readonly sealedSecrets: SealedSecrets
  readonly secrets: Secrets
  readonly slots: TradeSlots
  readonly stopwatch: Stopwatch
  /** Undefined where tokens of no issuer are accepted. */
  readonly tokens: TokenVerifier | undefined
  readonly trades: TradeRecords
  readonly trading: Trading
  readonly users: UserStore
  readonly watch: Watch
  readonly webhookDeliveries: WebhookDeliveries
  readonly webhookIds: WebhookIds
  readonly webhookSender: WebhookSender
  readonly webhooks: WebhookStore
}
