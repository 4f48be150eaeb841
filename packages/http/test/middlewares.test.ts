// What stands before every route: the credential, the address from which it is used, the limits,
// and the origins of browsers.
import { type EndpointLimit, type RateSubject, type RateVerdict } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import {
  type Reply,
  fakeDependencies,
  goodKey,
  goodToken,
  jsonRequest,
  now,
  orderBody,
  runApi,
  scopelessKey,
  send,
  type SentRequest,
  lasting,
} from './fakes.ts'

describe('a credential', async () => {
  const api = await lasting(runApi())
  const statusOf = async (headers: Record<string, string>, target = '/api/v1/accounts') =>
    (await send(api, target, { headers })).status

  it.each([
    [200, { 'X-API-KEY': goodKey }],
    [200, { authorization: `bearer   ${goodToken}`, 'x-api-key': 'tp_live_bad' }],
    [200, { authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': goodKey }],
    [401, { 'x-api-key': '' }],
    [401, { authorization: 'Bearer bad', 'x-api-key': goodKey }],
    [401, { authorization: 'Bearer', 'x-api-key': goodKey }],
    [401, { authorization: goodToken }],
    [401, { authorization: `Bearer${goodToken}` }],
    [401, { authorization: `Basic ${goodToken}` }],
    [401, { authorization: `Bearer ${goodKey}` }],
  ])('answers %i to %j', async (status, headers) => {
    expect(await statusOf(headers)).toBe(status)
  })

  it.each<readonly [number, string]>([
    ...[
      'api_key',
      'apikey',
      'api-key',
      'x-api-key',
      'access_token',
      'Token',
      'AUTHORIZATION',
      'a%70i_key',
      'page=1&token',
    ].map((name) => [401, `${name}=1`] as const),
    [401, 'symbol=X&symbol=%74p_live_'],
    [401, 'tp_live_x'],
    // Not a credential, and not a known parameter either.
    [400, 'note=my%20tp_live_x'],
    [400, 'tokens=2'],
  ])(
    'in the query, by its name or prefix, leads to %i whatever the headers are: %s',
    async (status, query) => {
      expect(await statusOf({ 'x-api-key': goodKey }, `/api/v1/positions?${query}`)).toBe(status)
    },
  )

  it('is ignored on a public route, wherever it is', async () => {
    expect(
      await statusOf(
        { 'x-api-key': 'tp_live_bad', authorization: 'Bearer bad' },
        '/api/v1/symbols?token=1&api_key=tp_live_x',
      ),
    ).toBe(200)
  })
})

const passing: RateVerdict = {
  limit: 300,
  remaining: 12,
  resetSeconds: 1_795_255_873,
  standings: [],
  refusal: null,
}
const exceeded = { scope: 'tier', window: 'minute' } as const
const refusal = { ...refuse('RateLimitExceeded', { exceeded, retryAfterSeconds: 42 }), exceeded }
const refusing: RateVerdict = {
  ...passing,
  limit: 100,
  remaining: 0,
  resetSeconds: 1_795_255_933,
  refusal,
}

interface Call {
  readonly subject: RateSubject
  readonly endpoint: EndpointLimit | undefined
  readonly now: number
}

/** An API whose limiter always decides the same, with the calls of that limiter. */
const runLimited = async (
  verdict: RateVerdict | Promise<RateVerdict>,
  parts: Partial<UseCases> = {},
) => {
  const calls: Call[] = []
  const decide = (subject: RateSubject, endpoint: EndpointLimit | undefined, at: number) => {
    calls.push({ subject, endpoint, now: at })
    return verdict
  }
  return { ...(await runApi(parts, fakeDependencies({ limiter: { decide } }))), calls }
}
const limitHeaders = ({ headers }: Reply): readonly unknown[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers[name])

describe('a limit', () => {
  const withKey = { 'x-api-key': goodKey }

  it.for<[number, string, SentRequest?, Partial<UseCases>?]>([
    [200, '/api/v1/accounts', { headers: { authorization: `Bearer ${goodToken}` } }],
    [200, '/api/v1/symbols', { headers: { 'x-api-key': scopelessKey } }],
    [201, '/api/v1/orders', jsonRequest('POST', orderBody)],
    [400, '/api/v1/positions?limit=0'],
    [401, '/api/v1/orders', jsonRequest('POST', { ...orderBody, token: 'x' })],
    [403, '/api/v1/accounts', { headers: { 'x-api-key': scopelessKey } }],
    [
      503,
      '/api/v1/accounts',
      {},
      { listAccounts: () => TE.left(refuse('ServiceUnavailable', { reason: 'away' })) },
    ],
  ])(
    'is named by the reply %i to %s, and refuses that request before everything else',
    async ([status, target, request, parts]) => {
      await using api = await runLimited(passing, parts)
      const answer = await send(api, target, request)
      expect([answer.status, limitHeaders(answer), api.calls.length]).toEqual([
        status,
        ['300', '12', '1795255873'],
        1,
      ])
      await using full = await runLimited(Promise.resolve(refusing), parts)
      const refused = await send(full, target, request)
      expect([refused.status, refused.headers['retry-after'], limitHeaders(refused)]).toEqual([
        429,
        '42',
        ['100', '0', '1795255933'],
      ])
      expect(refused.json.error).toMatchObject({
        code: 'RATE_LIMIT_EXCEEDED',
        details: { scope: 'tier', window: 'minute' },
      })
    },
  )

  it.for<[number, string, SentRequest['headers'], Partial<UseCases>?]>([
    [404, '/api/v1/accounts/', withKey],
    [401, '/api/v1/accounts', { 'x-api-key': 'tp_live_bad' }],
    [401, '/api/v1/positions?token=x', withKey],
    [200, '/api/v1/symbols', {}],
    [200, '/api/v1/symbols', { authorization: 'Bearer bad', ...withKey }],
    [
      200,
      '/api/v1/symbols',
      withKey,
      { identifyCaller: () => TE.left(refuse('ServiceUnavailable', { reason: 'away' })) },
    ],
  ])(
    'does not count a request without a credential of its own: %i to %s with %j',
    async ([status, target, headers, parts]) => {
      await using api = await runLimited(refusing, parts)
      const answer = await send(api, target, { headers: headers ?? {} })
      expect([answer.status, limitHeaders(answer), api.calls]).toEqual([
        status,
        [undefined, undefined, undefined],
        [],
      ])
    },
  )

  it('counts the credential that was used, by the path of the route, at the time of the request', async () => {
    await using api = await runLimited(passing)
    await send(api, '/api/v1/quotes/EURUSD')
    await send(api, '/api/v1/accounts')
    const route = { route: 'GET /quotes/:symbol', requests: 1_000, periodSeconds: 60 }
    expect(api.calls).toMatchObject([
      { subject: { id: 'k-1', plan: 'free' }, endpoint: route, now },
      { endpoint: undefined },
    ])
  })
})

const corsHeaders = ({ headers }: Reply) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))
const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key,idempotency-key',
  },
})

describe('CORS', () => {
  const allowed = 'https://app.example.com'
  const corsOrigins = [allowed, 'http://localhost:5173']
  const run = (origins: readonly string[] | undefined = corsOrigins) =>
    runApi({}, fakeDependencies({ corsOrigins: origins }))

  it.each([
    [200, '/api/v1/symbols', allowed],
    [401, '/api/v1/accounts', 'http://localhost:5173'],
    [404, '/api/v1/nothing', allowed],
    [200, '/api/v1/openapi.json', allowed],
  ])(
    'lets a page of an allowed origin read the reply %i to %s, with the headers that are for programs',
    async (status, target, origin) => {
      await using api = await run()
      const reply = await send(api, target, { headers: { origin } })
      expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([status, origin])
      expect(reply.headers.vary).toMatch(/\bOrigin\b/)
      expect(reply.headers['access-control-expose-headers']).toMatch(/Location.*X-Request-ID/)
      expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
    },
  )

  it('answers a preflight from an allowed origin without a credential', async () => {
    await using api = await run()
    const reply = await send(api, '/api/v1/orders', preflight(allowed))
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': allowed,
      'access-control-max-age': '600',
      'access-control-allow-methods': 'GET,POST,PUT,DELETE',
      'x-request-id': expect.any(String),
    })
    expect(reply.headers['access-control-allow-headers']).toMatch(
      /Idempotency-Key.*Last-Event-ID.*X-API-Key/,
    )
    expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  it.for<[string, string[]?]>([
    ['http://app.example.com'],
    ['https://app.example.com.evil.com'],
    ['https://APP.example.com'],
    ['null'],
    ['*'],
    ['', corsOrigins],
    [allowed, []],
  ])('has no header for the origin %j', async ([origin, origins]) => {
    await using api = await run(origins)
    for (const request of [
      { headers: { 'x-api-key': goodKey, origin } },
      jsonRequest('POST', orderBody, { origin }),
    ])
      expect(corsHeaders(await send(api, '/api/v1/orders', request))).toEqual([])
    const reply = await send(api, '/api/v1/orders', preflight(origin))
    expect([reply.status, corsHeaders(reply)]).toEqual([404, []])
  })
})
