// The metrics of a running service: who may read them, what they count, and that whatever callers
// are called and send makes no new series.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { linkDesk, newAccountUuid } from './support/desk.ts'
import { operatorToken, providerToken, request, useTestService } from './support/service.ts'

const metricsToken = 'metrics-token-for-tests'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

/** Every line of a metric of ours, without its value. */
const seriesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('tradeport_'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')))
const valueOf = (text: string, series: string) => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length) ?? expect.fail(`there is no ${series}`))
}

describe('metrics', () => {
  const service = useTestService([], {
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', METRICS_TOKEN: metricsToken },
  })
  const scrape = async () =>
    (await request(`${service.operatorUrl}/metrics`, { headers: bearer(metricsToken) })).body

  it('are read on both listeners with their own token where there is one', async () => {
    for (const url of [service.apiUrl, service.operatorUrl]) {
      expect((await request(`${url}/metrics`, { headers: bearer(metricsToken) })).status).toBe(200)
      expect((await request(`${url}/metrics`, { headers: bearer(operatorToken) })).status).toBe(401)
    }
  })

  /** A bit of everything, well and badly asked, with words that are this user's own. */
  const journey = async (user: string) => {
    const positions = [0.2, 0.3].map(
      (volume) => ({ symbol: 'EURUSD', side: 'buy', volume }) as const,
    )
    const desk = await linkDesk(service, {
      user,
      tenant: `tenant-${user}`,
      broker: { generate: { trades: 10 }, positions },
    })
    await desk.placeAndWait({ clientId: user, comment: user })
    await desk.post({ accountId: newAccountUuid(99) })
    await desk.list()
    const [first = '', second = ''] = desk.broker.held().map(({ ticket }) => ticket)
    await desk.moveStopLoss(first, 0.5)
    await desk.call('PUT', `/positions/${user}/sl`, { value: 1 })
    await desk.close(second)
    const { accountId } = desk
    for (const path of [
      '/accounts',
      `/accounts/${accountId}`,
      `/accounts/${user}`,
      '/trades',
      '/orders',
      `/symbols?search=${user}`,
      `/${user}`,
      `/quotes/${user.toUpperCase()}`,
    ])
      await desk.get(path)
    const webhook = await desk.createWebhook({
      url: `https://127.0.0.1:1/${user}`,
      eventTypes: ['order.filled'],
    })
    await desk.call('POST', `/webhooks/${webhook.id}/test`)
    await request(`${service.apiUrl}/readyz/${user}`)
    await service.get('/accounts', `tp_live_unknown_${user}`)
    // Read from the database a few seconds ago at most.
    await expect.poll(async () => valueOf(await scrape(), 'tradeport_orders_pending')).toBe(0)
  }

  it('count what was done under the same series whoever asks for whatever, and are those that docs/metrics.md lists', async () => {
    await journey('user-first')
    await scrape()
    const before = seriesOf(await scrape())
    await journey('user-second')
    const text = await scrape()
    expect(seriesOf(text)).toEqual(before)
    expect(new Set(before).size).toBe(before.length)
    for (const word of ['user-', 'tenant-', 'tp_live', 'linked-', '7e57acc0', providerToken])
      expect(text).not.toContain(word)
    const requests = (labels: string) =>
      valueOf(text, `tradeport_http_request_duration_seconds_count{${labels}}`)
    expect(requests('method="POST",route="/api/v1/orders",status="201"')).toBe(2)
    expect(requests('method="GET",route="/api/v1/accounts",status="401"')).toBe(2)
    expect(requests('method="any",route="unmatched",status="404"')).toBeGreaterThan(1)
    expect(
      valueOf(
        text,
        'tradeport_provider_call_duration_seconds_count{call="place_order",outcome="ok"}',
      ),
    ).toBe(2)
    expect(
      valueOf(
        text,
        'tradeport_webhook_delivery_duration_seconds_count{outcome="connection_failed"}',
      ),
    ).toBe(2)
    expect(
      valueOf(text, 'tradeport_cache_reads_total{cache="api_keys",result="hit"}'),
    ).toBeGreaterThan(10)
    expect(valueOf(text, 'tradeport_limiter_admitted_total')).toBeGreaterThan(20)
    const documented =
      readFileSync(resolve(import.meta.dirname, '../../../docs/metrics.md'), 'utf8').match(
        /tradeport_\w+/g,
      ) ?? []
    // Expressions there name the parts of a histogram.
    const named = documented.map((name) => name.replace(/_(?:bucket|count|sum)$/, ''))
    expect(new Set(named)).toEqual(
      new Set([...text.matchAll(/^# TYPE (tradeport_\w+)/gm)].map(([, name]) => name)),
    )
  })
})
