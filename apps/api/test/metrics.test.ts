// The metrics of a running service: who may read them, that they tell what was done, and that whatever callers are called and send makes no new series.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, openDesk } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'
import { operatorToken } from './support/start-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const metricsToken = 'metrics-token-for-tests'
const scopes = ['accounts:read', 'trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']
const users = ['first', 'second'].map((name, index) => ({
  user: `user-${name}`,
  tenant: `tenant-${name}`,
  key: `tp_live_only_for_automated_tests_metrics_${name}`,
  provider: `provider-${name}`,
  account: newAccountUuid(index + 1),
}))
type User = (typeof users)[number]

/** Every line of a metric of ours, without its value. */
const seriesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('tradeport_'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')))
const valueOf = (text: string, series: string): number => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  if (line === undefined) throw new Error(`there is no ${series}`)
  return Number(line.slice(series.length))
}

// The same of everybody: what a history leaves open is each account's own.
const held = [0.2, 0.3].map((volume) => ({ symbol: 'EURUSD', side: 'buy', volume }) as const)

describe('metrics', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startTestService(
      users.map(({ provider }) => ({ id: provider, generate: { trades: 10 }, positions: held })),
      { environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } },
    )
    await service.setUp(
      ...users.map(({ user, tenant, key, provider, account }) =>
        linkDocument({ tenant, user, key, providerToken }, [{ id: account, providerAccountId: provider }], scopes),
      ),
    )
  })
  afterAll(() => service?.close())

  const scrape = async (): Promise<string> => {
    const { status, body, headers } = await request(`${service.operatorUrl}/metrics`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    return body
  }

  it('are read on the operator’s listener, and are nothing on the public one', async () => {
    expect(await scrape()).toContain('tradeport_http_request_duration_seconds')
    for (const headers of [{}, { Authorization: `Bearer ${operatorToken}` }]) {
      const { status, body } = await request(`${service.apiUrl}/metrics`, { headers })
      expect([status, body.error.code]).toEqual([404, 'NOT_FOUND'])
    }
  })

  /** A bit of everything, well and badly asked, with words that are this user's own. */
  const journey = async ({ user, key, account, tenant }: User): Promise<void> => {
    const desk = openDesk(service, { key, accountId: account })
    const get = (path: string, headers: Record<string, string> = { 'X-API-Key': key }): Promise<Reply> =>
      request(`${service.apiUrl}${path}`, { headers })
    await desk.placeAndSettle({ clientId: user, comment: tenant })
    await desk.post({ accountId: newAccountUuid(99) })
    await desk.post({ volume: 11 })
    const positions = (await desk.get('/positions')).body.data
    await desk.get('/positions')
    await desk.get(`/positions/${positions[0].id}`)
    await desk.call('PUT', `/positions/${positions[0].id}/sl`, { value: 0.5 })
    await desk.call('PUT', `/positions/${user}/sl`, { value: 1 })
    await desk.call('POST', `/positions/${positions[1].id}/close`, {})
    for (const path of [
      '/accounts',
      `/accounts/${account}`,
      `/accounts/${user}`,
      '/trades',
      '/trades/stats',
      '/orders',
      `/orders/${user}`,
      `/symbols?search=${user}`,
    ])
      await desk.get(path)
    const webhook = await desk.call('POST', '/webhooks', { url: `https://127.0.0.1:1/${user}`, eventTypes: ['order.filled'] })
    await desk.call('POST', `/webhooks/${webhook.body.data.id}/test`)
    for (const path of [
      `/${user}`,
      `/api/v1/${user}/${account}`,
      `/api/v1/quotes/${user.toUpperCase()}`,
      `/healthz?${user}`,
      `/readyz/${user}`,
    ])
      await get(path)
    await get('/api/v1/accounts', { 'X-API-Key': `tp_live_unknown_${user}` })
    await get('/api/v1/accounts', { Authorization: `Bearer ${user}`, 'X-Request-ID': user })
    // Told after a look at the database that is a few seconds old at most.
    await eventually(
      async () => valueOf(await scrape(), 'tradeport_orders_pending'),
      (pending) => pending === 0,
    )
  }

  it('have the same series whoever asks for whatever, and tell nothing of them', async () => {
    const [first, second] = users as [User, User]
    await journey(first)
    await scrape()
    const before = seriesOf(await scrape())
    await journey(second)
    const text = await scrape()
    expect(seriesOf(text)).toEqual(before)
    expect(new Set(before).size).toBe(before.length)
    const words = [...users.flatMap((user) => Object.values(user)), 'user-', 'tenant-', 'tp_live', providerToken, operatorToken]
    for (const word of words) expect(text).not.toContain(word)
  })

  it('are those that docs/metrics.md lists, all of them and no other', async () => {
    const told = [...(await scrape()).matchAll(/^# TYPE (tradeport_\w+)/gm)].map(([, name = '']) => name)
    // Expressions name the parts of a histogram.
    const named = [...documented].map((name) => name.replace(/_(?:bucket|count|sum)$/, ''))
    expect(new Set(named)).toEqual(new Set(told))
  })

  it('tell what was done', async () => {
    const text = await scrape()
    const requests = (method: string, route: string, status: number): number =>
      valueOf(text, `tradeport_http_request_duration_seconds_count{method="${method}",route="/api/v1${route}",status="${status}"}`)
    expect(requests('POST', '/orders', 201)).toBe(2)
    expect(requests('POST', '/orders', 404)).toBe(2)
    expect(requests('GET', '/positions', 200)).toBe(4)
    expect(requests('GET', '/accounts', 401)).toBe(4)
    expect(valueOf(text, 'tradeport_http_request_duration_seconds_count{method="POST",route="/operator/v1/apply",status="200"}')).toBe(1)
    expect(
      valueOf(text, 'tradeport_http_request_duration_seconds_count{method="any",route="unmatched",status="404"}'),
    ).toBeGreaterThanOrEqual(6)
    expect(valueOf(text, 'tradeport_provider_call_duration_seconds_count{call="place_order",outcome="ok"}')).toBe(2)
    expect(valueOf(text, 'tradeport_provider_call_duration_seconds_count{call="close_position",outcome="ok"}')).toBe(2)
    expect(valueOf(text, 'tradeport_webhook_delivery_duration_seconds_count{outcome="connection_failed"}')).toBe(2)
    expect(valueOf(text, 'tradeport_cache_reads_total{cache="api_keys",result="hit"}')).toBeGreaterThan(10)
    expect(valueOf(text, 'tradeport_cache_reads_total{cache="positions",result="hit"}')).toBeGreaterThan(0)
    expect(valueOf(text, 'tradeport_limiter_admitted_total')).toBeGreaterThan(20)
    expect(valueOf(text, 'tradeport_backlog_readable')).toBe(1)
    expect(valueOf(text, 'tradeport_database_connections_max')).toBe(1)
  })
})

/** Every name that stands there. */
const documented = new Set(readFileSync(resolve(import.meta.dirname, '../../../docs/metrics.md'), 'utf8').match(/tradeport_\w+/g))

describe('metrics with a token of their own', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startTestService([], { environment: { METRICS_TOKEN: metricsToken } })
  })
  afterAll(() => service?.close())

  it('are read on both listeners by whoever brings it, and by nobody else', async () => {
    for (const url of [service.apiUrl, service.operatorUrl]) {
      const ask = (headers: Record<string, string>): Promise<Reply> => request(`${url}/metrics`, { headers })
      const admitted = await ask({ Authorization: `Bearer ${metricsToken}` })
      expect([admitted.status, admitted.body]).toEqual([200, expect.stringContaining('tradeport_limiter_alone 0')])
      for (const headers of [
        {},
        { Authorization: `Bearer ${operatorToken}` },
        { Authorization: metricsToken },
        { 'X-API-Key': metricsToken },
      ]) {
        const refused = await ask(headers)
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
        expect(refused.body).not.toContain('tradeport_')
      }
    }
  })
})
