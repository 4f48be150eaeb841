// Both APIs over the use cases and fakes of the domain: what an operator applies is what its user then reads, and nobody else.
import { createHash } from 'node:crypto'
import {
  brokerRateLimited,
  brokerUnavailable,
  createLiveAccounts,
  createPositionViews,
  exportTrades,
  getAccount,
  getMarketData,
  getPosition,
  getTrade,
  getTradeStatistics,
  identifyCaller,
  listAccounts,
  listBalanceHistory,
  listPositions,
  listSymbols,
  listTrades,
  maxHistoryDeals,
  synchroniseJournal,
} from '@tradeport/domain'
import type { BrokerDeal, CredentialHash, Secrets } from '@tradeport/domain'
import {
  createFakeAccountStore,
  createFakeBroker,
  createFakeCredentialStore,
  createFakeJournal,
  createFakeRecords,
} from '@tradeport/domain/testing'
import type { FakeBroker } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, createOperatorApi } from '../src/index.ts'
import { accountId, fakeEdge, fakeUseCases, now, position, run, send } from './fakes.ts'
import type { ReplyBody, Running } from './fakes.ts'
import { operatorUseCases } from './operator-use-cases.ts'

const operatorToken = 'the-operator'
const [mine, theirs] = ['tp_live_only_for_automated_tests_mine', 'tp_live_only_for_automated_tests_theirs']

const secrets: Secrets = {
  newApiKey: () => 'tp_live_only_for_automated_tests_made',
  newAccessToken: () => 'made',
  hash: (secret) => createHash('sha256').update(secret).digest('hex') as CredentialHash,
}

const document = {
  tenants: [{ id: 'acme', name: 'Acme' }],
  users: ['u-1', 'u-2'].map((id) => ({ id, tenantId: 'acme', email: `${id}@example.com` })),
  accounts: [
    {
      id: accountId,
      userId: 'u-1',
      name: 'Main',
      brokerType: 'mt5',
      accountNumber: '1',
      server: 'S',
      purpose: 'trading',
      currency: 'USD',
      isDemo: true,
      providerAccountId: 'p-1',
    },
  ],
  apiKeys: [
    { id: 'k-1', userId: 'u-1', key: mine, scopes: ['accounts:read', 'trading:read'] },
    { id: 'k-2', userId: 'u-2', key: theirs, scopes: ['accounts:read', 'trading:read'] },
    { id: 'k-3', userId: 'u-2' },
  ],
}

// Twenty-five positions, opened and closed one a minute.
const deals = Array.from({ length: 25 }, (_, index): readonly BrokerDeal[] => {
  const positionId = String(100 + index)
  const deal = { positionId, symbol: 'EURUSD', volume: 0.1, commission: -0.1, swap: 0 }
  const time = now - (60 - index) * 60_000
  return [
    { ...deal, id: `${positionId}1`, kind: 'buy', side: 'buy', entry: 'in', price: 1.1, profit: 0, time },
    { ...deal, id: `${positionId}2`, kind: 'sell', side: 'sell', entry: 'out', price: 1.2, profit: index - 10, time: time + 30_000 },
  ]
}).flat()

interface Pagination {
  readonly page: number
  readonly cursor?: string
}

describe('the APIs over the use cases of the domain', () => {
  let broker: FakeBroker
  let api: Running
  let operator: Running
  let applied: ReplyBody
  let elapsedMs = 0
  beforeAll(async () => {
    const clock = { now: () => now + elapsedMs }
    const edge = fakeEdge({ clock })
    const records = createFakeRecords()
    const accounts = createFakeAccountStore(records)
    broker = createFakeBroker(clock)
    const { journal, records: trades } = createFakeJournal(records, () => undefined, clock)
    const ports = {
      accounts,
      broker,
      clock,
      secrets,
      credentials: createFakeCredentialStore(records),
      addressLimits: { wasAccepted: () => false, waitMs: () => 0, recordAccepted: () => undefined, recordFailed: () => undefined },
      trades,
      maxDeals: maxHistoryDeals,
      synchroniseJournal: synchroniseJournal({
        journal,
        broker,
        clock,
        stopwatch: { elapsedMs: () => elapsedMs },
        pause: () => async () => undefined,
        recordsEvents: false,
        stopsAboveDeals: maxHistoryDeals,
        onDisagreement: () => undefined,
      }),
      liveAccounts: createLiveAccounts({ accounts, broker, clock }),
      positionViews: createPositionViews({ broker }),
    }
    operator = await run(createOperatorApi(operatorUseCases(records, secrets), { ...edge, operatorToken }))
    api = await run(
      createApi(
        {
          // Orders are tested over the real store elsewhere.
          ...fakeUseCases(),
          identifyCaller: identifyCaller(ports),
          listAccounts: listAccounts(ports),
          getAccount: getAccount(ports),
          listBalanceHistory: listBalanceHistory(ports),
          listPositions: listPositions(ports),
          getPosition: getPosition(ports),
          listTrades: listTrades(ports),
          getTrade: getTrade(ports),
          getTradeStatistics: getTradeStatistics(ports),
          exportTrades: exportTrades(ports),
          listSymbols,
          getMarketData,
        },
        edge,
      ),
    )
    broker.put(accountId, { positions: [position], deals })
    applied = await apply(document)
  })
  afterAll(() => Promise.all([api[Symbol.asyncDispose](), operator[Symbol.asyncDispose]()]))

  const apply = async (body: object): Promise<ReplyBody> => {
    const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
    const response = await fetch(`${operator.origin}/operator/v1/apply`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as ReplyBody
  }
  const get = (target: string, key = mine) => send(api, `/api/v1${target}`, { headers: { 'x-api-key': key } })
  const codeOf = async (target: string, key = mine): Promise<string | undefined> => (await get(target, key)).json.error?.code

  it('answer the keys to the operator, and faults that depend on the records, by their paths', async () => {
    expect(await apply({ users: [{ id: 'u-1', tenantId: 'nowhere', email: 'a@b' }] })).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: { issues: [{ path: 'users[0].tenantId' }] } },
    })
    expect(applied.data).toEqual({
      apiKeys: [
        { id: 'k-1', key: mine },
        { id: 'k-2', key: theirs },
        { id: 'k-3', key: 'tp_live_only_for_automated_tests_made' },
      ],
      accessTokens: [],
    })
    // A new key reads accounts and market data only.
    expect((await get('/accounts', 'tp_live_only_for_automated_tests_made')).status).toBe(200)
    expect(await codeOf('/trades', 'tp_live_only_for_automated_tests_made')).toBe('INSUFFICIENT_SCOPE')
  })

  it('show a user what is theirs', async () => {
    expect((await get('/accounts')).json.data).toMatchObject([
      { id: accountId, broker: 'Fake Broker', liveDataUpdatedAt: new Date(now).toISOString() },
    ])
    expect((await get('/positions')).json.data).toMatchObject([{ id: `${accountId}:42`, userId: 'u-1', marginUsed: 110.00000000000001 }])
    expect((await get(`/positions/${accountId}:42`)).status).toBe(200)
    expect((await get(`/trades/${accountId}:100`)).json.data).toMatchObject({ netProfit: -10.2, holdingTime: 30 })
    expect((await get('/trades/stats')).json.data).toMatchObject({ totalTrades: 25, winningTrades: 14, losingTrades: 11 })
  })

  it('show it to nobody else', async () => {
    expect((await get('/accounts', theirs)).json.data).toEqual([])
    expect((await get('/positions', theirs)).json.data).toEqual([])
    const codes = await Promise.all(
      [
        `/accounts/${accountId}`,
        `/positions?accountId=${accountId}`,
        `/positions/${accountId}:42`,
        `/trades?accountId=${accountId}`,
        `/trades/${accountId}:100`,
      ].map((target) => codeOf(target, theirs)),
    )
    expect(codes).toEqual(['ACCOUNT_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'POSITION_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'TRADE_NOT_FOUND'])
  })

  it('page through the trades with the cursor, without gap or repeat, and refuse the cursor of another list', async () => {
    const read: string[] = []
    const pages: number[] = []
    let cursor: string | undefined
    do {
      const { json } = await get(`/trades?limit=10${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      const { page, cursor: next } = (json.meta ?? {})['pagination'] as Pagination
      read.push(...(json.data as readonly { readonly positionId: string }[]).map(({ positionId }) => positionId))
      pages.push(page)
      expect(await codeOf(`/trades?limit=10&symbol=EURUSD&cursor=${next ?? 'none'}`)).toBe('INVALID_CURSOR')
      cursor = next
    } while (cursor !== undefined)
    expect(read).toEqual(Array.from({ length: 25 }, (_, index) => String(124 - index)))
    expect(pages).toEqual([1, 2, 3])
    expect([await codeOf('/trades?cursor='), await codeOf('/trades?cursor=%00'), await codeOf('/trades?cursor=bm9uZQ')]).toEqual(
      Array(3).fill('INVALID_CURSOR'),
    )
  })

  it('never answer an empty list for a broker that cannot be read, and name the account', async () => {
    elapsedMs = 5_001
    broker.fail(accountId, brokerUnavailable(accountId, 'down'))
    for (const target of ['/positions', '/trades', '/trades/stats', '/trades/export'])
      expect((await get(target)).json.error).toMatchObject({ code: 'BROKER_UNAVAILABLE', details: { accountId } })
    broker.fail(accountId, brokerRateLimited(accountId, 2_100, 0))
    const limited = await get('/trades')
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '3'])
    expect(await codeOf(`/accounts/${accountId}`)).toBe('ACCOUNT_DISCONNECTED')
    broker.heal(accountId)
    expect((await get(`/accounts/${accountId}`)).status).toBe(200)
  })

  it('refuse a key from the moment that it is revoked or removed', async () => {
    await apply({
      apiKeys: [
        { id: 'k-2', enabled: false },
        { id: 'k-3', removed: true },
      ],
    })
    expect([await codeOf('/accounts', theirs), await codeOf('/accounts', 'tp_live_only_for_automated_tests_made')]).toEqual([
      'UNAUTHORIZED',
      'UNAUTHORIZED',
    ])
  })
})
