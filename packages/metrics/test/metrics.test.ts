// The text agrees with what happened, with a fixed set of labels, and omits what is unknown.
import { refuse, type LimiterScope } from '@tradeport/domain/errors'
import type { RateVerdict } from '@tradeport/domain/access'
import type { RateLimiter } from '@tradeport/domain/ports'
import * as fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import {
  createMetrics,
  meteredAddressLimits,
  meteredLimiter,
  type BacklogReading,
  type Metrics,
} from '../src/index.ts'
import { readSamples, type Sample } from './scrape.ts'

const scrape = async (metrics: Metrics): Promise<readonly Sample[]> =>
  readSamples(await metrics.text())
const valuesOf = async (
  metrics: Metrics,
  name: string,
): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    (await scrape(metrics))
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [
        Object.entries(labels)
          .map(([key, text]) => `${key}=${text}`)
          .join(' '),
        value,
      ]),
  )

const sorted = (samples: readonly Sample[]) =>
  samples.map((sample) => JSON.stringify(sample)).toSorted()

it('requests are counted by route and status, with the same text as the library’s own histogram', async () => {
  const name = 'tradeport_http_request_duration_seconds'
  const ms = fc.oneof(
    fc.double({ min: 0, max: 40_000, noNaN: true }),
    fc.constantFrom(0, 1, 2.5, 1_000, 30_000, 30_001),
  )
  const request = fc.tuple(
    fc.constantFrom('/positions', '/orders', 'unmatched'),
    fc.constantFrom(200, 404, 503),
    ms,
  )
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 40 }), async (requests) => {
      const [metrics, registry] = [createMetrics(), new Registry()]
      for (const [route, status, durationMs] of requests)
        metrics.requests({ method: 'GET', route, status, durationMs })
      const ours = (await scrape(metrics)).filter((sample) => sample.name.startsWith(name))
      const bounds = ours.flatMap(({ labels: { le = '+Inf' } }) =>
        le === '+Inf' ? [] : [Number(le)],
      )
      const labelNames = ['method', 'route', 'status']
      const theirs = new Histogram({
        name,
        help: 'the same',
        labelNames,
        buckets: [...new Set(bounds)],
        registers: [registry],
      })
      for (const [route, status, durationMs] of requests)
        theirs.labels('GET', route, String(status)).observe(durationMs / 1_000)
      expect(sorted(ours)).toEqual(sorted(readSamples(await registry.metrics())))
    }),
    { numRuns: 50 },
  )
})

const verdict = (exceeded?: LimiterScope): RateVerdict => ({
  limit: 300,
  remaining: 0,
  resetSeconds: 1,
  standings: [],
  refusal:
    exceeded === undefined
      ? null
      : { ...refuse('RateLimitExceeded', { exceeded, retryAfterSeconds: 1 }), exceeded },
})

describe('the limiter', () => {
  const verdicts = [
    verdict(),
    verdict({ scope: 'tier', window: 'minute' }),
    verdict({ scope: 'tier', window: 'day' }),
    verdict({ scope: 'endpoint' }),
    verdict({ scope: 'suspension' }),
  ] as const

  it('returns its verdicts unchanged, at once if it can, and counts each by the limit that refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...verdicts), fc.boolean()), { maxLength: 40 }),
        async (decisions) => {
          const metrics = createMetrics()
          let next = 0
          const limiter: RateLimiter = {
            decide: () => {
              const [one, isLater] = decisions[next++] ?? [verdicts[0], false]
              return isLater ? Promise.resolve(one) : one
            },
          }
          const metered = meteredLimiter(limiter, metrics.decisions)
          for (const [one, isLater] of decisions) {
            const decided = metered.decide({} as never, undefined, 0)
            expect(decided instanceof Promise).toBe(isLater)
            expect(await decided).toBe(one)
          }
          const count = (wanted: RateVerdict): number =>
            decisions.filter(([one]) => one === wanted).length
          expect(await valuesOf(metrics, 'tradeport_limiter_admitted_total')).toEqual({
            '': count(verdicts[0]),
          })
          expect(await valuesOf(metrics, 'tradeport_limiter_refused_total')).toEqual({
            'limit=minute': count(verdicts[1]),
            'limit=day': count(verdicts[2]),
            'limit=endpoint': count(verdicts[3]),
            'limit=suspension': count(verdicts[4]),
            'limit=address': 0,
          })
        },
      ),
      { numRuns: 25 },
    )
  })

  it('counts the refusals of the limit of an address', async () => {
    const metrics = createMetrics()
    const limits = meteredAddressLimits(
      {
        wasAccepted: () => false,
        waitMs: (_, now) => now,
        recordAccepted: () => undefined,
        recordFailed: () => undefined,
      },
      metrics.decisions,
    )
    expect([0, 1, 59_000].map((now) => limits.waitMs('203.0.113.9', now))).toEqual([0, 1, 59_000])
    expect(await valuesOf(metrics, 'tradeport_limiter_refused_total')).toMatchObject({
      'limit=address': 2,
    })
  })

  it('reports whether it limits alone, and for how long in total', async () => {
    const metrics = createMetrics()
    let reading = { status: 'shared' as 'shared' | 'alone', aloneMs: 0 }
    metrics.watchLimiter(() => reading)
    for (const [status, aloneMs, isAlone] of [
      ['shared', 0, 0],
      ['alone', 1_500, 1],
      ['shared', 2_000, 0],
    ] as const) {
      reading = { status, aloneMs }
      expect(await valuesOf(metrics, 'tradeport_limiter_alone')).toEqual({ '': isAlone })
      expect(await valuesOf(metrics, 'tradeport_limiter_alone_seconds_total')).toEqual({
        '': aloneMs / 1_000,
      })
    }
  })
})

it('the backlog is reported as it is read, and omitted if it cannot be read', async () => {
  const metrics = createMetrics()
  let reading: BacklogReading | undefined = {
    queues: [{ queue: 'orders', waiting: 2, oldestMs: 1_500 }],
    orders: { pending: 3, unknown: 1, oldestUnknownMs: 61_000 },
    journals: { disagreeing: 2, watched: 1_000, watchedFailing: 3, watchLagMs: 1_500 },
    deliveries: { pending: 5, due: 4, oldestDueMs: 2_000 },
  }
  metrics.watchBacklog(async () => reading)
  const expected = {
    tradeport_jobs_waiting: { 'queue=orders': 2 },
    tradeport_jobs_oldest_waiting_seconds: { 'queue=orders': 1.5 },
    tradeport_orders_pending: { '': 3 },
    tradeport_orders_unknown: { '': 1 },
    tradeport_orders_oldest_unknown_seconds: { '': 61 },
    tradeport_journals_disagreeing: { '': 2 },
    tradeport_watched_accounts: { '': 1_000 },
    tradeport_watched_accounts_failing: { '': 3 },
    tradeport_watch_lag_seconds: { '': 1.5 },
    tradeport_webhook_deliveries_pending: { '': 5 },
    tradeport_webhook_deliveries_due: { '': 4 },
    tradeport_webhook_deliveries_oldest_due_seconds: { '': 2 },
  }
  for (const [name, values] of Object.entries(expected))
    expect([name, await valuesOf(metrics, name)]).toEqual([name, values])
  expect(await valuesOf(metrics, 'tradeport_backlog_readable')).toEqual({ '': 1 })
  reading = undefined
  for (const name of Object.keys(expected))
    expect([name, await valuesOf(metrics, name)]).toEqual([name, {}])
  expect(await valuesOf(metrics, 'tradeport_backlog_readable')).toEqual({ '': 0 })
})

describe('the process', () => {
  it('is reported once, and each of its instances has its own numbers', async () => {
    const [one, other] = [createMetrics(), createMetrics()]
    one.ownerNotice('sent')
    one.suspensionBegan()
    one.unread(431)
    one.webhookDisabled('gone')
    expect(await valuesOf(one, 'tradeport_http_unread_total')).toEqual({ 'status=431': 1 })
    expect(await valuesOf(one, 'tradeport_owner_notices_total')).toEqual({ 'outcome=sent': 1 })
    expect(await valuesOf(one, 'tradeport_webhooks_disabled_total')).toEqual({ 'because=gone': 1 })
    expect(await valuesOf(other, 'tradeport_owner_notices_total')).toEqual({})
    expect(await valuesOf(other, 'tradeport_limiter_suspensions_total')).toEqual({ '': 0 })
    for (const metrics of [one, other]) {
      const names = (await scrape(metrics)).map(({ name }) => name)
      for (const name of [
        'process_resident_memory_bytes',
        'process_cpu_seconds_total',
        'nodejs_eventloop_lag_p99_seconds',
        'nodejs_heap_size_used_bytes',
      ])
        expect(
          names.filter((one) => one === name),
          name,
        ).toHaveLength(1)
    }
  })
})
