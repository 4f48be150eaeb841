// What every route of the API for users answers when it succeeds: as the document describes it, and
// what is not simply a field of the result.
import { scopes } from '@tradeport/domain/access'
import { instruments } from '@tradeport/domain/market'
import { instrumentTerms } from '@tradeport/testkit'
import type { CloseAttempt, ClosedPosition } from '@tradeport/domain/use-cases'
import { refuse } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { expectDocumented, users } from './documents.ts'
import {
  account,
  accountId,
  closedPosition,
  closedTrade,
  delivery,
  fakeUseCases,
  goodKey,
  lasting,
  noStatistics,
  dealSums,
  now,
  ownHalt,
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

type ResultOf<UseCase> = UseCase extends (
  ...inputs: never[]
) => TE.TaskEither<unknown, infer Result>
  ? Result
  : never

interface Row<Name extends keyof UseCases> {
  /** A part of the data; the document names its fields. */
  readonly data: unknown
  readonly meta?: object
  readonly location?: string
  /** By default 200, or 201 with a location. */
  readonly status?: number
  /** Of the use case; without one that of the fake. */
  readonly result?: ResultOf<UseCases[Name]>
  readonly query?: string
}

const createdAt = '2026-01-05T00:00:00.000Z'
const shownAccount = {
  isDemo: true,
  balance: 10_000,
  margin: 0,
  freeMargin: null,
  liveDataUpdatedAt: null,
  lastSyncAt: createdAt,
  createdAt,
}
const shownPosition = {
  id: `${accountId}:42`,
  brokerPositionId: '42',
  type: 'buy',
  commission: 0,
  openedAt: '2026-11-20T00:00:00.001Z',
}
const shownTrade = {
  id: `${accountId}:1`,
  userId: 'u-1',
  accountId,
  positionId: '1',
  type: 'sell',
  closedAt: '2026-11-19T01:00:00.999Z',
}
const shownOrder = {
  id: pendingOrder.id,
  userId: 'u-1',
  accountId,
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
  status: 'pending',
  createdAt: '2026-11-21T10:00:00.001Z',
}
const shownWebhook = {
  id: webhook.id,
  lastSuccessAt: '2026-11-20T00:00:00.001Z',
  lastFailureAt: null,
}
const ofPositions = {
  provenance: { source: 'metaapi', accounts: [accountId], readAt: '2026-11-21T10:11:11.345Z' },
}
const skipped = [{ accountId, positionId: '7', reason: 'no_open_deal' }]
const ofTrades = { provenance: { ...ofPositions.provenance, skipped } }
const onePage = { page: 1, limit: 20, total: 1, total_pages: 1, has_next: false, has_prev: false }

const pendingTerms = {
  orderType: 'stop_limit',
  price: 1.1,
  stopLimitPrice: 1.09,
  timeInForce: 'gtd',
  expiresAt: Date.parse('2026-12-01T00:00:00.000Z'),
}

const orderWith = (parts: object, shown: object): Row<'getOrder'> => ({
  data: { ...shownOrder, ...shown },
  result: { ...pendingOrder, ...parts },
})
const at = '2026-11-21T10:00:01.000Z'
const fill = { price: 1.1, volume: 0.1, at: Date.parse(at), positionId: '42' }
const shownFill = {
  fillPrice: 1.1,
  filledVolume: 0.1,
  filledAt: at,
  // The id that GET /positions/:id accepts.
  positionId: `${accountId}:42`,
}
const optionals = { price: 1.1, stopLoss: 1.05, comment: 'a comment', clientId: 'mine' }
const reason = { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' }

const closeWith = (parts: Partial<ClosedPosition>, shown: object): Row<'closePosition'> => ({
  data: { id: `${accountId}:42`, brokerPositionId: '42', ...shown },
  meta: ofPositions,
  result: { data: { ...closedPosition, ...parts }, provenance },
})
const closesOf = (result: CloseAttempt['result']) =>
  E.right([{ accountId, ticket: '42' as never, result }])
const unread = { closePrice: null, realizedPnl: null, closedAt: null }

const tradesWith = (
  total: number,
  before: number,
  cursor: string | undefined,
  pagination: object,
  query = '',
  limit = 20,
): Row<'listTrades'> => ({
  data: [shownTrade],
  query,
  meta: { ...ofTrades, pagination: { ...onePage, total, ...pagination } },
  result: {
    data: [closedTrade('1', { volumeEstimated: true })],
    pagination: { total, before, limit, cursor },
    provenance,
  },
})
const positionsWith = (total: number, page: number, pagination: object): Row<'listPositions'> => ({
  data: [],
  meta: { ...ofPositions, pagination: { ...onePage, total, page, ...pagination } },
  result: { data: [], pagination: { page, limit: 20, total }, provenance },
})

const mixed = { code: 'mixed_currencies', currencies: ['USD', 'EUR'] } as const
const incomplete = { code: 'history_incomplete', accounts: [accountId] } as const
const interval = { lower: 1, upper: 2 }
const fullStatistics = {
  ...noStatistics,
  profitFactor: null,
  confidenceIntervals: { level: 0.95, winRate: interval, averageTrade: interval },
}
const levels = { stopLoss: 1, takeProfit: 2, marginUsed: 3 }
// Whether a name exists, and in which network, is not shown.
const shownFailures = {
  not_2xx: 'not_2xx',
  host_not_allowed: 'host_unreachable',
  name_not_found: 'host_unreachable',
  timed_out: 'timed_out',
} as const
const failures = Object.keys(shownFailures) as readonly (keyof typeof shownFailures)[]

/**
 * What is not simply a field of the result; of the other operations the reply is as documented, and
 * apps/api compares it with the broker's records.
 */
const table: { readonly [Name in keyof UseCases]?: readonly Row<Name>[] } = {
  listAccounts: [{ data: [shownAccount] }],
  // A broker that says that an account is real is believed.
  getAccount: [
    {
      data: { isDemo: false, lastSyncAt: at, liveDataUpdatedAt: at },
      result: {
        account: { ...account, tradeMode: 'real', lastReadAt: fill.at },
        liveDataUpdatedAt: fill.at,
      },
    },
  ],
  placeOrder: [
    {
      data: shownOrder,
      location: '/api/v1/orders/ord_0123456789abcdefghij',
      result: pendingOrder,
    },
  ],
  listOrders: [{ data: [shownOrder], meta: { pagination: onePage } }],
  getOrder: [
    orderWith({ request: { ...pendingOrder.request, ...optionals } }, optionals),
    orderWith({ status: 'filled', fill }, { status: 'filled', ...shownFill }),
    orderWith(
      { status: 'partially_filled', fill: { volume: 0.05 } },
      { status: 'partially_filled', filledVolume: 0.05 },
    ),
    orderWith({ status: 'rejected', reason }, { status: 'rejected', rejectReason: reason }),
    orderWith(
      { status: 'open', brokerOrderId: '7', request: { ...pendingOrder.request, ...pendingTerms } },
      {
        status: 'open',
        brokerOrderId: '7',
        ...pendingTerms,
        expiresAt: new Date(pendingTerms.expiresAt).toISOString(),
      },
    ),
    orderWith(
      { status: 'cancelled', cancelReason: 'user', cancelledAt: 0 },
      { status: 'cancelled', cancelReason: 'user', cancelledAt: '1970-01-01T00:00:00.000Z' },
    ),
    orderWith(
      { status: 'expired', expiredAt: 0 },
      { status: 'expired', expiredAt: '1970-01-01T00:00:00.000Z' },
    ),
  ],
  modifyOrder: [{ data: shownOrder }],
  cancelOrder: [{ data: shownOrder }],
  cancelOrders: [
    {
      data: [
        { orderId: pendingOrder.id, outcome: 'cancelled' },
        { orderId: pendingOrder.id, outcome: 'cancelled', filledVolume: 0.05 },
        ...(['filled', 'cancelled', 'expired'] as const).map((status) => ({
          orderId: pendingOrder.id,
          outcome: status === 'expired' ? 'rejected' : status,
          code: 'ORDER_NOT_CANCELLABLE',
          message: expect.stringContaining(status),
        })),
        {
          orderId: pendingOrder.id,
          outcome: 'cancelled',
          filledVolume: 0.05,
          code: 'ORDER_NOT_CANCELLABLE',
          message: expect.stringContaining('partially_filled'),
        },
        {
          orderId: pendingOrder.id,
          outcome: 'unknown',
          code: 'BROKER_OUTCOME_UNKNOWN',
          message: expect.any(String),
        },
        {
          orderId: pendingOrder.id,
          outcome: 'rejected',
          code: 'TRADE_REJECTED',
          message: expect.any(String),
        },
      ],
      result: [
        E.right(pendingOrder),
        E.right({
          ...pendingOrder,
          status: 'partially_filled',
          fill: { volume: 0.05 },
        } as const),
        ...['filled', 'cancelled', 'expired'].map((status) =>
          E.left(refuse('OrderNotCancellable', { status })),
        ),
        E.left(refuse('OrderNotCancellable', { status: 'partially_filled', filledVolume: 0.05 })),
        E.left(refuse('BrokerOutcomeUnknown', { accountId: pendingOrder.request.accountId })),
        E.left(refuse('TradeRejected', reason)),
      ].map((result) => ({ orderId: pendingOrder.id, result })),
    },
  ],
  listPositions: [
    { data: [shownPosition], meta: { ...ofPositions, pagination: onePage } },
    positionsWith(0, 1, { total_pages: 0 }),
    positionsWith(41, 2, { total_pages: 3, has_next: true, has_prev: true }),
    positionsWith(40, 2, { total_pages: 2, has_prev: true }),
  ],
  getPosition: [
    {
      data: { ...shownPosition, ...levels },
      meta: ofPositions,
      result: { data: { ...position, ...levels }, provenance },
    },
  ],
  haltAccount: [
    {
      data: {
        accountId,
        halted: true,
        by: 'owner',
        since: new Date(now).toISOString(),
        reason: null,
      },
    },
    {
      data: { halted: true, closes: [{ positionId: `${accountId}:42`, outcome: 'closed' }] },
      result: { accountId, halt: ownHalt, closes: closesOf(E.right(closedPosition)) },
    },
    {
      data: { halted: true, closeError: { code: 'BROKER_UNAVAILABLE' } },
      result: {
        accountId,
        halt: ownHalt,
        closes: E.left(refuse('BrokerUnavailable', { accountId, reason: 'down' })),
      },
    },
  ],
  closePositions: [
    {
      data: [
        {
          positionId: `${accountId}:42`,
          outcome: 'closed',
          brokerOrderId: '99',
          closedVolume: 0.1,
          remainingVolume: 0,
          closePrice: 1.2,
        },
        { positionId: `${accountId}:43`, outcome: 'partially_closed', remainingVolume: 0.05 },
        {
          positionId: `${accountId}:44`,
          outcome: 'rejected',
          code: 'TRADE_REJECTED',
          message: expect.stringContaining('Market is closed'),
        },
        { positionId: `${accountId}:45`, outcome: 'unknown', code: 'BROKER_OUTCOME_UNKNOWN' },
      ],
      result: [
        E.right(closedPosition),
        E.right({ ...closedPosition, remainingVolume: 0.05 }),
        E.left(refuse('TradeRejected', reason)),
        E.left(refuse('BrokerOutcomeUnknown', { accountId })),
      ].map((result, index) => ({ accountId, ticket: String(42 + index) as never, result })),
    },
  ],
  closePosition: [
    closeWith({}, { brokerOrderId: '99', closedAt: '2026-11-21T10:11:10.001Z' }),
    closeWith({ remainingTicket: '43' as never }, { remainingPositionId: `${accountId}:43` }),
    closeWith({ ...unread, brokerOrderId: null }, { ...unread, brokerOrderId: null }),
  ],
  listTrades: [
    tradesWith(
      9,
      4,
      'next',
      { page: 3, limit: 2, total_pages: 5, has_next: true, has_prev: true, cursor: 'next' },
      'limit=2',
      2,
    ),
    tradesWith(21, 20, undefined, { page: 2, total_pages: 2, has_prev: true }),
    tradesWith(1, 0, undefined, {}),
    // A trade has closed since the first page.
    tradesWith(6, 5, undefined, { page: 4, limit: 2, total_pages: 4, has_prev: true }, '', 2),
  ],
  getTradeStatistics: [
    { data: noStatistics, meta: ofTrades },
    {
      data: fullStatistics,
      meta: {
        ...ofTrades,
        warnings: [
          { ...mixed, message: expect.stringContaining('USD, EUR') },
          { ...incomplete, message: expect.stringContaining(accountId) },
        ],
      },
      result: { data: fullStatistics, provenance, warnings: [mixed, incomplete] },
    },
  ],
  getTradeDeals: [
    {
      data: {
        deals: [
          {
            id: '7',
            time: '2026-11-21T10:11:12.345Z',
            type: 'sell',
            entry: 'out',
            profit: 10,
            commission: -0.5,
            swap: 0,
          },
        ],
        sums: dealSums,
      },
      meta: { ...ofTrades, pagination: { ...onePage, limit: 1_000, total: 1 } },
    },
  ],
  listSymbols: [
    { data: instruments },
    {
      data: [instrumentTerms('EURUSD')],
      meta: { pagination: { ...onePage, limit: 5 } },
      query: `accountId=${accountId}&limit=5`,
    },
  ],
  createWebhook: [
    {
      data: { ...shownWebhook, secret: webhookSecret },
      location: `/api/v1/webhooks/${webhook.id}`,
    },
  ],
  testWebhook: failures.map((failureReason) => ({
    data: { success: false, responseCode: 0, failureReason: shownFailures[failureReason] },
    result: { success: false, responseCode: 0, responseTimeMs: 31, failureReason },
  })),
  listWebhookDeliveries: [
    {
      data: failures.map((failureReason) => ({ failureReason: shownFailures[failureReason] })),
      meta: { pagination: { ...onePage, total: 5 } },
      result: {
        data: failures.map((failureReason) => ({ ...delivery, failureReason })),
        pagination: { page: 1, limit: 20, total: 5 },
      },
    },
  ],
  listEvents: [
    {
      data: [
        {
          id: 'evt_00000000000000000007',
          event: 'order.rejected',
          accountId,
          timestamp: '2026-11-21T10:11:12.345Z',
          data: { order_id: 'ord_1' },
        },
      ],
      meta: { pagination: { limit: 100, has_next: false, cursor: 'evt_00000000000000000007' } },
    },
    {
      data: [],
      meta: { pagination: { limit: 100, has_next: true } },
      result: { data: [], pagination: { limit: 100, hasNext: true, cursor: undefined } },
    },
  ],
  recoverWebhook: [{ data: { scheduled: 3 }, status: 202 }],
  replayWebhookDelivery: [
    { data: { id: delivery.id }, location: `/api/v1/webhooks/${webhook.id}/deliveries` },
  ],
  getMe: [
    {
      data: {
        userId: 'u-1',
        tenantId: 'acme',
        plan: 'free',
        scopes: [...scopes],
        credential: { kind: 'api_key', id: 'k-1', expiresAt: null },
        limits: [
          {
            scope: 'tier',
            window: 'minute',
            limit: 300,
            remaining: 299,
            resetAt: '2026-11-21T10:11:12.945Z',
          },
          { scope: 'endpoint', limit: 100, remaining: 0, resetAt: '2026-11-21T10:11:12.945Z' },
        ],
        capabilities: ['trading-tools'],
      },
    },
  ],
  previewOrder: [
    {
      data: {
        allowed: false,
        checks: [
          { name: 'volume_per_order', passed: true },
          {
            name: 'approval',
            passed: false,
            code: 'APPROVAL_REQUIRED',
            details: { approvalAboveLots: 0.1 },
          },
          { name: 'market_open', passed: null, message: 'The broker does not say.' },
          {
            name: 'volume_step',
            passed: false,
            code: 'INVALID_VOLUME',
            message: 'Too fine.',
            details: { volumeStep: 0.5 },
          },
        ],
        estimate: { price: 1.1, margin: null, riskAmount: 12.34 },
      },
    },
  ],
}

const rowsOf: Readonly<Record<string, readonly Row<keyof UseCases>[]>> = table
const notJson = ['exportTrades', 'streamEvents', 'streamQuotes']
const cases = users.operations
  .filter(({ route }) => !notJson.includes(route.operationId))
  .flatMap((one) =>
    (rowsOf[one.route.operationId] ?? [{ data: expect.anything() }]).map(
      (row: Row<keyof UseCases>) => ({
        ...one,
        row,
      }),
    ),
  )

// One API for all rows, whose use cases return the result of the row where it has one.
let given: Row<keyof UseCases>['result']
const { idempotency: _, identifyCaller: __, ...fakes } = fakeUseCases()
const useCases = Object.entries<(...inputs: never[]) => unknown>(fakes).map(([name, fake]) => [
  name,
  (...inputs: never[]) => (given === undefined ? fake(...inputs) : TE.right(given)),
])
const api = await lasting(runApi(Object.fromEntries(useCases) as object))

it.each(cases)(
  '$name answers $row.data, and nothing that is not documented',
  async ({ route, row: { data, meta, location, status, result, query } }) => {
    given = result
    const reply = await send(api, targetOf(route, query), requestOf(route))
    expect([reply.status, reply.headers.location]).toEqual([
      status ?? (location === undefined ? 200 : 201),
      location,
    ])
    expect(reply.json).toEqual({
      success: true,
      data: reply.json.data,
      meta: {
        ...(meta ?? reply.json.meta),
        timestamp: new Date(now).toISOString(),
        request_id: reply.headers['x-request-id'],
        version: '1.0.0',
      },
      error: null,
    })
    expect(reply.json).toMatchObject({ data })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control':
        route.path === '/symbols' && query === undefined ? 'public, max-age=60' : 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    expectDocumented(users, route.method, targetOf(route), reply)
  },
)

describe('a reply', () => {
  it.each(['A-b_c.d:9', 'x'.repeat(128), '', 'with space', 'x'.repeat(129), 'käse'])(
    'has the request id %j that the caller sent, where it is one, and does not name its software',
    async (id) => {
      await using api = await runApi()
      const request = { headers: { 'x-api-key': goodKey, 'x-request-id': id } }
      const { headers } = await send(api, '/api/v1/trades/export', request)
      expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/.test(id) ? id : /^req_\d+$/)
      expect(Object.keys(headers)).not.toContain('x-powered-by')
    },
  )

  // The JSON of a record is made once, and used in every list that has it.
  it('shows the same records in any list', async () => {
    const trades = ['1', '2', '3'].map((id) => closedTrade(id, { symbol: `"${id}"`, profit: -0 }))
    const lists = [trades, trades.toReversed(), [], trades.slice(1)]
    let page: typeof trades = []
    await using api = await runApi({
      listTrades: (_, { query: { limit } }) =>
        TE.right({
          data: page,
          pagination: { total: 3, before: 0, limit, cursor: undefined },
          provenance,
        }),
    })
    for (const list of lists) {
      page = list
      const shown = (await send(api, '/api/v1/trades')).json.data as readonly object[]
      expect(shown).toMatchObject(
        list.map(({ trade: { positionId, symbol } }) => ({ positionId, symbol, profit: 0 })),
      )
    }
  })

  it('that caches may keep is 304 to a caller who has it, and differs by credential', async () => {
    await using api = await runApi()
    const { etag = '', vary } = (await send(api, '/api/v1/symbols')).headers
    expect(vary).toBe('Authorization, X-API-Key')
    const conditional = (tag: string | string[], target = '/api/v1/symbols') =>
      send(api, target, { headers: { 'if-none-match': tag } })
    for (const tag of [etag, etag.slice(2), '*', `"other", ${etag}`, ['"other"', etag]]) {
      const reply = await conditional(tag)
      expect([reply.status, reply.text]).toEqual([304, ''])
      expect(reply.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=60' })
      expectDocumented(users, 'GET', '/api/v1/symbols', reply)
    }
    expect((await conditional('"other"')).status).toBe(200)
    expect((await conditional(etag, '/api/v1/symbols?type=metal')).status).toBe(200)
    expect((await send(api, '/api/v1/symbols?type=x')).headers['cache-control']).toBe('no-store')
  })
})
