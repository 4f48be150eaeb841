// The meters of one instance and their text in Prometheus' format. No label holds an id, a name or
// a word of a user, a tenant or an account: the values of every label are words of ours, and few.
import { Counter, Registry } from 'prom-client'
import { collectCounter, collectGauge } from './collected.ts'
import type { Reading } from './collected.ts'
import { newDecisionTally } from './metered-limiter.ts'
import type { DecisionTally } from './metered-limiter.ts'
import { createDeliveryMeter } from './metered-webhook-sender.ts'
import type { ObserveDelivery } from './metered-webhook-sender.ts'
import { processRegistry } from './process-metrics.ts'
import { createProviderMeter } from './provider-calls.ts'
import type { ObserveProviderCall } from './provider-calls.ts'
import { createRequestMeter } from './request-meter.ts'
import type { RequestMeter } from './request-meter.ts'

/** Fits the tally of a cache of @tradeport/memory. */
export interface CacheTally {
  hits: number
  joins: number
  misses: number
}

export interface LimiterReading {
  readonly status: 'in-process' | 'shared' | 'alone'
  /** For how long in all this instance has limited alone. */
  readonly aloneMs: number
}

export interface PoolReading {
  readonly inUse: number
  readonly idle: number
  readonly waiting: number
  readonly size: number
}

/** What waits to be done, over all instances. */
export interface BacklogReading {
  readonly queues: readonly {
    readonly queue: string
    readonly waiting: number
    readonly oldestMs: number
  }[]
  readonly orders: {
    readonly pending: number
    readonly unknown: number
    readonly oldestUnknownMs: number
  }
  readonly journals: { readonly disagreeing: number }
  readonly deliveries: {
    readonly pending: number
    readonly due: number
    readonly oldestDueMs: number
  }
}

export interface Metrics {
  readonly requests: RequestMeter
  /** What never became a request was answered. */
  readonly unread: (status: number) => void
  readonly providerCalls: ObserveProviderCall
  readonly deliveries: ObserveDelivery
  readonly decisions: DecisionTally
  readonly suspensionBegan: () => void
  readonly ownerNotice: (outcome: 'sent' | 'no_address' | 'refused' | 'undelivered') => void
  /** An order that was rejected as not found at the broker appeared there later. */
  readonly orderCorrected: () => void
  /** A tally of its own for each name. */
  readonly cache: (name: string) => CacheTally
  readonly watchLimiter: (read: () => LimiterReading) => void
  readonly watchPool: (read: () => PoolReading) => void
  /**
   * @param read in milliseconds, above 0 where the provider's clock is ahead; null before it was
   * measured
   */
  readonly watchProviderClock: (read: () => number | null) => void
  /** @param read undefined where it cannot be told */
  readonly watchBacklog: (read: () => Promise<BacklogReading | undefined>) => void
  readonly contentType: string
  readonly text: () => Promise<string>
}

export const createMetrics = (): Metrics => {
  const registry = new Registry()
  const caches = new Map<string, CacheTally>()
  const decisions = newDecisionTally()
  const suspensions = new Counter({
    name: 'tradeport_limiter_suspensions_total',
    help: 'Suspensions that began with a request to this instance.',
    registers: [registry],
  })
  const unread = new Counter({
    name: 'tradeport_http_unread_total',
    help: 'What was answered without ever becoming a request, by status.',
    labelNames: ['status'],
    registers: [registry],
  })
  const notices = new Counter({
    name: 'tradeport_owner_notices_total',
    help: 'Attempts to mail a notice to an owner, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const corrections = new Counter({
    name: 'tradeport_orders_corrected_total',
    help: 'Orders that were rejected as not found at the broker and appeared there later.',
    registers: [registry],
  })
  collectCounter(
    registry,
    {
      name: 'tradeport_cache_reads_total',
      help: 'Reads of a cache, by what they met.',
      labelNames: ['cache', 'result'],
    },
    () => [...caches].flatMap(([cache, tally]) => readingsOfCache(cache, tally)),
  )
  collectCounter(
    registry,
    { name: 'tradeport_limiter_admitted_total', help: 'Requests that the limits let pass.' },
    () => [[{}, decisions.admitted]],
  )
  collectCounter(
    registry,
    {
      name: 'tradeport_limiter_refused_total',
      help: 'Requests that a limit refused, by which.',
      labelNames: ['limit'],
    },
    () => Object.entries(decisions.refused).map(([limit, count]) => [{ limit }, count]),
  )

  return {
    requests: createRequestMeter(registry),
    unread: (status) => unread.inc({ status: String(status) }),
    providerCalls: createProviderMeter(registry),
    deliveries: createDeliveryMeter(registry),
    decisions,
    suspensionBegan: () => suspensions.inc(),
    ownerNotice: (outcome) => notices.inc({ outcome }),
    orderCorrected: () => corrections.inc(),
    cache: (name) => {
      const tally = caches.get(name) ?? { hits: 0, joins: 0, misses: 0 }
      caches.set(name, tally)
      return tally
    },
    watchLimiter: (read) => watchLimiter(registry, read),
    watchPool: (read) => watchPool(registry, read),
    watchProviderClock: (read) => watchProviderClock(registry, read),
    watchBacklog: (read) => watchBacklog(registry, read),
    contentType: registry.contentType,
    text: () => Registry.merge([registry, processRegistry()]).metrics(),
  }
}

const readingsOfCache = (
  cache: string,
  { hits, joins, misses }: CacheTally,
): readonly Reading[] => [
  [{ cache, result: 'hit' }, hits],
  [{ cache, result: 'joined' }, joins],
  [{ cache, result: 'miss' }, misses],
]

const watchLimiter = (registry: Registry, read: () => LimiterReading): void => {
  collectGauge(
    registry,
    {
      name: 'tradeport_limiter_alone',
      help: '1 while limits are to be shared and this instance limits alone, else 0.',
    },
    () => [[{}, read().status === 'alone' ? 1 : 0]],
  )
  collectCounter(
    registry,
    {
      name: 'tradeport_limiter_alone_seconds_total',
      help: 'For how long this instance has limited alone, in all.',
    },
    () => [[{}, read().aloneMs / 1_000]],
  )
}

const watchProviderClock = (registry: Registry, read: () => number | null): void =>
  collectGauge(
    registry,
    {
      name: 'tradeport_provider_clock_skew_seconds',
      help: 'How far the clock of the provider is ahead; absent before it was measured.',
    },
    () => {
      const skewMs = read()
      return skewMs === null ? [] : [[{}, skewMs / 1_000]]
    },
  )

const watchPool = (registry: Registry, read: () => PoolReading): void => {
  collectGauge(
    registry,
    {
      name: 'tradeport_database_connections',
      help: 'Connections of the pool to the database.',
      labelNames: ['state'],
    },
    () => {
      const { inUse, idle } = read()
      return [
        [{ state: 'in_use' }, inUse],
        [{ state: 'idle' }, idle],
      ]
    },
  )
  collectGauge(
    registry,
    {
      name: 'tradeport_database_connections_max',
      help: 'The most connections that the pool may have.',
    },
    () => [[{}, read().size]],
  )
  collectGauge(
    registry,
    {
      name: 'tradeport_database_waiting',
      help: 'Statements that wait for a connection of the pool.',
    },
    () => [[{}, read().waiting]],
  )
}

const watchBacklog = (
  registry: Registry,
  read: () => Promise<BacklogReading | undefined>,
): void => {
  const gauge = (
    name: string,
    help: string,
    readings: (backlog: BacklogReading) => readonly Reading[],
    labelNames: readonly string[] = [],
  ): void =>
    collectGauge(registry, { name, help, labelNames }, async () => {
      const backlog = await read()
      return backlog === undefined ? [] : readings(backlog)
    })
  collectGauge(
    registry,
    { name: 'tradeport_backlog_readable', help: '1 where the database told what waits, else 0.' },
    async () => [[{}, (await read()) === undefined ? 0 : 1]],
  )
  gauge(
    'tradeport_jobs_waiting',
    'Jobs that are due and that nobody has taken yet, by queue.',
    ({ queues }) => queues.map(({ queue, waiting }) => [{ queue }, waiting]),
    ['queue'],
  )
  gauge(
    'tradeport_jobs_oldest_waiting_seconds',
    'For how long the oldest of them has been due; 0 where there is none.',
    ({ queues }) => queues.map(({ queue, oldestMs }) => [{ queue }, oldestMs / 1_000]),
    ['queue'],
  )
  gauge('tradeport_orders_pending', 'Orders that are pending.', ({ orders }) => [
    [{}, orders.pending],
  ])
  gauge(
    'tradeport_orders_unknown',
    'Pending orders that were sent and whose outcome is not known yet.',
    ({ orders }) => [[{}, orders.unknown]],
  )
  gauge(
    'tradeport_orders_oldest_unknown_seconds',
    'How long ago the oldest of them was sent; 0 where there is none.',
    ({ orders }) => [[{}, orders.oldestUnknownMs / 1_000]],
  )
  gauge(
    'tradeport_journals_disagreeing',
    'Accounts whose kept deals do not add up to their balance.',
    ({ journals }) => [[{}, journals.disagreeing]],
  )
  gauge(
    'tradeport_webhook_deliveries_pending',
    'Deliveries that are still to be made, retries included.',
    ({ deliveries }) => [[{}, deliveries.pending]],
  )
  gauge(
    'tradeport_webhook_deliveries_due',
    'Deliveries whose next attempt is due.',
    ({ deliveries }) => [[{}, deliveries.due]],
  )
  gauge(
    'tradeport_webhook_deliveries_oldest_due_seconds',
    'For how long the oldest of them has been due; 0 where there is none.',
    ({ deliveries }) => [[{}, deliveries.oldestDueMs / 1_000]],
  )
}
