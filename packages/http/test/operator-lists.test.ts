// The operator's lists, the plan of a document, the rotation of secrets and the doctor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorApi, operatorRoutes } from '../src/index.ts'
import { accountId, fakeEdge, run, send } from './fakes.ts'
import type { Running } from './fakes.ts'
import { operatorUseCases, testSecrets } from './operator-use-cases.ts'

const operatorToken = 'the-operator'
const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
const secrets = ['provider-secret', 'tp_live_only_for_automated_tests_given', 'token-given']

const document = {
  tenants: [
    { id: 'acme', name: 'Acme', providerToken: secrets[0] },
    { id: 'other/tenant', name: 'Other' },
  ],
  users: [
    { id: 'u-1', tenantId: 'acme', email: 'a@example.com', plan: 'pro' },
    { id: 'u-2', tenantId: 'acme', email: 'b@example.com' },
  ],
  accounts: [
    {
      id: accountId,
      userId: 'u-1',
      name: 'Main',
      brokerType: 'mt5',
      accountNumber: '5012345',
      server: 'Example-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      providerAccountId: 'p-1',
      region: 'london',
      createdAt: '2026-01-05T00:00:00.000Z',
    },
  ],
  apiKeys: [
    { id: 'k-1', userId: 'u-1', name: 'bot', key: secrets[1], scopes: ['trading:read'], ipAllowlist: ['10.0.0.0/8'] },
    { id: 'k-2', userId: 'u-2', expiresAt: '2027-01-01T00:00:00Z', enabled: false },
  ],
  accessTokens: [{ id: 't-1', userId: 'u-1', applicationId: 'app', token: secrets[2], scopes: ['trading:read'] }],
  desks: [{ id: 'd-1', tenantId: 'acme', accounts: [accountId], limits: { maxOpenLots: 5 } }],
  traderLimits: [{ accountId, limits: { maxLotsPerOrder: 0.3 } }],
  challenges: [{ accountId, startedAt: '2026-10-01T00:00:00.000Z', status: 'failed' }],
}

let api: Running
const get = async (path: string) => {
  const { status, text, json } = await send(api, `/operator/v1${path}`, { headers })
  return { status, text, data: json.data as unknown, meta: json.meta, error: json.error }
}
const post = (path: string, body: unknown) => send(api, `/operator/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })

beforeAll(async () => {
  api = await run(createOperatorApi(operatorUseCases(), { ...fakeEdge(), operatorToken }))
  expect((await post('/apply', document)).status).toBe(200)
})
afterAll(() => api[Symbol.asyncDispose]())

const paths = [
  '/tenants',
  '/tenants/acme',
  '/tenants/acme/users',
  '/tenants/acme/accounts',
  '/tenants/acme/api-keys',
  '/tenants/acme/access-tokens',
  '/tenants/acme/desks',
  '/tenants/acme/doctor',
]

it('the paths are those of every list', () => {
  const reads = operatorRoutes
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/tenants'))
    .map(({ path }) => path.replace(':tenantId', 'acme'))
  expect(paths).toEqual(expect.arrayContaining(reads))
})

describe.each(paths)('GET %s', (path) => {
  it('needs the operator token', async () => {
    for (const sent of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': secrets[1] as string }])
      expect((await send(api, `/operator/v1${path}`, { headers: sent })).status).toBe(401)
  })

  it('answers neither a secret nor its hash', async () => {
    const { status, text } = await get(path)
    expect(status).toBe(200)
    for (const secret of secrets) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(testSecrets.hash(secret))
    }
    expect(text).not.toContain('hash')
  })
})

it('records have the names of the document', async () => {
  expect((await get('/tenants')).data).toStrictEqual([
    { id: 'acme', name: 'Acme', hasProviderToken: true },
    { id: 'other/tenant', name: 'Other', hasProviderToken: false },
  ])
  expect((await get('/tenants/acme')).data).toStrictEqual({
    id: 'acme',
    name: 'Acme',
    hasProviderToken: true,
    counts: { users: 2, accounts: 1, apiKeys: 2, accessTokens: 1, desks: 1 },
  })
  expect((await get('/tenants/other%2Ftenant')).data).toMatchObject({ id: 'other/tenant' })
  expect((await get('/tenants/acme/users')).data).toStrictEqual([
    { id: 'u-1', tenantId: 'acme', email: 'a@example.com', plan: 'pro' },
    { id: 'u-2', tenantId: 'acme', email: 'b@example.com', plan: 'free' },
  ])
  expect((await get('/tenants/acme/accounts')).data).toStrictEqual([
    {
      id: accountId,
      tenantId: 'acme',
      userId: 'u-1',
      name: 'Main',
      broker: null,
      brokerType: 'mt5',
      accountNumber: '5012345',
      server: 'Example-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      balance: 0,
      equity: 0,
      margin: 0,
      status: 'connected',
      providerAccountId: 'p-1',
      region: 'london',
      lastReadAt: null,
      createdAt: '2026-01-05T00:00:00.000Z',
      updatedAt: expect.any(String),
      limits: { maxLotsPerOrder: 0.3, maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, approvalAboveLots: null },
      challenges: [{ startedAt: '2026-10-01T00:00:00.000Z', status: 'failed' }],
    },
  ])
  expect((await get('/tenants/acme/api-keys')).data).toStrictEqual([
    { id: 'k-1', userId: 'u-1', name: 'bot', scopes: ['trading:read'], ipAllowlist: ['10.0.0.0/8'], expiresAt: null, enabled: true },
    {
      id: 'k-2',
      userId: 'u-2',
      name: 'k-2',
      scopes: ['accounts:read', 'market-data:read'],
      ipAllowlist: [],
      expiresAt: '2027-01-01T00:00:00.000Z',
      enabled: false,
    },
  ])
  expect((await get('/tenants/acme/access-tokens')).data).toStrictEqual([
    { id: 't-1', userId: 'u-1', applicationId: 'app', scopes: ['trading:read'], expiresAt: null, enabled: true },
  ])
  expect((await get('/tenants/acme/desks')).data).toStrictEqual([
    { id: 'd-1', tenantId: 'acme', accounts: [accountId], limits: { maxOpenLots: 5, maxOpenPositions: null, allowedSymbols: null } },
  ])
})

it('the cursor leads to the next page, and the last page has none', async () => {
  const first = await get('/tenants/acme/api-keys?limit=1')
  expect(first.data).toMatchObject([{ id: 'k-1' }])
  expect(first.meta?.['pagination']).toStrictEqual({ limit: 1, has_next: true, cursor: expect.any(String) })
  const cursor = (first.meta?.['pagination'] as { cursor?: string } | undefined)?.cursor
  const second = await get(`/tenants/acme/api-keys?limit=1&cursor=${cursor}`)
  expect(second.data).toMatchObject([{ id: 'k-2' }])
  expect(second.meta?.['pagination']).toStrictEqual({ limit: 1, has_next: false })
  // It belongs to this list.
  for (const path of [`/tenants/acme/users?cursor=${cursor}`, `/tenants/acme/api-keys?userId=u-1&cursor=${cursor}`])
    expect(await get(path)).toMatchObject({ status: 400, error: { code: 'INVALID_CURSOR' } })
})

it('userId filters a list', async () => {
  expect((await get('/tenants/acme/api-keys?userId=u-2')).data).toMatchObject([{ id: 'k-2' }])
  expect((await get('/tenants/other%2Ftenant/api-keys?userId=u-2')).data).toStrictEqual([])
})

it('a limit out of bounds is refused', async () => {
  const { status, error } = await get('/tenants/acme/users?limit=1001')
  expect([status, error?.details?.issues]).toStrictEqual([
    400,
    [{ path: 'limit', message: 'limit must be a whole number from 1 to 1000; got "1001"' }],
  ])
})

it.each(paths.slice(1))('%s of a tenant that does not exist, or cannot exist, is answered 404', async (path) => {
  for (const id of ['nobody', 'no%20one'])
    expect(await get(path.replace('acme', id))).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } })
})

describe('POST /operator/v1/plan', () => {
  it('answers what a document would change, and changes nothing', async () => {
    const changing = { users: [{ id: 'u-2', plan: 'enterprise' }], apiKeys: [{ id: 'k-1', enabled: false }] }
    expect((await post('/plan', changing)).json.data).toStrictEqual({
      changes: [
        { section: 'users', id: 'u-2', action: 'change', fields: [{ field: 'plan', from: 'free', to: 'enterprise' }] },
        { section: 'apiKeys', id: 'k-1', action: 'change', fields: [{ field: 'enabled', from: true, to: false }] },
      ],
      ordersUnderWay: [],
    })
    expect((await get('/tenants/acme/users')).data).toMatchObject([{ plan: 'pro' }, { plan: 'free' }])
    expect((await get('/tenants/acme/api-keys?userId=u-1')).data).toMatchObject([{ enabled: true }])
  })

  it('refuses what applying would refuse', async () => {
    const { status, json } = await post('/plan', { users: [{ id: 'u-3', tenantId: 'nowhere', email: 'c@example.com' }] })
    expect([status, json.error?.details?.issues?.map(({ path }) => path)]).toStrictEqual([400, ['users[0].tenantId']])
  })
})

const rotate = async (body: object) => {
  const { status, json } = await post('/secrets/rotate', body)
  return { status, data: json.data as unknown as { cursor: string | null; resealed: number }, error: json.error }
}

describe('POST /operator/v1/secrets/rotate', () => {
  it('seals one batch under the current key, and answers the cursor of the next', async () => {
    const first = await rotate({ limit: 1 })
    expect(first).toMatchObject({ status: 200, data: { resealed: 1, unreadable: [], cursor: expect.any(String) } })
    expect(await rotate({ limit: 1, cursor: first.data.cursor })).toMatchObject({ data: { resealed: 0, unreadable: [], cursor: null } })
    expect(await rotate({})).toMatchObject({ data: { resealed: 0, unreadable: [], cursor: null } })
  })

  it('refuses a bad limit and a bad cursor', async () => {
    for (const limit of [0, 1_001, 1.5]) expect(await rotate({ limit })).toMatchObject({ status: 400, error: { code: 'VALIDATION_ERROR' } })
    expect(await rotate({ cursor: 'made up' })).toMatchObject({ status: 400, error: { code: 'INVALID_CURSOR' } })
  })

  it('needs the operator token', async () => {
    expect((await send(api, '/operator/v1/secrets/rotate', { method: 'POST', body: '{}', headers: {} })).status).toBe(401)
  })
})

describe('GET /operator/v1/doctor', () => {
  it('answers the state of what the service depends on, and what to do', async () => {
    const { status, data } = await get('/doctor')
    expect(status).toBe(200)
    expect(data).toMatchObject([
      { name: 'database', status: 'ok', action: null },
      { name: 'database clock', status: 'ok' },
      { name: 'tables', status: 'ok' },
      { name: 'fsync', status: 'ok', action: null },
      { name: 'full_page_writes', status: 'ok' },
      { name: 'synchronous_commit', status: 'warn', action: expect.stringContaining('synchronous_commit = on') },
      { name: 'replication', status: 'ok' },
      { name: 'limits', status: 'warn', action: expect.stringContaining('REDIS_URL') },
      { name: 'secrets' },
      { name: 'orders', status: 'ok' },
      { name: 'journals', status: 'ok' },
    ])
    expect((await send(api, '/operator/v1/doctor', { headers: {} })).status).toBe(401)
  })

  it('answers for a tenant whether the provider accepts its token', async () => {
    expect((await get('/tenants/acme/doctor')).data).toMatchObject([
      { name: 'provider token', status: 'fail', action: expect.stringContaining('"providerToken"') },
    ])
  })
})
