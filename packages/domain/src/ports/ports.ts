// All ports of the use cases by the names under which a composition passes them.
import type { BrokerHealth } from '../operator/health.ts'
import type { WebhookReach } from '../webhooks/webhook-url.ts'
import type { AccountStore } from './account-store.ts'
import type { AddressLimits } from './address-limits.ts'
import type { Broker } from './broker.ts'
import type { Clock, Pauser, Stopwatch } from './clock.ts'
import type { CredentialStore } from './credential-store.ts'
import type { GuardStore } from './guard-store.ts'
import type { Journal, TradeRecords } from './journal.ts'
import type { LiveAccounts } from './live-accounts.ts'
import type { OperatorOrders } from './operator-orders.ts'
import type { OperatorStore, ProviderTokens } from './operator-store.ts'
import type { OrderIds } from './order-ids.ts'
import type { OrderStore } from './order-store.ts'
import type { Mailer } from './owner-notices.ts'
import type { PositionDesk } from './position-desk.ts'
import type { PositionLocks } from './position-locks.ts'
import type { PositionViews } from './position-views.ts'
import type { SealedSecrets } from './sealed-secrets.ts'
import type { Secrets } from './secrets.ts'
import type {
  DatabaseHealth,
  JournalHealth,
  LimiterHealth,
  ProviderProbe,
} from './service-health.ts'
import type { TenantRecords } from './tenant-records.ts'
import type { TokenVerifier } from './token-verifier.ts'
import type { TradeSlots } from './trade-slots.ts'
import type { Trading } from './trading.ts'
import type { UserStore } from './user-store.ts'
import type { WebhookDeliveries } from './webhook-deliveries.ts'
import type { WebhookIds } from './webhook-ids.ts'
import type { WebhookSender } from './webhook-sender.ts'
import type { WebhookStore } from './webhook-store.ts'

export interface Ports extends Pauser {
  readonly accounts: AccountStore
  readonly addressLimits: AddressLimits
  readonly broker: Broker
  readonly brokerHealth: BrokerHealth
  readonly clock: Clock
  readonly credentials: CredentialStore
  readonly database: DatabaseHealth
  readonly guards: GuardStore
  readonly journal: Journal
  readonly journalHealth: JournalHealth
  readonly limiterHealth: LimiterHealth
  readonly liveAccounts: LiveAccounts
  readonly mailer: Mailer
  readonly operator: OperatorStore
  readonly operatorOrders: OperatorOrders
  readonly orderIds: OrderIds
  readonly orders: OrderStore
  readonly positionDesk: PositionDesk
  readonly positionLocks: PositionLocks
  readonly positionViews: PositionViews
  readonly providerProbe: ProviderProbe
  readonly providerTokens: ProviderTokens
  readonly records: TenantRecords
  readonly sealedSecrets: SealedSecrets
  readonly secrets: Secrets
  readonly slots: TradeSlots
  readonly stopwatch: Stopwatch
  /** Undefined where tokens of no issuer are accepted. */
  readonly tokens: TokenVerifier | undefined
  readonly trades: TradeRecords
  readonly trading: Trading
  readonly users: UserStore
  readonly webhookDeliveries: WebhookDeliveries
  readonly webhookIds: WebhookIds
  readonly webhookReach: WebhookReach
  readonly webhookSender: WebhookSender
  readonly webhooks: WebhookStore
}
