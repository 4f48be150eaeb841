// Starts everything that the configuration asks for and ends it in reverse order.
import { join } from 'node:path'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { createTokenVerifier } from '@tradeport/access-tokens'
import { createMetaApi } from '@tradeport/broker-metaapi'
import type { MetaApiDeadlines } from '@tradeport/broker-metaapi'
import { retrySchedule, withoutEvents } from '@tradeport/domain'
import type { Clock, PlacementJob, RetrySchedule } from '@tradeport/domain'
import { createApi, createOperatorApi, listen } from '@tradeport/http'
import type { Edge } from '@tradeport/http'
import {
  createAccountStore,
  createCipher,
  createCredentialStore,
  createGuardStore,
  createOperatorStore,
  createOrderStore,
  createPositionLocks,
  createProviderTokens,
  createUserStore,
  createWebhookStore,
  openDatabase,
  openEvents,
  openOwnerNotices,
  openPlacementJobs,
  startJobs,
  startPeerNotices,
} from '@tradeport/postgres'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { createWebhookReach, createWebhookSender } from '@tradeport/webhook-sender'
import type { UnansweredDelivery } from '@tradeport/webhook-sender'
import type { Config, Listener, ProviderUrls } from './config.ts'
import { composeUseCases } from './compose.ts'
import type { ComposedService } from './compose.ts'
import { keepSecret, openDataFolder } from './data-folder.ts'
import { demoBrokerAccounts, demoDocument, demoProviderToken, demoWelcome, keepDemoState, markDemoApplied } from './demo.ts'
import type { DemoState } from './demo.ts'
import { openLimiter } from './limiter.ts'
import type { RedisTimes } from './limiter.ts'
import { startOwnerNotices } from './owner-notices.ts'
import { createSecrets, newDeliveryId, newOrderId, newSecret, newWebhookId, newWebhookSecret } from './secrets.ts'

export interface Service {
  readonly apiUrl: string
  readonly operatorUrl: string
  /** What a newcomer is shown; null when the service is no demo. */
  readonly welcome: string | null
  /** Takes no new request, lets those under way end, and closes the database. */
  readonly close: () => Promise<void>
}

/** What the service takes for now, the machine's clock when left out, and how long others may take where it is not as long as usual. */
export interface ServiceTimes {
  readonly clock?: Clock
  /** Of the provider. */
  readonly deadlines?: Partial<MetaApiDeadlines>
  /** The pauses between the attempts of a delivery. */
  readonly retries?: RetrySchedule
  readonly redis?: RedisTimes
}

/** @throws when something that the service cannot do without is not to be had; the message is for the operator and holds no secret */
export const startService = async (
  config: Config,
  log: Logger,
  { clock = { now: Date.now }, deadlines = {}, retries = retrySchedule, redis = {} }: ServiceTimes = {},
): Promise<Service> => {
  const closers: (() => Promise<void>)[] = []
  const close = closeInReverse(closers)
  try {
    return await start(config, { log, clock, deadlines, retries, redis }, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

const start = async (
  config: Config,
  { log, clock, deadlines, retries, redis }: Required<ServiceTimes> & { readonly log: Logger },
  closers: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Service> => {
  const secrets = createSecrets()
  await openDataFolder(config.dataFolder)
  const operatorToken = config.operatorToken ?? (await keepSecret(config.dataFolder, 'operator-token', newSecret))
  const secretsKey = config.secretsKey ?? Buffer.from(await keepSecret(config.dataFolder, 'secrets-key', newSecretsKey), 'base64')

  const database = await openDatabase(databaseOptions(config), log)
  closers.push(database.close)
  const demo = isDemo(config) ? await keepDemoState(config.dataFolder, clock.now(), secrets.newApiKey) : null
  const urls = await providerUrls(config, demo, closers)

  const stores = { knex: database.knex, cipher: createCipher(secretsKey), log }
  const peerNotices = startPeerNotices({ database, clock, log })
  closers.push(peerNotices.stop)
  const jobs = await startJobs(stores)
  closers.push(jobs.stop)
  const placements = await openPlacementJobs(jobs)
  const queue = await openOwnerNotices(jobs)
  const notices = await startOwnerNotices({ mail: config.mail, queue, users: createUserStore(stores), log })
  closers.push(notices.stop)
  const events = config.capabilities.includes('events')
    ? await openEvents({ jobs, cipher: stores.cipher, notices: queue, clock }, { schedule: retries })
    : undefined
  const providerTokens = createProviderTokens(stores)
  const webhookReach = createWebhookReach(config.webhookNetworks)
  const onUnanswered = (delivery: UnansweredDelivery): void =>
    log.info({ event: 'webhook_unanswered', ...delivery }, 'a webhook did not answer')
  const composed = composeUseCases({
    accounts: createAccountStore(stores),
    credentials: createCredentialStore(stores),
    tokens: config.tokenIssuer === null ? undefined : createTokenVerifier({ ...config.tokenIssuer, clock, log }),
    operator: createOperatorStore(stores),
    providerTokens,
    orders: createOrderStore({ knex: database.knex, queue: placements.queue, events: events?.recorder }),
    guards: createGuardStore(stores),
    positionLocks: createPositionLocks(stores),
    ...createMetaApi({ provisioningUrl: urls.provisioning, clientUrl: urls.client, providerToken: providerTokens.find, clock, deadlines }),
    peerNotices,
    secrets,
    orderIds: { newOrderId },
    webhooks: createWebhookStore(stores),
    webhookIds: { newWebhookId, newDeliveryId, newWebhookSecret },
    webhookReach,
    webhookSender: createWebhookSender({ reach: webhookReach, onUnanswered }),
    ...(events === undefined ? withoutEvents : { eventLog: events.log, webhookDeliveries: events.deliveries }),
    clock,
    breathe,
    pause: (ms) => () => setTimeout(ms),
  })
  const { useCases, operatorUseCases } = composed
  const worker = await placements.work((job) => settleOrFail(composed, job))
  closers.push(worker.stop)
  const deliveries = await events?.jobs.work((due) => composed.deliverEvent(due)())
  if (deliveries !== undefined) closers.push(deliveries.stop)

  if (demo !== null && !demo.isApplied) {
    const applied = await operatorUseCases.applyOperatorDocument(demoDocument(demo))()
    if (applied._tag === 'Left') throw new Error(`the demo's records cannot be written: ${JSON.stringify(applied.left)}`)
    await markDemoApplied(config.dataFolder, demo)
  }

  const edge: Edge = { clock, breathe, log, newRequestId }
  const operatorServer = await listen(createOperatorApi(operatorUseCases, { ...edge, operatorToken }), config.operator, edge)
  closers.push(() => closeServer(operatorServer))
  const limits = await openLimiter({ redisUrl: config.redisUrl, redisTimes: redis, notices, log })
  closers.push(limits.close)
  const apiServer = await listen(
    createApi(useCases, { ...edge, limiter: limits.limiter, trustedProxies: config.trustedProxies }),
    config.api,
    edge,
  )
  closers.push(() => closeServer(apiServer))
  const listeners = { api: urlOf(config.api, apiServer), operator: urlOf(config.operator, operatorServer) }
  return {
    apiUrl: listeners.api,
    operatorUrl: listeners.operator,
    welcome: demo === null ? null : demoWelcome(listeners, demo.key),
    close,
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
  const sandbox: Sandbox = await startSandbox({
    tokens: [demoProviderToken],
    accounts: demoBrokerAccounts,
    stateFile: join(dataFolder, 'sandbox-broker.json'),
    ...(demo === null ? {} : { anchor: demo.anchor }),
  })
  closers.push(sandbox.close)
  return { provisioning: sandbox.url, client: sandbox.url }
}

// A job that fails is handed out again; what the order needs next is in the database, not in the failure.
const settleOrFail = async ({ settleOrder }: ComposedService, job: PlacementJob): Promise<void> => {
  const settled = await settleOrder(job)()
  if (settled._tag === 'Left') throw new Error(settled.left.reason)
}

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

const closeInReverse =
  (closers: (() => Promise<void>)[]): (() => Promise<void>) =>
  async () => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer()
  }
