// The operator API: its token, its body within bounds, and every structural fault of a document by its path (operating.md; decisions 4 and 5).
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { scopes, validationError } from '@tradeport/domain'
import type { Issue, OperatorChanges, OperatorDocument } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorApi } from '../src/index.ts'
import type { OperatorUseCases } from '../src/index.ts'
import { accountId, fakeEdge, goodKey, run, send } from './fakes.ts'
import type { ReplyBody, Running } from './fakes.ts'
import { operatorVerbs } from './operator-verbs.ts'

const operatorToken = 'the-operator'
const authorization = `Bearer ${operatorToken}`
const tenMebibytes = 10_485_760

const issuesOf = ({ error }: ReplyBody): readonly Issue[] => error?.details?.issues ?? []

const head = (framing: string): string =>
  [
    'POST /operator/v1/apply HTTP/1.1',
    'Host: localhost',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
    framing,
    '',
    '',
  ].join('\r\n')

// Sends that many spaces without saying how many.
const postChunked = (origin: string, size: number): Promise<Response> => {
  const chunk = new Uint8Array(1_048_576).fill(0x20)
  let left = size
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left <= 0) return controller.close()
      controller.enqueue(chunk.subarray(0, Math.min(left, chunk.length)))
      left -= chunk.length
    },
  })
  const headers = { authorization, 'content-type': 'application/json' }
  return fetch(`${origin}/operator/v1/apply`, { method: 'POST', body, duplex: 'half', headers })
}

describe('POST /operator/v1/apply', () => {
  let api: Running
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
  beforeAll(async () => {
    api = await run(createOperatorApi({ ...operatorVerbs(), applyOperatorDocument }, { ...fakeEdge(), operatorToken }))
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const post = async (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<{ readonly status: number; readonly json: ReplyBody }> => {
    const response = await fetch(`${api.origin}/operator/v1/apply`, {
      method: 'POST',
      body,
      headers: { authorization, 'content-type': 'application/json', ...headers },
    })
    return { status: response.status, json: (await response.json()) as ReplyBody }
  }
  const faultsOf = async (document: unknown): Promise<readonly Issue[]> => {
    const { status, json } = await post(JSON.stringify(document))
    expect([status, json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
    return issuesOf(json)
  }
  const read = async (document: unknown): Promise<OperatorDocument | undefined> => {
    applied.length = 0
    expect((await post(JSON.stringify(document))).status).toBe(200)
    return applied[0]
  }

  it('answers the keys and tokens made or given now, in the envelope', async () => {
    const { status, json } = await post('{}')
    expect(status).toBe(200)
    expect(json).toMatchObject({
      success: true,
      data: { apiKeys: [{ id: 'k-1', key: 'tp_live_new' }], accessTokens: [{ id: 't-1', token: 'new' }] },
      meta: { version: '1.0.0' },
      error: null,
    })
    expect(Object.keys(json.data)).toEqual(['apiKeys', 'accessTokens'])
  })

  it.each([undefined, 'Bearer', 'Bearer wrong', `Bearer ${operatorToken}x`, `Basic ${operatorToken}`, operatorToken])(
    'answers 401 to the authorization %j, before it looks at the body',
    async (sent) => {
      const headers = sent === undefined ? {} : { authorization: sent }
      const response = await fetch(`${api.origin}/operator/v1/apply`, { method: 'POST', body: 'not JSON', headers })
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({
        success: false,
        error: { code: 'UNAUTHORIZED', message: expect.stringContaining("operator's token") as string },
      })
    },
  )

  it('is no route for another method, and there is nothing of the API for users', async () => {
    expect((await send(api, '/operator/v1/apply', { headers: { authorization } })).status).toBe(404)
    expect((await send(api, '/api/v1/symbols')).status).toBe(404)
    expect((await send(api, '/operator/v1/apply', { headers: { 'x-api-key': goodKey } })).status).toBe(404)
  })

  it.each<readonly [what: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, message: RegExp]>([
    ['no body', '', {}, /body is required/],
    ['half a document', '{', {}, /not JSON/],
    ['a list', '[]', {}, /takes a JSON object/],
    ['null', 'null', {}, /takes a JSON object/],
    ['a text', '"x"', {}, /takes a JSON object/],
    ['two documents', '{}{}', {}, /not JSON/],
    ['broken UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}, /not JSON in UTF-8/],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, /Content-Type: application\/json/],
    ['a near type', '{}', { 'content-type': 'application/jsonx' }, /Content-Type/],
    ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, /UTF-8/],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }, /Content-Encoding/],
  ])('refuses %s (decision 4)', async (_, body, headers, message) => {
    const { status, json } = await post(body, headers)
    expect([status, json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(issuesOf(json)).toEqual([{ path: 'body', message: expect.stringMatching(message) as string }])
  })

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'takes the type %s',
    async (type) => {
      expect((await post('{}', { 'content-type': type })).status).toBe(200)
    },
  )

  it('takes a body of 10 MiB and refuses one byte more, whether its length is told or not (413)', async () => {
    const exact = `{}${' '.repeat(tenMebibytes - 2)}`
    expect((await post(exact)).status).toBe(200)
    const over = await post(`${exact} `)
    expect([over.status, over.json.error?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect((await postChunked(api.origin, tenMebibytes)).status).toBe(400)
    expect((await postChunked(api.origin, tenMebibytes + 1)).status).toBe(413)
  })

  it.each([
    ['told', head(`Content-Length: ${4 * tenMebibytes}`), ''],
    ['not told', `${head('Transfer-Encoding: chunked')}${(4 * tenMebibytes).toString(16)}\r\n`, '\r\n0\r\n\r\n'],
  ])('lets a sender that writes all before it reads see the 413 and go on, the length %s', async (_, before, after) => {
    const socket = connect(api.port, '127.0.0.1')
    socket.pause()
    const written = (data: string | Uint8Array): Promise<void> =>
      new Promise((resolve, reject) => socket.write(data, (error) => (error instanceof Error ? reject(error) : resolve())))
    await written(before)
    await written(new Uint8Array(4 * tenMebibytes).fill(0x20))
    await written(`${after}${head('Content-Length: 2')}{}`)
    let answers = ''
    for await (const chunk of socket) {
      answers += String(chunk)
      if (answers.includes('tp_live_new')) break
    }
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
    expect(answers).toContain('"PAYLOAD_TOO_LARGE"')
  })

  it('survives a sender that hangs up halfway', async () => {
    const request = httpRequest({
      host: '127.0.0.1',
      port: api.port,
      path: '/operator/v1/apply',
      method: 'POST',
      headers: { authorization, 'content-length': '100' },
    })
    request.on('error', () => undefined)
    request.write('{')
    await new Promise((resolve) => setTimeout(resolve, 30))
    request.destroy()
    expect((await post('{}')).status).toBe(200)
  })

  it('tells the faults that the use case finds', async () => {
    expect(await faultsOf({ tenants: [{ id: 'refused' }] })).toEqual([{ path: 'tenants[0].id', message: 'not this one' }])
  })

  it('reads a whole document: ids, dates as instants, absent fields absent and null fields null', async () => {
    const document = await read({
      tenants: [
        { id: 'acme', name: 'Acme', providerToken: 'provider-secret' },
        { id: 'gone', removed: true },
      ],
      users: [{ id: 'u-1', tenantId: 'acme', email: 'owner@example.com', plan: 'free' }],
      accounts: [
        {
          id: accountId.toUpperCase(),
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
          createdAt: '2026-01-05T00:00:00.000Z',
        },
      ],
      apiKeys: [
        { id: 'k-1', userId: 'u-1', name: 'bot', key: 'tp_live_x', scopes, ipAllowlist: ['127.0.0.1/32'], expiresAt: null, enabled: true },
      ],
      accessTokens: [
        { id: 't-1', userId: 'u-1', applicationId: 'app-1', scopes: [], expiresAt: '2027-01-01T00:00:00+01:00', enabled: false },
      ],
      desks: [
        {
          id: 'd-1',
          tenantId: 'acme',
          accounts: [accountId],
          limits: { maxOpenLots: 50, maxOpenPositions: null, allowedSymbols: ['EURUSD'] },
        },
      ],
      traderLimits: [{ accountId, limits: { maxLotsPerOrder: 5, allowedSymbols: null, approvalAboveLots: 2 } }],
      challenges: [{ accountId, status: 'failed', startedAt: '2026-10-01T00:00:00.000Z' }],
      balanceSnapshots: [{ accountId, timestamp: '2026-11-01', balance: -1.5, equity: 0, margin: 0, freeMargin: null }],
    })
    expect(document).toEqual({
      tenants: [
        { id: 'acme', name: 'Acme', providerToken: 'provider-secret' },
        { id: 'gone', removed: true },
      ],
      users: [{ id: 'u-1', tenantId: 'acme', email: 'owner@example.com', plan: 'free' }],
      accounts: [expect.objectContaining({ id: accountId, broker: null, isDemo: null, createdAt: Date.parse('2026-01-05T00:00:00.000Z') })],
      apiKeys: [expect.objectContaining({ scopes, ipAllowlist: ['127.0.0.1/32'], expiresAt: null })],
      accessTokens: [expect.objectContaining({ expiresAt: Date.parse('2026-12-31T23:00:00.000Z'), scopes: [], enabled: false })],
      desks: [
        {
          id: 'd-1',
          tenantId: 'acme',
          accounts: [accountId],
          limits: { maxOpenLots: 50, maxOpenPositions: null, allowedSymbols: ['EURUSD'] },
        },
      ],
      traderLimits: [{ accountId, limits: { maxLotsPerOrder: 5, allowedSymbols: null, approvalAboveLots: 2 } }],
      challenges: [{ accountId, status: 'failed', startedAt: Date.parse('2026-10-01T00:00:00.000Z') }],
      balanceSnapshots: [
        { accountId, timestamp: Date.parse('2026-11-01T00:00:00.000Z'), balance: -1.5, equity: 0, margin: 0, freeMargin: null },
      ],
    })
    expect(Object.keys(document?.accessTokens[0] ?? {})).not.toContain('token')
    expect(Object.keys((await read({ tenants: [{ id: 'a' }] }))?.tenants[0] ?? {})).toEqual(['id'])
  })

  it.each<readonly [document: object, path: string, message: string | RegExp]>([
    [{ tenant: [] }, 'tenant', /^tenant is not known; the fields here are tenants, users, accounts,/],
    [{ __proto__: null, constructor: 1 }, 'constructor', /is not known/],
    [{ tenants: null }, 'tenants', 'tenants takes a list; got null'],
    [{ tenants: {} }, 'tenants', 'tenants takes a list; got an object'],
    [{ tenants: ['acme'] }, 'tenants[0]', 'tenants[0] takes an object; got another text'],
    [{ tenants: [{}] }, 'tenants[0].id', 'tenants[0].id is required; it takes a tenant id: 1 to 128 visible ASCII characters'],
    [{ tenants: [{ id: 'a b' }] }, 'tenants[0].id', /got another text$/],
    [{ tenants: [{ id: 'a', nmae: 'x' }] }, 'tenants[0].nmae', /is not known; the fields here are id, name, providerToken, removed$/],
    [{ tenants: [{ id: 'a', name: '' }] }, 'tenants[0].name', /got an empty text$/],
    [{ tenants: [{ id: 'a', name: 'x\u0000' }] }, 'tenants[0].name', /without control characters/],
    [{ tenants: [{ id: 'a', name: '\ud800' }] }, 'tenants[0].name', /1 to 255 characters/],
    [{ tenants: [{ id: 'a', name: 'x'.repeat(256) }] }, 'tenants[0].name', /1 to 255 characters/],
    [{ tenants: [{ id: 'a', removed: null }] }, 'tenants[0].removed', 'tenants[0].removed takes true or false; got null'],
    [{ users: [{ id: 'u', email: 'nobody' }] }, 'users[0].email', /takes an e-mail address/],
    [{ users: [{ id: 'u', email: 'o,wner@example.com' }] }, 'users[0].email', /takes an e-mail address/],
    [{ users: [{ id: 'u', email: `${'o'.repeat(65)}@example.com` }] }, 'users[0].email', /takes an e-mail address/],
    [{ users: [{ id: 'u', plan: 'gold' }] }, 'users[0].plan', /takes one of free, pro, enterprise/],
    [{ accounts: [{ id: '1' }] }, 'accounts[0].id', 'accounts[0].id takes an account id: a UUID; got another text'],
    [
      { accounts: [{ id: accountId }, { id: accountId, purpose: 'trade' }] },
      'accounts[1].purpose',
      /trading, introducing_broker, trade_copier/,
    ],
    [{ accounts: [{ id: accountId, status: 'on' }] }, 'accounts[0].status', /connected, disconnected, syncing, error/],
    [{ accounts: [{ id: accountId, isDemo: 'yes' }] }, 'accounts[0].isDemo', /takes true or false/],
    [{ accounts: [{ id: accountId, balance: '1' }] }, 'accounts[0].balance', 'accounts[0].balance takes a number; got another text'],
    [{ accounts: [{ id: accountId, createdAt: 5 }] }, 'accounts[0].createdAt', /takes an ISO 8601 date-time.*; got a number$/],
    [{ accounts: [{ id: accountId, createdAt: '2026-02-30' }] }, 'accounts[0].createdAt', /ISO 8601/],
    [
      { apiKeys: [{ id: 'k', key: 'secret' }] },
      'apiKeys[0].key',
      'apiKeys[0].key takes tp_live_ and 1 to 248 more visible ASCII characters; got another text',
    ],
    [{ apiKeys: [{ id: 'k', scopes: ['trading:read', 'all'] }] }, 'apiKeys[0].scopes[1]', /takes a scope: one of accounts:read,/],
    [{ apiKeys: [{ id: 'k', ipAllowlist: ['10.0.0.0/33'] }] }, 'apiKeys[0].ipAllowlist[0]', /IPv4 or IPv6 address, or a CIDR/],
    [{ accessTokens: [{ id: 't', token: 'a b' }] }, 'accessTokens[0].token', /visible ASCII/],
    [
      { desks: [{ id: 'd', limits: { maxOpenLots: -1 } }] },
      'desks[0].limits.maxOpenLots',
      'desks[0].limits.maxOpenLots takes a number from 0; got -1',
    ],
    [
      { desks: [{ id: 'd', limits: { maxOpenPositions: 1.5 } }] },
      'desks[0].limits.maxOpenPositions',
      /takes a whole number from 0; got 1.5$/,
    ],
    [{ desks: [{ id: 'd', limits: { maxLots: 1 } }] }, 'desks[0].limits.maxLots', /is not known/],
    [{ desks: [{ id: 'd', limits: { allowedSymbols: ['eurusd'] } }] }, 'desks[0].limits.allowedSymbols[0]', /a symbol in capitals/],
    [{ traderLimits: [{ limits: {} }] }, 'traderLimits[0].accountId', /is required/],
    [{ challenges: [{ accountId }] }, 'challenges[0].startedAt', /is required/],
    [{ challenges: [{ accountId, startedAt: null }] }, 'challenges[0].startedAt', /got null$/],
    [{ balanceSnapshots: [{ accountId, timestamp: 'now' }] }, 'balanceSnapshots[0].timestamp', /ISO 8601/],
  ])('refuses %j', async (document, path, message) => {
    const issues = await faultsOf(document)
    expect(issues.map((issue) => issue.path)).toEqual([path])
    expect(issues[0]?.message).toMatch(message)
  })

  it('refuses a number that no double holds', async () => {
    const { json } = await post(`{"accounts":[{"id":"${accountId}","balance":1e999}]}`)
    expect(issuesOf(json)).toEqual([{ path: 'accounts[0].balance', message: 'accounts[0].balance takes a number; got Infinity' }])
  })

  it('tells every fault at once, and repeats no value that might be a secret', async () => {
    const issues = await faultsOf({
      tenants: [{ id: 'a', providerToken: 'a secret with spaces' }],
      apiKeys: [{ id: 'k', key: 'my-secret' }, { id: 7 }],
      extra: { token: 'my-secret' },
    })
    expect(issues.map(({ path }) => path)).toEqual(['extra', 'tenants[0].providerToken', 'apiKeys[0].key', 'apiKeys[1].id'])
    expect(JSON.stringify(issues)).not.toContain('secret with')
    expect(JSON.stringify(issues)).not.toContain('my-secret')
  })
})
