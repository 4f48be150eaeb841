// What is told of what was measured: totals that agree with what happened, under labels that do not grow, and nothing where nothing is known.
import { rateLimitExceeded } from '@tradeport/domain'
import type { RateLimiter, RateVerdict } from '@tradeport/domain'
import * as fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createMetrics, meteredAddressLimits, meteredLimiter, meteredWebhookSender } from '../src/index.ts'
import type { BacklogReading, Metrics } from '../src/index.ts'
import { readSamples } from './scrape.ts'
import type { Sample } from './scrape.ts'

const scrape = async (metrics: Metrics): Promise<readonly Sample[]> => readSamples(await metrics.text())
const valuesOf = async (metrics: Metrics, name: string): Promise<Readonly<Record<string, number>>> =>
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

describe('requests', () => {
  it('are counted once each, by route and status, and add up to the time that they took', async () => {
    const routes = [
      ['GET', '/positions'],
      ['POST', '/orders'],
      ['any', 'unmatched'],
    ] as const
    const request = fc.record({
      route: fc.constantFrom(...routes),
      status: fc.constantFrom(200, 201, 404, 503),
      ms: fc.integer({ min: 0, max: 60_000 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 60 }), async (requests) => {
        const metrics = createMetrics()
        const meters = new Map(routes.map(([method, route]) => [route, metrics.requests(method, route)] as const))
        const counts: Record<string, number> = {}
        const sums: Record<string, number> = {}
        for (const {
          route: [method, route],
          status,
          ms,
        } of requests) {
          meters.get(route)?.(status, ms)
          const key = `method=${method} route=${route} status=${status}`
          counts[key] = (counts[key] ?? 0) + 1
          sums[key] = (sums[key] ?? 0) + ms
        }
        expect(await valuesOf(metrics, 'tradeport_http_request_duration_seconds_count')).toEqual(counts)
        for (const [key, sum] of Object.entries(await valuesOf(metrics, 'tradeport_http_request_duration_seconds_sum')))
          expect(sum).toBeCloseTo((sums[key] ?? Number.NaN) / 1_000, 6)
        // The bucket without a bound holds all.
        const buckets = (await scrape(metrics)).filter(
          ({ name, labels }) => name.endsWith('request_duration_seconds_bucket') && labels['le'] === '+Inf',
        )
        expect(buckets.reduce((total, { value }) => total + value, 0)).toBe(requests.length)
      }),
      { numRuns: 25 },
    )
  })
})

describe('a request', () => {
  it('is in every bucket whose bound it is within, as in the library’s own histogram', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.double({ min: 0, max: 40_000, noNaN: true }), fc.constantFrom(0, 1, 2.5, 1_000, 30_000, 30_001))),
        async (durations) => {
          const [metrics, registry] = [createMetrics(), new Registry()]
          const observe = metrics.requests('GET', '/any')
          const name = 'tradeport_http_request_duration_seconds'
          observe(200, 1)
          const ours = async () => (await scrape(metrics)).filter((sample) => sample.name.startsWith(name))
          const buckets = (await ours()).flatMap(({ labels: { le } }) => (le === undefined || le === '+Inf' ? [] : [Number(le)]))
          const theirs = new Histogram({
            name,
            help: 'the same',
            labelNames: ['method', 'route', 'status'],
            buckets,
            registers: [registry],
          })
          const child = theirs.labels('GET', '/any', '200')
          for (const ms of [1, ...durations]) child.observe(ms / 1_000)
          for (const ms of durations) observe(200, ms)
          expect(await ours()).toEqual(readSamples(await registry.metrics()))
        },
      ),
      { numRuns: 50 },
    )
  })
})

const verdict = (refusal: RateVerdict['refusal']): RateVerdict => ({ limit: 300, remaining: 0, resetSeconds: 1, refusal })

describe('the limiter', () => {
  const verdicts = [
    verdict(null),
    verdict(rateLimitExceeded({ scope: 'tier', window: 'minute' }, 1)),
    verdict(rateLimitExceeded({ scope: 'tier', window: 'day' }, 1)),
    verdict(rateLimitExceeded({ scope: 'endpoint' }, 1)),
    verdict(rateLimitExceeded({ scope: 'suspension' }, 1)),
  ] as const

  it('gives its verdicts unchanged, at once where it can, and each is counted by the limit that refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...verdicts), fc.boolean()), { maxLength: 40 }), async (decisions) => {
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
        const count = (wanted: RateVerdict): number => decisions.filter(([one]) => one === wanted).length
        expect(await valuesOf(metrics, 'tradeport_limiter_admitted_total')).toEqual({ '': count(verdicts[0]) })
        expect(await valuesOf(metrics, 'tradeport_limiter_refused_total')).toEqual({
          'limit=minute': count(verdicts[1]),
          'limit=day': count(verdicts[2]),
          'limit=endpoint': count(verdicts[3]),
          'limit=suspension': count(verdicts[4]),
          'limit=address': 0,
        })
      }),
      { numRuns: 25 },
    )
  })

  it('counts the attempts that the limit of an address refused', async () => {
    const metrics = createMetrics()
    const limits = meteredAddressLimits(
      { wasAccepted: () => false, waitMs: (_, now) => now, recordAccepted: () => undefined, recordFailed: () => undefined },
      metrics.decisions,
    )
    expect([0, 1, 59_000].map((now) => limits.waitMs('203.0.113.9', now))).toEqual([0, 1, 59_000])
    expect(await valuesOf(metrics, 'tradeport_limiter_refused_total')).toMatchObject({ 'limit=address': 2 })
  })

  it('tells whether it limits alone, and for how long in all', async () => {
    const metrics = createMetrics()
    let reading = { status: 'shared' as 'shared' | 'alone', aloneMs: 0 }
    metrics.watchLimiter(() => reading)
    const told = async () => [
      await valuesOf(metrics, 'tradeport_limiter_alone'),
      await valuesOf(metrics, 'tradeport_limiter_alone_seconds_total'),
    ]
    expect(await told()).toEqual([{ '': 0 }, { '': 0 }])
    reading = { status: 'alone', aloneMs: 1_500 }
    expect(await told()).toEqual([{ '': 1 }, { '': 1.5 }])
    reading = { status: 'shared', aloneMs: 2_000 }
    expect(await told()).toEqual([{ '': 0 }, { '': 2 }])
  })
})

describe('caches', () => {
  it('are told of by name, each with what its reads met', async () => {
    const metrics = createMetrics()
    const tally = metrics.cache('positions')
    expect(metrics.cache('positions')).toBe(tally)
    tally.hits += 3
    tally.joins += 2
    tally.misses += 1
    metrics.cache('margins')
    expect(await valuesOf(metrics, 'tradeport_cache_reads_total')).toEqual({
      'cache=positions result=hit': 3,
      'cache=positions result=joined': 2,
      'cache=positions result=miss': 1,
      'cache=margins result=hit': 0,
      'cache=margins result=joined': 0,
      'cache=margins result=miss': 0,
    })
  })
})

describe('what waits', () => {
  const backlog: BacklogReading = {
    queues: [{ queue: 'orders', waiting: 2, oldestMs: 1_500 }],
    orders: { pending: 3, unknown: 1, oldestUnknownMs: 61_000 },
    journals: { disagreeing: 2 },
    deliveries: { pending: 5, due: 4, oldestDueMs: 2_000 },
  }
  const names = [
    'tradeport_jobs_waiting',
    'tradeport_jobs_oldest_waiting_seconds',
    'tradeport_orders_pending',
    'tradeport_orders_unknown',
    'tradeport_orders_oldest_unknown_seconds',
    'tradeport_journals_disagreeing',
    'tradeport_webhook_deliveries_pending',
    'tradeport_webhook_deliveries_due',
    'tradeport_webhook_deliveries_oldest_due_seconds',
  ]

  it('is told as it was read', async () => {
    const metrics = createMetrics()
    metrics.watchBacklog(async () => backlog)
    const told: unknown[] = []
    for (const name of names) told.push(Object.entries(await valuesOf(metrics, name)))
    expect(told).toEqual([
      [['queue=orders', 2]],
      [['queue=orders', 1.5]],
      [['', 3]],
      [['', 1]],
      [['', 61]],
      [['', 2]],
      [['', 5]],
      [['', 4]],
      [['', 2]],
    ])
    expect(await valuesOf(metrics, 'tradeport_backlog_readable')).toEqual({ '': 1 })
  })

  it('is not told as nothing where it cannot be read', async () => {
    const metrics = createMetrics()
    let reading: BacklogReading | undefined = backlog
    metrics.watchBacklog(async () => reading)
    await metrics.text()
    reading = undefined
    for (const name of names) expect(await valuesOf(metrics, name), name).toEqual({})
    expect(await valuesOf(metrics, 'tradeport_backlog_readable')).toEqual({ '': 0 })
  })
})

describe('deliveries', () => {
  it.each([
    [{ responseCode: 204, responseTimeMs: 1 }, '2xx'],
    [{ responseCode: 302, responseTimeMs: 1 }, '3xx'],
    [{ responseCode: 410, responseTimeMs: 1 }, '4xx'],
    [{ responseCode: 503, responseTimeMs: 1 }, '5xx'],
    [{ responseCode: 999, responseTimeMs: 1 }, 'other'],
    [{ responseCode: 0, responseTimeMs: 0, failureReason: 'timed_out' }, 'timed_out'],
  ] as const)('%j is told as %s, and given on as it is', async (answer, outcome) => {
    const metrics = createMetrics()
    const sender = meteredWebhookSender({ send: () => () => Promise.resolve(answer) }, metrics.deliveries)
    expect(await sender.send({} as never)()).toBe(answer)
    expect(await valuesOf(metrics, 'tradeport_webhook_delivery_duration_seconds_count')).toEqual({ [`outcome=${outcome}`]: 1 })
  })
})

describe('the process', () => {
  it('is told of once, however many instances it holds, each with numbers of its own', async () => {
    const [one, other] = [createMetrics(), createMetrics()]
    one.ownerNotice('sent')
    one.suspensionBegan()
    one.unread(431)
    expect(await valuesOf(one, 'tradeport_http_unread_total')).toEqual({ 'status=431': 1 })
    expect(await valuesOf(one, 'tradeport_owner_notices_total')).toEqual({ 'outcome=sent': 1 })
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
          names.filter((told) => told === name),
          name,
        ).toHaveLength(1)
    }
  })
})
