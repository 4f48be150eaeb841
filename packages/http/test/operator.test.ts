// The operator API: its token, the documents that it accepts, and what every route answers, over
// the use cases of the domain and records in memory.
import { createFakeRecords, newAccount, newOrderUnderWay, putOrders } from '@tradeport/testkit'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { scopes } from '@tradeport/domain/access'
import type { OperatorDocument } from '@tradeport/domain/operator'
import { beforeAll, describe, expect, it } from 'vitest'
import type { OperatorUseCases } from '../src/index.ts'
import { expectDocumented, operator } from './documents.ts'
import {
  accountId,
  fakeDependencies,
  goodKey,
  issuesOf,
  now,
  owner,
  type Running,
  send,
  type SentRequest,
  lasting,
} from './fakes.ts'
import {
  describedAccount,
  operatorToken,
  operatorUseCases,
  runOperatorApi,
  testSecrets,
} from './operator-use-cases.ts'

const authorization = `Bearer ${operatorToken}`

/**
 * Every reply must be as documented.
 * @param line such as `GET /tenants`, below the prefix
 */
const ask = async (
  api: Running,
  line: string,
  body?: unknown,
  headers: SentRequest['headers'] = {},
) => {
  const [method = '', path = ''] = line.split(' ')
  const target = `/operator/v1${path}`
  const reply = await send(api, target, {
    method,
    headers: { authorization, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  expectDocumented(operator, method, target, reply)
  return reply
}

const secrets = [
  'provider-secret',
  'tp_live_only_for_automated_tests_given',
  'access-token-given-by-the-operator',
]
const records = createFakeRecords()
const stuck = newOrderUnderWay(newAccount(owner, { id: accountId }), now - 3_600_000)
putOrders(records, stuck)
const [hourAgo, minuteLater] = [-3_600_000, -3_540_000].map((ms) =>
  new Date(now + ms).toISOString(),
)

const limits = { maxLotsPerOrder: 0.3 }
const threshold = { type: 'equity_below', value: 9_000.5, severity: 'critical', halt: true }
const accountEntry = {
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
}
const document = {
  tenants: [
    { id: 'acme', name: 'Acme', providerToken: secrets[0] },
    { id: 'other/tenant', name: 'Other' },
  ],
  users: [{ id: 'u-1', tenantId: 'acme', email: 'a@example.com', plan: 'pro' }],
  accounts: [accountEntry],
  apiKeys: [
    {
      id: 'k-1',
      userId: 'u-1',
      name: 'bot',
      key: secrets[1],
      scopes: ['trading:read'],
      ipAllowlist: ['10.0.0.0/8'],
    },
    { id: 'k-2', userId: 'u-1', expiresAt: '2027-01-01T00:00:00Z', enabled: false },
  ],
  accessTokens: [
    { id: 't-1', userId: 'u-1', applicationId: 'app', token: secrets[2], scopes: ['trading:read'] },
  ],
  desks: [{ id: 'd-1', tenantId: 'acme', accounts: [accountId], limits: { maxOpenLots: 5 } }],
  traderLimits: [{ accountId, limits }],
  challenges: [{ accountId, startedAt: '2026-10-01T00:00:00.000Z', status: 'failed' }],
  riskThresholds: [{ accountId, ...threshold }],
}

const shownOrder = {
  id: stuck.order.id,
  tenantId: 'acme',
  userId: 'u-1',
  accountId,
  type: 'buy',
  status: 'pending',
  createdAt: hourAgo,
  destination: { providerAccountId: 'provider-1', region: 'new-york', platform: 'mt5' },
  step: 'looking_up',
  sentAt: hourAgo,
  lookups: 3,
  brokerOrderId: '4711',
  dueAt: minuteLater,
  finished: null,
}
const shownTenant = { id: 'acme', name: 'Acme', hasProviderToken: true }
const planned = {
  tenants: [{ id: 'acme', providerToken: null }],
  accounts: [{ id: accountId, providerAccountId: 'p-2' }],
}
const finishing = {
  as: 'filled',
  reason: 'seen in the terminal',
  by: 'kim',
  price: 1.0842,
  volume: 0.1,
  position: '90001',
}

describe('every route', async () => {
  const api = await lasting(runOperatorApi(operatorUseCases(records, testSecrets)))
  beforeAll(async () => {
    expect((await ask(api, 'POST /apply', document)).status).toBe(200)
  })

  it.for<[string, string, unknown, object?]>([
    [
      'applyDocument',
      'POST /apply',
      {
        changes: [{ section: 'apiKeys', id: 'k-3', action: 'create' }],
        ordersUnderWay: [],
        apiKeys: [{ id: 'k-3', key: expect.stringMatching(/^tp_live_/) }],
        accessTokens: [],
      },
      { apiKeys: [{ id: 'k-3', userId: 'u-1' }] },
    ],
    [
      'applyDocument',
      'POST /apply',
      { changes: [{ action: 'remove' }], apiKeys: [], accessTokens: [] },
      { apiKeys: [{ id: 'k-3', removed: true }] },
    ],
    [
      'planDocument',
      'POST /plan',
      {
        changes: [{ section: 'tenants', id: 'acme', action: 'change' }, { section: 'accounts' }],
        ordersUnderWay: [
          {
            id: stuck.order.id,
            accountId,
            step: 'looking_up',
            effects: ['provider_token_removed', 'account_relinked'],
          },
        ],
      },
      planned,
    ],
    [
      'listTenants',
      'GET /tenants',
      [shownTenant, { id: 'other/tenant', name: 'Other', hasProviderToken: false }],
    ],
    [
      'getTenant',
      'GET /tenants/acme',
      {
        ...shownTenant,
        counts: { users: 1, accounts: 1, apiKeys: 2, accessTokens: 1, desks: 1, webhooks: 0 },
      },
    ],
    ['getTenant', 'GET /tenants/other%2Ftenant', { id: 'other/tenant' }],
    ['listUsers', 'GET /tenants/acme/users', document.users],
    ['listTenantAccounts', 'GET /tenants/acme/accounts?userId=u-1', [{ id: accountId }]],
    ['listApiKeys', 'GET /tenants/acme/api-keys', [{ id: 'k-1' }, { id: 'k-2', enabled: false }]],
    ['listAccessTokens', 'GET /tenants/acme/access-tokens', [{ id: 't-1' }]],
    ['listDesks', 'GET /tenants/acme/desks', [{ id: 'd-1', accounts: [accountId] }]],
    ['listOrdersUnderWay', 'GET /orders?tenantId=acme&stuck=true', [shownOrder]],
    ['listOrdersUnderWay', 'GET /orders?tenantId=other%2Ftenant', []],
    ['getOrder', `GET /orders/${stuck.order.id}`, shownOrder],
    [
      'finishOrder',
      `POST /orders/${stuck.order.id}/finish`,
      {
        status: 'filled',
        fillPrice: 1.0842,
        filledVolume: 0.1,
        positionId: `${accountId}:90001`,
        step: 'ended',
        lookups: null,
        dueAt: null,
        finished: { at: new Date(now).toISOString(), by: 'kim', reason: 'seen in the terminal' },
      },
      finishing,
    ],
    [
      'rotateSecrets',
      'POST /secrets/rotate',
      { resealed: 1, unreadable: [], cursor: null },
      { limit: 100 },
    ],
    [
      'checkService',
      'GET /doctor',
      expect.arrayContaining([
        { name: 'fsync', status: 'ok', message: expect.any(String), action: null },
      ]),
    ],
    ['getProviderAccount', 'GET /tenants/acme/provider-accounts/p-1', describedAccount],
    ['checkTenant', 'GET /tenants/acme/doctor', [{ name: 'provider token', status: 'fail' }]],
  ])('%s: %s answers its records as documented, and no secret', async ([, line, data, body]) => {
    const reply = await ask(api, line, body)
    expect(reply.json).toMatchObject({ success: true, meta: { version: '1.0.0' }, error: null })
    expect(reply.json).toMatchObject({ data })
    for (const secret of secrets)
      for (const hidden of [secret, testSecrets.hash(secret)])
        expect(reply.text).not.toContain(hidden)
  })

  it('says why the provider cannot describe an account', async () => {
    expect(issuesOf(await ask(api, 'GET /tenants/acme/provider-accounts/p-2'))).toEqual([
      {
        path: 'providerAccountId',
        message:
          "providerAccountId must be an account that the provider can read; it refuses the tenant's token",
      },
    ])
  })

  it.each(['down', 'limited'])('asks to try again where the provider is %s', async (id) => {
    const reply = await ask(api, `GET /tenants/acme/provider-accounts/${id}`)
    expect(reply.status).toBe(503)
    expect(reply.json).toMatchObject({
      error: {
        code: 'SERVICE_UNAVAILABLE',
        message: 'The service cannot read the account at the provider now. Try again.',
      },
    })
  })

  it.each(operator.operations)('$name needs the operator token', async ({ route }) => {
    const line = `${route.method} ${route.path.replaceAll(/:\w+/g, stuck.order.id)}`
    for (const headers of [
      { authorization: '' },
      { authorization: `Bearer ${operatorToken}x` },
      { authorization: `Basic ${operatorToken}` },
      { authorization: '', 'x-api-key': goodKey },
    ]) {
      const reply = await ask(api, line, route.body && {}, headers)
      expect(reply.status).toBe(401)
    }
  })

  it('pages a list by cursor', async () => {
    const first = await ask(api, 'GET /tenants/acme/api-keys?limit=1')
    expect(first.json.meta?.['pagination']).toStrictEqual({
      limit: 1,
      has_next: true,
      cursor: expect.any(String),
    })
    const { cursor = '' } = (first.json.meta?.['pagination'] ?? {}) as { readonly cursor?: string }
    const second = await ask(api, `GET /tenants/acme/api-keys?limit=1&cursor=${cursor}`)
    expect(second.json).toMatchObject({
      data: [{ id: 'k-2' }],
      meta: { pagination: { limit: 1, has_next: false } },
    })
  })

  it.each([
    ['GET /tenants/nobody/users', 404],
    ['GET /tenants/no%20one/users', 404],
    ['GET /orders?stuck=yes', 400],
    ['GET /orders?tenantId=no%20one', 400],
    ['GET /tenants?limit=1001', 400],
    ['GET /apply', 404],
  ])('%s is %i', async (line, status) => {
    expect((await ask(api, line)).status).toBe(status)
  })

  it('has none of the routes of users', async () => {
    expect((await send(api, '/api/v1/symbols')).status).toBe(404)
  })
})

it('knows no risk thresholds without the capability events', async () => {
  await using api = await runOperatorApi(undefined, fakeDependencies({ capabilities: [] }))
  expect(issuesOf(await ask(api, 'POST /apply', document))).toEqual([
    {
      path: 'riskThresholds',
      message:
        'riskThresholds needs the capability events, which is off: add it to CAPABILITIES, or leave the section out',
    },
  ])
  const { riskThresholds: _, ...others } = document
  expect((await ask(api, 'POST /apply', others)).status).toBe(200)
  // Its document is another one.
  const { json } = await send(api, '/operator/v1/tenants/acme/accounts', {
    headers: { authorization },
  })
  expect(json).toMatchObject({ data: [{ challenges: [{ status: 'failed' }] }] })
  const { json: described } = await send(api, '/operator/openapi.json')
  expect(JSON.stringify([json, described])).not.toMatch(/threshold/i)
})

describe('a document', async () => {
  let applied: OperatorDocument | undefined
  const applyDocument: OperatorUseCases['applyDocument'] = (_, { body: sent }) => {
    applied = sent
    return TE.right({
      changes: [],
      ordersUnderWay: [],
      affectedUsers: [],
      apiKeys: [],
      accessTokens: [],
    })
  }
  const api = await lasting(runOperatorApi({ ...operatorUseCases(), applyDocument }))

  it('is read with dates as instants, absent fields absent, and null fields null', async () => {
    const token = { id: 't-1', userId: 'u-1', applicationId: 'app-1', scopes, enabled: false }
    const figures = { balance: -1.5, equity: 0, margin: 0, freeMargin: null }
    // The same as it is sent and as it is read.
    const same = {
      tenants: [{ id: 'gone', removed: true }],
      users: [{ id: 'u-9', new: true }],
      apiKeys: [],
      challenges: [],
      desks: [
        {
          id: 'd-1',
          accounts: [accountId],
          limits: { maxOpenLots: 50, maxOpenPositions: null, allowedSymbols: ['EURUSD'] },
        },
      ],
      traderLimits: [{ accountId, limits: null }],
      riskThresholds: [{ accountId, ...threshold, halt: null }],
      halts: [{ accountId, reason: 'under review', cancelOrders: true }],
    }
    const sent = {
      ...same,
      marketDataFeed: { accountId, symbols: { US500: 'US500.cash' } },
      accounts: [{ ...accountEntry, id: accountId.toUpperCase(), isDemo: null }],
      accessTokens: [{ ...token, expiresAt: '2027-01-01T00:00:00+01:00' }],
      balanceSnapshots: [{ accountId, timestamp: '2026-11-01', ...figures }],
    }
    expect((await ask(api, 'POST /apply', sent)).status).toBe(200)
    expect(applied).toStrictEqual({
      ...same,
      marketDataFeed: [{ id: 'feed', accountId, symbols: { US500: 'US500.cash' } }],
      accounts: [{ ...accountEntry, isDemo: null, createdAt: Date.parse(accountEntry.createdAt) }],
      accessTokens: [{ ...token, expiresAt: Date.parse('2026-12-31T23:00:00.000Z') }],
      balanceSnapshots: [{ accountId, timestamp: Date.parse('2026-11-01'), ...figures }],
    })
  })

  const name = 'must be 1 to 255 characters without control characters; got'
  it.for<[object | string, ...(string | RegExp)[]]>([
    [
      { riskThresholds: [{ accountId, type: 'equity_above', value: -1, halt: 'no' }] },
      'riskThresholds[0].type must be one of equity_below, margin_level_below, daily_loss_above, drawdown_above; got "equity_above"',
      'riskThresholds[0].severity is required; it must be one of warning, critical',
      'riskThresholds[0].value must be a number from 0; got -1',
      'riskThresholds[0].halt must be true or false; got the text "no"',
    ],
    [
      '{"accounts":[{"id":"x","accountNumber":5012345,"balance":1e999}]}',
      'accounts[0].id must be the UUID of an account; got "x"',
      `accounts[0].accountNumber ${name} the number 5012345`,
      'accounts[0].balance must be a number; got a number that is too large',
    ],
    [
      { tenant: [], constructor: 1 },
      'tenant is not a known field; the nearest is tenants',
      /^constructor is not a known field/,
    ],
    [
      { tenants: null, users: {} },
      'tenants must be a list; got null',
      'users must be a list; got an object',
    ],
    [
      { tenants: ['acme', {}, { id: '..' }] },
      'tenants[0] must be an object; got the text "acme"',
      'tenants[1].id is required; it must be a tenant id: 1 to 128 visible ASCII characters, not . or ..',
      /^tenants\[2\].id must be a tenant id: .*; got "\.\."$/,
    ],
    [
      { tenants: [{ id: 'a', nmae: 'x', name: '', removed: null }] },
      'tenants[0].nmae is not a known field; the nearest is name',
      `tenants[0].name ${name} ""`,
      'tenants[0].removed must be true or false; got null',
    ],
    [
      { tenants: [{ id: 'a b', name: 'x\u0000' }] },
      /^tenants\[0\]\.id must be .*; got "a b"$/,
      String.raw`tenants[0].name ${name} "x\u0000"`,
    ],
    [
      { apiKeys: [{ id: 'k', key: `tp_live_${'x'.repeat(23)}`, ipAllowlist: ['10.0.0.0/33'] }] },
      /^apiKeys\[0\]\.ipAllowlist\[0\] must be an IPv4 or IPv6 address, or a CIDR/,
      /^apiKeys\[0\]\.key must be tp_live_ followed by 24 to 248 .*not shown here$/,
    ],
    [
      {
        desks: [
          {
            id: 'd',
            limits: { maxOpenLots: -1, maxOpenPositions: 1.5, allowedSymbols: ['eurusd'] },
          },
        ],
      },
      'desks[0].limits.maxOpenLots must be a number from 0; got -1',
      'desks[0].limits.maxOpenPositions must be a whole number from 0; got 1.5',
      /^desks\[0\]\.limits\.allowedSymbols\[0\] must be a symbol in capitals/,
    ],
    [
      { challenges: [{ accountId }, { accountId, startedAt: null }] },
      /^challenges\[0\]\.startedAt is required/,
      /^challenges\[1\]\.startedAt must be .*; got null$/,
    ],
    // No secret is repeated.
    [
      { tenants: [{ id: 'a', providerToken: 'a b' }], accessTokens: [{ id: 't', token: 'a b' }] },
      /^tenants\[0\]\.providerToken must be .*not shown here$/,
      /^accessTokens\[0\]\.token must be .*not shown here$/,
    ],
    [
      { accessTokens: [{ id: 't', token: 'x'.repeat(19) }] },
      /^accessTokens\[0\]\.token must be 20 to 8192 visible ASCII characters; .*not shown here$/,
    ],
  ])('such as %j is refused', async ([sent, ...faults]) => {
    applied = undefined
    const messages = issuesOf(await ask(api, 'POST /apply', sent)).map(({ message }) => message)
    expect(messages).toEqual(
      faults.map((fault) =>
        typeof fault === 'string' ? fault : (expect.stringMatching(fault) as string),
      ),
    )
    expect(applied).toBeUndefined()
  })
})
