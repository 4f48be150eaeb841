// POST /operator/v1/apply: its token, its body, and every structural fault of a document by its path.
import { scopes, validationError } from '@tradeport/domain'
import type { Issue, OperatorChanges, OperatorDocument } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorApi } from '../src/index.ts'
import type { OperatorUseCases } from '../src/index.ts'
import { accountId, fakeEdge, goodKey, issuesOf, run, send } from './fakes.ts'
import type { Answer, Running, SentRequest } from './fakes.ts'
import { operatorUseCases } from './operator-use-cases.ts'

const operatorToken = 'the-operator'
const authorization = `Bearer ${operatorToken}`
const path = '/operator/v1/apply'
const tenMebibytes = 10_485_760

const applied: OperatorDocument[] = []
const applyOperatorDocument: OperatorUseCases['applyOperatorDocument'] = (document) => {
  applied.push(document)
  if (document.tenants.some(({ id }) => id === 'refused'))
    return TE.left(validationError([{ path: 'tenants[0].id', message: 'not this one' }]))
  return TE.right({
    changes: {} as OperatorChanges,
    affectedUsers: [],
    apiKeys: [{ id: 'k-1', secret: 'tp_live_new' }],
    accessTokens: [{ id: 't-1', secret: 'new' }],
  })
}

let api: Running
beforeAll(async () => {
  api = await run(createOperatorApi({ ...operatorUseCases(), applyOperatorDocument }, { ...fakeEdge(), operatorToken }))
})
afterAll(() => api[Symbol.asyncDispose]())

const post = (body: string, headers: SentRequest['headers'] = {}): Promise<Answer> =>
  send(api, path, { method: 'POST', body, headers: { authorization, 'content-type': 'application/json', ...headers } })

const apply = (document: unknown): Promise<Answer> => post(JSON.stringify(document))

const accepted = async (document: unknown): Promise<OperatorDocument | undefined> => {
  applied.length = 0
  expect((await apply(document)).status).toBe(200)
  return applied[0]
}

describe('POST /operator/v1/apply', () => {
  it('answers the keys and tokens that were generated or given, in the envelope', async () => {
    const { status, json } = await post('{}')
    expect(status).toBe(200)
    expect(json).toMatchObject({ success: true, meta: { version: '1.0.0' }, error: null })
    expect(json.data).toStrictEqual({ apiKeys: [{ id: 'k-1', key: 'tp_live_new' }], accessTokens: [{ id: 't-1', token: 'new' }] })
  })

  it.each(['', 'Bearer', 'Bearer wrong', `Bearer ${operatorToken}x`, `Basic ${operatorToken}`, operatorToken])(
    'answers 401 to the authorization %j before it reads the body',
    async (sent) => {
      const { status, json } = await post('not JSON', { authorization: sent })
      expect([status, json.error?.code, json.error?.message]).toEqual([401, 'UNAUTHORIZED', expect.stringContaining("operator's token")])
    },
  )

  it('does not accept another method, and its listener has no route of the API for users', async () => {
    expect((await send(api, path, { headers: { authorization } })).status).toBe(404)
    expect((await send(api, '/api/v1/symbols', { headers: { 'x-api-key': goodKey } })).status).toBe(404)
  })

  it.each([
    ['no body', '', {}],
    ['half a document', '{', {}],
    ['a list', '[]', {}],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
  ])('answers 400 to %s', async (_, body, headers) => {
    expect(issuesOf(await post(body, headers))).toEqual([{ path: 'body', message: expect.any(String) as string }])
  })

  it('accepts a body of 10 MiB and answers 413 to one byte more', async () => {
    const exact = `{}${' '.repeat(tenMebibytes - 2)}`
    expect((await post(exact)).status).toBe(200)
    expect(await post(`${exact} `)).toMatchObject({ status: 413, json: { error: { code: 'PAYLOAD_TOO_LARGE' } } })
  })

  it('answers the faults that the use case finds', async () => {
    expect(issuesOf(await apply({ tenants: [{ id: 'refused' }] }))).toEqual([{ path: 'tenants[0].id', message: 'not this one' }])
  })
})

describe('a document', () => {
  it('is read with dates as instants, absent fields absent, and null fields null', async () => {
    const limits = { maxOpenLots: 50, maxOpenPositions: null, allowedSymbols: ['EURUSD'] }
    const account = {
      id: accountId,
      userId: 'u-1',
      name: 'Main',
      broker: null,
      brokerType: 'mt5',
      accountNumber: '5012345',
      server: 'Example-Demo',
      purpose: 'trading',
      isDemo: null,
      currency: 'USD',
      status: 'connected',
      balance: 10_000,
      equity: 10_000,
      margin: 0,
      providerAccountId: '9f0e',
      region: 'new-york',
    }
    const key = {
      id: 'k-1',
      userId: 'u-1',
      name: 'bot',
      key: 'tp_live_a-key-chosen-by-the-operator',
      scopes,
      ipAllowlist: ['127.0.0.1/32'],
      enabled: true,
    }
    const token = { id: 't-1', userId: 'u-1', applicationId: 'app-1', scopes: [], enabled: false }
    const figures = { balance: -1.5, equity: 0, margin: 0, freeMargin: null }
    // The same as it is sent and as it is read.
    const same = {
      tenants: [
        { id: 'acme', name: 'Acme', providerToken: 'provider-secret' },
        { id: 'gone', removed: true },
      ],
      users: [{ id: 'u-1', tenantId: 'acme', email: 'owner@example.com', plan: 'free' }],
      desks: [{ id: 'd-1', tenantId: 'acme', accounts: [accountId], limits }],
      traderLimits: [{ accountId, limits: { maxLotsPerOrder: 5, allowedSymbols: null, approvalAboveLots: 2 } }],
    }
    const read = await accepted({
      ...same,
      accounts: [{ ...account, id: accountId.toUpperCase(), createdAt: '2026-01-05T00:00:00.000Z' }],
      apiKeys: [{ ...key, expiresAt: null }],
      accessTokens: [{ ...token, expiresAt: '2027-01-01T00:00:00+01:00' }],
      challenges: [{ accountId, status: 'failed', startedAt: '2026-10-01T00:00:00.000Z' }],
      balanceSnapshots: [{ accountId, timestamp: '2026-11-01', ...figures }],
    })
    expect(read).toStrictEqual({
      ...same,
      accounts: [{ ...account, createdAt: Date.parse('2026-01-05T00:00:00.000Z') }],
      apiKeys: [{ ...key, expiresAt: null }],
      accessTokens: [{ ...token, expiresAt: Date.parse('2026-12-31T23:00:00.000Z') }],
      challenges: [{ accountId, status: 'failed', startedAt: Date.parse('2026-10-01T00:00:00.000Z') }],
      balanceSnapshots: [{ accountId, timestamp: Date.parse('2026-11-01T00:00:00.000Z'), ...figures }],
    })
  })

  it.each<readonly [document: object, path: string, message: RegExp]>([
    [{ tenant: [] }, 'tenant', /^tenant is not known; the nearest name is tenants$/],
    [{ constructor: 1 }, 'constructor', /is not known/],
    [{ tenants: null }, 'tenants', /^tenants must be a list; got null$/],
    [{ tenants: {} }, 'tenants', /^tenants must be a list; got an object$/],
    [{ tenants: ['acme'] }, 'tenants[0]', /^tenants\[0\] must be an object; got the text "acme"$/],
    [{ tenants: [{}] }, 'tenants[0].id', /^tenants\[0\]\.id is required; it must be a tenant id: 1 to 128 visible ASCII characters$/],
    [{ tenants: [{ id: 'a b' }] }, 'tenants[0].id', /got "a b"$/],
    [{ tenants: [{ id: 'a', nmae: 'x' }] }, 'tenants[0].nmae', /is not known; the nearest name is name$/],
    [{ tenants: [{ id: 'a', name: '' }] }, 'tenants[0].name', /got ""$/],
    [{ tenants: [{ id: 'a', name: 'x\u0000' }] }, 'tenants[0].name', /without control characters/],
    [{ tenants: [{ id: 'a', name: '\ud800' }] }, 'tenants[0].name', /1 to 255 characters/],
    [{ tenants: [{ id: 'a', name: 'x'.repeat(256) }] }, 'tenants[0].name', /1 to 255 characters/],
    [{ tenants: [{ id: 'a', removed: null }] }, 'tenants[0].removed', /must be true or false; got null$/],
    [{ users: [{ id: 'u', email: 'nobody' }] }, 'users[0].email', /must be an e-mail address/],
    [{ users: [{ id: 'u', email: 'o,wner@example.com' }] }, 'users[0].email', /must be an e-mail address/],
    [{ users: [{ id: 'u', email: `${'o'.repeat(65)}@example.com` }] }, 'users[0].email', /must be an e-mail address/],
    [{ users: [{ id: 'u', plan: 'gold' }] }, 'users[0].plan', /must be one of free, pro, enterprise/],
    [{ accounts: [{ id: '1' }] }, 'accounts[0].id', /must be the UUID of an account; got "1"$/],
    [
      { accounts: [{ id: accountId }, { id: accountId, purpose: 'trade' }] },
      'accounts[1].purpose',
      /trading, introducing_broker, trade_copier/,
    ],
    [{ accounts: [{ id: accountId, status: 'on' }] }, 'accounts[0].status', /connected, disconnected, syncing, error/],
    [{ accounts: [{ id: accountId, isDemo: 'yes' }] }, 'accounts[0].isDemo', /must be true or false/],
    [{ accounts: [{ id: accountId, balance: '1' }] }, 'accounts[0].balance', /must be a number; got the text "1"; send the number 1$/],
    [{ accounts: [{ id: accountId, createdAt: 5 }] }, 'accounts[0].createdAt', /must be an ISO 8601 date or date-time.*; got 5$/],
    [{ accounts: [{ id: accountId, createdAt: '2026-02-30' }] }, 'accounts[0].createdAt', /ISO 8601/],
    [
      { apiKeys: [{ id: 'k', key: 'secret' }] },
      'apiKeys[0].key',
      /must be tp_live_ followed by 24 to 248 visible ASCII characters.*not shown here$/,
    ],
    [{ apiKeys: [{ id: 'k', key: `tp_live_${'x'.repeat(23)}` }] }, 'apiKeys[0].key', /24 to 248/],
    [{ apiKeys: [{ id: 'k', scopes: ['trading:read', 'all'] }] }, 'apiKeys[0].scopes[1]', /must be one of accounts:read,/],
    [{ apiKeys: [{ id: 'k', ipAllowlist: ['10.0.0.0/33'] }] }, 'apiKeys[0].ipAllowlist[0]', /IPv4 or IPv6 address, or a CIDR/],
    [{ accessTokens: [{ id: 't', token: 'a b' }] }, 'accessTokens[0].token', /visible ASCII/],
    [{ desks: [{ id: 'd', limits: { maxOpenLots: -1 } }] }, 'desks[0].limits.maxOpenLots', /must be a number from 0; got -1$/],
    [{ desks: [{ id: 'd', limits: { maxOpenPositions: 1.5 } }] }, 'desks[0].limits.maxOpenPositions', /a whole number from 0; got 1\.5$/],
    [{ desks: [{ id: 'd', limits: { maxLots: 1 } }] }, 'desks[0].limits.maxLots', /is not known/],
    [{ desks: [{ id: 'd', limits: { allowedSymbols: ['eurusd'] } }] }, 'desks[0].limits.allowedSymbols[0]', /a symbol in capitals/],
    [{ traderLimits: [{ limits: {} }] }, 'traderLimits[0].accountId', /is required/],
    [{ challenges: [{ accountId }] }, 'challenges[0].startedAt', /is required/],
    [{ challenges: [{ accountId, startedAt: null }] }, 'challenges[0].startedAt', /got null$/],
    [{ balanceSnapshots: [{ accountId, timestamp: 'now' }] }, 'balanceSnapshots[0].timestamp', /ISO 8601/],
  ])('such as %j is refused', async (document, place, message) => {
    const issues = issuesOf(await apply(document))
    expect(issues).toEqual([{ path: place, message: expect.stringMatching(message) as string }])
  })

  it('with a number beyond a double is refused', async () => {
    const issues: readonly Issue[] = issuesOf(await post(`{"accounts":[{"id":"${accountId}","balance":1e999}]}`))
    expect(issues).toEqual([{ path: 'accounts[0].balance', message: 'accounts[0].balance must be a number; got Infinity' }])
  })

  it('is refused with all of its faults at once, and without the values of secrets', async () => {
    const secret = 'a secret with spaces'
    const issues = issuesOf(
      await apply({
        tenants: [{ id: 'a', providerToken: secret }],
        apiKeys: [{ id: 'k', key: secret }, { id: 7 }],
        accessTokens: [{ id: 't', token: secret }],
        extra: { token: secret },
      }),
    )
    expect(issues.map(({ path: at }) => at)).toEqual([
      'extra',
      'tenants[0].providerToken',
      'apiKeys[0].key',
      'apiKeys[1].id',
      'accessTokens[0].token',
    ])
    expect(JSON.stringify(issues)).not.toContain(secret)
  })
})
