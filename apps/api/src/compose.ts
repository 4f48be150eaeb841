// Adapters to use cases: what reads what, and what is cached on the way (section 8, caches). No decision is taken here.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import {
  applyOperatorDocument,
  cancelOrder,
  changeWebhook,
  checkService,
  checkTenant,
  closePosition,
  createLiveAccounts,
  createPositionViews,
  createWebhook,
  deleteWebhook,
  deliverEvent,
  exportTrades,
  finishOrder,
  getAccount,
  getMarketData,
  getOperatorOrder,
  getOrder,
  getPosition,
  getTenant,
  getTrade,
  getTradeStatistics,
  getWebhook,
  hostIssues,
  identifyCaller,
  listAccounts,
  listBalanceHistory,
  listOrders,
  listOrdersUnderWay,
  listPositions,
  listSymbols,
  listTenantAccessTokens,
  listTenantAccounts,
  listTenantApiKeys,
  listTenantDesks,
  listTenants,
  listTenantUsers,
  listTrades,
  listWebhookDeliveries,
  listWebhooks,
  modifyOrder,
  moveStopLoss,
  moveTakeProfit,
  placeOrder,
  processOrder,
  planOperatorDocument,
  replayWebhookDelivery,
  rotateSecrets,
  synchroniseJournal,
  testWebhook,
} from '@tradeport/domain'
import type {
  AccountId,
  AccountStore,
  AddressLimits,
  AffectedUsers,
  Breather,
  Broker,
  BrokerAccount,
  BrokerHealth,
  Clock,
  CredentialStore,
  DatabaseHealth,
  GuardStore,
  IdempotencyStore,
  Journal,
  JournalHealth,
  LimiterHealth,
  PeerNotice,
  PeerNotices,
  OperatorOrders,
  OperatorStore,
  OrderIds,
  OrderStore,
  Pauser,
  PositionDesk,
  PositionLocks,
  ProviderProbe,
  ProviderTokens,
  SealedSecrets,
  Secrets,
  TenantRecords,
  TokenVerifier,
  Stopwatch,
  SynchroniseJournal,
  TradeRecords,
  TradeSlots,
  Trading,
  WebhookDeliveries,
  WebhookIds,
  WebhookReach,
  WebhookSender,
  WebhookStore,
} from '@tradeport/domain'
import type { OperatorUseCases, UseCases } from '@tradeport/http'
import {
  cachedAccounts,
  cachedBroker,
  cachedCredentials,
  cachedLiveAccounts,
  cachedPositionViews,
  cachedTokenVerifier,
  forgettingDesk,
} from '@tradeport/memory'
import type { Tallies } from '@tradeport/memory'

/** The ports as the adapters fill them, without any cache. */
export interface Adapters extends Breather, Pauser {
  readonly accounts: AccountStore
  readonly credentials: CredentialStore
  readonly addressLimits: AddressLimits
  /** Absent where tokens of no issuer are taken. */
  readonly tokens?: TokenVerifier | undefined
  readonly operator: OperatorStore
  /** What the operator looks at. */
  readonly records: TenantRecords
  readonly operatorOrders: OperatorOrders
  readonly sealedSecrets: SealedSecrets
  readonly database: DatabaseHealth
  readonly brokerHealth: BrokerHealth
  readonly journalHealth: JournalHealth
  readonly limiterHealth: LimiterHealth
  readonly providerProbe: ProviderProbe
  readonly providerTokens: ProviderTokens
  readonly orders: OrderStore
  readonly idempotency: IdempotencyStore
  readonly guards: GuardStore
  readonly broker: Broker
  readonly trading: Trading
  readonly slots: TradeSlots
  readonly stopwatch: Stopwatch
  readonly positionDesk: PositionDesk
  readonly positionLocks: PositionLocks
  readonly peerNotices: PeerNotices
  readonly secrets: Secrets
  readonly orderIds: OrderIds
  readonly webhooks: WebhookStore
  readonly webhookIds: WebhookIds
  readonly webhookReach: WebhookReach
  readonly webhookSender: WebhookSender
  readonly webhookDeliveries: WebhookDeliveries
  readonly journal: Journal
  readonly trades: TradeRecords
  /** The most deals of an account of which trades are shown. */
  readonly maxDeals: number
  readonly recordsEvents: boolean
  readonly onDisagreement: (account: BrokerAccount, difference: number) => void
  readonly clock: Clock
  /** Where the caches count what reads of them meet. */
  readonly tallies?: Tallies | undefined
}

export interface ComposedService {
  readonly useCases: UseCases
  readonly operatorUseCases: OperatorUseCases
  readonly processOrder: ReturnType<typeof processOrder>
  readonly synchroniseJournal: SynchroniseJournal
  readonly deliverEvent: ReturnType<typeof deliverEvent>
}

export const composeUseCases = (adapters: Adapters): ComposedService => {
  const { clock, peerNotices, tallies } = adapters
  const credentials = cachedCredentials(adapters.credentials, { clock, notices: peerNotices, tallies })
  const tokens = adapters.tokens && cachedTokenVerifier(adapters.tokens, { clock, hash: adapters.secrets.hash, tallies })
  const linked = cachedAccounts(adapters.accounts, { clock, tallies })
  const broker = cachedBroker(adapters.broker, { clock, desk: adapters.positionDesk, tallies })
  const positionViews = cachedPositionViews(createPositionViews({ broker }))
  // Live figures are cached as what becomes of a read, so they are given the broker without its cache.
  const liveAccounts = cachedLiveAccounts(createLiveAccounts(adapters), { clock, tallies })
  const forget = (accountId: AccountId): void => {
    for (const cache of [broker, liveAccounts]) cache.forget(accountId)
  }
  // Here at once, and on the other instances as soon as they hear of it.
  const forgetEverywhere = (accountId: AccountId): void => {
    forget(accountId)
    peerNotices.tellAccountChanged(accountId)
  }
  peerNotices.subscribe((notice) => actOn(notice, { forget, forgetCredentials: credentials.forget }))
  const positionDesk = forgettingDesk(adapters.positionDesk, forgetEverywhere)
  // Accounts with events are synchronised whatever the length of their history, or their events would be missing.
  const synchronise = synchroniseJournal({ ...adapters, stopsAboveDeals: adapters.recordsEvents ? Infinity : adapters.maxDeals })
  const accountChanged = (account: BrokerAccount): void => {
    forgetEverywhere(account.accountId)
    void adapters.journal.want(account, clock.now())()
  }
  const ports = { ...adapters, credentials, tokens, broker, liveAccounts, positionDesk, synchroniseJournal: synchronise, accountChanged }
  // Positions and trades ask of an account only where it is; whoever shows how it stands reads its record.
  const reading = { ...ports, accounts: linked, positionViews }
  const apply = applyOperatorDocument(ports)
  return {
    useCases: {
      identifyCaller: identifyCaller(ports),
      listAccounts: listAccounts(ports),
      getAccount: getAccount(ports),
      listBalanceHistory: listBalanceHistory(ports),
      idempotency: adapters.idempotency,
      placeOrder: placeOrder(ports),
      listOrders: listOrders(ports),
      getOrder: getOrder(ports),
      modifyOrder: modifyOrder(ports),
      cancelOrder: cancelOrder(ports),
      listPositions: listPositions(reading),
      getPosition: getPosition(reading),
      // Whether an account may be changed is looked up each time, and what is changed is read from the broker itself.
      moveStopLoss: moveStopLoss(ports),
      moveTakeProfit: moveTakeProfit(ports),
      closePosition: closePosition(ports),
      listTrades: listTrades(reading),
      getTrade: getTrade(reading),
      getTradeStatistics: getTradeStatistics(reading),
      exportTrades: exportTrades(reading),
      listSymbols,
      getMarketData,
      webhookHostIssues: hostIssues(adapters.webhookReach),
      createWebhook: createWebhook(ports),
      listWebhooks: listWebhooks(ports),
      getWebhook: getWebhook(ports),
      changeWebhook: changeWebhook(ports),
      deleteWebhook: deleteWebhook(ports),
      testWebhook: testWebhook(ports),
      listWebhookDeliveries: listWebhookDeliveries(ports),
      replayWebhookDelivery: replayWebhookDelivery(ports),
    },
    operatorUseCases: {
      // What the operator changed shows at the next request to this instance.
      applyOperatorDocument: (document) =>
        pipe(
          apply(document),
          TE.tapIO(({ affectedUsers }) => () => {
            credentials.forget(affectedUsers)
            linked.forgetAll()
          }),
        ),
      planOperatorDocument: planOperatorDocument(ports),
      listOrdersUnderWay: listOrdersUnderWay(ports),
      getOperatorOrder: getOperatorOrder(ports),
      finishOrder: finishOrder(ports),
      listTenants: listTenants(ports),
      getTenant: getTenant(ports),
      listTenantUsers: listTenantUsers(ports),
      listTenantAccounts: listTenantAccounts(ports),
      listTenantApiKeys: listTenantApiKeys(ports),
      listTenantAccessTokens: listTenantAccessTokens(ports),
      listTenantDesks: listTenantDesks(ports),
      rotateSecrets: rotateSecrets(ports),
      checkService: checkService(ports),
      checkTenant: checkTenant(ports),
    },
    processOrder: processOrder(ports),
    synchroniseJournal: synchronise,
    deliverEvent: deliverEvent(ports),
  }
}

interface Forgetting {
  readonly forget: (accountId: AccountId) => void
  readonly forgetCredentials: (users: AffectedUsers) => void
}

const actOn = (notice: PeerNotice, { forget, forgetCredentials }: Forgetting): void => {
  switch (notice.kind) {
    case 'credentials_changed':
      return forgetCredentials(notice.users)
    case 'account_changed':
      return forget(notice.accountId)
    case 'notices_missed':
      // What is kept of accounts expires within seconds, heard of or not.
      return forgetCredentials('everyone')
  }
}
