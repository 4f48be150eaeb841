// The operator API: one document, all or nothing, applied as often as one likes, on a listener of
// its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyOf, linkDocument, newAccountUuid, refusalOf } from './support/desk.ts'
import { contractWatch, operatorToken, request, startTestService } from './support/service.ts'
import type { Json, Reply, TestService } from './support/service.ts'

const account = newAccountUuid(1)
const document = linkDocument({
  user: 'u-1',
  accounts: [{ id: account, providerAccountId: 'main' }],
})

let service: TestService
beforeAll(async () => {
  service = await startTestService([{ id: 'main' }])
})
afterAll(() => service?.close())

const pathsOf = (reply: Reply): string[] => {
  expect(refusalOf(reply)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  return reply.body.error.details.issues.map(({ path }: Json) => path)
}
const accounts = async (key = keyOf('u-1')): Promise<Json> =>
  (await service.get('/accounts', key)).body.data

const postDocument = (url: string, headers: Record<string, string>) =>
  request(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })

it('is for the operator’s token and listener alone', async () => {
  const bearer = { Authorization: `Bearer ${operatorToken}` }
  for (const headers of [
    {},
    { Authorization: `${bearer.Authorization}x` },
    { Authorization: `Basic ${operatorToken}` },
    { 'X-API-Key': operatorToken },
  ])
    expect(
      (
        await postDocument(
          `${service.operatorUrl}/operator/v1/apply`,
          headers as Record<string, string>,
        )
      ).status,
    ).toBe(401)
  expect((await service.get('/accounts', keyOf('u-1'))).status).toBe(401)
  expect((await postDocument(`${service.apiUrl}/operator/v1/apply`, bearer)).status).toBe(404)
  contractWatch.leaveOut(service.operatorUrl)
  expect((await request(`${service.operatorUrl}/api/v1/symbols`)).status).toBe(404)
})

describe('a document', () => {
  it('is applied, changes nothing when it is applied again, leaves alone what it does not name, and unsets what is null', async () => {
    const { status, headers, body } = await service.apply(document)
    const meta = {
      timestamp: expect.any(String),
      request_id: headers.get('X-Request-ID'),
      version: '1.0.0',
    }
    const data = { apiKeys: [{ id: 'u-1-key', key: keyOf('u-1') }], accessTokens: [] }
    expect([status, body]).toEqual([200, { success: true, data, meta, error: null }])
    const [before] = await accounts()
    expect((await service.apply(document)).status).toBe(200)
    const [after] = await accounts()
    expect({ ...after, updatedAt: '', lastSyncAt: '', liveDataUpdatedAt: '' }).toEqual({
      ...before,
      updatedAt: '',
      lastSyncAt: '',
      liveDataUpdatedAt: '',
    })
    await service.setUp({
      accounts: [
        { id: account, name: 'Renamed', broker: 'Example Broker', status: 'disconnected' },
      ],
    })
    expect(await accounts()).toMatchObject([
      { name: 'Renamed', broker: 'Example Broker', server: 'Example-Demo' },
    ])
    await service.setUp({ accounts: [{ id: account, broker: null }] })
    expect(await accounts()).toMatchObject([{ name: 'Renamed', broker: null }])
    await service.setUp({ accounts: [{ id: account, status: 'connected' }] })
  })

  it('makes keys and tokens where it gives none, shows them once, and replaces a key by another text', async () => {
    const entries = {
      apiKeys: [{ id: 'k-made', userId: 'u-1' }],
      accessTokens: [
        { id: 't-made', userId: 'u-1', applicationId: 'app', scopes: ['accounts:read'] },
      ],
    }
    const made = await service.setUp(entries)
    expect(made).toEqual({
      apiKeys: [{ id: 'k-made', key: expect.stringMatching(/^tp_live_[\w-]{40,}$/) }],
      accessTokens: [{ id: 't-made', token: expect.stringMatching(/^[\w-]{40,}$/) }],
    })
    expect(await service.setUp(entries)).toEqual({ apiKeys: [], accessTokens: [] })
    const { key } = made.apiKeys[0]
    // A key that is new may read accounts, and not positions.
    expect([
      (await service.get('/accounts', key)).status,
      (await service.get('/positions', key)).status,
    ]).toEqual([200, 403])
    await service.setUp({
      apiKeys: [{ id: 'k-made', key: keyOf('turned'), scopes: ['positions:read'] }],
    })
    expect([
      (await service.get('/accounts', key)).status,
      (await service.get('/positions', keyOf('turned'))).status,
    ]).toEqual([401, 200])
  })

  it('with a fault anywhere is refused with every path, and changes nothing', async () => {
    const before = (await accounts())[0].name
    const good = {
      tenants: [{ id: 'acme', name: 'Other', providerToken: 'other-token' }],
      accounts: [{ id: account, name: 'Other' }],
    }
    const reply = await service.apply({
      ...good,
      users: [{ id: 'u-3', tenantId: 'nowhere', email: 'a@example.com' }],
      apiKeys: [
        { id: 'u-1-key', enabled: false },
        { id: 'k-thief', userId: 'u-1', key: keyOf('turned') },
      ],
      balanceSnapshots: [
        {
          accountId: newAccountUuid(31),
          timestamp: '2026-01-01T00:00:00Z',
          balance: 1,
          equity: 1,
          margin: 0,
        },
      ],
    })
    expect(pathsOf(reply)).toEqual([
      'users[0].tenantId',
      'apiKeys[1].key',
      'balanceSnapshots[0].accountId',
    ])
    await service.setUp(linkDocument({ user: 'u-other', tenant: 'other' }))
    expect(pathsOf(await service.apply({ users: [{ id: 'u-1', tenantId: 'other' }] }))).toEqual([
      'users[0].tenantId',
    ])
    expect(
      pathsOf(await service.apply({ accounts: [{ id: account, userId: 'u-other' }] })),
    ).toEqual(['accounts[0].userId'])
    expect((await accounts())[0].name).toBe(before)
    expect((await service.get('/positions', keyOf('u-1'))).status).toBe(200)
  })
})
