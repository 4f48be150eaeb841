// The text agrees with what happened, with a fixed set of labels, and omits what is unknown.
import { brokerRateLimited, refuse, type LimiterScope } from '@tradeport/domain/errors'
import type { AccountId } from '@tradeport/domain/primitives'
import type { RateVerdict } from '@tradeport/domain/access'
import type { Backlog } from '@tradeport/domain/ports'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as T from 'fp-ts/lib/Task.js'
import { describe, expect, it } from 'vitest'
import {
  createMetrics,
  meteredAddressLimits,
  meteredLimiter,
  meteredProvider,
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

it('requests are counted by route and status, within bounds in seconds', async () => {
  const metrics = createMetrics()
  const name = 'tradeport_http_request_duration_seconds'
  for (const [status, durationMs] of [
    [200, 1],
    [200, 2_500],
    [503, 30_001],
  ] as const)
    metrics.requests({ method: 'GET', route: '/orders', status, durationMs })
  metrics.providerCalls('quote', 'ok', 2_500)
  metrics.deliveries('2xx', 2_500)
  for (const [measured, labels] of [
    ['provider_call', 'call=quote outcome=ok'],
    ['webhook_delivery', 'outcome=2xx'],
  ])
    expect(await valuesOf(metrics, `tradeport_${measured}_duration_seconds_sum`)).toEqual({
      [`${labels}`]: 2.5,
    })
  const [ok, failed] = ['200', '503'].map((status) => `method=GET route=/orders status=${status}`)
  const within = await valuesOf(metrics, `${name}_bucket`)
  const buckets = ['0.001', '1', '2.5', '30', '+Inf'].map((le) =>
    [ok, failed].map((labels) => within[`le=${le} ${labels}`]),
  )
  expect(buckets).toEqual([
    [1, 0],
    [1, 0],
    [2, 0],
    [2, 0],
    [2, 1],
  ])
  expect(await valuesOf(metrics, `${name}_sum`)).toEqual({
    [`${ok}`]: 2.501,
    [`${failed}`]: 30.001,
  })
})

it.each([
  ['ok', E.right([])],
  ['rate_limited', E.left(brokerRateLimited('a' as AccountId, 1, 0))],
  ['not_found', E.left({ _tag: 'OrderGone' })],
  ['ok', { kind: 'nothing' }],
  ['rejected', { kind: 'refused', reason: {} }],
  ['unavailable', { kind: 'unreadable' }],
  ['unknown', { kind: 'unknown' }],
])('a call to the provider is counted as %s where it answers %j', async (outcome, answer) => {
  const metrics = createMetrics()
  const call = () => T.of(answer as never)
  const port = { source: 'sandbox', dealsPage: call, heldOrders: call, findOrder: call }
  const metered = meteredProvider(port, metrics.providerCalls)
  expect(metered.source).toBe('sandbox')
  const calls = [metered.dealsPage, metered.heldOrders, metered.findOrder]
  for (const call of calls) expect(await call()()).toBe(answer)
  expect(await valuesOf(metrics, 'tradeport_provider_call_duration_seconds_count')).toEqual({
    [`call=deals outcome=${outcome}`]: 1,
    [`call=working_orders outcome=${outcome}`]: 1,
    [`call=find_order outcome=${outcome}`]: 1,
  })
})

const verdict = (exceeded?: LimiterScope) => ({
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
          const limiter = {
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
          const count = (wanted: RateVerdict) => decisions.filter(([one]) => one === wanted).length
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
        groupOf: String,
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
    let reading = { status: 'shared' as 'shared' | 'alone', localFallbackMs: 0 }
    metrics.watchLimiter({
      status: () => reading.status,
      localFallbackMs: () => reading.localFallbackMs,
    })
    for (const [status, localFallbackMs, isAlone] of [
      ['shared', 0, 0],
      ['alone', 1_500, 1],
      ['shared', 2_000, 0],
    ] as const) {
      reading = { status, localFallbackMs }
      expect(await valuesOf(metrics, 'tradeport_limiter_alone')).toEqual({ '': isAlone })
      expect(await valuesOf(metrics, 'tradeport_limiter_alone_seconds_total')).toEqual({
        '': localFallbackMs / 1_000,
      })
    }
  })
})

it('the backlog is reported as it is read, and omitted if it cannot be read', async () => {
  const metrics = createMetrics()
  let reading: Backlog | undefined = {
    queues: [{ queue: 'orders', waiting: 2, oldestMs: 1_500 }],
    orders: { pending: 3, unknown: 1, oldestUnknownMs: 61_000 },
    journals: {
      disagreeing: 2,
      watched: 1_000,
      watchedFailing: 3,
      watchLagMs: 1_500,
      unchecked: 4,
    },
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
    tradeport_threshold_accounts_unchecked: { '': 4 },
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

it('the process is reported once, and each of its instances has its own numbers', async () => {
  const [one, other] = [createMetrics(), createMetrics()]
  one.ownerNotice('sent')
  one.suspensionBegan()
  one.malformedRequest(431)
  one.webhookDisabled()
  expect(await valuesOf(one, 'tradeport_http_unread_total')).toEqual({ 'status=431': 1 })
  expect(await valuesOf(one, 'tradeport_owner_notices_total')).toMatchObject({
    'outcome=sent': 1,
  })
  expect(await valuesOf(one, 'tradeport_webhooks_disabled_total')).toEqual({ '': 1 })
  expect(await valuesOf(other, 'tradeport_owner_notices_total')).toEqual({
    'outcome=sent': 0,
    'outcome=no_address': 0,
    'outcome=refused': 0,
    'outcome=undelivered': 0,
  })
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
