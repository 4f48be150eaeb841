// What the requests of users may hold: what accepted ones become for the use case, and the faults
// of every other. That each field is held to the bounds of its schema is a law of the documents.
import { times } from '@tradeport/testkit'
import { scopes } from '@tradeport/domain/access'
import { webhookEventTypes } from '@tradeport/domain/webhooks'
import { describe, expect, it } from 'vitest'
import {
  accountId,
  admitted,
  credential,
  type Reply,
  caller as callingProgram,
  fakeUseCases,
  goodKey,
  issuesOf,
  jsonRequest,
  orderBody,
  fakeDependencies,
  runApi,
  scopelessKey,
  send,
  webhook,
  webhookBody,
  lasting,
} from './fakes.ts'

const caller = {
  ...callingProgram,
  scopes: new Set(scopes),
  identifyAgain: expect.any(Function),
  credential: credential(scopes),
  limits: admitted.standings,
}
const fixedParts = new Set(['mayWait', 'begin', 'headers', 'keyedReply'])
/** Of what a use case is given, the parts that differ from request to request. */
const partsOf = (given: unknown): unknown =>
  typeof given === 'object' && given !== null && 'mayWait' in given
    ? Object.fromEntries(
        Object.entries(given).filter(
          ([name, part]) =>
            !fixedParts.has(name) && (name !== 'query' || Object.keys(part as object).length > 0),
        ),
      )
    : given

const calls: unknown[][] = []
const { idempotency, identifyCaller, ...useCases } = fakeUseCases()
const recording = Object.entries<(...inputs: never[]) => unknown>(useCases).map(
  ([name, useCase]) => [
    name,
    (...inputs: never[]) => {
      calls.push([name, ...inputs.map(partsOf)])
      return useCase(...inputs)
    },
  ],
)
const api = await lasting(
  runApi({
    idempotency,
    identifyCaller,
    ...(Object.fromEntries(recording) as object),
  }),
)

/** @param line such as `GET /accounts` */
const ask = (line: string, body?: unknown, headers = {}) => {
  const [method = '', path = ''] = line.split(' ')
  calls.length = 0
  const request = jsonRequest(method, typeof body === 'string' ? {} : body, headers)
  if (typeof body === 'string') return send(api, `/api/v1${path}`, { ...request, body })
  return send(
    api,
    `/api/v1${path}`,
    body === undefined ? { method, headers: { 'x-api-key': goodKey, ...headers } } : request,
  )
}

const faultsOf = async (reply: Promise<Reply>) => {
  const issues = issuesOf(await reply)
  expect(calls).toEqual([])
  return issues
}

const emoji = '😀'
const at = Date.parse
const upper = accountId.toUpperCase()
const close = `POST /positions/${accountId}:42/close`
const edgeOrder = {
  volume: 1e300,
  stopLoss: Number.MIN_VALUE,
  symbol: 'US30.CASH#_-',
  comment: `two\nlines\t“${emoji.repeat(489)}`,
  clientId: emoji.repeat(100),
}
const day = { startDate: at('2026-01-31T00:00:00.000Z'), endDate: at('2026-01-31T23:59:59.999Z') }
const wantedWebhook = { url: webhook.url, eventTypes: ['order.filled', 'trade.closed'] }

const order = (fields: object) => ['POST /orders', { ...orderBody, ...fields }] as const
const get = (target: string) => [`GET ${target}`, undefined] as const

describe('a request', () => {
  it.each([
    [
      `GET /positions?accountId=${upper}&symbol=GBPCHF_I&page=1000000&limit=100`,
      undefined,
      ['listPositions', { query: { accountId, symbol: 'GBPCHF_I', page: 1_000_000, limit: 100 } }],
    ],
    ['GET /positions/no%20such%00thing', undefined, ['getPosition', { id: 'no such\0thing' }]],
    [
      'GET /trades?startDate=2026-01-31&endDate=2026-01-31&profitFilter=loss&limit=1&cursor=abc',
      undefined,
      ['listTrades', { query: { ...day, profitFilter: 'loss', limit: 1, cursor: 'abc' } }],
    ],
    [
      'GET /trades/stats?startDate=2026-01-31T01:00:00%2B02:00&endDate=2026-01-31T01:00:00.5',
      undefined,
      [
        'getTradeStatistics',
        {
          query: {
            startDate: at('2026-01-30T23:00:00.000Z'),
            endDate: at('2026-01-31T01:00:00.500Z'),
            extended: false,
          },
        },
      ],
    ],
    [
      'GET /trades/breakdown?by=symbol',
      undefined,
      ['getTradeBreakdown', { query: { by: 'symbol', timeZone: 'UTC' } }],
    ],
    [
      'GET /trades/export',
      undefined,
      ['exportTrades', { query: { profitFilter: 'all', format: 'csv' } }],
    ],
    [
      'GET /symbols?search=us+dollar&type=forex',
      undefined,
      ['listSymbols', { query: { search: 'us dollar', type: 'forex' } }],
    ],
    ['GET /symbols?search=', undefined, ['listSymbols', { query: { search: '' } }]],
    [
      `GET /orders?accountId=${upper}&status=expired&symbol=US30.CASH%23&clientId=mine%20%2B1&startDate=2026-01-31&endDate=2026-01-31`,
      undefined,
      [
        'listOrders',
        {
          query: {
            accountId,
            status: 'expired',
            symbol: 'US30.CASH#',
            clientId: 'mine +1',
            ...day,
            page: 1,
            limit: 20,
          },
        },
      ],
    ],
    [...order({ volume: 0.100000004 }), ['placeOrder', { body: orderBody }]],
    [
      'POST /orders?wait=30',
      { ...orderBody, accountId: upper },
      ['placeOrder', { body: orderBody, query: { wait: 30 } }],
    ],
    [
      'POST /orders',
      { ...orderBody, orderType: 'stop', timeInForce: 'gtd', expiresAt: '2026-12-01' },
      [
        'placeOrder',
        {
          body: {
            ...orderBody,
            orderType: 'stop',
            timeInForce: 'gtd',
            expiresAt: Date.parse('2026-12-01T23:59:59.999Z'),
          },
        },
      ],
    ],
    [
      'PUT /orders/x',
      { stopLoss: null, expiresAt: '2026-12-01T00:00Z' },
      ['modifyOrder', { id: 'x', body: { stopLoss: null, expiresAt: Date.parse('2026-12-01') } }],
    ],
    // Above 10 lots the use case refuses, with RISK_LIMIT_EXCEEDED.
    [
      'POST /orders',
      { ...orderBody, ...edgeOrder },
      ['placeOrder', { body: { ...orderBody, ...edgeOrder } }],
    ],
    [
      'PUT /positions/x/tp',
      { value: 0.1 + 0.2 },
      ['moveTakeProfit', { id: 'x', body: { value: 0.1 + 0.2 } }],
    ],
    [
      'PUT /positions/x/levels',
      { stopLoss: null, takeProfit: 1.3 },
      ['changePositionLevels', { id: 'x', body: { stopLoss: null, takeProfit: 1.3 } }],
    ],
    [close, {}, ['closePosition', { id: `${accountId}:42`, body: {} }]],
    [
      close,
      { volume: 0.1 + 0.2 },
      ['closePosition', { id: `${accountId}:42`, body: { volume: 0.3 } }],
    ],
    [
      'POST /webhooks',
      {
        ...webhookBody,
        eventTypes: ['order.filled', 'trade.closed', 'order.filled'],
        secret: '𝄞'.repeat(64),
      },
      ['createWebhook', { body: { ...wantedWebhook, secret: '𝄞'.repeat(64) } }],
    ],
    [
      'PUT /webhooks/x',
      { enabled: false, eventTypes: Array(10).fill('order.filled') },
      ['changeWebhook', { id: 'x', body: { enabled: false, eventTypes: ['order.filled'] } }],
    ],
    [
      'POST /webhooks/x/deliveries/y/replay',
      undefined,
      ['replayWebhookDelivery', { id: 'x', deliveryId: 'y' }],
    ],
    ...[undefined, {}].map((body): [string, object | undefined, readonly [string, unknown]] => [
      'POST /webhooks/x/rotate-secret',
      body,
      ['rotateWebhookSecret', { id: 'x', body: { overlapHours: 24 } }],
    ]),
    [
      'POST /webhooks/x/recover',
      { since: 'evt_00000000000000000007' },
      ['recoverWebhook', { id: 'x', body: { since: 'evt_00000000000000000007' } }],
    ],
    [
      'POST /webhooks/x/recover',
      { since: '2026-11-20' },
      ['recoverWebhook', { id: 'x', body: { since: Date.UTC(2026, 10, 20) } }],
    ],
  ])('%s %j becomes %j', async (line, body, [name, input]) => {
    await ask(line, body)
    expect(calls).toEqual([[name, caller, input]])
  })

  const uuid = 'the UUID of a linked account'
  const url =
    'an https URL of at most 2048 characters on the public internet, without user name, password or fragment'
  const symbol = 'a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -'
  const hidden = 'characters that are not shown here'
  const typeNames = webhookEventTypes.join(', ')

  // One message of each kind; that every field is held to its bounds is a law of the documents.
  it.for<readonly [string, object | string | undefined, ...(readonly string[])]>([
    [
      ...get('/positions?page=1&page=2'),
      'page must be a whole number from 1 to 1000000; got a list of 2',
    ],
    [...get('/positions?accountId='), `accountId must be ${uuid}; got ""`],
    ...['caf%E9', '%FF', '5%', '%zz', 'a&status=open%'].map(
      (sent) =>
        [
          ...get(`/orders?symbol=EURUSD&clientId=${sent}`),
          `${sent.includes('&') ? 'status' : 'clientId'} must be UTF-8 with percent-encoding, in which % itself is %25`,
        ] as const,
    ),
    [
      ...get('/orders?%E9=1'),
      'the query must be UTF-8 with percent-encoding, in which % itself is %25',
    ],
    [
      ...get('/trades?startDate=2026-02-30'),
      'startDate must be an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (in a query + is %2B); got "2026-02-30"',
    ],
    ...[
      '/trades',
      '/trades/stats',
      '/trades/export',
      '/orders',
      `/accounts/${accountId}/history`,
    ].map(
      (path) =>
        [
          ...get(`${path}?startDate=2026-01-02&endDate=2026-01-01`),
          'startDate must not be after endDate; got 2026-01-02 and 2026-01-01',
        ] as const,
    ),
    [
      ...get('/symbols?type=tp_live_abc'),
      `type must be one of forex, metal, commodity, index, stock; got 11 ${hidden}`,
    ],
    [
      ...get('/candles/EURUSD'),
      'timeframe is required; it must be one of 1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w, 1M',
    ],
    [...get('/events?AFTER=x'), 'AFTER is not a known parameter; the nearest is after'],
    // Every fault at once, those of the path before those of the query and of the range.
    [
      ...get(
        '/candles/eurusd?timeframe=1m&startTime=2026-01-02&endTime=2026-01-01&limit=0&liimit=1',
      ),
      'symbol must be 1 to 32 visible characters with letters in capitals, such as EURUSD; got "eurusd"',
      'liimit is not a known parameter; the nearest is limit',
      'limit must be a whole number from 1 to 1000; got "0"',
      'startTime must not be after endTime; got 2026-01-02 and 2026-01-01',
    ],
    [
      ...order({ volume: 0, price: '1', stopLoss: null, takeProfit: [1] }),
      'volume must be a number of lots from 0.00000001; got 0',
      'price must be a number above 0; got the text "1"; send the number 1',
      'stopLoss must be a number above 0; got null',
      'takeProfit must be a number above 0; got a list of 1',
    ],
    ...['EURUSDm', 'ÉURUSD', 'EURUSD\n'].map(
      (sent) =>
        [
          ...order({ symbol: sent }),
          `symbol must be ${symbol}; got ${JSON.stringify(sent)}`,
        ] as const,
    ),
    ...['a\0b', 'half \ud83d', '\udc00'].map(
      (sent) =>
        [
          ...order({ comment: sent }),
          `comment must be text of 0 to 500 characters without U+0000 and half of a surrogate pair; got ${JSON.stringify(sent)}`,
        ] as const,
    ),
    [
      'POST /orders',
      { orderType: 'market' },
      `accountId is required; it must be ${uuid}`,
      `symbol is required; it must be ${symbol}`,
      'type is required; it must be one of buy, sell',
      'volume is required; it must be a number of lots from 0.00000001',
    ],
    [
      close,
      '{"volume":1e999}',
      'volume must be a number of lots from 0.00000001; got a number that is too large',
    ],
    [close, { volume: '-1' }, 'volume must be a number of lots from 0.00000001; got the text "-1"'],
    [close, { volume: 1e-9 }, 'volume must be a number of lots from 0.00000001; got 1e-9'],
    ['PUT /webhooks/x', {}, 'body must have at least one of url, eventTypes, enabled'],
    ['PUT /webhooks/x', { enabled: 'true' }, 'enabled must be true or false; got the text "true"'],
    // Faults of a secret, of a URL with a password, and of a forbidden host. None repeats a secret.
    [
      'POST /webhooks',
      {
        url: 'https://me:hush@example.com/',
        eventTypes: ['webhook.test', 'trade.closed', ''],
        secret: 'hush',
      },
      `url must be ${url}; got 28 ${hidden}`,
      `eventTypes[0] must be one of ${typeNames}; got "webhook.test"`,
      `eventTypes[2] must be one of ${typeNames}; got ""`,
      `secret must be text of 16 to 64 characters without U+0000 and half of a surrogate pair; got 4 ${hidden}`,
    ],
    [
      'POST /webhooks/x/rotate-secret',
      { secret: null },
      'secret must be text of 16 to 64 characters without U+0000 and half of a surrogate pair; got null',
    ],
    [
      'POST /webhooks/x/rotate-secret',
      { secret: 'hush', overlapHours: 169 },
      `secret must be text of 16 to 64 characters without U+0000 and half of a surrogate pair; got 4 ${hidden}`,
      'overlapHours must be a number from 0 to 168; got 169',
    ],
    [
      'POST /webhooks/x/recover',
      { since: 'evt_7' },
      'since must be the id of an event, or an ISO 8601 date or date-time; got "evt_7"',
    ],
    [
      'PUT /webhooks/x',
      { url: 'https://10.0.0.1/', eventTypes: [] },
      'url must have a host on the public internet; the address of its host is not on it. Send the public name of the receiver',
      'eventTypes must be a list of 1 to 10 event types; got a list of 0',
    ],
    [
      'PUT /positions/x/sl',
      { value: { toString: 1 }, valueOf: 1, 'https://me:hush@example.com': 1 },
      'valueOf is not a known field; the nearest is value',
      'a name that is not shown here is not a known field; accepted here: value',
      'value must be a number above 0; got an object',
    ],
    [close, '{"__proto__":1}', '__proto__ is not a known field; accepted here: volume'],
    [
      ...get('/positions?constructor=1&__proto__=1'),
      'constructor is not a known parameter; accepted here: accountId, symbol, page, limit',
      '__proto__ is not a known parameter; accepted here: accountId, symbol, page, limit',
    ],
  ])('%s %j is refused: %s', async ([line, body, ...messages]) => {
    expect((await faultsOf(ask(line, body))).map(({ message }) => message)).toEqual(messages)
  })

  it.each('-1 +1 1.0 1e1 0x1 %2B1 1%20 %201 99999999999999999999 NaN %D9%A1 1%00'.split(' '))(
    'has no limit of %s',
    async (text) => {
      const [issue] = await faultsOf(ask(`GET /trades?limit=${text}`))
      expect(issue?.message).toMatch(/^limit must be a whole number from 1 to 100; got "/)
    },
  )

  it('with long and many faults is refused in a few words', async () => {
    const long = 'x'.repeat(300_000)
    const reply = await ask('POST /orders', {
      symbol: long,
      comment: long,
      accountId: `://${long}`,
    })
    expect([issuesOf(reply).length > 1, reply.text.length < 3_000]).toEqual([true, true])
    expect(reply.json.error?.message).toMatch(/; and \d more\.$/)
    const names = ['é'.repeat(200), ...times(30, (index) => `y${index}`)]
    const issues = await faultsOf(
      ask(`GET /positions?${names.map((name) => `${encodeURIComponent(name)}=1`).join('&')}`),
    )
    expect([issues.length, issues[0]?.path]).toEqual([20, `${'é'.repeat(60)}…`])
  })

  it('is refused for a field of its body that is called like a parameter of its path', async () => {
    const path = '/accounts/be9c4000-0000-4000-8000-000000000001/halt'
    const issues = await faultsOf(ask(`POST ${path}`, { id: 'x' }))
    expect(issues.map((issue) => issue.path)).toEqual(['id'])
  })

  it('has its credential, its scope and its headers checked before its query and its body', async () => {
    expect((await ask('GET /trades?limit=0', undefined, { 'x-api-key': '' })).status).toBe(401)
    expect(
      (await ask('GET /trades?limit=0', undefined, { 'x-api-key': scopelessKey })).status,
    ).toBe(403)
    expect((await ask('POST /orders', 'null', { 'x-api-key': scopelessKey })).status).toBe(403)
    const issues = await faultsOf(
      ask('POST /orders', { ...orderBody, volume: 0 }, { 'idempotency-key': '' }),
    )
    expect(issues.map(({ path }) => path)).toEqual(['headers.Idempotency-Key', 'volume'])
  })

  it.each(['limit', 'stop', 'stop_limit'])(
    'for an order of type %s without the capability is 501 before every other check of the request',
    async (orderType) => {
      await using off = await runApi({}, fakeDependencies({ capabilities: [] }))
      const place = (body: object, headers: object) =>
        send(off, '/api/v1/orders', jsonRequest('POST', body, headers as never))
      for (const body of [
        { ...orderBody, orderType },
        { orderType, volume: 'x', symbol: 'eurusd' },
      ]) {
        const reply = await place(body, { 'idempotency-key': 'x'.repeat(256) })
        expect([reply.status, reply.json.error]).toMatchObject([
          501,
          { code: 'ORDER_TYPE_NOT_SUPPORTED', details: { orderType } },
        ])
      }
      expect(calls).toEqual([])
      expect((await place({ orderType }, { 'x-api-key': scopelessKey })).status).toBe(403)
      expect((await place({ orderType, token: '' }, {})).status).toBe(401)
      expect((await place({ ...orderBody, timeInForce: 'gtc' }, {})).status).toBe(400)
      const all = { method: 'DELETE', headers: { 'x-api-key': goodKey } }
      expect((await send(off, `/api/v1/orders?accountId=${accountId}`, all)).status).toBe(404)
    },
  )
})
