// Who may call: keys, stored tokens, tokens of an issuer, and allowlists behind a proxy. What is
// refused case by case is tested in packages/domain, headers and scopes in packages/http.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyOf, linkDesk, linkDocument, refusalOf, type LinkedDesk } from './support/desk.ts'
import { createTestClock, request, startTestService, type TestService } from './support/service.ts'
import { audience, startTestIssuer, type TestIssuer } from './support/test-issuer.ts'

const clock = createTestClock('2026-03-07T12:00:00.000Z')
const unauthorized = { status: 401, code: 'UNAUTHORIZED' }

let issuer: TestIssuer
let service: TestService
let desk: LinkedDesk
beforeAll(async () => {
  issuer = await startTestIssuer(clock.now)
  service = await startTestService([], {
    now: clock.now,
    environment: {
      OAUTH_ISSUER: issuer.url,
      OAUTH_AUDIENCE: audience,
      TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8',
    },
  })
  desk = await linkDesk(service, { user: 'u-1' })
  await service.setUp(linkDocument({ user: 'u-2' }), linkDocument({ user: 'u-3', tenant: 'other' }))
})
afterAll(async () => {
  await service?.close()
  issuer?.close()
})

const ask = (headers: Readonly<Record<string, string>>, path = '/accounts', method = 'GET') =>
  request(`${service.apiUrl}/api/v1${path}`, { method, headers })
const withKey = (key: string, path?: string) => ask({ 'X-API-Key': key }, path)
const withToken = (token: string, path?: string) => ask({ Authorization: `Bearer ${token}` }, path)
const newKey = async (fields: object = {}) =>
  (await service.setUp({ apiKeys: [{ id: `k-${Math.random()}`, userId: 'u-1', ...fields }] }))
    .apiKeys[0].key

describe('a key', () => {
  it.each([
    ['is revoked', () => ({ apiKeys: [{ id: 'u-brief-key', enabled: false }] })],
    ['loses its tenant', () => ({ tenants: [{ id: 'brief', removed: true }] })],
  ])(
    'is refused at once when it %s, and so is a token of the issuer without its user',
    async (_, change) => {
      await service.setUp(linkDocument({ user: 'u-brief', tenant: 'brief' }))
      await service.setUp({ apiKeys: [{ id: 'u-brief-key', enabled: true }] })
      const token = await issuer.sign({ sub: 'u-brief', tenant: 'brief' })
      expect([(await withKey(keyOf('u-brief'))).status, (await withToken(token)).status]).toEqual([
        200, 200,
      ])
      await service.setUp(change())
      expect(refusalOf(await withKey(keyOf('u-brief')))).toMatchObject(unauthorized)
      expect((await withToken(token)).status).toBe('apiKeys' in change() ? 200 : 401)
    },
  )

  it('applies its allowlist to the address that called the proxy', async () => {
    const key = await newKey({ ipAllowlist: ['203.0.113.0/24'] })
    for (const [status, forwarded] of [
      [200, '198.51.100.1, 203.0.113.9, 10.1.2.3'],
      [401, '203.0.113.9, 198.51.100.1'],
    ] as const)
      expect(
        (await ask({ 'X-API-Key': key, 'X-Forwarded-For': forwarded })).status,
        forwarded,
      ).toBe(status)
  })
})

describe('a token of the issuer', () => {
  it('has its user and the scopes that it names, also beside a key', async () => {
    const token = await issuer.sign({ scope: 'openid accounts:read' })
    expect((await withToken(token)).body.data[0].id).toBe(desk.accountId)
    expect((await withToken(token, '/trades')).status).toBe(403)
    const other = await issuer.sign({ sub: 'u-2' })
    expect(
      (await ask({ 'X-API-Key': keyOf('u-1'), Authorization: `bearer ${other}` })).body.data,
    ).toEqual([])
  })
})

it('a stored token is accepted beside those of the issuer until it is removed', async () => {
  const token = 'stored.with.the.form.of.a.jwt'
  await service.setUp({
    accessTokens: [
      { id: 't-1', userId: 'u-1', applicationId: 'app-1', scopes: ['accounts:read'], token },
    ],
  })
  expect((await withToken(token)).status).toBe(200)
  await service.setUp({ accessTokens: [{ id: 't-1', removed: true }] })
  expect(refusalOf(await withToken(token))).toMatchObject(unauthorized)
})

const askFrom = async (key: string) =>
  refusalOf(await ask({ 'X-API-Key': key, 'X-Forwarded-For': '203.0.113.9' }))

it('an address is refused after sixty wrong keys in a minute, except for keys that were accepted a moment ago', async () => {
  const used = await newKey()
  expect(await askFrom(used)).toMatchObject({ status: 200 })
  for (let failure = 0; failure < 60; failure += 1)
    expect(await askFrom(keyOf('made-up'))).toMatchObject(unauthorized)
  expect(await askFrom(await newKey())).toEqual({
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    details: { scope: 'address' },
  })
  expect(await askFrom(used)).toMatchObject({ status: 200 })
})
