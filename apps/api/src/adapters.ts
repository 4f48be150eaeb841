// Opens what stands behind the ports: the database with its stores and queues, the provider, the
// limiter, mail and webhooks, each with its meters.
import { randomBytes } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import { createMetaApi, createProviderProbe } from '@tradeport/broker-metaapi'
import type { MetaApiConfig, MetaApiDeadlines, PauseLimits } from '@tradeport/broker-metaapi'
import { maxHistoryDeals } from '@tradeport/domain/ports'
import { noDeliveries } from '@tradeport/domain/use-cases'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { AcquireSlot, Clock, TokenVerifier } from '@tradeport/domain/ports'
import { createAddressLimits } from '@tradeport/memory'
import {
  createMetrics,
  meteredAddressLimits,
  meteredBroker,
  meteredPositionDesk,
  meteredTrading,
  meteredWebhookSender,
} from '@tradeport/metrics'
import {
  createAccountStore,
  createCipher,
  createCredentialStore,
  createFairPool,
  createGuardStore,
  createIdempotencyStore,
  createJournalHealth,
  createOperatorOrders,
  createOperatorStore,
  createPositionLocks,
  createProviderTokens,
  createSealedSecrets,
  createTenantRecords,
  createUserStore,
  createWebhookStore,
  openDatabase,
  openEvents,
  openJournal,
  openOrders,
  openOwnerNotices,
  readBacklog,
  startJobs,
  startPeerNotices,
} from '@tradeport/postgres'
import type { FairPool } from '@tradeport/postgres'
import { createWebhookReach, createWebhookSender } from '@tradeport/webhook-sender'
import type { Closers } from './closers.ts'
import type { Adapters } from './compose.ts'
import type { Config, TokenIssuer } from './config.ts'
import { keepSecret } from './data-folder.ts'
import { keepDemoState } from './demo.ts'
import { openLimiter } from './limiter.ts'
import type { RedisTimes } from './limiter.ts'
import { startOwnerNotices } from './owner-notices.ts'
import { openProvider } from './provider.ts'
import { keyForm } from './secret-forms.ts'
import {
  createSecrets,
  newDeliveryId,
  newOrderId,
  newWebhookId,
  newWebhookSecret,
} from './secrets.ts'
import { throttled } from './throttled.ts'

/** What the service takes for now, and how long others may take. */
export interface AdapterTimes {
  readonly clock: Clock
  /** Of the provider. */
  readonly deadlines: Partial<MetaApiDeadlines>
  /** After failures of an account at the provider; the usual ones where undefined. */
  readonly pauses: PauseLimits | undefined
  readonly redis: RedisTimes
}

export type OpenedAdapters = Awaited<ReturnType<typeof openAdapters>>

interface Parts extends AdapterTimes {
  readonly log: Logger
  readonly closers: Closers
}

export const openAdapters = async (
  config: Config,
  { log, clock, deadlines, pauses, redis, closers }: Parts,
) => {
  const secrets = createSecrets()
  const secretsKey =
    config.secretsKey ??
    (await keepSecret(config.dataFolder, {
      name: 'secrets-key',
      make: () => randomBytes(32).toString('base64'),
      form: keyForm,
    }))

  const database = await openDatabase(
    config.database.kind === 'server'
      ? { url: config.database.url }
      : { folder: config.dataFolder },
    log,
  )
  closers.push(database.close)
  const metrics = createMetrics()
  metrics.watchPool(database.pool)
  metrics.watchBacklog(
    throttled(
      async () => E.getOrElseW(() => undefined)(await readBacklog(database.knex)()),
      backlogThrottle,
    ),
  )
  // Nothing is configured: the embedded database and the sandbox.
  const isDemo = config.database.kind === 'embedded' && config.broker.kind === 'sandbox'
  const demo = isDemo
    ? await keepDemoState(config.dataFolder, clock.now(), secrets.newApiKey)
    : null
  const urls = await openProvider(config, demo, closers)

  const stores = {
    knex: database.knex,
    cipher: createCipher(secretsKey, config.previousSecretsKeys),
    log,
  }
  const peerNotices = startPeerNotices({ database, clock, log })
  closers.push(peerNotices.stop)
  const jobs = await startJobs(stores)
  closers.push(jobs.stop)
  const noticeQueue = await openOwnerNotices(jobs)
  const notices = await startOwnerNotices({
    mail: config.mail,
    queue: noticeQueue,
    users: createUserStore(stores),
    onAttempt: metrics.ownerNotice,
    log,
  })
  closers.push(notices.stop)
  const events = config.capabilities.includes('events')
    ? openEvents(
        { jobs, cipher: stores.cipher, notices: noticeQueue, clock },
        { schedule: config.webhookRetries },
      )
    : undefined
  const stopwatch = { elapsedMs: () => performance.now() }
  const orders = openOrders({ jobs, cipher: stores.cipher, stopwatch, events: events?.recorder })
  const journal = openJournal({ ...jobs, recorder: events?.recorder })
  const limits = await openLimiter({
    redisUrl: config.redisUrl,
    redisTimes: redis,
    notices,
    suspensionBegan: metrics.suspensionBegan,
    log,
  })
  closers.push(limits.close)
  metrics.watchLimiter(() => ({ status: limits.status(), aloneMs: limits.aloneMs() }))

  const providerTokens = createProviderTokens(stores)
  const providerConfig: MetaApiConfig = {
    provisioningUrl: urls.provisioning,
    clientUrl: urls.client,
    providerToken: providerTokens.find,
    clock,
    deadlines,
    pauses,
  }
  const provider = createMetaApi(providerConfig)
  metrics.watchProviderClock(provider.clockSkewMs)
  const webhookReach = createWebhookReach(config.webhookNetworks)
  const webhookSender = createWebhookSender({
    reach: webhookReach,
    onUnanswered: (delivery) =>
      log.info({ event: 'webhook_unanswered', ...delivery }, 'a webhook did not answer'),
  })
  const adapters: Adapters = {
    accounts: createAccountStore(stores),
    credentials: createCredentialStore(stores),
    addressLimits: meteredAddressLimits(createAddressLimits(), metrics.decisions),
    tokens: await openTokenVerifier(config.tokenIssuer, { clock, log }),
    operator: createOperatorStore(stores),
    records: createTenantRecords(stores),
    operatorOrders: createOperatorOrders(stores),
    sealedSecrets: createSealedSecrets(stores),
    database,
    brokerHealth: { sendsRealOrders: config.broker.kind === 'metaapi' },
    limiterHealth: { standing: limits.check },
    providerProbe: createProviderProbe(providerConfig),
    providerTokens,
    orders: orders.store,
    idempotency: createIdempotencyStore(stores),
    slots: { forSend: slotsOf(createFairPool(sends)), forLookup: slotsOf(createFairPool(lookups)) },
    guards: createGuardStore(stores),
    positionLocks: createPositionLocks(stores),
    broker: {
      ...meteredBroker(provider.broker, metrics.providerCalls),
      source: config.broker.kind,
    },
    trading: meteredTrading(provider.trading, metrics.providerCalls),
    positionDesk: meteredPositionDesk(provider.positionDesk, metrics.providerCalls),
    peerNotices,
    secrets,
    orderIds: { newOrderId },
    webhooks: createWebhookStore(stores),
    webhookIds: { newWebhookId, newDeliveryId, newWebhookSecret },
    webhookReach,
    webhookSender: meteredWebhookSender(webhookSender, metrics.deliveries),
    webhookDeliveries: events?.deliveries ?? noDeliveries,
    journal: journal.journal,
    journalHealth: createJournalHealth(database.knex),
    trades: journal.records,
    maxDeals: maxHistoryDeals,
    recordsEvents: events !== undefined,
    onDisagreement: (account, difference) => reportDisagreement(log, account, difference),
    clock,
    tallies: metrics.cache,
    breathe: () => setImmediate(),
    pause: (ms) => () => setTimeout(ms),
    stopwatch,
  }
  // `events` is undefined where none are recorded, `demo` null when the service is no demo.
  return { adapters, database, jobs, orders, events, journal, limits, metrics, demo }
}

/** A quarter of each pool for one tenant. */
const sends = { size: 64, perTenant: 16, perAccount: 2 }
const lookups = { size: 32, perTenant: 8, perAccount: 1 }

const slotsOf =
  (pool: FairPool): AcquireSlot =>
  ({ owner, providerAccountId }, patienceMs) =>
  () =>
    pool.acquire({ tenant: owner.tenantId, account: providerAccountId }, patienceMs)

// Loaded only where it is used: most services go without what some configurations ask for.
const openTokenVerifier = async (
  issuer: TokenIssuer | null,
  parts: { readonly clock: Clock; readonly log: Logger },
): Promise<TokenVerifier | undefined> => {
  if (issuer === null) return undefined
  const { createTokenVerifier } = await import('@tradeport/access-tokens')
  return createTokenVerifier({ ...issuer, ...parts })
}

/** The backlog may be a few seconds old, so that several readers of the metrics make one read. */
const backlogThrottle = { everyMs: 5_000, deadlineMs: 2_000, fallback: undefined }

const reportDisagreement = (
  log: Logger,
  { accountId, owner }: BrokerAccount,
  difference: number,
): void =>
  log.warn(
    { event: 'journal_disagrees', accountId, owner, difference },
    'the deals of an account do not add up to its balance, or deals that were kept are not at the broker; its whole history is read again',
  )
