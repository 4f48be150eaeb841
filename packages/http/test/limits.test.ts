// Which requests are counted against the limits, what a limit refuses, and the headers of the replies.
import { orderNotCancellable, rateLimitExceeded, scopes, serviceUnavailable, tradeNotFound } from '@tradeport/domain'
import type { EndpointLimit, RateLimiter, RateSubject, RateVerdict } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { credential, fakeEdge, goodKey, goodToken, jsonRequest, now, orderBody, runApi, scopelessKey, send } from './fakes.ts'
import type { Answer, SentRequest } from './fakes.ts'

interface Call {
  readonly subject: RateSubject
  readonly endpoint: EndpointLimit | undefined
  readonly now: number
}

const passing: RateVerdict = { limit: 300, remaining: 12, resetSeconds: 1_795_255_873, refusal: null }
const refusing: RateVerdict = {
  limit: 100,
  remaining: 0,
  resetSeconds: 1_795_255_933,
  refusal: rateLimitExceeded({ scope: 'tier', window: 'minute' }, 42),
}

/** An API whose limiter always decides the same, with the calls of that limiter. */
const runLimited = async (verdict: RateVerdict, parts: Partial<UseCases> = {}, isImmediate = true) => {
  const calls: Call[] = []
  const decide: RateLimiter['decide'] = (subject, endpoint, at) => {
    calls.push({ subject, endpoint, now: at })
    return isImmediate ? verdict : Promise.resolve(verdict)
  }
  return { ...(await runApi(parts, fakeEdge({ limiter: { decide } }))), calls }
}

const limitHeaders = ({ headers }: Answer): readonly unknown[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers[name])
const passingHeaders = ['300', '12', '1795255873']
const noHeaders = [undefined, undefined, undefined]

describe('every reply to a request that counts', () => {
  const answers: readonly (readonly [status: number, target: string, request?: SentRequest, parts?: Partial<UseCases>])[] = [
    [200, '/api/v1/accounts'],
    [200, '/api/v1/accounts', { headers: { authorization: `Bearer ${goodToken}` } }],
    [200, '/api/v1/trades/export'],
    [201, '/api/v1/orders', jsonRequest('POST', orderBody)],
    [400, '/api/v1/positions?limit=0'],
    [400, '/api/v1/orders', jsonRequest('POST', orderBody, { 'content-type': 'text/plain' })],
    [401, '/api/v1/orders', jsonRequest('POST', { ...orderBody, token: 'x' })],
    [403, '/api/v1/accounts', { headers: { 'x-api-key': scopelessKey } }],
    [404, '/api/v1/trades/1', {}, { getTrade: () => TE.left(tradeNotFound) }],
    [
      400,
      '/api/v1/orders/ord_0123456789abcdefghij',
      { method: 'DELETE', headers: { 'x-api-key': goodKey } },
      { cancelOrder: () => TE.left(orderNotCancellable('filled')) },
    ],
    [503, '/api/v1/accounts', {}, { listAccounts: () => TE.left(serviceUnavailable('away')) }],
    [500, '/api/v1/accounts', {}, { listAccounts: () => () => Promise.reject(new Error('unforeseen')) }],
    [200, '/api/v1/symbols'],
    [404, '/api/v1/quotes/NOTHING'],
    [501, '/api/v1/quotes/EURUSD'],
  ]

  it.each(answers.map((answer) => ({ answer })))(
    'has the headers of the tightest limit: $answer.0 to $answer.1',
    async ({ answer: [status, target, request, parts] }) => {
      await using api = await runLimited(passing, parts)
      const answer = await send(api, target, request)
      expect([answer.status, limitHeaders(answer)]).toEqual([status, passingHeaders])
      expect(api.calls).toHaveLength(1)
    },
  )

  it('has them also as 304', async () => {
    await using api = await runLimited(passing)
    const { etag } = (await send(api, '/api/v1/symbols')).headers
    const answer = await send(api, '/api/v1/symbols', { headers: { 'x-api-key': goodKey, 'if-none-match': etag ?? '' } })
    expect([answer.status, limitHeaders(answer)]).toEqual([304, passingHeaders])
  })

  it('differs by credential for caches, where they may keep it', async () => {
    await using api = await runLimited(passing)
    expect((await send(api, '/api/v1/symbols')).headers).toMatchObject({
      'cache-control': 'public, max-age=60',
      vary: 'Authorization, X-API-Key',
    })
  })
})

describe('a request that exceeds a limit', () => {
  it.each([true, false])('is 429 with Retry-After and the limit, decided immediately or later: %s', async (isImmediate) => {
    await using api = await runLimited(refusing, {}, isImmediate)
    const answer = await send(api, '/api/v1/accounts')
    expect([answer.status, answer.headers['retry-after'], limitHeaders(answer)]).toEqual([429, '42', ['100', '0', '1795255933']])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json).toMatchObject({
      success: false,
      data: null,
      error: { code: 'RATE_LIMIT_EXCEEDED', details: { scope: 'tier', window: 'minute' } },
    })
  })

  it('is refused before its scope, its body and its query are checked', async () => {
    await using api = await runLimited(refusing)
    const statuses = [
      await send(api, '/api/v1/accounts', { headers: { 'x-api-key': scopelessKey } }),
      await send(api, '/api/v1/positions?limit=0'),
      await send(api, '/api/v1/orders', jsonRequest('POST', { token: 'x' })),
      await send(api, '/api/v1/quotes/lowercase'),
    ].map(({ status }) => status)
    expect(statuses).toEqual([429, 429, 429, 429])
  })
})

describe('a request that counts against no limit', () => {
  it.each<readonly [status: number, target: string, headers: SentRequest['headers']]>([
    [404, '/api/v1/nothing', { 'x-api-key': goodKey }],
    [404, '/api/v1/accounts/', { 'x-api-key': goodKey }],
    [401, '/api/v1/accounts', {}],
    [401, '/api/v1/accounts', { 'x-api-key': 'tp_live_bad' }],
    [401, '/api/v1/positions?token=x', { 'x-api-key': goodKey }],
    [200, '/api/v1/symbols', {}],
    [200, '/api/v1/symbols', { 'x-api-key': 'tp_live_bad' }],
    [200, '/api/v1/symbols', { authorization: 'Bearer bad', 'x-api-key': goodKey }],
    [200, '/api/v1/symbols?api_key=tp_live_good', {}],
    [501, '/api/v1/quotes/EURUSD', {}],
  ])('has no headers of one: %i to %s with %j', async (status, target, headers) => {
    await using api = await runLimited(refusing)
    const answer = await send(api, target, { headers: headers ?? {} })
    expect([answer.status, limitHeaders(answer)]).toEqual([status, noHeaders])
    expect(api.calls).toEqual([])
  })

  it('is one from outside the allowlist, also where no credential is needed', async () => {
    const elsewhere = credential(scopes, { ipAllowlist: ['10.0.0.0/8'] })
    await using api = await runLimited(refusing, { identifyCaller: () => TE.right(elsewhere) })
    expect((await send(api, '/api/v1/accounts')).status).toBe(401)
    expect((await send(api, '/api/v1/symbols')).status).toBe(200)
    expect(api.calls).toEqual([])
  })

  it('is one for market data whose credential cannot be looked up', async () => {
    await using api = await runLimited(refusing, { identifyCaller: () => TE.left(serviceUnavailable('away')) })
    expect((await send(api, '/api/v1/symbols')).status).toBe(200)
  })
})

describe('what is counted', () => {
  it('is the credential that was used, by the path of the route, at the time of the request', async () => {
    await using api = await runLimited(passing)
    await send(api, '/api/v1/quotes/EURUSD')
    await send(api, '/api/v1/trades/export?format=json', { headers: { authorization: `Bearer ${goodToken}`, 'x-api-key': 'tp_live_bad' } })
    await send(api, '/api/v1/accounts')
    expect(api.calls).toMatchObject([
      { subject: { id: 'k-1', plan: 'free' }, endpoint: { route: 'GET /quotes/:symbol', requests: 1_000, periodSeconds: 60 }, now },
      { endpoint: { route: 'GET /trades/export', requests: 10, periodSeconds: 3_600 } },
      { endpoint: undefined },
    ])
  })

  it('is a good credential in the headers of a market data route, whatever is in the query', async () => {
    await using api = await runLimited(passing)
    expect(limitHeaders(await send(api, '/api/v1/symbols?token=x'))).toEqual(passingHeaders)
  })
})
