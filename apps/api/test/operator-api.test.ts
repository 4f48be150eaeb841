// The operator API: one document, all or nothing, applied as often as one likes, on a listener of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contractWatch } from './support/hear-reply.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { operatorToken } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const account = newAccountUuid(1)
const clock = createTestClock(Date.now())
const key = 'tp_live_only_for_automated_tests_operator'
const document = linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }])

let service: RunningService
const post = (body: string, headers: Record<string, string> = {}): Promise<Reply> =>
  request(`${service.operatorUrl}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json', ...headers },
    body,
  })
const pathsOf = (reply: Reply): string[] => {
  expect({ status: reply.status, code: reply.body.error?.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
  return reply.body.error.details.issues.map(({ path }: Json) => path)
}

beforeAll(async () => {
  service = await startTestService([{ id: 'main' }], { now: clock.now })
})
afterAll(() => service?.close())

describe('who may apply', () => {
  it.each<[string, Record<string, string>]>([
    ['no token', { Authorization: '' }],
    ['another token', { Authorization: 'Bearer another-token-altogether' }],
    ['part of the token', { Authorization: `Bearer ${operatorToken.slice(0, -1)}` }],
    ['the token in another scheme', { Authorization: `Basic ${operatorToken}` }],
    ['the token as a key', { Authorization: '', 'X-API-Key': operatorToken }],
  ])('is nobody with %s', async (_, headers) => {
    expect(await post(JSON.stringify(document), headers)).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
    expect((await service.get('/accounts', key)).status).toBe(401)
  })

  it('is nobody on the public listener, and the API is not on the operator’s', async () => {
    const headers = { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' }
    for (const url of [`${service.apiUrl}/operator/v1/apply`, `${service.apiUrl}/api/v1/apply`])
      expect((await request(url, { method: 'POST', headers, body: '{}' })).status).toBe(404)
    contractWatch.leaveOut(service.operatorUrl)
    expect((await request(`${service.operatorUrl}/api/v1/symbols`)).status).toBe(404)
    expect((await request(`${service.operatorUrl}/operator/v1/apply`, { headers })).status).toBe(404)
  })
})

describe('a document', () => {
  it('is applied, tells the key that it gave, and is in the API’s envelope', async () => {
    const { status, headers, body } = await service.apply(document)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: { apiKeys: [{ id: 'u-1-key', key }], accessTokens: [] },
      meta: { timestamp: expect.any(String), request_id: headers.get('X-Request-ID'), version: '1.0.0' },
      error: null,
    })
    expect((await service.get('/accounts', key)).body.data).toHaveLength(1)
  })

  it('changes nothing when it is applied again', async () => {
    const before = (await service.get('/accounts', key)).body.data
    expect((await service.apply(document)).status).toBe(200)
    const after = (await service.get('/accounts', key)).body.data
    expect(after[0].createdAt).toBe(before[0].createdAt)
    expect({ ...after[0], updatedAt: '' }).toEqual({ ...before[0], updatedAt: '' })
    expect((await service.get(`/accounts/${account}/history`, key)).body.data).toHaveLength(1)
  })

  it('may be empty', async () => {
    expect((await service.apply({})).body.data).toEqual({ apiKeys: [], accessTokens: [] })
  })

  it('leaves alone what it does not name, and unsets what it names as null', async () => {
    await service.setUp({ accounts: [{ id: account, name: 'Renamed', broker: 'Example Broker', status: 'disconnected' }] })
    const named = (await service.get('/accounts', key)).body.data[0]
    expect(named).toMatchObject({
      name: 'Renamed',
      broker: 'Example Broker',
      server: 'Example-Demo',
      purpose: 'trading',
      accountNumber: '5000000',
    })
    await service.setUp({ accounts: [{ id: account, broker: null, status: 'syncing' }] })
    expect((await service.get('/accounts', key)).body.data[0]).toMatchObject({ name: 'Renamed', broker: null })
    await service.setUp({ accounts: [{ id: account, status: 'connected' }] })
  })

  it('makes keys and tokens where it gives none, and tells them once', async () => {
    const entries = {
      apiKeys: [{ id: 'k-made', userId: 'u-1', scopes: ['accounts:read'] }],
      accessTokens: [{ id: 't-made', userId: 'u-1', applicationId: 'app', scopes: ['accounts:read'] }],
    }
    const { data } = (await service.apply(entries)).body
    expect(data).toEqual({
      apiKeys: [{ id: 'k-made', key: expect.stringMatching(/^tp_live_[\w-]{40,}$/) }],
      accessTokens: [{ id: 't-made', token: expect.stringMatching(/^[\w-]{40,}$/) }],
    })
    expect((await service.get('/accounts', data.apiKeys[0].key)).status).toBe(200)
    const again = await service.apply(entries)
    expect(again.body.data).toEqual({ apiKeys: [], accessTokens: [] })
    expect((await service.get('/accounts', data.apiKeys[0].key)).status).toBe(200)
  })

  it('gives a key another text, after which the old one is nobody’s', async () => {
    await service.setUp({
      apiKeys: [{ id: 'k-turned', userId: 'u-1', key: 'tp_live_only_for_automated_tests_old', scopes: ['accounts:read'] }],
    })
    expect((await service.get('/accounts', 'tp_live_only_for_automated_tests_old')).status).toBe(200)
    expect((await service.apply({ apiKeys: [{ id: 'k-turned', key: 'tp_live_only_for_automated_tests_new' }] })).body.data.apiKeys).toEqual(
      [{ id: 'k-turned', key: 'tp_live_only_for_automated_tests_new' }],
    )
    expect((await service.get('/accounts', 'tp_live_only_for_automated_tests_old')).status).toBe(401)
    expect((await service.get('/accounts', 'tp_live_only_for_automated_tests_new')).status).toBe(200)
  })

  it('removes an entry with everything that belongs to it', async () => {
    const gone = newAccountUuid(9)
    await service.setUp(
      linkDocument({ tenant: 'acme', user: 'u-9', key: 'tp_live_only_for_automated_tests_gone', providerToken }, [
        { id: gone, providerAccountId: 'main' },
      ]),
    )
    expect((await service.get(`/accounts/${gone}`, 'tp_live_only_for_automated_tests_gone')).status).toBe(200)
    await service.setUp({ users: [{ id: 'u-9', removed: true }] })
    expect((await service.get('/accounts', 'tp_live_only_for_automated_tests_gone')).status).toBe(401)
    await service.setUp(linkDocument({ tenant: 'acme', user: 'u-9', key: 'tp_live_only_for_automated_tests_gone', providerToken }, []))
    expect((await service.get('/accounts', 'tp_live_only_for_automated_tests_gone')).body.data).toEqual([])
    // What is not there can be removed as well: the document then says what is so.
    expect((await service.apply({ users: [{ id: 'u-never', removed: true }] })).status).toBe(200)
  })

  it('takes a new provider token at once', async () => {
    await service.setUp({ tenants: [{ id: 'acme', providerToken: 'a-wrong-token' }] })
    const other = newAccountUuid(8)
    await service.setUp({ accounts: [{ ...(document as Json).accounts[0], id: other }] })
    expect((await service.get(`/positions?accountId=${other}`, key)).body.error?.code).toBe('BROKER_UNAVAILABLE')
    await service.setUp({ tenants: [{ id: 'acme', providerToken }] })
    expect((await service.get(`/positions?accountId=${other}`, key)).status).toBe(200)
    await service.setUp({ accounts: [{ id: other, removed: true }] })
  })
})

describe('a document with faults', () => {
  it('is told all of them by their paths', async () => {
    const reply = await service.apply({
      tenants: [{ id: 'acme', nmae: 'Acme' }],
      users: [{ id: 'u-2', tenantId: 'acme', email: 'nobody', plan: 'gold' }],
      accounts: [{ id: 'main', purpose: 'fun', isDemo: 'yes', balance: '1' }],
      apiKeys: [{ id: 'k', key: 'sk_live_1', scopes: ['accounts:all'], ipAllowlist: ['everywhere'], expiresAt: 'tomorrow' }],
      accessTokens: {},
      pets: [],
    })
    expect(pathsOf(reply).toSorted()).toEqual(
      [
        'tenants[0].nmae',
        'users[0].email',
        'users[0].plan',
        'accounts[0].id',
        'accounts[0].purpose',
        'accounts[0].isDemo',
        'accounts[0].balance',
        'apiKeys[0].key',
        'apiKeys[0].scopes[0]',
        'apiKeys[0].ipAllowlist[0]',
        'apiKeys[0].expiresAt',
        'accessTokens',
        'pets',
      ].toSorted(),
    )
  })

  it('is told what refers to nothing, and what a new entry lacks', async () => {
    const reply = await service.apply({
      tenants: [{ id: 'new' }],
      users: [{ id: 'u-3', tenantId: 'nowhere', email: 'a@example.com' }],
      accounts: [{ id: newAccountUuid(30), userId: 'u-1', name: 'A', brokerType: 'mt5', accountNumber: '1', server: 'S', currency: 'USD' }],
      apiKeys: [{ id: 'k-3', userId: 'u-nobody' }],
      balanceSnapshots: [{ accountId: newAccountUuid(31), timestamp: '2026-01-01T00:00:00Z', balance: 1, equity: 1, margin: 0 }],
    })
    expect(pathsOf(reply)).toEqual([
      'tenants[0].name',
      'users[0].tenantId',
      'accounts[0].purpose',
      'apiKeys[0].userId',
      'balanceSnapshots[0].accountId',
    ])
  })

  it('changes nothing, however good the rest of it is', async () => {
    const before = (await service.get('/accounts', key)).body.data
    const reply = await service.apply({
      tenants: [{ id: 'acme', name: 'Other', providerToken: 'other' }],
      accounts: [{ id: account, name: 'Other' }],
      apiKeys: [
        { id: 'u-1-key', enabled: false },
        { id: 'k-good', userId: 'u-1', key: 'tp_live_only_for_automated_tests_good', scopes: ['accounts:read'] },
        { id: 'k-bad', userId: 'u-nobody' },
      ],
    })
    expect(pathsOf(reply)).toEqual(['apiKeys[2].userId'])
    expect((await service.get('/accounts', key)).body.data).toEqual(before)
    expect((await service.get('/accounts', 'tp_live_only_for_automated_tests_good')).status).toBe(401)
    expect((await service.get('/positions', key)).status).toBe(200)
  })

  it('names an entry twice, or a key that is another’s', async () => {
    const twice = { id: 'u-2', tenantId: 'acme', email: 'a@example.com' }
    expect(pathsOf(await service.apply({ users: [twice, twice] }))).toEqual(['users[1]'])
    expect(pathsOf(await service.apply({ apiKeys: [{ id: 'k-thief', userId: 'u-1', key }] }))).toEqual(['apiKeys[0].key'])
  })

  it('moves nobody to another tenant, and no account to another user', async () => {
    await service.setUp(
      linkDocument({ tenant: 'other', user: 'u-other', key: 'tp_live_only_for_automated_tests_other', providerToken }, []),
    )
    expect(pathsOf(await service.apply({ users: [{ id: 'u-1', tenantId: 'other' }] }))).toEqual(['users[0].tenantId'])
    expect(pathsOf(await service.apply({ accounts: [{ id: account, userId: 'u-other' }] }))).toEqual(['accounts[0].userId'])
  })

  it.each<[string, string, Record<string, string>]>([
    ['that is no JSON', '{"tenants":', {}],
    ['that is a list', '[]', {}],
    ['that is null', 'null', {}],
    ['that is not there', '', {}],
    ['of another type', 'tenants=acme', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['that is compressed', '{}', { 'Content-Encoding': 'gzip' }],
  ])('cannot be a body %s', async (_, body, headers) => {
    expect(pathsOf(await post(body, headers))).toEqual(['body'])
  })

  it('cannot be larger than 10 MiB', async () => {
    expect(await post(`{"tenants":[]}${' '.repeat(10_485_760)}`)).toMatchObject({
      status: 413,
      body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
    })
    expect((await post(`{"tenants":[]}${' '.repeat(10_485_760 - 14)}`)).status).toBe(200)
  })
})
