// What every route of the API for users answers when it succeeds: the data of each resource,
// exactly, as the document describes it.
import { instruments } from '@tradeport/domain/market'
import type { ClosedPosition } from '@tradeport/domain/use-cases'
import type { WebhookDelivery } from '@tradeport/domain/webhooks'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { expectDocumented, users } from './documents.ts'
import {
  account,
  accountId,
  closedPosition,
  closedTrade,
  delivery,
  goodKey,
  noStatistics,
  now,
  pendingOrder,
  position,
  provenance,
  requestOf,
  runApi,
  send,
  targetOf,
  webhook,
  webhookSecret,
} from './fakes.ts'
import type { Answer, Running } from './fakes.ts'

const shownAccount = {
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
}
const shownPosition = {
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
}
const shownClose = {
  id: `${accountId}:42`,
  accountId,
  brokerPositionId: '42',
  brokerOrderId: '99',
  closedVolume: 0.1,
  remainingVolume: 0,
  closePrice: 1.2,
  realizedPnl: 10,
  closedAt: '2026-11-21T10:11:10.001Z',
}
const shownTrade = {
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
const shownOrder = {
  id: pendingOrder.id,
  userId: 'u-1',
  accountId,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
  status: 'pending',
  createdAt: '2026-11-21T10:00:00.001Z',
  updatedAt: '2026-11-21T10:00:00.002Z',
}
const shownWebhook = {
  id: '0c1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c',
  url: 'https://hooks.example.com/tradeport',
  eventTypes: ['trade.closed', 'order.filled'],
  enabled: true,
  failureCount: 2,
  lastSuccessAt: '2026-11-20T00:00:00.001Z',
  lastFailureAt: null,
  createdAt: '2026-11-19T00:00:00.002Z',
  updatedAt: '2026-11-20T00:00:00.003Z',
}
const shownDelivery = {
  ...delivery,
  createdAt: '2026-11-20T00:00:00.001Z',
  lastAttemptAt: '2026-11-20T01:21:00.002Z',
}

const shownProvenance = {
  source: 'metaapi',
  accounts: [accountId],
  readAt: '2026-11-21T10:11:11.345Z',
}
const ofTrades = {
  provenance: {
    ...shownProvenance,
    skipped: [{ accountId, positionId: '7', reason: 'no_open_deal' }],
  },
}
const ofPositions = { provenance: shownProvenance }
const onePage = { page: 1, limit: 20, total: 1, total_pages: 1, has_next: false, has_prev: false }

interface Row {
  readonly data: unknown
  /** In `meta`, besides what stands there in every reply. */
  readonly meta?: object
  readonly location?: string
  readonly parts?: Partial<UseCases>
  readonly query?: string
}

const orderWith = (parts: object, shown: object): Row => ({
  data: { ...shownOrder, ...shown },
  parts: { getOrder: () => TE.right({ ...pendingOrder, ...parts }) },
})
const fill = {
  price: 1.1,
  volume: 0.1,
  at: Date.parse('2026-11-21T10:00:01.000Z'),
  positionId: '42',
}
const optionals = {
  price: 1.1,
  stopLoss: 1.05,
  takeProfit: 1.2,
  comment: 'a comment',
  clientId: 'mine',
}
const rejectReason = { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' }

const closeWith = (parts: Partial<ClosedPosition>, shown: object): Row => ({
  data: { ...shownClose, ...shown },
  meta: ofPositions,
  parts: { closePosition: () => TE.right({ closed: { ...closedPosition, ...parts }, provenance }) },
})
const unread = { closePrice: null, realizedPnl: null, closedAt: null }

const testWith = (
  isSuccess: boolean,
  failureReason: WebhookDelivery['failureReason'],
  shown = failureReason,
): Row => ({
  data: { success: isSuccess, responseCode: 0, responseTimeMs: 31, failureReason: shown },
  parts: {
    testWebhook: () => TE.right({ isSuccess, responseCode: 0, responseTimeMs: 31, failureReason }),
  },
})
const unreachable = (['host_not_allowed', 'name_not_found', 'tls_failed', null] as const).map(
  (failureReason) => ({
    ...delivery,
    failureReason,
  }),
)

const tradesWith = (
  total: number,
  before: number,
  cursor: string | undefined,
  pagination: object,
  query = '',
): Row => ({
  data: [shownTrade],
  query,
  meta: { ...ofTrades, pagination: { ...onePage, total, ...pagination } },
  parts: {
    listTrades: () => TE.right({ trades: [closedTrade('1')], total, before, provenance, cursor }),
  },
})
const positionsWith = (total: number, page: number, pagination: object): Row => ({
  data: [],
  meta: { ...ofPositions, pagination: { ...onePage, total, page, ...pagination } },
  parts: {
    listPositions: (_, { limit }) =>
      TE.right({ page: { items: [], page, limit, total }, provenance }),
  },
})

const asDemo = { ...account, tradeMode: 'real', lastReadAt: account.createdAt + 1 } as const
const liveAccount = {
  ...shownAccount,
  isDemo: false,
  lastSyncAt: '2026-01-05T00:00:00.001Z',
  liveDataUpdatedAt: '2026-01-05T00:00:00.002Z',
}
const levels = { stopLoss: 1, takeProfit: 2, marginUsed: 3 }
const interval = { lower: 1, upper: 2 }
const fullStatistics = {
  ...noStatistics,
  profitFactor: null,
  confidenceIntervals: { level: 0.95, winRate: interval, averageTrade: interval },
}
const estimated = closedTrade('2', { volumeEstimated: true, netProfit: -0 })
const replay = {
  ...delivery,
  status: 'pending',
  replayOf: delivery.id,
  lastAttemptAt: null,
  nextAttemptAt: delivery.createdAt,
} as const

const table: Readonly<Record<string, readonly Row[]>> = {
  listAccounts: [{ data: [shownAccount] }],
  // A broker that says that an account is real is believed.
  getAccount: [
    {
      data: liveAccount,
      parts: {
        getAccount: () => TE.right({ account: asDemo, liveDataUpdatedAt: account.createdAt + 2 }),
      },
    },
  ],
  listBalanceHistory: [
    {
      data: [
        {
          timestamp: '2026-11-21T10:11:12.345Z',
          balance: 1,
          equity: 2,
          margin: 3,
          freeMargin: null,
        },
      ],
    },
  ],
  placeOrder: [{ data: shownOrder, location: '/api/v1/orders/ord_0123456789abcdefghij' }],
  listOrders: [{ data: [shownOrder], meta: { pagination: onePage } }],
  getOrder: [
    orderWith({}, {}),
    orderWith({ request: { ...pendingOrder.request, ...optionals } }, optionals),
    orderWith(
      { status: 'filled', fill },
      // The id that GET /positions/:id accepts.
      {
        status: 'filled',
        fillPrice: 1.1,
        filledVolume: 0.1,
        filledAt: '2026-11-21T10:00:01.000Z',
        positionId: `${accountId}:42`,
      },
    ),
    orderWith({ status: 'filled', fill: {} }, { status: 'filled' }),
    orderWith(
      { status: 'partially_filled', fill: { volume: 0.05 } },
      { status: 'partially_filled', filledVolume: 0.05 },
    ),
    orderWith({ status: 'rejected', reason: rejectReason }, { status: 'rejected', rejectReason }),
  ],
  modifyOrder: [
    { data: shownOrder, parts: { modifyOrder: () => TE.right(pendingOrder as never) } },
  ],
  cancelOrder: [
    { data: shownOrder, parts: { cancelOrder: () => TE.right(pendingOrder as never) } },
  ],
  listPositions: [
    { data: [shownPosition], meta: { ...ofPositions, pagination: onePage } },
    positionsWith(0, 1, { total_pages: 0 }),
    positionsWith(0, 2, { total_pages: 0, has_prev: true }),
    positionsWith(41, 1, { total_pages: 3, has_next: true }),
    positionsWith(41, 3, { total_pages: 3, has_prev: true }),
    positionsWith(40, 2, { total_pages: 2, has_prev: true }),
  ],
  getPosition: [
    { data: shownPosition, meta: ofPositions },
    {
      data: { ...shownPosition, ...levels },
      meta: ofPositions,
      parts: { getPosition: () => TE.right({ position: { ...position, ...levels }, provenance }) },
    },
  ],
  moveStopLoss: [{ data: { ...shownPosition, stopLoss: 1 }, meta: ofPositions }],
  moveTakeProfit: [{ data: { ...shownPosition, takeProfit: 1 }, meta: ofPositions }],
  closePosition: [
    closeWith({}, {}),
    closeWith(
      { remainingVolume: 0.2, remainingTicket: '43' as never },
      { remainingVolume: 0.2, remainingPositionId: `${accountId}:43` },
    ),
    closeWith(unread, unread),
    closeWith({ orderId: null, realizedPnl: -0 }, { brokerOrderId: null, realizedPnl: 0 }),
  ],
  listTrades: [
    {
      data: [
        {
          ...shownTrade,
          id: `${accountId}:2`,
          positionId: '2',
          netProfit: 0,
          volumeEstimated: true,
        },
      ],
      meta: { ...ofTrades, pagination: onePage },
      parts: {
        listTrades: () =>
          TE.right({ trades: [estimated], total: 1, before: 0, provenance, cursor: undefined }),
      },
    },
    tradesWith(
      9,
      4,
      'next',
      { page: 3, limit: 2, total_pages: 5, has_next: true, has_prev: true, cursor: 'next' },
      'limit=2',
    ),
    tradesWith(20, 19, undefined, { has_prev: true }),
    tradesWith(21, 20, undefined, { page: 2, total_pages: 2, has_prev: true }),
  ],
  getTradeStatistics: [
    { data: noStatistics, meta: ofTrades },
    {
      data: fullStatistics,
      meta: {
        ...ofTrades,
        warnings: [
          {
            code: 'mixed_currencies',
            currencies: ['USD', 'EUR'],
            message: expect.stringContaining('USD, EUR'),
          },
        ],
      },
      parts: {
        getTradeStatistics: () =>
          TE.right({
            statistics: fullStatistics,
            provenance,
            warnings: [{ code: 'mixed_currencies', currencies: ['USD', 'EUR'] }],
          }),
      },
    },
  ],
  getTrade: [{ data: shownTrade, meta: ofTrades }],
  listSymbols: [{ data: instruments }],
  createWebhook: [
    {
      data: { ...shownWebhook, secret: webhookSecret },
      location: `/api/v1/webhooks/${webhook.id}`,
    },
  ],
  listWebhooks: [{ data: [shownWebhook] }],
  getWebhook: [{ data: shownWebhook }],
  changeWebhook: [{ data: shownWebhook }],
  deleteWebhook: [{ data: { id: webhook.id, deleted: true } }],
  testWebhook: [
    testWith(true, null),
    testWith(false, 'timed_out'),
    // Whether a name exists, and in which network, is not shown.
    testWith(false, 'host_not_allowed', 'host_unreachable' as never),
    testWith(false, 'name_not_found', 'host_unreachable' as never),
  ],
  listWebhookDeliveries: [
    {
      data: ['not_2xx', 'host_unreachable', 'host_unreachable', 'tls_failed', null].map(
        (failureReason) => ({
          ...shownDelivery,
          failureReason,
        }),
      ),
      meta: { pagination: { ...onePage, total: 5 } },
      parts: {
        listWebhookDeliveries: (_, __, { page, limit }) =>
          TE.right({ items: [delivery, ...unreachable], page, limit, total: 5 }),
      },
    },
  ],
  replayWebhookDelivery: [
    {
      data: {
        ...shownDelivery,
        status: 'pending',
        replayOf: delivery.id,
        lastAttemptAt: null,
        nextAttemptAt: '2026-11-20T00:00:00.001Z',
      },
      location: `/api/v1/webhooks/${webhook.id}/deliveries`,
      parts: { replayWebhookDelivery: () => TE.right(replay) },
    },
  ],
}

it('every operation has a row, but the export, which is a file, and market data, which is not available yet', () => {
  const others = ['exportTrades', 'getQuote', 'listCandles', 'listTicks']
  expect([...Object.keys(table), ...others].toSorted()).toEqual(
    users.routes.map(({ operationId }) => operationId).toSorted(),
  )
})

const cases = users.operations.flatMap((one) =>
  (table[one.route.operationId] ?? []).map((row) => ({ ...one, row })),
)

it.each(cases)(
  '$name answers $row.data',
  async ({ route, pointer, row: { data, meta = {}, location, parts = {}, query } }) => {
    await using api = await runApi(parts)
    const reply = await send(api, targetOf(route, query), requestOf(route))
    expect([reply.status, reply.headers.location]).toEqual([
      location === undefined ? 200 : 201,
      location,
    ])
    expect(Object.keys(reply.json)).toEqual(['success', 'data', 'meta', 'error'])
    expect(reply.json).toEqual({
      success: true,
      data,
      meta: {
        timestamp: new Date(now).toISOString(),
        request_id: reply.headers['x-request-id'],
        version: '1.0.0',
        ...meta,
      },
      error: null,
    })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': route.path === '/symbols' ? 'public, max-age=60' : 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    expectDocumented(users, pointer, reply)
  },
)

describe('a reply', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it.each(['A-b_c.d:9', 'x'.repeat(128), '', 'with space', 'x'.repeat(129), 'semi;colon', 'käse'])(
    'has the request id %j that the caller sent, where it is one',
    async (id) => {
      for (const target of ['/api/v1/accounts', '/api/v1/nowhere', '/api/v1/trades/export']) {
        const { headers } = await send(api, target, {
          headers: { 'x-api-key': goodKey, 'x-request-id': id },
        })
        expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/.test(id) ? id : /^req_\d+$/)
        // Nor does it name its software.
        expect(
          Object.keys(headers).filter((name) => ['server', 'x-powered-by', 'via'].includes(name)),
        ).toEqual([])
      }
    },
  )

  // The JSON of a record is made once, and used in every list that has it.
  it('shows the same records in any list', async () => {
    const trades = ['1', '2', '3'].map((id) => closedTrade(id, { symbol: `"${id}"`, profit: -0 }))
    const lists = [trades, trades.toReversed(), [], trades.slice(1), trades]
    let call = 0
    await using other = await runApi({
      listTrades: () =>
        TE.right({
          trades: lists[call++] ?? [],
          total: 3,
          before: 0,
          provenance,
          cursor: undefined,
        }),
    })
    for (const list of lists) {
      const shown = (await send(other, '/api/v1/trades')).json.data as readonly object[]
      expect(shown).toMatchObject(
        list.map(({ trade: { positionId, symbol } }) => ({ positionId, symbol, profit: 0 })),
      )
    }
  })

  it('that caches may keep is 304 to whoever has it, and differs by credential', async () => {
    const { etag = '', vary } = (await send(api, '/api/v1/symbols')).headers
    expect(vary).toBe('Authorization, X-API-Key')
    const conditional = (tag: string, target = '/api/v1/symbols'): Promise<Answer> =>
      send(api, target, { headers: { 'if-none-match': tag } })
    for (const tag of [etag, etag.slice(2), '*', `"other", ${etag}`]) {
      const reply = await conditional(tag)
      expect([
        reply.status,
        reply.text,
        reply.headers['etag'],
        reply.headers['cache-control'],
      ]).toEqual([304, '', etag, 'public, max-age=60'])
      expectDocumented(users, '/paths/~1symbols/get', reply)
    }
    for (const tag of ['"other"', '', etag.slice(0, -2)])
      expect((await conditional(tag)).status).toBe(200)
    expect((await conditional(etag, '/api/v1/symbols?type=metal')).status).toBe(200)
    expect((await send(api, '/api/v1/symbols?type=x')).headers['cache-control']).toBe('no-store')
  })
})
