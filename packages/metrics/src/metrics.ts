// The metrics of one instance in Prometheus' format. No label holds an id, a name or text of a
// user, a tenant or an account: the values of every label are few, and defined by this service.
import type { LimiterStatus } from '@tradeport/domain/operator'
import type { Backlog } from '@tradeport/domain/ports'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { newDecisionCounters } from './decorators.ts'

/** The counters of a cache of @tradeport/memory. */
interface CacheCounters {
  hits: number
  joins: number
  misses: number
}

interface MeteredLimiter {
  readonly status: () => LimiterStatus
  /** How long in total this instance has limited alone. */
  readonly localFallbackMs: () => number
}

interface PoolReading {
  readonly inUse: number
  readonly idle: number
  readonly waiting: number
  readonly size: number
}

/** What is counted of an answered request of @tradeport/http. */
interface AnsweredRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

type Labels = Readonly<Record<string, string>>

/** One value, values with their labels, or undefined if there is none. */
type Readings = number | undefined | readonly (readonly [labels: Labels, value: number])[]
type Read = () => Readings | Promise<Readings>

const toSeries = (readings: Readings) =>
  typeof readings === 'number' ? ([[{}, readings]] as const) : (readings ?? [])

const collectFrom = (read: Read) =>
  async function collect(this: Counter | Gauge): Promise<void> {
    const readings = toSeries(await read())
    this.reset()
    // A metric without labels begins at 0.
    if (readings.length === 0) this.remove({})
    for (const [labels, value] of readings) this.inc(labels, value)
  }

/** A metric that is kept elsewhere. It is left out while there is no reading. */
type ReadMetric = (name: string, help: string, read: Read, labelNames?: readonly string[]) => void

const buildMetrics = () => {
  const registry = new Registry()
  const registers = [registry]

  const counter = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = (
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets: number[],
  ) => new Histogram({ name, help, labelNames, buckets, registers })

  const readAs =
    (Metric: typeof Counter | typeof Gauge): ReadMetric =>
    (name, help, read, labelNames = []) =>
      void new Metric({ name, help, labelNames, registers, collect: collectFrom(read) })
  const [readCounter, readGauge] = [readAs(Counter), readAs(Gauge)]

  const caches = new Map<string, CacheCounters>()
  const decisions = newDecisionCounters()
  const suspensions = counter(
    'tradeport_limiter_suspensions_total',
    'Suspensions of callers that began with a request to this instance.',
  )
  const malformedRequest = counter(
    'tradeport_http_unread_total',
    'Answers to what never became a request, by status.',
    ['status'],
  )
  const notices = counter(
    'tradeport_owner_notices_total',
    'Attempts to mail a notice to an owner, by outcome.',
    ['outcome'],
  )
  // rate() counts the first one only where the series was there before it.
  for (const outcome of noticeOutcomes) notices.inc({ outcome }, 0)
  const corrections = counter(
    'tradeport_orders_corrected_total',
    'Orders that had ended as not found at the broker, or cancelled by it, and appeared there later.',
  )
  const disabledWebhooks = counter(
    'tradeport_webhooks_disabled_total',
    'Webhooks that were disabled after five failures in a row.',
  )
  const requests = histogram(
    'tradeport_http_request_duration_seconds',
    'Time from the head of a request to its whole reply, by route and status.',
    ['method', 'route', 'status'],
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  )
  const providerCalls = histogram(
    'tradeport_provider_call_duration_seconds',
    "Time of a call to the broker's provider with its retries and pages, by kind and outcome.",
    ['call', 'outcome'],
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  )
  const deliveries = histogram(
    'tradeport_webhook_delivery_duration_seconds',
    'Time of one POST to a webhook, tests included, by the class of its answer or why there was none.',
    ['outcome'],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  )
  readCounter(
    'tradeport_cache_reads_total',
    'Reads of a cache, by result.',
    () =>
      [...caches].flatMap(([cache, { hits, joins, misses }]) => [
        [{ cache, result: 'hit' }, hits] as const,
        [{ cache, result: 'joined' }, joins] as const,
        [{ cache, result: 'miss' }, misses] as const,
      ]),
    ['cache', 'result'],
  )
  readCounter(
    'tradeport_limiter_admitted_total',
    'Requests that the limits admitted.',
    () => decisions.admitted,
  )
  readCounter(
    'tradeport_limiter_refused_total',
    'Requests that a limit refused, by limit.',
    () => Object.entries(decisions.refused).map(([limit, count]) => [{ limit }, count]),
    ['limit'],
  )

  return {
    requests: ({ method, route, status, durationMs }: AnsweredRequest): void =>
      requests.labels(method, route, String(status)).observe(durationMs / 1_000),
    /** Counts an answer to what never became a request. */
    malformedRequest: (status: number): void => malformedRequest.inc({ status: String(status) }),
    providerCalls: (call: string, outcome: string, durationMs: number): void =>
      providerCalls.labels(call, outcome).observe(durationMs / 1_000),
    deliveries: (outcome: string, durationMs: number): void =>
      deliveries.labels(outcome).observe(durationMs / 1_000),
    decisions,
    suspensionBegan: (): void => suspensions.inc(),
    ownerNotice: (outcome: (typeof noticeOutcomes)[number]): void => notices.inc({ outcome }),
    /** An order that was rejected as not found at the broker appeared there later. */
    orderCorrected: (): void => corrections.inc(),
    webhookDisabled: (): void => disabledWebhooks.inc(),
    cacheCounters: (name: string): CacheCounters => {
      const counters = caches.get(name) ?? { hits: 0, joins: 0, misses: 0 }
      caches.set(name, counters)
      return counters
    },
    watchLimiter: ({ status, localFallbackMs }: MeteredLimiter): void => {
      readGauge(
        'tradeport_limiter_alone',
        '1 while limits should be shared and this instance limits alone, else 0.',
        () => (status() === 'alone' ? 1 : 0),
      )
      readCounter(
        'tradeport_limiter_alone_seconds_total',
        'How long in total this instance has limited alone.',
        () => localFallbackMs() / 1_000,
      )
    },
    watchPool: (read: () => PoolReading): void => {
      readGauge(
        'tradeport_database_connections',
        'Connections of the pool to the database.',
        () => [
          [{ state: 'in_use' }, read().inUse],
          [{ state: 'idle' }, read().idle],
        ],
        ['state'],
      )
      readGauge(
        'tradeport_database_connections_max',
        'The most connections that the pool may have.',
        () => read().size,
      )
      readGauge(
        'tradeport_database_waiting',
        'Statements that wait for a connection of the pool.',
        () => read().waiting,
      )
    },
    /**
     * @param read milliseconds, above 0 if the provider's clock is ahead; null before it is known
     */
    watchProviderClock: (read: () => number | null): void =>
      readGauge(
        'tradeport_provider_clock_skew_seconds',
        'How far the clock of the provider is ahead; absent before it was measured.',
        () => {
          const skewMs = read()
          return skewMs === null ? undefined : skewMs / 1_000
        },
      ),
    /** @param read undefined if the backlog cannot be read */
    watchBacklog: (read: () => Promise<Backlog | undefined>): void => {
      readGauge(
        'tradeport_backlog_readable',
        '1 if the backlog could be read from the database, else 0.',
        async () => ((await read()) === undefined ? 0 : 1),
      )
      for (const [name, help, readings, labelNames] of backlogGauges)
        readGauge(
          name,
          help,
          async () => {
            const backlog = await read()
            return backlog && readings(backlog)
          },
          labelNames,
        )
    },
    contentType: registry.contentType,
    text: (): Promise<string> => Registry.merge([registry, processRegistry()]).metrics(),
  }
}

// Named, so that the types of its users can refer to it.
export interface Metrics extends ReturnType<typeof buildMetrics> {}

export const createMetrics = (): Metrics => buildMetrics()

const noticeOutcomes = ['sent', 'no_address', 'refused', 'undelivered'] as const

type BacklogGauge = readonly [
  name: string,
  help: string,
  readings: (backlog: Backlog) => Readings,
  labelNames?: readonly string[],
]

const backlogGauges: readonly BacklogGauge[] = [
  [
    'tradeport_jobs_waiting',
    'Due jobs that no instance has claimed yet, by queue.',
    ({ queues }) => queues.map(({ queue, waiting }) => [{ queue }, waiting]),
    ['queue'],
  ],
  [
    'tradeport_jobs_oldest_waiting_seconds',
    'How long the oldest due job has been due; 0 if there is none.',
    ({ queues }) => queues.map(({ queue, oldestMs }) => [{ queue }, oldestMs / 1_000]),
    ['queue'],
  ],
  ['tradeport_orders_pending', 'Pending orders.', ({ orders }) => orders.pending],
  [
    'tradeport_orders_unknown',
    'Pending orders that were sent and whose outcome is unknown, and open ones that are missing at the broker.',
    ({ orders }) => orders.unknown,
  ],
  [
    'tradeport_orders_oldest_unknown_seconds',
    'How long ago the oldest order of unknown outcome was sent, or missed; 0 if there is none.',
    ({ orders }) => orders.oldestUnknownMs / 1_000,
  ],
  [
    'tradeport_journals_disagreeing',
    'Accounts whose stored deals do not add up to their balance.',
    ({ journals }) => journals.disagreeing,
  ],
  [
    'tradeport_watched_accounts',
    'Accounts that are read again and again for their events.',
    ({ journals }) => journals.watched,
  ],
  [
    'tradeport_watched_accounts_failing',
    'Watched accounts that could not be read at the last attempt.',
    ({ journals }) => journals.watchedFailing,
  ],
  [
    'tradeport_threshold_accounts_unchecked',
    'Accounts with risk thresholds whose last check is longer ago than it should be.',
    ({ journals }) => journals.unchecked,
  ],
  [
    'tradeport_watch_lag_seconds',
    'How long the most overdue read of the other watched accounts has been due; 0 if none is.',
    ({ journals }) => journals.watchLagMs / 1_000,
  ],
  [
    'tradeport_webhook_deliveries_pending',
    'Deliveries that are not done, retries included.',
    (backlog) => backlog.deliveries.pending,
  ],
  [
    'tradeport_webhook_deliveries_due',
    'Deliveries whose next attempt is due.',
    (backlog) => backlog.deliveries.due,
  ],
  [
    'tradeport_webhook_deliveries_oldest_due_seconds',
    'How long the oldest due delivery has been due; 0 if there is none.',
    (backlog) => backlog.deliveries.oldestDueMs / 1_000,
  ],
]

// One process may run several instances.
let ofProcess: Registry | undefined

const processRegistry = (): Registry => {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}
