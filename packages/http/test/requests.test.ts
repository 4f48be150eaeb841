// What the requests of users may hold: what accepted ones become for the use case, and the faults
// of every other. That each field is held to the bounds of its schema is a law of the documents.
import { withoutKey } from '@tradeport/domain/ports'
import { webhookEventTypes } from '@tradeport/domain/webhooks'
import type { Issue } from '@tradeport/domain/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountId,
  caller,
  fakeUseCases,
  goodKey,
  issuesOf,
  jsonRequest,
  orderBody,
  runApi,
  scopelessKey,
  send,
  webhook,
  webhookBody,
} from './fakes.ts'
import type { Answer, Running } from './fakes.ts'

let api: Running
const calls: unknown[][] = []
beforeAll(async () => {
  const { idempotency, identifyCaller, webhookHostIssues, ...useCases } = fakeUseCases()
  const recording = Object.entries<(...inputs: never[]) => unknown>(useCases).map(
    ([name, useCase]) => [
      name,
      (...inputs: never[]) => {
        calls.push([name, ...inputs])
        return useCase(...inputs)
      },
    ],
  )
  api = await runApi({
    idempotency,
    identifyCaller,
    webhookHostIssues,
    ...(Object.fromEntries(recording) as object),
  })
})
afterAll(() => api[Symbol.asyncDispose]())

/** @param line such as `GET /accounts` */
const ask = (line: string, body?: unknown, headers = {}): Promise<Answer> => {
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

const faultsOf = async (reply: Promise<Answer>): Promise<readonly Issue[]> => {
  const issues = issuesOf(await reply)
  expect(calls).toEqual([])
  return issues
}

const emoji = '😀'
const at = Date.parse
const upper = accountId.toUpperCase()
const close = `POST /positions/${accountId}:42/close`
const request = { accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 }
const edgeOrder = {
  volume: 1e300,
  stopLoss: Number.MIN_VALUE,
  symbol: 'US30.CASH#_-',
  comment: emoji.repeat(500),
  clientId: '',
}
const optionals = {
  price: 1.1,
  takeProfit: 1.2,
  comment: 'two\nlines\tand “quotes”',
  clientId: emoji.repeat(100),
}
const day = { from: at('2026-01-31T00:00:00.000Z'), to: at('2026-01-31T23:59:59.999Z') }
const wantedWebhook = { url: webhook.url, eventTypes: ['order.filled', 'trade.closed'] }

describe('a request', () => {
  it.each<readonly [line: string, body: object | undefined, call: readonly unknown[]]>([
    ['GET /positions', undefined, ['listPositions', caller, { page: 1, limit: 20 }]],
    [
      `GET /positions?accountId=${upper}&symbol=GBPCHF_I&page=1000000&limit=100`,
      undefined,
      ['listPositions', caller, { accountId, symbol: 'GBPCHF_I', page: 1_000_000, limit: 100 }],
    ],
    ['GET /positions/no%20such%00thing', undefined, ['getPosition', caller, 'no such\0thing']],
    [
      'GET /trades?cursor=',
      undefined,
      ['listTrades', caller, { filter: { profit: 'all' }, limit: 20, cursor: '' }],
    ],
    [
      'GET /trades?startDate=2026-01-31&endDate=2026-01-31&profitFilter=loss&limit=1&cursor=abc',
      undefined,
      ['listTrades', caller, { filter: { ...day, profit: 'loss' }, limit: 1, cursor: 'abc' }],
    ],
    [
      'GET /trades/stats?startDate=2026-01-31T01:00:00%2B02:00&endDate=2026-01-31T01:00:00.5',
      undefined,
      [
        'getTradeStatistics',
        caller,
        { from: at('2026-01-30T23:00:00.000Z'), to: at('2026-01-31T01:00:00.500Z'), profit: 'all' },
      ],
    ],
    ['GET /trades/export', undefined, ['exportTrades', caller, { profit: 'all' }]],
    [
      `GET /accounts/${accountId}/history?interval=1w&startDate=2026-01-31`,
      undefined,
      ['listBalanceHistory', caller, accountId, { from: day.from, interval: '1w' }],
    ],
    [
      'GET /symbols?search=us+dollar&type=forex',
      undefined,
      ['listSymbols', { search: 'us dollar', type: 'forex' }],
    ],
    [
      `GET /orders?accountId=${upper}&status=expired&symbol=US30.CASH%23&clientId=mine%20%2B1&startDate=2026-01-31&endDate=2026-01-31`,
      undefined,
      [
        'listOrders',
        caller,
        {
          accountId,
          status: 'expired',
          symbol: 'US30.CASH#',
          clientId: 'mine +1',
          ...day,
          page: 1,
          limit: 20,
        },
      ],
    ],
    ['DELETE /orders/ord_%00', undefined, ['cancelOrder', caller, 'ord_\0']],
    ['PUT /orders/x', { takeProfit: 1e300 }, ['modifyOrder', caller, 'x']],
    ['POST /orders', { ...orderBody, accountId: upper }, ['placeOrder', caller, { request }]],
    [
      'POST /orders',
      { ...orderBody, ...optionals, type: 'sell' },
      ['placeOrder', caller, { request: { ...request, ...optionals, side: 'sell' } }],
    ],
    // Above 10 lots the use case refuses, with RISK_LIMIT_EXCEEDED.
    [
      'POST /orders',
      { ...orderBody, ...edgeOrder },
      ['placeOrder', caller, { request: { ...request, ...edgeOrder } }],
    ],
    [
      'PUT /positions/x/sl',
      { value: Number.MIN_VALUE },
      ['moveStopLoss', caller, 'x', Number.MIN_VALUE],
    ],
    ['PUT /positions/x/tp', { value: 0.1 + 0.2 }, ['moveTakeProfit', caller, 'x', 0.1 + 0.2]],
    [close, {}, ['closePosition', caller, `${accountId}:42`, undefined, withoutKey]],
    [close, { volume: 10.01 }, ['closePosition', caller, `${accountId}:42`, 10.01, withoutKey]],
    [
      'POST /webhooks',
      {
        ...webhookBody,
        eventTypes: ['order.filled', 'trade.closed', 'order.filled'],
        secret: '𝄞'.repeat(64),
      },
      ['createWebhook', caller, { ...wantedWebhook, secret: '𝄞'.repeat(64) }, withoutKey],
    ],
    [
      'POST /webhooks',
      { ...webhookBody, eventTypes: webhookEventTypes },
      ['createWebhook', caller, { ...wantedWebhook, eventTypes: webhookEventTypes }, withoutKey],
    ],
    [
      'PUT /webhooks/x',
      { enabled: false, eventTypes: Array(10).fill('order.filled') },
      ['changeWebhook', caller, 'x', { enabled: false, eventTypes: ['order.filled'] }],
    ],
    ['GET /webhooks/%00', undefined, ['getWebhook', caller, '\0']],
    [
      'GET /webhooks/x/deliveries?status=failed&page=2',
      undefined,
      ['listWebhookDeliveries', caller, 'x', { status: 'failed', page: 2, limit: 20 }],
    ],
    [
      'POST /webhooks/x/deliveries/y/replay',
      undefined,
      ['replayWebhookDelivery', caller, 'x', 'y', withoutKey],
    ],
  ])('%s %j becomes %j', async (line, body, call) => {
    await ask(line, body)
    expect(calls).toEqual([call])
  })

  const uuid = 'the UUID of a linked account'
  const dateTime =
    'an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B)'
  const url =
    'an https URL of at most 2048 characters on the public internet, without user name, password or fragment'
  const secretText = 'text of 16 to 64 characters without the character U+0000'
  const symbol = 'a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -'
  const comment = 'text of at most 500 characters without the character U+0000'
  const hidden = 'a value that is not shown here'
  const typeNames = webhookEventTypes.join(', ')

  it.for<
    readonly [line: string, body: object | string | undefined, ...messages: readonly string[]]
  >([
    [
      'GET /positions?page=1000001',
      undefined,
      'page must be a whole number from 1 to 1000000; got "1000001"',
    ],
    [
      'GET /positions?page=1&page=2',
      undefined,
      'page must be a whole number from 1 to 1000000; got a list of 2',
    ],
    ['GET /positions?accountId=', undefined, `accountId must be ${uuid}; got ""`],
    [
      'GET /positions?symbol=EURUSDm',
      undefined,
      'symbol must be 1 to 32 visible characters with letters in capitals, such as EURUSD; got "EURUSDm"',
    ],
    [
      'GET /trades?profitFilter=Profit',
      undefined,
      'profitFilter must be one of profit, loss, all; got "Profit"',
    ],
    [
      'GET /trades?startDate=2026-02-30',
      undefined,
      `startDate must be ${dateTime}; got "2026-02-30"`,
    ],
    [
      'GET /trades?endDate=2026-01-01T00:00:00+02:00',
      undefined,
      `endDate must be ${dateTime}; got "2026-01-01T00:00:00 02:00"`,
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
          `GET ${path}?startDate=2026-01-02&endDate=2026-01-01`,
          undefined,
          'startDate must not be after endDate',
        ] as const,
    ),
    [
      'GET /symbols?search=',
      undefined,
      'search must be text of 1 to 50 characters without the character U+0000; got ""',
    ],
    [
      'GET /symbols?type=tp_live_abc',
      undefined,
      `type must be one of forex, metal, commodity, index, stock; got ${hidden}`,
    ],
    [
      'GET /candles/EURUSD',
      undefined,
      'timeframe is required; it must be one of 1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w, 1M',
    ],
    [
      'GET /candles/NOPE?timeframe=1h&startTime=2026-01-02&endTime=2026-01-01',
      undefined,
      'startTime must not be after endTime',
    ],
    // Every fault at once, those of the path before those of the query and of the range.
    [
      'GET /candles/eurusd?timeframe=1m&startTime=2026-01-02&endTime=2026-01-01&limit=0&liimit=1',
      undefined,
      'symbol must be 1 to 32 visible characters with letters in capitals, such as EURUSD; got "eurusd"',
      'liimit is not known; the nearest name is limit',
      'limit must be a whole number from 1 to 1000; got "0"',
      'startTime must not be after endTime',
    ],
    [
      'POST /orders',
      { ...orderBody, volume: 0, price: '1' },
      'volume must be a number above 0; got 0',
      'price must be a number above 0; got the text "1"; send the number 1',
    ],
    [
      'POST /orders',
      { ...orderBody, stopLoss: null, takeProfit: [1] },
      'stopLoss must be a number above 0; got null',
      'takeProfit must be a number above 0; got a list of 1',
    ],
    ...['EURUSDm', 'ÉURUSD', 'EURUSD\n'].map(
      (sent) =>
        [
          'POST /orders',
          { ...orderBody, symbol: sent },
          `symbol must be ${symbol}; got ${JSON.stringify(sent)}`,
        ] as const,
    ),
    [
      'POST /orders',
      { ...orderBody, type: 'BUY', orderType: 'Market' },
      'type must be one of buy, sell; got "BUY"',
      'orderType must be one of market; got "Market"',
    ],
    [
      'POST /orders',
      { ...orderBody, accountId: `{${accountId}}` },
      `accountId must be ${uuid}; got "{${accountId}}"`,
    ],
    ...['a\0b', 'half \ud83d', '\udc00'].map(
      (sent) =>
        [
          'POST /orders',
          { ...orderBody, comment: sent },
          `comment must be ${comment}; got ${JSON.stringify(sent)}`,
        ] as const,
    ),
    [
      'POST /orders',
      { orderType: 'market' },
      `accountId is required; it must be ${uuid}`,
      `symbol is required; it must be ${symbol}`,
      'type is required; it must be one of buy, sell',
      'volume is required; it must be a number above 0',
    ],
    [close, '{"volume":1e999}', 'volume must be a number above 0; got Infinity'],
    [close, '{"volume":-0}', 'volume must be a number above 0; got 0'],
    ['PUT /orders/x', {}, 'body must have at least one of price, stopLoss, takeProfit'],
    ['PUT /webhooks/x', {}, 'body must have at least one of url, eventTypes, enabled'],
    [
      'PUT /webhooks/x',
      { enabled: 'true' },
      'enabled must be true or false; got the text "true"; send true',
    ],
    [
      'POST /webhooks',
      { url: 7 },
      `url must be ${url}; got 7`,
      'eventTypes is required; it must be a list of 1 to 10 event types',
    ],
    // Faults of a secret, of a URL with a password, and of a forbidden host. None repeats a secret.
    [
      'POST /webhooks',
      {
        url: 'https://me:hush@example.com/',
        eventTypes: ['webhook.test', 'trade.closed', ''],
        secret: 'hush',
      },
      `url must be ${url}; got ${hidden}`,
      `eventTypes[0] must be one of ${typeNames}; got "webhook.test"`,
      `eventTypes[2] must be one of ${typeNames}; got ""`,
      `secret must be ${secretText}; got ${hidden}`,
    ],
    [
      'POST /webhooks',
      { url: 'https://inside.example.com/', eventTypes: [] },
      'eventTypes must be a list of 1 to 10 event types; got a list of 0',
      'url is inside',
    ],
    [
      'PUT /positions/x/sl',
      { value: { toString: 1 }, valueOf: 1 },
      'valueOf is not known; the nearest name is value',
      'value must be a number above 0; got an object',
    ],
    [
      'PUT /positions/x/sl',
      { value: 1, 'https://me:hush@example.com': 1 },
      'a name that is not shown here is not known; the nearest name is value',
    ],
    [close, '{"__proto__":1}', '__proto__ is not known; the nearest name is volume'],
    [
      'GET /positions?constructor=1&__proto__=1',
      undefined,
      'constructor is not known; the nearest name is accountId',
      '__proto__ is not known; the nearest name is symbol',
    ],
  ])('%s %j is refused: %s', async ([line, body, ...messages]) => {
    expect((await faultsOf(ask(line, body))).map(({ message }) => message)).toEqual(messages)
  })

  it.each([
    '0',
    '101',
    '-1',
    '+1',
    '1.0',
    '1e1',
    '0x1',
    '%2B1',
    '1 ',
    ' 1',
    '',
    '99999999999999999999',
    'NaN',
    '١',
    '1%00',
    '%ZZ',
    '%ff',
  ])('has no limit of %j', async (text) => {
    const [issue] = await faultsOf(
      ask(`GET /trades?limit=${encodeURI(text).replaceAll('%25', '%')}`),
    )
    expect(issue?.message).toMatch(/^limit must be a whole number from 1 to 100; got "/)
  })

  it('with long and many faults is refused in a few words', async () => {
    const long = 'x'.repeat(3_000_000)
    const reply = await ask('POST /orders', {
      symbol: long,
      comment: long,
      accountId: `://${long}`,
    })
    expect([issuesOf(reply).length > 1, reply.text.length < 3_000]).toEqual([true, true])
    expect(reply.json.error?.message).toMatch(/; and \d more\.$/)
    const names = ['é'.repeat(200), ...Array.from({ length: 30 }, (_, index) => `y${index}`)]
    const issues = await faultsOf(
      ask(`GET /positions?${names.map((name) => `${encodeURIComponent(name)}=1`).join('&')}`),
    )
    expect([issues.length, issues[0]?.path]).toEqual([20, `${'é'.repeat(60)}…`])
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
    'for an order of type %s is 501 before every other check of the request',
    async (orderType) => {
      for (const body of [
        { ...orderBody, orderType },
        { orderType, volume: 'x', symbol: 'eurusd' },
      ]) {
        const reply = await ask('POST /orders', body, { 'idempotency-key': 'x'.repeat(256) })
        expect([reply.status, reply.json.error]).toMatchObject([
          501,
          { code: 'ORDER_TYPE_NOT_SUPPORTED', details: { orderType } },
        ])
      }
      expect(calls).toEqual([])
      expect((await ask('POST /orders', { orderType }, { 'x-api-key': scopelessKey })).status).toBe(
        403,
      )
      expect((await ask('POST /orders', { orderType, token: '' })).status).toBe(401)
    },
  )
})
