// The limit on failed credentials of one address, as callers see it behind a proxy that the service trusts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'
import { linkDocument } from './support/trading-user.ts'

const usedKey = 'tp_live_only_for_automated_tests_used'
const unusedKey = 'tp_live_only_for_automated_tests_not_used_yet'
const madeUp = 'tp_live_only_for_automated_tests_made_up'

let service: RunningService
beforeAll(async () => {
  service = await startTestService([], { environment: { TRUST_PROXY: '127.0.0.0/8' } })
  await service.setUp(linkDocument({ tenant: 'acme', user: 'u-1', key: [usedKey, unusedKey], providerToken }, []))
})
afterAll(() => service?.close())

const ask = (key: string, address: string, path = '/accounts') =>
  request(`${service.apiUrl}/api/v1${path}`, { headers: { 'X-API-Key': key, 'X-Forwarded-For': address } })

it('refuses an address after sixty wrong keys in a minute, but for keys that were accepted a moment ago', async () => {
  expect((await ask(usedKey, '2001:db8:1:2::1')).status).toBe(200)
  for (let failure = 0; failure < 60; failure += 1) expect((await ask(madeUp, `2001:db8:1:2::${failure + 2}`)).status).toBe(401)
  for (const key of [madeUp, unusedKey]) {
    const { status, headers, body } = await ask(key, '2001:db8:1:2::1')
    expect([status, body.error.code, body.error.details]).toEqual([429, 'RATE_LIMIT_EXCEEDED', { scope: 'address' }])
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(Number(headers.get('Retry-After'))).toBeLessThanOrEqual(60)
    expect(headers.get('X-RateLimit-Limit')).toBeNull()
  }
  expect((await ask(usedKey, '2001:db8:1:2::1')).status).toBe(200)
  expect((await ask(unusedKey, '2001:db8:1:3::1')).status).toBe(200)
  // Now it was accepted, wherever from.
  expect((await ask(unusedKey, '2001:db8:1:2::1')).status).toBe(200)
  // Where no credential is needed, one that is refused is ignored.
  expect((await ask(madeUp, '2001:db8:1:2::1', '/symbols')).status).toBe(200)
  expect((await request(`${service.apiUrl}/api/v1/accounts`, { headers: { 'X-Forwarded-For': '2001:db8:1:2::1' } })).status).toBe(401)
})
