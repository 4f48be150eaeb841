// A service behind a proxy that it trusts: the allowlist of a key applies to the address that called the proxy (TRUST_PROXY).
import { afterAll, beforeAll, expect, it } from 'vitest'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'
import { linkDocument } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_proxies'

let service: RunningService
beforeAll(async () => {
  service = await startTestService([], { environment: { TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8' } })
  await service.setUp(linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, []))
  await service.setUp({ apiKeys: [{ id: 'u-1-key', ipAllowlist: ['203.0.113.0/24'] }] })
})
afterAll(() => service?.close())

it.each<readonly [status: number, forwarded: string | undefined]>([
  [200, '203.0.113.9'],
  [200, '198.51.100.1, 203.0.113.9, 10.1.2.3'],
  [401, '203.0.113.9, 198.51.100.1'],
  [401, '203.0.113.9, nonsense'],
  [401, undefined],
])('answers %i where X-Forwarded-For is %s', async (status, forwarded) => {
  const headers: Record<string, string> = { 'X-API-Key': key, ...(forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }) }
  expect((await request(`${service.apiUrl}/api/v1/accounts`, { headers })).status).toBe(status)
})
