// The envelope, its meta and the shapes of the resources.
import { instruments } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account, accountId, closedTrade, goodKey, noStatistics, position, provenance, runApi, send } from './fakes.ts'
import type { Answer, Running } from './fakes.ts'

const dataOf = ({ status, json }: Answer): unknown => {
  expect(status).toBe(200)
  return json.data
}

describe('a reply', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('is in the envelope, with the request id of the header', async () => {
    const reply = await send(api, '/api/v1/accounts')
    expect(Object.keys(reply.json)).toEqual(['success', 'data', 'meta', 'error'])
    expect(reply.json).toMatchObject({ success: true, error: null })
    expect(reply.json.meta).toEqual({
      timestamp: '2026-11-21T10:11:12.345Z',
      request_id: reply.headers['x-request-id'],
      version: '1.0.0',
    })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
  })

  it.each(['mine', 'A-b_c.d:9', 'x'.repeat(128)])('has the request id %s that the caller sent', async (id) => {
    for (const target of ['/api/v1/accounts', '/api/v1/nowhere', '/api/v1/trades/export']) {
      const reply = await send(api, target, { headers: { 'x-api-key': goodKey, 'x-request-id': id } })
      expect(reply.headers['x-request-id']).toBe(id)
    }
  })

  it.each(['', 'with space', 'x'.repeat(129), 'semi;colon', 'käse', 'a,b'])('has a new request id instead of %j', async (id) => {
    const reply = await send(api, '/api/v1/accounts', { headers: { 'x-api-key': goodKey, 'x-request-id': id } })
    expect(reply.headers['x-request-id']).toMatch(/^req_\d+$/)
  })

  it('shows an account with stored figures, null for what was never read, and nothing of the provider', async () => {
    const reply = await send(api, '/api/v1/accounts')
    expect(dataOf(reply)).toEqual([
      {
        id: accountId,
        name: 'Main',
        broker: null,
        brokerType: 'mt5',
        accountNumber: '5012345',
        server: 'Example-Demo',
        purpose: 'trading',
        isDemo: true,
        currency: 'USD',
        balance: 10_000,
        equity: 10_001.5,
        margin: 0,
        freeMargin: null,
        marginLevel: null,
        leverage: null,
        status: 'connected',
        liveDataUpdatedAt: null,
        lastSyncAt: '2026-01-05T00:00:00.000Z',
        createdAt: '2026-01-05T00:00:00.000Z',
        updatedAt: '2026-01-06T00:00:00.000Z',
      },
    ])
    expect(reply.text).not.toContain('secret')
    expect(reply.text).toContain('"margin":0,')
  })

  it('shows when an account was read live, and believes a broker that says it is not a demo account', async () => {
    const read = { ...account, tradeMode: 'real', lastReadAt: account.createdAt + 1 } as const
    await using other = await runApi({ getAccount: () => TE.right({ account: read, liveDataUpdatedAt: account.createdAt + 2 }) })
    expect(dataOf(await send(other, `/api/v1/accounts/${accountId}`))).toMatchObject({
      isDemo: false,
      lastSyncAt: '2026-01-05T00:00:00.001Z',
      liveDataUpdatedAt: '2026-01-05T00:00:00.002Z',
    })
  })

  it('shows snapshots', async () => {
    expect(dataOf(await send(api, `/api/v1/accounts/${accountId}/history`))).toEqual([
      { timestamp: '2026-11-21T10:11:12.345Z', balance: 1, equity: 2, margin: 3, freeMargin: null },
    ])
  })

  it('shows a position without the levels that it does not have, its provenance and its page', async () => {
    const reply = await send(api, '/api/v1/positions')
    expect(dataOf(reply)).toEqual([
      {
        id: `${accountId}:42`,
        userId: 'u-1',
        accountId,
        brokerPositionId: '42',
        symbol: 'EURUSD',
        type: 'buy',
        volume: 0.1,
        entryPrice: 1.1,
        currentPrice: 1.2,
        swap: -0.3,
        commission: 0,
        unrealizedPnl: 10,
        realizedPnl: 0,
        marginUsed: null,
        openedAt: '2026-11-20T00:00:00.001Z',
      },
    ])
    expect(reply.json.meta).toMatchObject({
      pagination: { page: 1, limit: 20, total: 1, total_pages: 1, has_next: false, has_prev: false },
      provenance: { source: 'metaapi', accounts: [accountId], readAt: '2026-11-21T10:11:11.345Z' },
    })
    expect(reply.json.meta?.['provenance']).not.toHaveProperty('skipped')
    expect(reply.json.meta?.['pagination']).not.toHaveProperty('cursor')
  })

  it('shows the levels that a position has', async () => {
    await using other = await runApi({
      getPosition: () => TE.right({ position: { ...position, stopLoss: 1, takeProfit: 2, marginUsed: 3 }, provenance }),
    })
    expect(dataOf(await send(other, '/api/v1/positions/x'))).toMatchObject({ stopLoss: 1, takeProfit: 2, marginUsed: 3 })
  })

  it.each([
    [0, 1, 20, { page: 1, total: 0, total_pages: 0, has_next: false, has_prev: false }],
    [0, 2, 20, { page: 2, total: 0, total_pages: 0, has_next: false, has_prev: true }],
    [41, 1, 20, { page: 1, total: 41, total_pages: 3, has_next: true, has_prev: false }],
    [41, 2, 20, { page: 2, total: 41, total_pages: 3, has_next: true, has_prev: true }],
    [41, 3, 20, { page: 3, total: 41, total_pages: 3, has_next: false, has_prev: true }],
    [41, 9, 20, { page: 9, total: 41, total_pages: 3, has_next: false, has_prev: true }],
    [40, 2, 20, { page: 2, total: 40, total_pages: 2, has_next: false, has_prev: true }],
  ])('of %i positions has page %i of %i', async (total, page, limit, expected) => {
    await using other = await runApi({ listPositions: () => TE.right({ page: { items: [], page, limit, total }, provenance }) })
    expect((await send(other, '/api/v1/positions')).json.meta?.['pagination']).toEqual({ limit, ...expected })
  })

  it('shows a trade, and volumeEstimated only where it is true', async () => {
    const estimated = closedTrade('2', { volumeEstimated: true, netProfit: -0 })
    await using other = await runApi({
      listTrades: () => TE.right({ trades: [estimated, closedTrade('1')], total: 9, before: 4, provenance, cursor: 'next' }),
    })
    const reply = await send(other, '/api/v1/trades?limit=2')
    const plain = {
      id: `${accountId}:1`,
      userId: 'u-1',
      accountId,
      positionId: '1',
      symbol: 'EURUSD',
      type: 'sell',
      volume: 0.3,
      entryPrice: 1.23456,
      exitPrice: 1.2,
      swap: -0.1,
      commission: -0.7,
      profit: 12.3,
      netProfit: 11.5,
      holdingTime: 3_600,
      openedAt: '2026-11-19T00:00:00.000Z',
      closedAt: '2026-11-19T01:00:00.999Z',
    }
    expect(dataOf(reply)).toEqual([{ ...plain, id: `${accountId}:2`, positionId: '2', netProfit: 0, volumeEstimated: true }, plain])
    expect(reply.json.meta).toMatchObject({
      pagination: { page: 3, limit: 2, total: 9, total_pages: 5, has_next: true, has_prev: true, cursor: 'next' },
      provenance: {
        source: 'metaapi',
        accounts: [accountId],
        readAt: '2026-11-21T10:11:11.345Z',
        skipped: [{ accountId, positionId: '7', reason: 'no_open_deal' }],
      },
    })
  })

  it.each([
    [0, 1],
    [1, 1],
    [19, 1],
    [20, 2],
    [39, 2],
    [40, 3],
  ])('of trades with %i before it is page %i of twenty', async (before, page) => {
    await using other = await runApi({
      listTrades: () => TE.right({ trades: [closedTrade('1')], total: before + 1, before, provenance, cursor: undefined }),
    })
    expect((await send(other, '/api/v1/trades')).json.meta?.['pagination']).toMatchObject({ page, has_prev: before > 0, has_next: false })
  })

  it('leaves the cursor out on the last page', async () => {
    const { meta } = (await send(api, '/api/v1/trades')).json
    expect(meta?.['pagination']).toEqual({ page: 1, limit: 20, total: 1, total_pages: 1, has_next: false, has_prev: false })
  })

  // The JSON of a record is made once, and used in every list that has it.
  it('shows the same records in any list', async () => {
    const trades = ['1', '2', '3'].map((id) => closedTrade(id, { symbol: `"${id}"`, profit: -0 }))
    const lists = [trades, trades.toReversed(), [], trades.slice(1), trades]
    let call = 0
    await using other = await runApi({
      listTrades: () => TE.right({ trades: lists[call++] ?? [], total: 3, before: 0, provenance, cursor: undefined }),
    })
    for (const list of lists) {
      const shown = (await send(other, '/api/v1/trades')).json.data as readonly object[]
      expect(shown).toMatchObject(list.map(({ trade: { positionId, symbol } }) => ({ positionId, symbol, profit: 0 })))
    }
  })

  it('shows one trade with its provenance', async () => {
    const reply = await send(api, '/api/v1/trades/x')
    expect(dataOf(reply)).toMatchObject({ positionId: '1' })
    expect(reply.json.meta?.['provenance']).toHaveProperty('skipped')
  })

  it('shows statistics, and no warnings where there are none', async () => {
    const reply = await send(api, '/api/v1/trades/stats')
    expect(dataOf(reply)).toEqual(noStatistics)
    expect(reply.json.meta).not.toHaveProperty('warnings')
    expect(reply.json.meta?.['provenance']).toHaveProperty('skipped')
  })

  it('warns of figures in several currencies, and leaves an unbounded profit factor null', async () => {
    await using other = await runApi({
      getTradeStatistics: () =>
        TE.right({
          statistics: { ...noStatistics, profitFactor: null },
          provenance,
          warnings: [{ code: 'mixed_currencies', currencies: ['USD', 'EUR'] }],
        }),
    })
    const reply = await send(other, '/api/v1/trades/stats')
    expect(dataOf(reply)).toMatchObject({ profitFactor: null })
    expect(reply.json.meta?.['warnings']).toEqual([
      { code: 'mixed_currencies', currencies: ['USD', 'EUR'], message: expect.stringContaining('USD, EUR') as string },
    ])
  })
})

describe('GET /symbols', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('lists all instruments, which caches may keep for a minute', async () => {
    const reply = await send(api, '/api/v1/symbols', { headers: {} })
    expect(dataOf(reply)).toEqual(instruments)
    expect(reply.headers['cache-control']).toBe('public, max-age=60')
    expect(reply.headers['etag']).toMatch(/^W\/"[\w-]+"$/)
  })

  it('answers 304 to whoever has the same list', async () => {
    const { etag = '' } = (await send(api, '/api/v1/symbols')).headers
    const conditional = (tag: string, target = '/api/v1/symbols'): Promise<Answer> =>
      send(api, target, { headers: { 'if-none-match': tag } })
    for (const tag of [etag, etag.slice(2), '*', `"other", ${etag}`]) {
      const reply = await conditional(tag)
      expect([reply.status, reply.text, reply.headers['etag'], reply.headers['cache-control']]).toEqual([
        304,
        '',
        etag,
        'public, max-age=60',
      ])
      expect(reply.headers['x-request-id']).toBeDefined()
    }
    for (const tag of ['"other"', '', etag.slice(0, -2)]) expect((await conditional(tag)).status).toBe(200)
    expect((await conditional(etag, '/api/v1/symbols?type=metal')).status).toBe(200)
  })

  it('is not cached when it is refused', async () => {
    expect((await send(api, '/api/v1/symbols?type=x')).headers['cache-control']).toBe('no-store')
  })
})

describe('quotes, candles and ticks', () => {
  it.each([
    ['/quotes/EURUSD', 501, 'NOT_IMPLEMENTED'],
    ['/quotes/NOPE', 404, 'NOT_FOUND'],
    ['/quotes/eurusd', 400, 'VALIDATION_ERROR'],
    ['/candles/EURUSD?timeframe=1M&limit=1000', 501, 'NOT_IMPLEMENTED'],
    ['/candles/NOPE?timeframe=1M', 404, 'NOT_FOUND'],
    ['/candles/NOPE', 400, 'VALIDATION_ERROR'],
    ['/ticks/AAPL?limit=10000&startTime=2026-01-01&endTime=2026-01-01', 501, 'NOT_IMPLEMENTED'],
    ['/ticks/NOPE?limit=0', 400, 'VALIDATION_ERROR'],
  ])('%s answers %i %s', async (target, status, code) => {
    await using api = await runApi()
    const reply = await send(api, `/api/v1${target}`, { headers: {} })
    expect([reply.status, reply.json.error?.code, reply.json.data]).toEqual([status, code, null])
  })

  it('name the missing feature', async () => {
    await using api = await runApi()
    expect((await send(api, '/api/v1/ticks/EURUSD')).json.error?.details).toEqual({ feature: 'market-data' })
  })
})
