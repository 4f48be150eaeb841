// Without the capabilities that were on before. Which routes and fields there are then is tested in
// packages/http.
import { expect, it } from 'vitest'
import { eventually, keyOf, linkDesk, pinPrice } from './support/desk.ts'
import { useTestService } from './support/service.ts'

const haltWarnings = () => service.logged.filter(({ event }) => event === 'halts_ignored')
const service = useTestService([], {
  environment: { CAPABILITIES: 'pending-orders, trading-tools', WATCH_SECONDS: '2' },
})

it('follows an order that was left open, sends orders of halted accounts, of which it warns, and has nothing else of a capability that was on', async () => {
  pinPrice(service.sandbox, 1.1)
  const { find, place } = await linkDesk(service)
  const { id } = await place({ orderType: 'limit', price: 1.09 })
  const statusOnce = async (expected: string) =>
    (
      await eventually(
        () => find(id),
        ({ status }) => status === expected,
      )
    ).status
  expect(await statusOnce('open')).toBe('open')
  const halted = await linkDesk(service)
  const halt = await halted.call('POST', `/accounts/${halted.accountId}/halt`, {})
  expect(halt.status).toBe(200)
  expect(haltWarnings()).toEqual([])
  await service.restart({ CAPABILITIES: '' })
  expect(haltWarnings()).toMatchObject([{ level: 40, accounts: 1 }])
  expect(await halted.placeAndWait()).toMatchObject({ status: 'filled' })
  const hooked = await linkDesk(service)
  await hooked.createWebhook({ url: 'https://example.com', eventTypes: ['position.closed'] })
  for (const path of ['/console', '/api/v1/events']) {
    const url = `${service.apiUrl}${path}`
    // Not checked against the document, which has the routes.
    expect((await fetch(url, { headers: { 'X-API-Key': keyOf('u-1') } })).status).toBe(404)
  }
  // Two rounds of the watch find it again at the broker, and the next that it is filled.
  const rounds = service.sandbox.requests.count({ route: 'orders' })
  await expect
    .poll(() => service.sandbox.requests.count({ route: 'orders' }))
    .toBeGreaterThan(rounds + 1)
  pinPrice(service.sandbox, 1.088)
  expect(await statusOnce('filled')).toBe('filled')
  expect(hooked.requests('deals')).toBe(0)
})
