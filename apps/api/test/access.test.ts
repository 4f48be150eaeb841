// Who comes in: keys, tokens, allowlists, and the order in which a request is looked at.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '@tradeport/http'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_access'
const startsAt = '2026-03-07T12:00:00.000Z'
const clock = createTestClock(startsAt)
const account = newAccountUuid(1)

let service: RunningService
const send = (path: string, headers: Record<string, string>, method = 'GET'): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1${path}`, { method, headers })
const withKey = (text: string) => send('/accounts', { 'X-API-Key': text })
const withToken = (text: string) => send('/accounts', { Authorization: `Bearer ${text}` })
const refused = { status: 401, body: { success: false, data: null, error: { code: 'UNAUTHORIZED' } } }

const newKey = async (fields: object): Promise<string> => {
  const id = `k-${Math.random()}`
  const { body } = await service.apply({ apiKeys: [{ id, userId: 'u-1', name: 'bot', scopes: ['accounts:read'], ...fields }] })
  return body.data.apiKeys[0].key
}
const newToken = async (fields: object): Promise<string> => {
  const id = `t-${Math.random()}`
  const entry = { id, userId: 'u-1', applicationId: 'app-1', scopes: ['accounts:read'], ...fields }
  const { body } = await service.apply({ accessTokens: [entry] })
  return body.data.accessTokens[0].token
}

beforeAll(async () => {
  service = await startTestService([{ id: 'main' }, { id: 'other' }], { now: clock.now })
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }]),
    linkDocument({ tenant: 'acme', user: 'u-2', key: 'tp_live_only_for_automated_tests_access_other', providerToken }, [
      { id: newAccountUuid(2), providerAccountId: 'other' },
    ]),
  )
})
afterAll(() => service?.close())

describe('an API key', () => {
  it('lets its user in, with a reply that is not to be stored', async () => {
    const { status, headers, body } = await withKey(key)
    expect({ status, version: body.meta.version, caching: headers.get('Cache-Control') }).toEqual({
      status: 200,
      version: '1.0.0',
      caching: 'no-store',
    })
  })

  it('is needed on every route but market data', async () => {
    for (const { method, path, access } of apiRoutes) {
      const reply = await send(path.replace(':id', account).replace(':symbol', 'EURUSD'), {}, method)
      if (access.kind === 'public') expect(reply.status, path).not.toBe(401)
      else expect(reply, path).toMatchObject(refused)
    }
  })

  it.each(['', 'tp_live_', 'tp_live_unknown', ` ${'x'.repeat(5_000)}`, `${key}2`, key.toUpperCase()])(
    'is refused when it is unknown: "%s"',
    async (text) => {
      expect(await withKey(text)).toMatchObject(refused)
    },
  )

  it('is refused when it is sent as a token, and a token when it is sent as a key', async () => {
    expect(await withToken(key)).toMatchObject(refused)
    expect(await withKey(await newToken({}))).toMatchObject(refused)
  })

  it('is refused from the moment at which it expires', async () => {
    const text = await newKey({ expiresAt: new Date(clock.now() + 10_000).toISOString() })
    clock.advance(9_999)
    expect((await withKey(text)).status).toBe(200)
    clock.advance(1)
    expect(await withKey(text)).toMatchObject(refused)
  })

  it.each([
    ['revoked', { enabled: false }],
    ['removed', { removed: true }],
    ['expired', { expiresAt: startsAt }],
  ])('is refused at once when it is %s by the operator', async (_, change) => {
    const { body } = await service.apply({ apiKeys: [{ id: 'k-brief', userId: 'u-1', scopes: ['accounts:read'] }] })
    const text = body.data.apiKeys[0].key
    expect((await withKey(text)).status).toBe(200)
    await service.setUp({ apiKeys: [{ id: 'k-brief', ...change }] })
    expect(await withKey(text)).toMatchObject(refused)
    await service.setUp({ apiKeys: [{ id: 'k-brief', removed: true }] })
  })

  it('is refused with its user and with its tenant', async () => {
    await service.setUp(
      linkDocument({ tenant: 'brief', user: 'u-brief', key: 'tp_live_only_for_automated_tests_brief', providerToken }, []),
    )
    expect((await withKey('tp_live_only_for_automated_tests_brief')).status).toBe(200)
    await service.setUp({ tenants: [{ id: 'brief', removed: true }] })
    expect(await withKey('tp_live_only_for_automated_tests_brief')).toMatchObject(refused)
  })
})

describe('an access token', () => {
  it('lets the user in, whatever the case of Bearer', async () => {
    const token = await newToken({})
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await send('/accounts', { Authorization: `${scheme} ${token}` })).body.data[0].id).toBe(account)
  })

  it('is the one that is used when a key is sent as well', async () => {
    const other = await newToken({ userId: 'u-2' })
    expect((await send('/accounts', { 'X-API-Key': key, Authorization: `Bearer ${other}` })).body.data[0].id).toBe(newAccountUuid(2))
    expect(await send('/accounts', { 'X-API-Key': key, Authorization: 'Bearer nonsense' })).toMatchObject(refused)
    expect(await send('/accounts', { 'X-API-Key': key, Authorization: 'Bearer ' })).toMatchObject(refused)
  })

  it('is refused when it is expired, revoked or removed', async () => {
    expect(await withToken(await newToken({ expiresAt: startsAt }))).toMatchObject(refused)
    expect(await withToken(await newToken({ enabled: false }))).toMatchObject(refused)
    const { body } = await service.apply({
      accessTokens: [{ id: 't-brief', userId: 'u-1', applicationId: 'app-1', scopes: ['accounts:read'] }],
    })
    const { token } = body.data.accessTokens[0]
    expect((await withToken(token)).status).toBe(200)
    await service.setUp({ accessTokens: [{ id: 't-brief', removed: true }] })
    expect(await withToken(token)).toMatchObject(refused)
  })
})

describe('the allowlist of a key', () => {
  it.each([[['127.0.0.1']], [['127.0.0.0/8']], [['10.0.0.0/8', '127.0.0.1/32']], [['::ffff:127.0.0.1']], [[]]])(
    'lets in from %j',
    async (ipAllowlist) => {
      expect((await withKey(await newKey({ ipAllowlist }))).status).toBe(200)
    },
  )

  it.each([[['10.0.0.0/8']], [['127.0.0.2']], [['::1', '2001:db8::/32']]])(
    'keeps out from %j, whatever X-Forwarded-For says',
    async (ipAllowlist) => {
      const text = await newKey({ ipAllowlist })
      expect(await withKey(text)).toMatchObject(refused)
      expect(await send('/accounts', { 'X-API-Key': text, 'X-Forwarded-For': '10.0.0.1' })).toMatchObject(refused)
    },
  )
})

describe('a credential where none belongs', () => {
  it.each([
    'api_key=x',
    'apikey=x',
    'API-KEY=x',
    'x-api-key=x',
    'access_token=x',
    'token=',
    'Authorization=x',
    'symbol=tp_live_anything',
    'anything=tp_live_',
  ])('is 401 in the query, even beside a good key: %s', async (query) => {
    expect(await send(`/positions?${query}`, { 'X-API-Key': key })).toMatchObject(refused)
  })
})

describe('the order in which a request is looked at', () => {
  it.each(['/nothing', '/accounts/', '/Accounts', `/accounts/${account}/nothing`, '/market/symbols', '/trades/export/csv'])(
    'the route first: 404 on %s without a credential',
    async (path) => {
      expect(await service.get(path)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
    },
  )

  it.each(['DELETE', 'PATCH', 'PUT'])('the method with it: 404 for %s /accounts', async (method) => {
    expect(await send('/accounts', { 'X-API-Key': key }, method)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
  })

  it('the credential before the query, the scope before the query', async () => {
    expect((await service.get('/positions?limit=none')).status).toBe(401)
    expect((await service.get('/positions?limit=none', await newKey({}))).status).toBe(403)
    expect((await service.get('/positions?limit=none', key)).status).toBe(400)
  })
})

describe('the request id', () => {
  it.each(['abc', 'A-1_b:2.c', 'x'.repeat(128)])('is the caller’s own: %s', async (id) => {
    const { headers, body } = await send('/accounts', { 'X-API-Key': key, 'X-Request-ID': id })
    expect([headers.get('X-Request-ID'), body.meta.request_id]).toEqual([id, id])
    const failed = await send('/accounts', { 'X-Request-ID': id })
    expect([failed.headers.get('X-Request-ID'), failed.body.error.request_id]).toEqual([id, id])
  })

  it.each(['', 'a b', 'x'.repeat(129), '<script>'])('is a new one where the caller’s is none: "%s"', async (id) => {
    const { headers, body } = await send('/accounts', { 'X-API-Key': key, 'X-Request-ID': id })
    expect(body.meta.request_id).toMatch(/^req_[A-Za-z0-9._:-]{8,}$/)
    expect(headers.get('X-Request-ID')).toBe(body.meta.request_id)
  })

  it('is another for every request', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => withKey(key)))
    expect(new Set(replies.map(({ body }: Json) => body.meta.request_id)).size).toBe(20)
  })
})
