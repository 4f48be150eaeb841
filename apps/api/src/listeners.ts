// The two listeners: the API for users and the operator's, with probes, metrics and the reference
// page beside the routes.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import {
  apiPrefix,
  createApi,
  createOperatorApi,
  filePages,
  indexPage,
  listen,
  metricsPage,
  probePages,
} from '@tradeport/http'
import type { Address, Edge, Listener } from '@tradeport/http'
import { meteredLimiter } from '@tradeport/metrics'
import { createReferencePage } from '@tradeport/reference-page'
import type { OpenedAdapters } from './adapters.ts'
import type { Closers } from './closers.ts'
import type { ComposedService } from './compose.ts'
import type { Config } from './config.ts'
import { createReadiness } from './readiness.ts'

interface Parts {
  readonly opened: OpenedAdapters
  readonly operatorToken: string
  readonly isDraining: () => boolean
  readonly log: Logger
  readonly closers: Closers
}

export const openListeners = async (
  config: Config,
  { useCases, operatorUseCases }: ComposedService,
  { opened, operatorToken, isDraining, log, closers }: Parts,
) => {
  const { adapters, limits, metrics } = opened
  const probes = probePages(readinessOf(opened, isDraining))
  const measured = metricsPage(metrics, config.metricsToken)
  const edge: Edge = {
    clock: adapters.clock,
    breathe: adapters.breathe,
    log,
    newRequestId,
    isDraining,
    meter: metrics.requests,
    onAnswered: log.isLevelEnabled('debug')
      ? (answered) => log.debug({ event: 'request', ...answered }, 'a request was answered')
      : undefined,
  }
  const listening = { newRequestId, onUnread: metrics.unread }
  const listeners: Listener[] = []
  closers.push(() => endAll(listeners, config, log))
  const operatorApi = createOperatorApi(operatorUseCases, {
    ...edge,
    operatorToken,
    pages: { ...probes, ...measured },
  })
  const operatorListener = await listen(operatorApi, config.operator, listening)
  listeners.push(operatorListener)
  const api = createApi(useCases, {
    ...edge,
    // What the service does is for its operator: only with a token of its own are the metrics to be
    // had where everybody may ask.
    pages: {
      ...rootPages,
      ...probes,
      ...(config.metricsToken === null ? {} : measured),
      ...filePages(referencePage),
    },
    corsOrigins: config.corsOrigins,
    limiter: meteredLimiter(limits.limiter, metrics.decisions),
    trustedProxies: config.trustedProxies,
  })
  const apiListener = await listen(api, config.api, listening)
  listeners.push(apiListener)
  return { api: urlOf(config.api, apiListener), operator: urlOf(config.operator, operatorListener) }
}

const readinessOf = (
  { database, jobs, limits }: OpenedAdapters,
  isDraining: () => boolean,
): ReturnType<typeof createReadiness> =>
  createReadiness({
    checks: {
      database: async () => E.isRight(await database.ping()),
      migrations: async () => isNotFalse(await database.isMigrated()),
      jobs: async () => jobs.pulse.silentFor(silentQueueMs).length === 0,
    },
    limiter: limits.status,
    isDraining,
  })

// Where it cannot be told, another check has failed.
const isNotFalse = (told: E.Either<unknown, boolean>): boolean => E.isLeft(told) || told.right

/** A queue is looked at every second or two. */
const silentQueueMs = 15_000

const referencePage = createReferencePage({
  path: '/docs',
  documentPath: `${apiPrefix}/openapi.json`,
  title: 'Tradeport API',
})

const readme = new URL('../../../README.md', import.meta.url)

const rootPages = {
  ...indexPage({
    '/docs': 'API reference',
    '/readme': 'README',
    '/healthz': 'Is the service alive?',
    '/readyz': 'Can it serve?',
  }),
  ...filePages({
    '/readme': {
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'Cache-Control': 'public, max-age=60',
      },
      read: () => readFile(readme, 'utf8'),
    },
  }),
}

const newRequestId = (): string => `req_${randomUUID()}`

const urlOf = ({ host }: Address, { port }: Listener): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Of the time that the process has to end: what is left is for the work that goes on behind the
 * requests.
 */
const listenersShare = 0.8

const endAll = async (
  listeners: readonly Listener[],
  { drainTimeoutMs, drainDelayMs }: Config,
  log: Logger,
): Promise<void> => {
  const cut = await Promise.all(
    listeners.map(({ end }) => end(listenersShare * (drainTimeoutMs - drainDelayMs))),
  )
  const connections = cut.reduce((sum, count) => sum + count, 0)
  if (connections > 0)
    log.warn(
      { event: 'connections_cut', connections },
      'connections whose replies were not over in time were cut off',
    )
}
