// POST /orders: the bounds of its body, the 501 before every other check of the request, and its reply.
import type { Issue, PlaceOrderInput } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountId, caller, issuesOf, jsonRequest, orderBody, pendingOrder, runApi, scopelessKey, send } from './fakes.ts'
import type { Answer, Running, SentRequest } from './fakes.ts'

const target = '/api/v1/orders'
const emoji = '😀'
const aboveZero = 'a number above 0'

describe('POST /orders', () => {
  let api: Running
  const placed: PlaceOrderInput[] = []
  beforeAll(async () => {
    api = await runApi({
      placeOrder: (asking, input) => {
        expect(asking).toEqual(caller)
        placed.push(input)
        return TE.right({ ...pendingOrder, request: input.request })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const post = (body: unknown, headers: SentRequest['headers'] = {}): Promise<Answer> =>
    send(api, target, jsonRequest('POST', body, headers))
  const postText = (body: string): Promise<Answer> => send(api, target, { ...jsonRequest('POST', {}), body })
  const faultsOf = async (parts: object): Promise<readonly Issue[]> => {
    placed.length = 0
    const issues = issuesOf(await post({ ...orderBody, ...parts }))
    expect(placed).toEqual([])
    return issues
  }
  const placedBy = async (body: unknown, headers: SentRequest['headers'] = {}): Promise<PlaceOrderInput | undefined> => {
    placed.length = 0
    const reply = await post(body, headers)
    expect([reply.status, placed.length]).toEqual([201, 1])
    return placed[0]
  }

  describe('accepts', () => {
    it('an order without optional fields, and answers it as pending with its location', async () => {
      const reply = await post(orderBody)
      expect(reply.status).toBe(201)
      expect(reply.headers).toMatchObject({
        location: '/api/v1/orders/ord_0123456789abcdefghij',
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
      })
      expect(reply.headers).not.toHaveProperty('idempotent-replayed')
      expect(reply.json).toEqual({
        success: true,
        data: {
          id: 'ord_0123456789abcdefghij',
          userId: 'u-1',
          accountId,
          symbol: 'EURUSD',
          type: 'buy',
          orderType: 'market',
          volume: 0.1,
          status: 'pending',
          createdAt: '2026-11-21T10:00:00.001Z',
          updatedAt: '2026-11-21T10:00:00.002Z',
        },
        meta: { timestamp: '2026-11-21T10:11:12.345Z', request_id: reply.headers['x-request-id'], version: '1.0.0' },
        error: null,
      })
      expect(placed.at(-1)).toEqual({ request: { accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 } })
    })

    it('every optional field, and answers it as it was sent', async () => {
      const optionals = { price: 1.1, stopLoss: 1.05, takeProfit: 1.2, comment: 'a comment', clientId: 'mine' }
      const reply = await post({ ...orderBody, type: 'sell', ...optionals })
      expect(reply.json.data).toMatchObject({ type: 'sell', ...optionals })
      expect(placed.at(-1)?.request).toEqual({ accountId, symbol: 'EURUSD', side: 'sell', volume: 0.1, ...optionals })
    })

    it('an account id in either case', async () => {
      expect((await placedBy({ ...orderBody, accountId: accountId.toUpperCase() }))?.request.accountId).toBe(accountId)
    })

    it.each([
      ['volume', Number.MIN_VALUE],
      ['volume', 10],
      // Above 10 lots the use case refuses, with RISK_LIMIT_EXCEEDED.
      ['volume', 10.01],
      ['volume', 1e300],
      ['price', Number.MIN_VALUE],
      ['stopLoss', 1e300],
      ['takeProfit', 0.00001],
      ['symbol', 'A'],
      ['symbol', 'US30.cash#_-'.toUpperCase()],
      ['symbol', 'X'.repeat(32)],
      ['comment', ''],
      ['comment', 'x'.repeat(500)],
      ['comment', emoji.repeat(500)],
      ['comment', 'two\nlines\tand “quotes”'],
      ['clientId', ''],
      ['clientId', emoji.repeat(100)],
    ])('%s %j', async (name, value) => {
      expect((await placedBy({ ...orderBody, [name]: value }))?.request).toMatchObject({ [name]: value })
    })
  })

  describe('refuses', () => {
    it.each([
      ...[0, -0.1, '1', null, true, [1], {}].flatMap((value) =>
        ['volume', 'price', 'stopLoss', 'takeProfit'].map((name) => [name, value, aboveZero] as const),
      ),
      ...['', 'eurusd', 'EURUSDm', 'EUR USD', 'EUR/USD', 'ÉURUSD', 'EURUSD\n', 'X'.repeat(33), 1, null, ['EURUSD']].map(
        (value) => ['symbol', value, 'a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -'] as const,
      ),
      ...['', 'BUY', 'long', 1, null, ['buy']].map((value) => ['type', value, 'one of buy, sell'] as const),
      ...['', 'Market', 'LIMIT', 'stoplimit', 1, null, ['limit']].map((value) => ['orderType', value, 'one of market'] as const),
      ...['', '1', `${accountId} `, `{${accountId}}`, 1, null, [accountId]].map(
        (value) => ['accountId', value, 'the UUID of a linked account'] as const,
      ),
      ...['x'.repeat(501), emoji.repeat(501), 'a\0b', 'half \ud83d', '\udc00', 1, null, ['x']].map(
        (value) => ['comment', value, 'text of at most 500 characters without the character U+0000'] as const,
      ),
      ...['x'.repeat(101), emoji.repeat(101), '\0', '\ud800', 1, null, {}].map(
        (value) => ['clientId', value, 'text of at most 100 characters without the character U+0000'] as const,
      ),
    ])('%s %j', async (name, value, must) => {
      const issues = await faultsOf({ [name]: value })
      expect(issues).toHaveLength(1)
      expect(issues[0]?.path).toBe(name)
      expect(issues[0]?.message.startsWith(`${name} must be ${must}; got `)).toBe(true)
    })

    it.each(['1e999', '-1e999', '-0'])('the number %s as a volume', async (text) => {
      const issues = issuesOf(await postText(JSON.stringify({ ...orderBody, volume: 0.5 }).replace('0.5', text)))
      expect(issues.map(({ path }) => path)).toEqual(['volume'])
    })

    it.each(['accountId', 'symbol', 'type', 'orderType', 'volume'])('an order without %s', async (name) => {
      const [issue, ...others] = await faultsOf({ [name]: undefined })
      expect([issue?.path, others]).toEqual([name, []])
      expect(issue?.message).toMatch(new RegExp(`^${name} is required; it must be `))
    })

    it('every fault at once, those of the headers before those of the body', async () => {
      const reply = await post({ volume: '1', price: 0, comment: 5, orderType: 'market' }, { 'idempotency-key': '' })
      expect(issuesOf(reply).map(({ path }) => path)).toEqual([
        'headers.Idempotency-Key',
        'accountId',
        'symbol',
        'type',
        'volume',
        'price',
        'comment',
      ])
    })

    it.each([
      ['no body', ''],
      ['text that is not JSON', '{"orderType":"limit"'],
      ['a list', '[{"orderType":"limit"}]'],
      ['a text', '"limit"'],
      ['null', 'null'],
    ])('%s', async (_, body) => {
      expect(issuesOf(await postText(body)).map(({ path }) => path)).toEqual(['body'])
    })

    it('a body without the content type of JSON, whatever its order type', async () => {
      expect(issuesOf(await post({ orderType: 'limit' }, { 'content-type': 'text/plain' })).map(({ path }) => path)).toEqual(['body'])
    })

    it('more than 10 MiB with 413', async () => {
      const reply = await postText(`{"orderType":"limit","x":"${'x'.repeat(10_485_760)}"}`)
      expect([reply.status, reply.json.error?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    })

    it.each([{ api_key: 1 }, { Token: null }, { comment: 'tp_live_x' }, { orderType: 'limit', authorization: '' }])(
      'a credential in the body %j with 401, before every other fault of the body',
      async (parts) => {
        placed.length = 0
        expect((await post({ ...orderBody, volume: 0, ...parts })).status).toBe(401)
        expect(placed).toEqual([])
      },
    )
  })

  describe('answers 501 to an order type that is not available yet', () => {
    it.each(['limit', 'stop', 'stop_limit'])('%s, before every other check of the request', async (orderType) => {
      placed.length = 0
      const bodies = [{ ...orderBody, orderType }, { orderType }, { orderType, volume: 'x', symbol: 'eurusd', accountId: 1 }]
      for (const body of bodies) {
        const reply = await post(body, { 'idempotency-key': 'x'.repeat(256) })
        expect(reply.status).toBe(501)
        expect(reply.json).toMatchObject({ data: null, error: { code: 'ORDER_TYPE_NOT_SUPPORTED', details: { orderType } } })
      }
      expect(placed).toEqual([])
    })

    it('after credential and scope', async () => {
      const request = jsonRequest('POST', { orderType: 'limit' })
      expect((await send(api, target, { ...request, headers: { 'content-type': 'application/json' } })).status).toBe(401)
      expect((await post({ orderType: 'limit' }, { 'x-api-key': scopelessKey })).status).toBe(403)
    })
  })
})
