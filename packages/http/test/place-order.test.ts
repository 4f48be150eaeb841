// POST /orders at the door: its body within bounds, the 501 before every other check, the idempotency key and the reply (4.2; decisions 2, 5, 19, 21, 25).
import { createHash } from 'node:crypto'
import { scopes, serviceUnavailable, riskLimitExceeded, idempotencyInProgress } from '@tradeport/domain'
import type { Issue, PlaceOrderInput, Scope } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountId, caller, credential, jsonRequest, orderBody, pendingOrder, runApi, scopelessKey, send } from './fakes.ts'
import type { Answer, Running, SentRequest } from './fakes.ts'

const target = '/api/v1/orders'
const emoji = '😀'
const aboveZero = 'a number above 0'

const issuesOf = (reply: Answer): readonly Issue[] => {
  expect([reply.status, reply.json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
  return reply.json.error?.details?.issues ?? []
}

describe('POST /orders', () => {
  let api: Running
  const placed: PlaceOrderInput[] = []
  beforeAll(async () => {
    api = await runApi({
      placeOrder: (asking, input) => {
        expect(asking).toEqual(caller)
        placed.push(input)
        return TE.right({ order: { ...pendingOrder, request: input.request }, isReplayed: input.claim?.key === 'again' })
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
  const hashOf = async (text: string): Promise<string | undefined> => {
    placed.length = 0
    const reply = await send(api, target, { ...jsonRequest('POST', {}, { 'idempotency-key': 'k' }), body: text })
    expect(reply.status).toBe(201)
    return placed[0]?.claim?.bodyHash
  }

  describe('takes', () => {
    it('an order with nothing optional, and answers it as pending with where to find it (2.1, 2.3, decision 7)', async () => {
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
      expect(placed.at(-1)).toEqual({ request: { accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 }, claim: undefined })
    })

    it('every optional field, and echoes what was sent (2.3, decision 21)', async () => {
      const optionals = { price: 1.1, stopLoss: 1.05, takeProfit: 1.2, comment: 'a comment', clientId: 'mine' }
      const reply = await post({ ...orderBody, type: 'sell', ...optionals })
      expect(reply.json.data).toMatchObject({ type: 'sell', ...optionals })
      expect(placed.at(-1)?.request).toEqual({ accountId, symbol: 'EURUSD', side: 'sell', volume: 0.1, ...optionals })
    })

    it('an account id in either case, and passes over fields that it does not know (decision 5)', async () => {
      const input = await placedBy({
        ...orderBody,
        accountId: accountId.toUpperCase(),
        magic: 7,
        positionId: null,
        side: 'sell',
        __proto__: 1,
      })
      expect(input?.request).toEqual({ accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 })
    })

    it.each([
      ['volume', Number.MIN_VALUE],
      ['volume', 10],
      // Above 10 lots it is for the use case to say, by RISK_LIMIT_EXCEEDED.
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
      ...['', 'Market', 'LIMIT', 'stoplimit', 1, null, ['limit']].map((value) => ['orderType', value, 'market'] as const),
      ...['', '1', `${accountId} `, `{${accountId}}`, 1, null, [accountId]].map(
        (value) => ['accountId', value, 'an account id: a UUID'] as const,
      ),
      ...['x'.repeat(501), emoji.repeat(501), 'a\0b', 'half \ud83d', '\udc00', 1, null, ['x']].map(
        (value) => ['comment', value, 'at most 500 characters of well-formed text without U+0000'] as const,
      ),
      ...['x'.repeat(101), emoji.repeat(101), '\0', '\ud800', 1, null, {}].map(
        (value) => ['clientId', value, 'at most 100 characters of well-formed text without U+0000'] as const,
      ),
    ])('%s %j', async (name, value, takes) => {
      const issues = await faultsOf({ [name]: value })
      expect(issues).toHaveLength(1)
      expect(issues[0]?.path).toBe(name)
      expect(issues[0]?.message.startsWith(`${name} takes ${takes}; got `)).toBe(true)
    })

    it.each(['1e999', '-1e999', '-0'])('the number %s as a volume', async (text) => {
      const issues = issuesOf(await postText(JSON.stringify({ ...orderBody, volume: 0.5 }).replace('0.5', text)))
      expect(issues.map(({ path }) => path)).toEqual(['volume'])
    })

    it.each(['accountId', 'symbol', 'type', 'orderType', 'volume'])('an order without %s', async (name) => {
      const [issue, ...others] = await faultsOf({ [name]: undefined })
      expect([issue?.path, others]).toEqual([name, []])
      expect(issue?.message).toMatch(new RegExp(`^${name} is required; it takes `))
    })

    it('every fault at once, those of the header before those of the body (decision 5)', async () => {
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
      ['what is no JSON', '{"orderType":"limit"'],
      ['a list', '[{"orderType":"limit"}]'],
      ['a text', '"limit"'],
      ['null', 'null'],
    ])('%s', async (_, body) => {
      expect(issuesOf(await postText(body)).map(({ path }) => path)).toEqual(['body'])
    })

    it('a body that is not said to be JSON, whatever its order type', async () => {
      expect(issuesOf(await post({ orderType: 'limit' }, { 'content-type': 'text/plain' })).map(({ path }) => path)).toEqual(['body'])
    })

    it('more than 10 MiB with 413', async () => {
      const reply = await postText(`{"orderType":"limit","x":"${'x'.repeat(10_485_760)}"}`)
      expect([reply.status, reply.json.error?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    })

    it.each([{ api_key: 1 }, { Token: null }, { comment: 'tp_live_x' }, { orderType: 'limit', authorization: '' }])(
      'a credential in the body %j with 401, before everything else of the body (decision 2)',
      async (parts) => {
        placed.length = 0
        expect((await post({ ...orderBody, volume: 0, ...parts })).status).toBe(401)
        expect(placed).toEqual([])
      },
    )
  })

  describe('answers 501 to an order type that is not there yet (decision 19)', () => {
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

  describe('with an Idempotency-Key (decision 25)', () => {
    it.each(['k', 'x'.repeat(255), 'with space', '~!"#', '0'])('of %j claims it for this body', async (key) => {
      const input = await placedBy(orderBody, { 'idempotency-key': key })
      const bodyHash = createHash('sha256')
        .update(`{"accountId":"${accountId}","orderType":"market","symbol":"EURUSD","type":"buy","volume":0.1}`)
        .digest('hex')
      expect(input?.claim).toEqual({ key, bodyHash })
    })

    it.each([
      ['', '""'],
      ['x'.repeat(256), `"${'x'.repeat(60)}…"`],
      ['a\tb', String.raw`"a\tb"`],
      ['cl\u00e9', '"cl\u00e9"'],
    ])('of %j is refused by its path', async (key, shown) => {
      // As bytes, so that the head is written in Latin-1, as HTTP reads it.
      const body = new TextEncoder().encode(JSON.stringify(orderBody))
      const reply = await send(api, target, { ...jsonRequest('POST', {}, { 'Idempotency-Key': key }), body })
      expect(issuesOf(reply)).toEqual([
        { path: 'headers.Idempotency-Key', message: `Idempotency-Key takes 1 to 255 printable ASCII characters; got ${shown}` },
      ])
    })

    it('sent twice is refused', async () => {
      expect(issuesOf(await post(orderBody, { 'idempotency-key': ['a', 'b'] }))).toEqual([
        { path: 'headers.Idempotency-Key', message: 'Idempotency-Key takes one value; it was sent 2 times' },
      ])
    })

    it('tells bodies apart as JSON values, with every field that was sent', async () => {
      const text = JSON.stringify(orderBody)
      const same = await hashOf(text)
      expect(same).toMatch(/^[0-9a-f]{64}$/)
      const swapped = JSON.stringify(Object.fromEntries(Object.entries(orderBody).toReversed()), null, 2)
      expect(await hashOf(swapped)).toBe(same)
      expect(await hashOf(text.replace('0.1', '0.10'))).toBe(same)
      expect(await hashOf(text.replace('0.1', '1e-1'))).toBe(same)
      expect(await hashOf(text.replace('0.1', '0.2'))).not.toBe(same)
      expect(await hashOf(text.replace('}', ',"unknown":1}'))).not.toBe(same)
      expect(await hashOf(text.replace('}', ',"clientId":""}'))).not.toBe(same)
    })

    it('answers a replay with the same order, its place, and a request id of its own', async () => {
      const first = await post(orderBody, { 'idempotency-key': 'first' })
      const again = await post(orderBody, { 'idempotency-key': 'again' })
      expect([first.status, again.status]).toEqual([201, 201])
      expect(again.json.data).toEqual(first.json.data)
      expect(again.headers.location).toBe(first.headers.location)
      expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true'])
      expect(again.json.meta?.['request_id']).not.toBe(first.json.meta?.['request_id'])
    })

    it('is not looked at on other routes', async () => {
      expect((await send(api, '/api/v1/orders', { headers: { 'x-api-key': 'tp_live_good', 'idempotency-key': '' } })).status).toBe(200)
    })
  })

  it.each<readonly [held: Scope, status: number]>(
    scopes.map((scope) => [scope, scope === 'trading:write' || scope === 'orders:write' ? 201 : 403]),
  )('for a holder of %s alone answers %i (section 5)', async (scope, status) => {
    await using other = await runApi({ identifyCaller: () => TE.right(credential([scope])) })
    expect((await send(other, target, jsonRequest('POST', orderBody))).status).toBe(status)
  })

  it('passes the refusals of the use case on', async () => {
    const exceeded = { limit: 'orders_per_day', allowed: 100, current: 100, resetsAt: Date.parse('2026-11-22') } as const
    for (const [refusal, status] of [
      [riskLimitExceeded(exceeded), 400],
      [idempotencyInProgress, 409],
      [serviceUnavailable('down'), 503],
    ] as const) {
      await using other = await runApi({ placeOrder: () => TE.left(refusal) })
      const reply = await send(other, target, jsonRequest('POST', orderBody))
      expect([reply.status, reply.json.data, reply.headers.location]).toEqual([status, null, undefined])
    }
  })
})
