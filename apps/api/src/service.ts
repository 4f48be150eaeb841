// Starts everything that the configuration asks for and ends it in reverse order.
import { join } from 'node:path'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Logger } from 'pino'
import { createMetaApi, createProviderProbe } from '@tradeport/broker-metaapi'
import type { MetaApiConfig, MetaApiDeadlines } from '@tradeport/broker-metaapi'
import { withoutEvents } from '@tradeport/domain'
import type { Clock, InternalTimeout, ServiceUnavailable, TokenVerifier } from '@tradeport/domain'
import { apiPrefix, assetRoutes, createApi, createOperatorApi, listen, metricsRoute, probeRoutes } from '@tradeport/http'
import type { Edge } from '@tradeport/http'
import { createMetrics, meteredBroker, meteredLimiter, meteredPositionDesk, meteredTrading, meteredWebhookSender } from '@tradeport/metrics'
import {
  createAccountStore,
  createCipher,
  createCredentialStore,
  createGuardStore,
  createOperatorStore,
  createOrderStore,
  createPositionLocks,
  createProviderTokens,
  createSealedSecrets,
  createTenantRecords,
  createUserStore,
  createWebhookStore,
  openDatabase,
  openEvents,
  openOwnerNotices,
  openPlacementJobs,
  readBacklog,
  startJobs,
  startPeerNotices,
} from '@tradeport/postgres'
import { createReferencePage } from '@tradeport/reference-page'
import { createWebhookReach, createWebhookSender } from '@tradeport/webhook-sender'
import type { UnansweredDelivery } from '@tradeport/webhook-sender'
import type { Config, Listener, ProviderUrls, TokenIssuer } from './config.ts'
import { composeUseCases } from './compose.ts'
import { keepSecret, openDataFolder } from './data-folder.ts'
import { demoBrokerAccounts, demoDocument, demoProviderToken, demoWelcome, keepDemoState, markDemoApplied } from './demo.ts'
import type { DemoState } from './demo.ts'
import { heldBack } from './held-back.ts'
import { openLimiter } from './limiter.ts'
import type { RedisTimes } from './limiter.ts'
import { startOwnerNotices } from './owner-notices.ts'
import { createReadiness } from './readiness.ts'
import { createSecrets, newDeliveryId, newOrderId, newSecret, newWebhookId, newWebhookSecret } from './secrets.ts'

export interface Service {
  readonly apiUrl: string
  readonly operatorUrl: string
  /** What a newcomer is shown; null when the service is no demo. */
  readonly welcome: string | null
  /** Says that it takes no more, waits as long as is configured, takes no new connection, lets what is under way end, and closes the database. */
  readonly close: () => Promise<void>
}

/** What the service takes for now, the machine's clock when left out, and how long others may take where it is not as long as usual. */
export interface ServiceTimes {
  readonly clock?: Clock
  /** Of the provider. */
  readonly deadlines?: Partial<MetaApiDeadlines>
  readonly redis?: RedisTimes
}

/** @throws when something that the service cannot do without is not to be had; the message is for the operator and holds no secret */
export const startService = async (
  config: Config,
  log: Logger,
  { clock = { now: Date.now }, deadlines = {}, redis = {} }: ServiceTimes = {},
): Promise<Service> => {
  const closers: (() => Promise<void>)[] = []
  try {
    return await start(config, { log, clock, deadlines, redis }, closers)
  } catch (error) {
    await closeInReverse(closers)
    throw error
  }
}

const start = async (
  config: Config,
  { log, clock, deadlines, redis }: Required<ServiceTimes> & { readonly log: Logger },
  closers: (() => Promise<void>)[],
): Promise<Service> => {
  const secrets = createSecrets()
  await openDataFolder(config.dataFolder)
  const operatorToken = config.operatorToken ?? (await keepSecret(config.dataFolder, 'operator-token', newSecret))
  const secretsKey = config.secretsKey ?? Buffer.from(await keepSecret(config.dataFolder, 'secrets-key', newSecretsKey), 'base64')

  const database = await openDatabase(databaseOptions(config), log)
  closers.push(database.close)
  const metrics = createMetrics()
  metrics.watchPool(database.pool)
  metrics.watchBacklog(heldBack(async () => E.getOrElseW(() => undefined)(await readBacklog(database.knex)()), backlogTimes))
  const demo = isDemo(config) ? await keepDemoState(config.dataFolder, clock.now(), secrets.newApiKey) : null
  const urls = await providerUrls(config, demo, closers)

  const stores = { knex: database.knex, cipher: createCipher(secretsKey, config.previousSecretsKeys), log }
  const peerNotices = startPeerNotices({ database, clock, log })
  closers.push(peerNotices.stop)
  const jobs = await startJobs(stores)
  closers.push(jobs.stop)
  const placements = await openPlacementJobs(jobs)
  const queue = await openOwnerNotices(jobs)
  const notices = await startOwnerNotices({
    mail: config.mail,
    queue,
    users: createUserStore(stores),
    onAttempt: metrics.ownerNotice,
    log,
  })
  closers.push(notices.stop)
  const events = config.capabilities.includes('events')
    ? await openEvents({ jobs, cipher: stores.cipher, notices: queue, clock }, { schedule: config.webhookRetries })
    : undefined
  const providerTokens = createProviderTokens(stores)
  const webhookReach = createWebhookReach(config.webhookNetworks)
  const onUnanswered = (delivery: UnansweredDelivery): void =>
    log.info({ event: 'webhook_unanswered', ...delivery }, 'a webhook did not answer')
  const limits = await openLimiter({
    redisUrl: config.redisUrl,
    redisTimes: redis,
    notices,
    suspensionBegan: metrics.suspensionBegan,
    log,
  })
  closers.push(limits.close)
  metrics.watchLimiter(() => ({ status: limits.status(), aloneMs: limits.aloneMs() }))
  const providerConfig: MetaApiConfig = {
    provisioningUrl: urls.provisioning,
    clientUrl: urls.client,
    providerToken: providerTokens.find,
    clock,
    deadlines,
  }
  const provider = createMetaApi(providerConfig)
  const composed = composeUseCases({
    accounts: createAccountStore(stores),
    credentials: createCredentialStore(stores),
    tokens: await openTokenVerifier(config.tokenIssuer, { clock, log }),
    operator: createOperatorStore(stores),
    records: createTenantRecords(stores),
    sealedSecrets: createSealedSecrets(stores),
    database,
    limiterHealth: { standing: limits.status },
    providerProbe: createProviderProbe(providerConfig),
    providerTokens,
    orders: createOrderStore({ knex: database.knex, queue: placements.queue, events: events?.recorder }),
    guards: createGuardStore(stores),
    positionLocks: createPositionLocks(stores),
    broker: meteredBroker(provider.broker, metrics.providerCalls),
    trading: meteredTrading(provider.trading, metrics.providerCalls),
    positionDesk: meteredPositionDesk(provider.positionDesk, metrics.providerCalls),
    peerNotices,
    secrets,
    orderIds: { newOrderId },
    webhooks: createWebhookStore(stores),
    webhookIds: { newWebhookId, newDeliveryId, newWebhookSecret },
    webhookReach,
    webhookSender: meteredWebhookSender(createWebhookSender({ reach: webhookReach, onUnanswered }), metrics.deliveries),
    ...(events === undefined ? withoutEvents : { closeRecords: events.closes.records, webhookDeliveries: events.deliveries }),
    clock,
    tallies: metrics.cache,
    breathe,
    pause: (ms) => () => setTimeout(ms),
  })
  const { useCases, operatorUseCases } = composed
  const worker = await placements.work((job) => settledOrFail(composed.settleOrder(job)))
  closers.push(worker.stop)
  const deliveries = await events?.jobs.work((due) => composed.deliverEvent(due)())
  if (deliveries !== undefined) closers.push(deliveries.stop)
  const closes = await events?.closes.jobs.work((job) => settledOrFail(composed.settleClose(job)))
  if (closes !== undefined) closers.push(closes.stop)

  if (demo !== null && !demo.isApplied) {
    const applied = await operatorUseCases.applyOperatorDocument(demoDocument(demo))()
    if (applied._tag === 'Left') throw new Error(`the demo's records cannot be written: ${JSON.stringify(applied.left)}`)
    await markDemoApplied(config.dataFolder, demo)
  }

  let isDraining = false
  const readiness = createReadiness({
    checks: {
      database: async () => E.isRight(await database.ping()),
      migrations: async () => isNotFalse(await database.isMigrated()),
      jobs: async () => jobs.pulse.silentFor(silentQueueMs).length === 0,
    },
    limiter: limits.status,
    isDraining: () => isDraining,
  })
  const probes = probeRoutes(readiness)
  const measured = metricsRoute(metrics, config.metricsToken)
  const edge: Edge = {
    clock,
    breathe,
    log,
    newRequestId,
    isDraining: () => isDraining,
    meter: metrics.requests,
    onAnswered: log.isLevelEnabled('debug')
      ? (answered) => log.debug({ event: 'request', ...answered }, 'a request was answered')
      : undefined,
    // What the service does is for its operator: only with a token of its own are the metrics to be had where everybody may ask.
    plainRoutes: config.metricsToken === null ? probes : { ...probes, ...measured },
  }
  const operatorEdge = { ...edge, operatorToken, plainRoutes: { ...probes, ...measured } }
  const listening = { newRequestId, onUnread: metrics.unread }
  const operatorServer = await listen(createOperatorApi(operatorUseCases, operatorEdge), config.operator, listening)
  closers.push(() => closeServer(operatorServer))
  const apiServer = await listen(
    createApi(useCases, {
      ...edge,
      plainRoutes: { ...edge.plainRoutes, ...assetRoutes(referencePage) },
      limiter: meteredLimiter(limits.limiter, metrics.decisions),
      trustedProxies: config.trustedProxies,
    }),
    config.api,
    listening,
  )
  closers.push(() => closeServer(apiServer))
  const listeners = { api: urlOf(config.api, apiServer), operator: urlOf(config.operator, operatorServer) }
  return {
    apiUrl: listeners.api,
    operatorUrl: listeners.operator,
    welcome: demo === null ? null : demoWelcome(listeners, demo.key),
    close: async () => {
      isDraining = true
      if (config.drainDelayMs > 0) await setTimeout(config.drainDelayMs)
      await closeInReverse(closers)
    },
  }
}

/** Nothing configured: the embedded database and the sandbox. */
const isDemo = ({ database, broker }: Config): boolean => database.kind === 'embedded' && broker.kind === 'sandbox'

const databaseOptions = ({ database, dataFolder }: Config): Parameters<typeof openDatabase>[0] =>
  database.kind === 'server' ? { url: database.url } : { folder: dataFolder }

const providerUrls = async (
  { broker, dataFolder }: Config,
  demo: DemoState | null,
  closers: (() => Promise<void>)[],
): Promise<ProviderUrls> => {
  if (broker.kind === 'metaapi') return broker.urls
  const { startSandbox } = await import('@tradeport/sandbox-broker')
  const sandbox = await startSandbox({
    tokens: [demoProviderToken],
    accounts: demoBrokerAccounts,
    stateFile: join(dataFolder, 'sandbox-broker.json'),
    ...(demo === null ? {} : { anchor: demo.anchor }),
  })
  closers.push(sandbox.close)
  return { provisioning: sandbox.url, client: sandbox.url }
}

// Loaded only where it is used: most services go without what some configurations ask for.
const openTokenVerifier = async (
  issuer: TokenIssuer | null,
  parts: { readonly clock: Clock; readonly log: Logger },
): Promise<TokenVerifier | undefined> => {
  if (issuer === null) return undefined
  const { createTokenVerifier } = await import('@tradeport/access-tokens')
  return createTokenVerifier({ ...issuer, ...parts })
}

// A job that fails is handed out again; what the order or the close needs next is in the database, not in the failure.
const settledOrFail = async (settling: TaskEither<ServiceUnavailable | InternalTimeout, void>): Promise<void> => {
  const settled = await settling()
  if (settled._tag === 'Left')
    throw new Error(settled.left._tag === 'ServiceUnavailable' ? settled.left.reason : 'the position is being changed')
}

// Where it cannot be told, another check has failed.
const isNotFalse = (told: E.Either<unknown, boolean>): boolean => E.isLeft(told) || told.right

/** What waits is told as it was a few seconds ago, so that several who ask for metrics make one read. */
const backlogTimes = { everyMs: 5_000, deadlineMs: 2_000, otherwise: undefined }

/** A queue is looked at every second or two. */
const silentQueueMs = 15_000

const referencePage = createReferencePage({ path: '/docs', documentPath: `${apiPrefix}/openapi.json`, title: 'Tradeport API' })

const newSecretsKey = (): string => randomBytes(32).toString('base64')

const newRequestId = (): string => `req_${randomUUID()}`

const breathe = async (): Promise<void> => {
  await setImmediate()
}

const urlOf = ({ host }: Listener, server: Server): string => {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

const sweepMs = 50

// Requests under way end first. Connections that wait for a next request are hung up: those that wait now, and the others as they come to it.
const closeServer = async (server: Server): Promise<void> => {
  const closed = promisify(server.close.bind(server))()
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMs)
  await closed.finally(() => clearInterval(sweep))
}

const closeInReverse = async (closers: (() => Promise<void>)[]): Promise<void> => {
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer()
}
