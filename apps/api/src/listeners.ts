// The two listeners: the API for users and the operator API, with probes, metrics and the reference
// page.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import {
  createApi,
  createOperatorApi,
  filePages,
  indexPage,
  listen,
  metricsPage,
  probePages,
  type Address,
  type FilePage,
  type ServerDependencies,
  type Listener,
  type Pages,
  type Readiness,
} from '@tradeport/http'
import { createConsole } from '@tradeport/console'
import { meteredLimiter } from '@tradeport/metrics'
import { referencePage } from './reference-page.ts'
import type { OpenedAdapters } from './adapters.ts'
import type { ComposedService } from './compose.ts'
import type { Config } from './config.ts'
import { readAtMostEvery } from './read-at-most-every.ts'

interface ListenerDependencies {
  readonly opened: OpenedAdapters
  readonly operatorToken: string
  readonly isDraining: () => boolean
  /** On the API's listener, in addition to those that every service has. */
  readonly demoPages: Pages
  readonly log: Logger
  readonly closers: AsyncDisposableStack
}

export const openListeners = async (
  config: Config,
  { useCases, operatorUseCases }: ComposedService,
  { opened, operatorToken, isDraining, demoPages, log, closers }: ListenerDependencies,
) => {
  const { adapters, limits, metrics, webhookReach } = opened
  const checkDatabase: DatabaseCheck = readAtMostEvery(opened.database.ping, {
    ...throttle,
    fallback: E.left({ reason: `no answer within ${throttle.deadlineMs} ms` }),
  })
  closers.use(watchDatabase(checkDatabase, log))
  const probes = probePages(readinessOf(opened, checkDatabase, isDraining))
  const metricsPages = metricsPage(metrics, config.metricsToken)
  const isDebugging = log.isLevelEnabled('debug')
  const dependencies: ServerDependencies = {
    clock: adapters.clock,
    yieldToEventLoop: adapters.yieldToEventLoop,
    log,
    newRequestId,
    isDraining,
    capabilities: config.capabilities,
    onAnswered: (answered) => {
      metrics.requests(answered)
      if (!isDebugging) return
      const durationMs = Math.round(answered.durationMs)
      log.debug({ event: 'request', ...answered, durationMs }, 'a request was answered')
    },
  }
  const listenOptions = { newRequestId, onMalformedRequest: metrics.malformedRequest }
  const listeners: Listener[] = []
  closers.defer(() => endAll(listeners, config, log))
  const operatorApi = createOperatorApi(operatorUseCases, {
    ...dependencies,
    operatorToken,
    pages: { ...probes, ...metricsPages },
  })
  const operatorListener = await listen(operatorApi, config.operator, listenOptions)
  listeners.push(operatorListener)
  const consolePages = config.capabilities.includes('console') ? builtConsole(log) : {}
  const api = createApi(useCases, {
    ...dependencies,
    // Metrics are for the operator: on the public listener they need a token.
    pages: {
      ...rootPage(consolePages),
      ...probes,
      ...(config.metricsToken === null ? {} : metricsPages),
      ...filePages({ ...referencePage, '/readme': readme }),
      ...consolePages,
      ...demoPages,
    },
    corsOrigins: config.corsOrigins,
    webhookReach,
    limiter: meteredLimiter(limits, metrics.decisions),
    trustedProxies: config.trustedProxies,
  })
  const apiListener = await listen(api, config.api, listenOptions)
  listeners.push(apiListener)
  return {
    api: urlOf(config.api, apiListener),
    operator: urlOf(config.operator, operatorListener),
    hasConsole: '/console' in consolePages,
  }
}

/** `/readyz` reads the database so seldom that nobody can load it by asking. */
const throttle = { everyMs: 1_000, deadlineMs: 2_000 }

type DatabaseCheck = () => Promise<E.Either<{ readonly reason: string }, void>>

const readinessOf = (
  { database, heartbeats, limits }: OpenedAdapters,
  checkDatabase: DatabaseCheck,
  isDraining: () => boolean,
): (() => Promise<Readiness>) => {
  const checks = {
    database: async () => E.isRight(await checkDatabase()),
    migrations: readAtMostEvery(async () => isNotFalse(await database.isMigrated()), {
      ...throttle,
      fallback: true,
    }),
    jobs: () => heartbeats.silentFor(queueSilentAfterMs).length === 0,
  }
  return async () => {
    // An instance that is ending accepts no new request, whatever the checks find.
    if (isDraining()) return { failing: ['draining'], limiter: limits.status() }
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, isGood]) => ((await isGood()) ? [] : [name])),
    )
    return { failing: results.flat(), limiter: limits.status() }
  }
}

const watchEveryMs = 2_500
/** How many checks in a row must fail, so that a slow statement is no outage. */
const failuresToBeLost = 2

/** Logs when the database stops answering, and when it answers again. */
const watchDatabase = (check: DatabaseCheck, log: Logger): Disposable => {
  let failures = 0
  const watch = async () => {
    const answer = await check()
    if (E.isLeft(answer)) {
      failures += 1
      if (failures === failuresToBeLost)
        log.error(
          { event: 'database_lost', reason: answer.left.reason },
          'the database cannot be used: requests that need it are answered with 503',
        )
      return
    }
    if (failures >= failuresToBeLost)
      log.warn({ event: 'database_back' }, 'the database can be used again')
    failures = 0
  }
  const timer = setInterval(() => void watch(), watchEveryMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

// If the query fails or is slow, the check `database` reports it, and `migrations` does not.
const isNotFalse = (read: E.Either<unknown, boolean>): boolean => E.isLeft(read) || read.right

/** Every queue is polled at least every 5 seconds. */
const queueSilentAfterMs = 15_000

// Without its page the service is still of use to programs.
const builtConsole = (log: Logger): Pages => {
  try {
    return filePages(createConsole())
  } catch (err) {
    log.warn(
      { event: 'console_missing', err },
      'the console has not been built, so /console is not served: run pnpm build',
    )
    return {}
  }
}

const rootPage = (consolePages: Pages): Pages =>
  indexPage({
    ...('/console' in consolePages ? { '/console': 'Console' } : {}),
    '/docs': 'API reference',
    '/readme': 'README',
    '/healthz': 'Is the service alive?',
    '/readyz': 'Can it serve?',
  })

// The image has it in /, above which no path of a URL leads.
const readmeFile = new URL('../../../README.md', import.meta.url)
const readme: FilePage = {
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=60' },
  read: () => readFile(readmeFile),
}

const newRequestId = (): string => `req_${randomUUID()}`

const urlOf = ({ host }: Address, { port }: Listener): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Of the time that the process has to end; the rest is for orders and deliveries. */
const listenersShare = 0.8

const endAll = async (
  listeners: readonly Listener[],
  { drainTimeoutMs, drainDelayMs }: Config,
  log: Logger,
): Promise<void> => {
  const closedCounts = await Promise.all(
    listeners.map(({ end }) => end(listenersShare * (drainTimeoutMs - drainDelayMs))),
  )
  const connections = closedCounts.reduce((sum, count) => sum + count, 0)
  if (connections > 0)
    log.warn(
      { event: 'connections_cut', connections },
      'connections were cut off before their replies were sent',
    )
}
