// Opens the adapters: the database with its stores and queues, the provider, the limiter, mail and
// webhooks, each with its meters.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { constUndefined, identity } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Logger } from 'pino'
import { createMetaApi, createProviderProbe } from '@tradeport/broker-metaapi'
import type { MetaApiConfig, MetaApiDeadlines, PauseLimits } from '@tradeport/broker-metaapi'
import { refuse } from '@tradeport/domain/errors'
import { maxHistoryDeals } from '@tradeport/domain/ports'
import { noDeliveries } from '@tradeport/domain/use-cases'
import type {
  AcquireSlot,
  Clock,
  Halts,
  MarketDataFeeds,
  SealedSecrets,
} from '@tradeport/domain/ports'
import { createAddressLimits } from '@tradeport/memory'
import {
  createMetrics,
  meteredAddressLimits,
  meteredProvider,
  meteredWebhookSender,
} from '@tradeport/metrics'
import {
  countHaltedAccounts,
  createAccountStore,
  createCandleStore,
  createCipher,
  createCredentialStore,
  createEventLog,
  createFairPool,
  createHalts,
  createLimitStore,
  createMarketDataFeeds,
  createIdempotencyStore,
  readDisagreeingJournals,
  readUncheckedThresholds,
  createOperatorOrders,
  createOperatorStore,
  createChangeLocks,
  createProviderTokens,
  createHeartbeats,
  createRiskThresholds,
  createSealedSecrets,
  createTenantRecords,
  createUserStore,
  createWebhookStore,
  openDatabase,
  lastEventAt,
  openEvents,
  openJournal,
  openOrderStore,
  openOwnerNotices,
  readBacklog,
  startPeerNotices,
  takingTurns,
} from '@tradeport/postgres'
import type { FairPool } from '@tradeport/postgres'
import { createWebhookReach, createWebhookSender } from '@tradeport/webhook-sender'
import type { CalculationPool } from './calculations.ts'
import type { Adapters } from './compose.ts'
import { keyType, type Config } from './config.ts'
import { loadOrCreateSecret } from './data-folder.ts'
import { demoBrokerAccounts, demoProviderToken } from './demo.ts'
import { warnOfIgnoredEvents, warnOfIgnoredHalts } from './ignored-capabilities.ts'
import { openLimiter } from './limiter.ts'
import type { RedisTimes } from './limiter.ts'
import { startOwnerNotices } from './owner-notices.ts'
import { newDeliveryId, newOrderId, newWebhookId, newWebhookSecret, secrets } from './secrets.ts'
import { readAtMostEvery } from './read-at-most-every.ts'
import { createReports } from './reports.ts'

/** The machine's clock and the defaults of each adapter, unless tests set others. */
export interface AdapterTimes {
  readonly clock?: Clock
  /** Of the provider. */
  readonly deadlines?: Partial<MetaApiDeadlines>
  /** After provider failures of an account. */
  readonly accountBackoff?: PauseLimits
  readonly redis?: RedisTimes
}

export type OpenedAdapters = Awaited<ReturnType<typeof openAdapters>>

export const openAdapters = async (
  config: Config,
  {
    log,
    clock = { now: Date.now },
    deadlines,
    accountBackoff,
    redis,
    closers,
  }: AdapterTimes & { readonly log: Logger; readonly closers: AsyncDisposableStack },
) => {
  const secretsKey =
    config.secretsKey ??
    (await loadOrCreateSecret(config.dataFolder, {
      name: 'secrets-key',
      make: () => randomBytes(32).toString('base64'),
      type: keyType,
    }))

  const database = await openDatabase(
    config.databaseUrl === null ? { folder: config.dataFolder } : { url: config.databaseUrl },
    log,
  )
  closers.defer(database.close)
  const { knex } = database
  const metrics = createMetrics()
  metrics.watchPool(database.pool)
  metrics.watchBacklog(
    readAtMostEvery(TE.toUnion(TE.mapLeft(constUndefined)(readBacklog(knex, config.watchMs))), {
      // A few seconds old, so that several readers of the metrics make one read.
      everyMs: 5_000,
      deadlineMs: 2_000,
      fallback: undefined,
    }),
  )
  const urls = await openProvider(config, clock, closers)

  const storeDependencies = {
    knex,
    cipher: createCipher(secretsKey, config.previousSecretsKeys),
    log,
    heartbeats: createHeartbeats(),
  }
  const peerNotices = startPeerNotices({ database, clock, log })
  closers.defer(peerNotices.stop)
  const users = createUserStore(knex)
  // Its worker runs from here on, before those of workers.ts.
  const ownerNotices = await startOwnerNotices({
    smtp: config.smtp,
    queue: openOwnerNotices(storeDependencies),
    users,
    onAttempt: metrics.ownerNotice,
    log,
  })
  closers.defer(ownerNotices.stop)
  let calculations: Promise<CalculationPool> | undefined
  const calculationPool = () =>
    (calculations ??= import('./calculations.ts').then(({ openCalculations }) =>
      openCalculations(),
    ))
  // Without `insights` the pool is opened when an account first has trades enough for it.
  if (config.capabilities.includes('insights')) await calculationPool()
  closers.defer(async () => (await calculations)?.close())
  const hasTradingTools = config.capabilities.includes('trading-tools')
  const hasMarketData = config.capabilities.includes('market-data')
  const events = config.capabilities.includes('events')
    ? openEvents({
        ...storeDependencies,
        peerNotices,
        schedule: config.webhookRetries,
        retentionDays: config.eventRetentionDays,
        onDisabled: ({ id, owner }) => {
          metrics.webhookDisabled()
          log.warn(
            { event: 'webhook_disabled', webhookId: id, owner },
            'a webhook was disabled, because five attempts in a row failed',
          )
        },
      })
    : undefined
  const ignoredHalts = hasTradingTools ? TE.right(0) : countHaltedAccounts(knex)
  if (!hasTradingTools) closers.defer(await warnOfIgnoredHalts(ignoredHalts, log))
  if (events === undefined) closers.defer(await warnOfIgnoredEvents(lastEventAt(knex), log))
  const slowTurns = createFairPool(readConcurrency.candlesAndDeliveries)
  const stopwatch = { elapsedMs: () => performance.now() }
  const orders = openOrderStore({
    ...storeDependencies,
    stopwatch,
    recorder: events?.recorder,
    obeysHalts: hasTradingTools,
  })
  const journal = openJournal({
    ...storeDependencies,
    recorder: events?.recorder,
    watchMs: config.watchMs,
  })
  const limits = await openLimiter({
    redisUrl: config.redisUrl,
    redisTimes: redis,
    ownerNotices,
    suspensionBegan: metrics.suspensionBegan,
    log,
  })
  closers.defer(limits.close)
  metrics.watchLimiter(limits)

  const sealedSecrets = createSealedSecrets(storeDependencies)
  await reportUnreadableSecrets(sealedSecrets.counts, log)
  const providerTokens = createProviderTokens(storeDependencies)
  const providerConfig: MetaApiConfig = {
    provisioningUrl: urls.provisioning,
    clientUrl: urls.client,
    marketDataUrl: urls.marketData,
    providerToken: providerTokens.find,
    clock,
    deadlines,
    pauses: accountBackoff,
  }
  const provider = createMetaApi(providerConfig)
  metrics.watchProviderClock(provider.clockSkewMs)
  const webhookReach = createWebhookReach(config.webhookNetworks, config.isDemo)
  const webhookSender = createWebhookSender({
    reach: webhookReach,
    onUnanswered: (delivery) =>
      log.info({ event: 'webhook_unanswered', ...delivery }, 'a webhook did not answer'),
  })
  const { tokenIssuer } = config
  // Packages that only some configurations need are loaded only where they are used.
  const tokens =
    tokenIssuer === null
      ? undefined
      : (await import('@tradeport/access-tokens')).createTokenVerifier({
          ...tokenIssuer,
          clock,
          log,
        })
  const adapters: Adapters = {
    accounts: createAccountStore(knex),
    credentials: createCredentialStore(knex),
    addressLimits: meteredAddressLimits(createAddressLimits(), metrics.decisions),
    tokens,
    operator: createOperatorStore(storeDependencies),
    records: createTenantRecords(knex),
    users,
    operatorOrders: createOperatorOrders(knex),
    sealedSecrets,
    health: {
      databaseNow: database.now,
      tryWrite: database.tryWrite,
      isMigrated: database.isMigrated,
      durability: database.durability,
      disagreeingJournals: readDisagreeingJournals(knex),
      ignoredHalts,
      uncheckedThresholds: readUncheckedThresholds(knex, config.watchMs),
      limiterStanding: limits.check,
      readIssuerKeys: tokens?.readKeys,
      noticesConfirmedAt: peerNotices.confirmedAt,
      sendsRealOrders: config.broker === 'metaapi',
      probeProvider: createProviderProbe(providerConfig),
    },
    providerAccounts: provider.providerAccounts,
    providerTokens,
    orders: orders.store,
    idempotency: createIdempotencyStore(storeDependencies),
    slots: {
      forSend: slotsOf(createFairPool(sendSlots)),
      forLookup: slotsOf(createFairPool(lookupSlots)),
    },
    orderLimits: createLimitStore(knex),
    changeLocks: createChangeLocks(storeDependencies),
    broker: { ...meteredProvider(provider.broker, metrics.providerCalls), source: config.broker },
    trading: meteredProvider(provider.trading, metrics.providerCalls),
    candles: takingTurns(slowTurns, createCandleStore(knex), ({ account }) => account.owner),
    marketDataFeeds: hasMarketData ? createMarketDataFeeds(knex) : noMarketDataFeed,
    marketData: meteredProvider(provider.marketData, metrics.providerCalls),
    positionTrading: meteredProvider(provider.positionTrading, metrics.providerCalls),
    peerNotices,
    secrets,
    orderIds: { newOrderId },
    webhooks: createWebhookStore(storeDependencies),
    webhookIds: { newWebhookId, newDeliveryId, newWebhookSecret },
    webhookSender: meteredWebhookSender(webhookSender, metrics.deliveries),
    webhookDeliveries:
      events === undefined ? noDeliveries : takingTurns(slowTurns, events.deliveries, identity),
    eventLog: events?.log ?? createEventLog(knex),
    halts: hasTradingTools ? createHalts(knex) : noHalts,
    riskThresholds: createRiskThresholds({ ...storeDependencies, recorder: events?.recorder }),
    journal: journal.journal,
    trades: takingTurns(createFairPool(readConcurrency.trades), journal.trades, identity),
    watch: journal.watch,
    calculate:
      (owner, name, ...inputs) =>
      async () =>
        (await calculationPool()).calculate(owner, name, ...inputs)(),
    maxDeals: config.capabilities.includes('long-histories') ? Infinity : maxHistoryDeals,
    recordsEvents: events !== undefined,
    hasMarketData,
    capabilities: config.capabilities,
    ...createReports(log),
    clock,
    countersOf: metrics.cacheCounters,
    yieldToEventLoop: () => setImmediate(),
    pause: (ms) => () => setTimeout(ms),
    stopwatch,
  }
  return {
    adapters,
    database,
    heartbeats: storeDependencies.heartbeats,
    orders,
    events,
    journal,
    limits,
    metrics,
    webhookReach,
  }
}

/** Without the capability `market-data` nothing has a price. */
const noMarketDataFeed: MarketDataFeeds = {
  find: TE.left(refuse('NotImplemented', { feature: 'market-data' })),
}

/** Without the capability `trading-tools` no account is halted. */
const noHalts: Halts = {
  find: () => TE.right(O.none),
  haltCancelsOrders: () => TE.right(false),
  halt: () => TE.right(O.none),
  lift: () => TE.right(O.none),
}

/** Nothing else says so before the first secret is needed: another instance may have the right key. */
const reportUnreadableSecrets = async (
  readCounts: SealedSecrets['counts'],
  log: Logger,
): Promise<void> => {
  const counts = await readCounts()
  if (E.isRight(counts) && counts.right.unknown > 0)
    log.error(
      { event: 'secrets_unreadable', count: counts.right.unknown },
      'stored secrets are encrypted with a key that this instance does not have: look at SECRETS_KEY and SECRETS_KEY_PREVIOUS',
    )
}

/** A quarter of each pool for one tenant. */
const sendSlots = { size: 64, perTenant: 16, perMember: 2 }
const lookupSlots = { size: 32, perTenant: 8, perMember: 1 }

/**
 * How many long reads of the database, and recoveries of missed events, run at once: in all, of a
 * tenant and of a user. The pool has ten connections.
 */
const readConcurrency = {
  trades: { size: 5, perTenant: 4, perMember: 2 },
  candlesAndDeliveries: { size: 2, perTenant: 2, perMember: 1 },
}

const slotsOf =
  (pool: FairPool): AcquireSlot =>
  ({ owner, providerAccountId }, timeoutMs) =>
  () =>
    pool.acquire({ tenant: owner.tenantId, member: providerAccountId }, timeoutMs)

/** The provider's hosts, or a simulated provider that is started with the service. */
const openProvider = async (
  { broker, providerUrls, dataFolder }: Config,
  clock: Clock,
  closers: AsyncDisposableStack,
): Promise<Config['providerUrls']> => {
  if (broker === 'metaapi') return providerUrls
  const { startSandbox } = await import('@tradeport/sandbox-broker')
  const { url, close } = await startSandbox({
    tokens: [demoProviderToken],
    accounts: demoBrokerAccounts,
    stateFile: join(dataFolder, 'sandbox-broker.json'),
    now: clock.now,
  })
  closers.defer(close)
  return { provisioning: url, client: url, marketData: url }
}
