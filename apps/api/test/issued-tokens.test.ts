// JWT access tokens of a configured issuer, beside keys and stored tokens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { audience, startTestIssuer } from './support/test-issuer.ts'
import type { TestIssuer } from './support/test-issuer.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_issued'
const clock = createTestClock('2026-03-07T12:00:00.000Z')
const nowSeconds = () => clock.now() / 1_000
const account = newAccountUuid(1)
const refused = { status: 401, body: { success: false, data: null, error: { code: 'UNAUTHORIZED' } } }

let issuer: TestIssuer
let service: RunningService
const get = (path: string, token: string, headers: Record<string, string> = {}): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1${path}`, { headers: { ...headers, Authorization: `Bearer ${token}` } })
const user = (tenant: string, id: string, ownKey = `tp_live_only_for_automated_tests_${id}`) =>
  linkDocument({ tenant, user: id, key: ownKey, providerToken }, [])
const remaining = async (claims: object): Promise<number> =>
  Number((await get('/accounts', await issuer.sign({ client_id: 'app-limits', ...claims }))).headers.get('X-RateLimit-Remaining'))
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

beforeAll(async () => {
  issuer = await startTestIssuer(clock.now)
  service = await startTestService([{ id: 'main' }], {
    now: clock.now,
    environment: { OAUTH_ISSUER: issuer.url, OAUTH_AUDIENCE: audience },
  })
  await service.setUp(linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }]))
  await service.setUp(user('acme', 'u-2'), user('other', 'u-3'))
})
afterAll(async () => {
  await service?.close()
  await issuer?.close()
})

describe('a token of the issuer', () => {
  it('lets its user in, with the scopes that it names', async () => {
    const token = await issuer.sign({ scope: 'openid accounts:read' })
    expect(await get('/accounts', token)).toMatchObject({ status: 200, body: { data: [{ id: account }] } })
    expect(await get('/trades', token)).toMatchObject({ status: 403, body: { error: { code: 'INSUFFICIENT_SCOPE' } } })
    expect(await get('/accounts', await issuer.sign({ scope: undefined }))).toMatchObject({ status: 403 })
  })

  it('is the one that is used when a key is sent as well (rule 3)', async () => {
    const ofAnother = await issuer.sign({ sub: 'u-2' })
    expect(await get('/accounts', ofAnother, { 'X-API-Key': key })).toMatchObject({ status: 200, body: { data: [] } })
    expect(await get('/accounts', `${ofAnother}x`, { 'X-API-Key': key })).toMatchObject(refused)
  })

  it.each<[string, object, object?]>([
    ['for another audience', { aud: 'https://other.example.com' }],
    ['of another issuer', { iss: 'https://login.example.com' }],
    ['of nobody who is here', { sub: 'u-unknown' }],
    ['of a user of another tenant', { sub: 'u-3' }],
    ['of a tenant that the user is not of', { tenant: 'other' }],
    ['not valid yet', { nbf: nowSeconds() + 3_600 }],
    ['an ID token', {}, { typ: 'JWT' }],
  ])('is refused when it is %s (rule 6)', async (_, claims, header) => {
    expect(await get('/accounts', await issuer.sign(claims, header))).toMatchObject(refused)
  })

  it('is refused when it was changed, or is not signed at all', async () => {
    const [header, payload = '', signature] = (await issuer.sign()).split('.')
    const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'u-2' }
    expect(await get('/accounts', [header, encoded(claims), signature].join('.'))).toMatchObject(refused)
    expect(await get('/accounts', [encoded({ alg: 'none', typ: 'at+jwt' }), payload, ''].join('.'))).toMatchObject(refused)
  })

  it('is refused from the moment at which it expires, though it was believed just before', async () => {
    const token = await issuer.sign({ exp: nowSeconds() + 60 })
    clock.advance(59_999)
    expect((await get('/accounts', token)).status).toBe(200)
    clock.advance(1)
    expect(await get('/accounts', token)).toMatchObject(refused)
  })

  it('is refused as soon as the operator removes its user, and no longer when the user is back', async () => {
    await service.setUp(user('acme', 'u-brief'))
    const token = await issuer.sign({ sub: 'u-brief' })
    expect((await get('/accounts', token)).status).toBe(200)
    await service.setUp({ users: [{ id: 'u-brief', removed: true }] })
    expect(await get('/accounts', token)).toMatchObject(refused)
    await service.setUp(user('acme', 'u-brief'))
    expect((await get('/accounts', token)).status).toBe(200)
  })

  it('shares its limits with the other tokens of its application and user, on the user’s plan', async () => {
    const first = await remaining({ jti: '1' })
    expect(first).toBeGreaterThan(20_000)
    expect(await remaining({ jti: '2' })).toBe(first - 1)
    expect(await remaining({ client_id: 'app-other' })).toBe(first)
    expect(await remaining({ sub: 'u-2' })).toBe(first)
  })
})

it('stored tokens and keys work as ever', async () => {
  const entry = { id: 't-1', userId: 'u-1', applicationId: 'app-1', scopes: ['accounts:read'], token: 'stored-and-opaque' }
  await service.setUp({ accessTokens: [entry, { ...entry, id: 't-2', token: 'stored.like.jwt' }] })
  const reads = issuer.reads()
  for (const token of ['stored-and-opaque', 'stored.like.jwt']) expect((await get('/accounts', token)).status).toBe(200)
  expect((await service.get('/accounts', key)).status).toBe(200)
  expect(issuer.reads()).toBe(reads)
  for (const token of ['opaque', 'a.b.c', key]) expect(await get('/accounts', token)).toMatchObject(refused)
})

// Last, since the issuer does not come back.
it('the issuer may change its key, and go away: what is known goes on, and nothing is said of what is not', async () => {
  const old = await issuer.sign()
  await issuer.rotate()
  const newer = await issuer.sign()
  for (const token of [old, newer]) expect((await get('/accounts', token)).status).toBe(200)
  await issuer.rotate()
  const newest = await issuer.sign()
  const another = await issuer.sign({ jti: 'never seen' }, { kid: 'key-1' })
  await issuer.close()
  for (const token of [old, newer]) expect((await get('/accounts', token)).status).toBe(200)
  expect(await get('/accounts', newest)).toMatchObject({
    status: 503,
    body: { error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('the keys that would prove the access token') } },
  })
  expect(await get('/accounts', another)).toMatchObject(refused)
  expect((await service.get('/accounts', key)).status).toBe(200)
})
