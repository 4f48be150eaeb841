// Without any capability: nothing of one is answered, documented or read at the broker.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { eventually, keyOf, linkDesk } from './support/desk.ts'
import { useTestService, type Json } from './support/service.ts'

const logged: Json[] = []
const haltWarnings = () => logged.filter(({ event }) => event === 'halts_ignored')
const service = useTestService([], {
  environment: { CAPABILITIES: '', WATCH_SECONDS: '2' },
  onLogLine: (line) => logged.push(JSON.parse(line)),
})

it('leaves no trace of the log of events, of insights and of the console, and watches no account', async () => {
  const { accountId, idOf, call } = await linkDesk(service)
  const webhook = { url: 'https://example.com', eventTypes: ['position.closed'] }
  expect((await call('POST', '/webhooks', webhook)).status).toBe(201)
  // Longer than the first round of a watch would take.
  await pause(4_500)
  expect(service.sandbox.requests.count({ route: 'deals' })).toBe(0)
  // Not checked against the document, which has the routes.
  const read = async (path: string): Promise<Json> =>
    (await fetch(`${service.apiUrl}${path}`, { headers: { 'X-API-Key': keyOf('u-1') } })).json()
  for (const [path, code] of [
    ['/console', 'NOT_FOUND'],
    ['/console/trades', 'NOT_FOUND'],
    ['/api/v1/me', 'NOT_FOUND'],
    ['/api/v1/events', 'NOT_FOUND'],
    ['/api/v1/events/stream', 'NOT_FOUND'],
    ['/api/v1/trades/curve', 'TRADE_NOT_FOUND'],
    ['/api/v1/trades/breakdown', 'TRADE_NOT_FOUND'],
    ['/api/v1/trades/robust', 'TRADE_NOT_FOUND'],
    [`/api/v1/trades/${idOf('10')}/deals`, 'NOT_FOUND'],
    [`/api/v1/accounts/${accountId}/reconciliation`, 'NOT_FOUND'],
    ['/api/v1/trades/stats?extended=true', 'VALIDATION_ERROR'],
  ] as const)
    expect((await read(path)).error, path).toMatchObject({ code })
  expect(Object.keys((await read('/api/v1/openapi.json')).paths).join(' ')).not.toMatch(
    /\/(events|me|curve|breakdown|robust|deals|reconciliation)\b/,
  )
})

it('follows an order that was left open at the broker while pending-orders was on', async () => {
  await service.restart({ CAPABILITIES: 'pending-orders' })
  service.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
  const { find, place } = await linkDesk(service)
  const { id } = await place({ orderType: 'limit', price: 1.09 })
  const statusOnce = async (expected: string): Promise<string> =>
    (
      await eventually(
        () => find(id),
        ({ status }) => status === expected,
      )
    ).status
  expect(await statusOnce('open')).toBe('open')
  await service.restart()
  service.sandbox.prices.pin('EURUSD', { bid: 1.088, ask: 1.0882 })
  expect(await statusOnce('filled')).toBe('filled')
})

it('sends orders of halted accounts, and warns of it at the start', async () => {
  await service.restart({ CAPABILITIES: 'trading-tools' })
  const { accountId, call, placeAndWait } = await linkDesk(service)
  expect((await call('POST', `/accounts/${accountId}/halt`, {})).status).toBe(200)
  expect(haltWarnings()).toEqual([])
  await service.restart()
  expect(haltWarnings()).toMatchObject([{ level: 40, accounts: 1 }])
  expect(await placeAndWait()).toMatchObject({ status: 'filled' })
})
