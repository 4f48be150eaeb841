// Walks every route record: that the API does what each says.
import { scopes } from '@tradeport/domain'
import type { Scope } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import type { Route, UseCases } from '../src/index.ts'
import { accountId, credential, issuesOf, jsonRequest, requestOf, runApi, scopelessKey, send, targetOf } from './fakes.ts'
import type { Running, SentRequest } from './fakes.ts'

type Field = Route<UseCases>['query'][string]

// Texts at the edges of a schema: the last that are accepted, and the first that are not.
const edgesOf = (field: Field): { readonly accepted: readonly string[]; readonly refused: readonly string[] } => {
  const { minimum, maximum, minLength, maxLength, enum: values, format, pattern } = field.json
  if (typeof minimum === 'number' && typeof maximum === 'number')
    return { accepted: [String(minimum), String(maximum)], refused: [String(minimum - 1), String(maximum + 1)] }
  if (typeof maxLength === 'number') {
    const refused = ['X'.repeat(maxLength + 1), ...(typeof minLength === 'number' ? ['X'.repeat(minLength - 1)] : [])]
    return { accepted: ['X'.repeat(minLength ?? 0), 'X'.repeat(maxLength)], refused }
  }
  if (Array.isArray(values)) return { accepted: values as readonly string[], refused: ['other', ''] }
  if (format === 'uuid') return { accepted: [accountId], refused: ['1', ''] }
  return pattern === undefined
    ? { accepted: ['', 'any'], refused: [] }
    : { accepted: ['2026-01-31', '2026-01-31T10:00:00Z'], refused: ['31.1.2026', ''] }
}

// No order can be changed or cancelled today, and there is no market data.
const expectedStatuses: Readonly<Record<string, number>> = {
  'POST /orders': 201,
  'PUT /orders/:id': 409,
  'DELETE /orders/:id': 409,
  'POST /webhooks': 201,
  'POST /webhooks/:id/deliveries/:deliveryId/replay': 201,
  'GET /quotes/:symbol': 501,
  'GET /candles/:symbol': 501,
  'GET /ticks/:symbol': 501,
}
const expectedStatus = ({ method, path }: Route<UseCases>): number => expectedStatuses[`${method} ${path}`] ?? 200

const describeRoute = ({ method, path, access, limit }: Route<UseCases>): string =>
  [
    method,
    path,
    ...(access.kind === 'scoped' ? access.scopes : [access.kind]),
    ...(limit ? [`${limit.requests}/${limit.periodSeconds}s`] : []),
  ].join(' ')

const scoped = apiRoutes.filter(({ access }) => access.kind === 'scoped')
const open = apiRoutes.filter(({ access }) => access.kind === 'public')

describe('the routes of /api/v1', () => {
  let api: Running
  let limited: Running
  let held: readonly Scope[] = []
  beforeAll(async () => {
    api = await runApi()
    limited = await runApi({ identifyCaller: () => TE.right(credential(held)) })
  })
  afterAll(() => Promise.all([api[Symbol.asyncDispose](), limited[Symbol.asyncDispose]()]))

  it('are these, with these scopes and endpoint limits', () => {
    expect(apiRoutes.map(describeRoute)).toEqual([
      'GET /accounts accounts:read',
      'GET /accounts/:id accounts:read',
      'GET /accounts/:id/history accounts:read',
      'POST /orders trading:write orders:write 100/60s',
      'GET /orders trading:read',
      'GET /orders/:id trading:read',
      'PUT /orders/:id trading:write orders:write',
      'DELETE /orders/:id trading:write orders:write',
      'GET /positions trading:read positions:read',
      'GET /positions/:id trading:read positions:read',
      'PUT /positions/:id/sl trading:write positions:write',
      'PUT /positions/:id/tp trading:write positions:write',
      'POST /positions/:id/close trading:write positions:write',
      'GET /trades trading:read history:read',
      'GET /trades/stats trading:read history:read',
      'GET /trades/export trading:read history:read 10/3600s',
      'GET /trades/:id trading:read history:read',
      'GET /symbols public',
      'GET /quotes/:symbol public 1000/60s',
      'GET /candles/:symbol public 200/60s',
      'GET /ticks/:symbol public',
      'POST /webhooks webhooks:write',
      'GET /webhooks webhooks:read',
      'GET /webhooks/:id webhooks:read',
      'PUT /webhooks/:id webhooks:write',
      'DELETE /webhooks/:id webhooks:write',
      'POST /webhooks/:id/test webhooks:write',
      'GET /webhooks/:id/deliveries webhooks:read',
      'POST /webhooks/:id/deliveries/:deliveryId/replay webhooks:write',
    ])
  })

  it.each(apiRoutes)('$method $path describes itself and each of its parameters', ({ path, params, query, headers, description }) => {
    const descriptions = Object.values({ ...params, ...query, ...headers }).map((field) => field.json['description'])
    for (const sentence of [description, ...descriptions]) expect(sentence).toMatch(/\.$/)
    expect(Object.keys(params)).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name]) => name))
  })

  it.each(apiRoutes.flatMap((route) => Object.entries(route.query).map(([name, field]) => ({ ...route, name, field }))))(
    '$method $path accepts $name up to the bounds of its schema, and nothing beyond them',
    async ({ name, field, ...route }) => {
      const isRefused = async (text: string): Promise<boolean> => {
        // A parameter that the route requires is in the target already.
        const target = name === 'timeframe' ? targetOf(route).replace('1h', text) : targetOf(route, `${name}=${encodeURIComponent(text)}`)
        const reply = await send(api, target, requestOf(route))
        return reply.status === 400 && issuesOf(reply).some(({ path }) => path === name)
      }
      const { accepted, refused } = edgesOf(field)
      for (const text of accepted) expect([text, await isRefused(text)]).toEqual([text, false])
      for (const text of refused) expect([text, await isRefused(text)]).toEqual([text, true])
    },
  )

  it.each(scoped)('$method $path answers 401 without a credential, 403 without the scope, and a reply with both', async (route) => {
    const target = targetOf(route)
    const anonymous = await send(api, target, { ...requestOf(route), headers: {} })
    expect([anonymous.status, anonymous.json.error?.code]).toEqual([401, 'UNAUTHORIZED'])
    expect(anonymous.headers['www-authenticate']).toBe('Bearer')
    const scopeless = await send(api, target, requestOf(route, { 'x-api-key': scopelessKey }))
    expect([scopeless.status, scopeless.json.error?.code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
    expect(scopeless.json.error?.details).toEqual({ required_any_of: route.access.scopes })
    expect((await send(api, target, requestOf(route))).status).toBe(expectedStatus(route))
  })

  it.each(scoped)('$method $path needs one of its scopes, and no other', async (route) => {
    for (const scope of scopes) {
      held = [scope]
      const { status } = await send(limited, targetOf(route), requestOf(route))
      expect([scope, status]).toEqual([scope, route.access.scopes.includes(scope) ? expectedStatus(route) : 403])
    }
  })

  it.each(open)('$path answers everybody alike, with a credential or without', async (route) => {
    for (const headers of [{}, { 'x-api-key': scopelessKey }, { 'x-api-key': 'tp_live_bad' }])
      expect((await send(api, targetOf(route), { headers })).status).toBe(expectedStatus(route))
  })

  it('check credential and scope before the query', async () => {
    expect((await send(api, '/api/v1/trades?limit=0', { headers: {} })).status).toBe(401)
    expect((await send(api, '/api/v1/trades?limit=0', { headers: { 'x-api-key': scopelessKey } })).status).toBe(403)
    expect((await send(api, '/api/v1/trades?limit=0')).status).toBe(400)
  })

  it.each(['DELETE', 'GET'])('answer %s with 401 where its body, which is not used, has a credential', async (method) => {
    const path = '/api/v1/webhooks/0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
    const statusWith = async (text: string, framing: SentRequest['headers']): Promise<number> =>
      (await send(api, path, { ...jsonRequest(method, {}, framing), body: text })).status
    for (const [text, expected] of [
      ['{"access_token":"abc"}', 401],
      ['{"anything":["else"]}', 200],
      ['not JSON', 200],
      [`"${'x'.repeat(65_534)}"`, 200],
      [`"${'x'.repeat(65_535)}"`, 413],
    ] as const) {
      expect(await statusWith(text, { 'content-length': String(text.length) })).toBe(expected)
      expect(await statusWith(text, { 'transfer-encoding': 'chunked' })).toBe(expected)
    }
  })
})

describe('a request for an unknown path or method', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'is 404 for %s on a GET route, with a credential or without',
    async (method) => {
      for (const headers of [{}, { 'x-api-key': 'tp_live_bad' }]) {
        const reply = await send(api, '/api/v1/positions', { method, headers })
        expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
      }
    },
  )

  it('is 404 for HEAD, without a body', async () => {
    const reply = await send(api, '/api/v1/symbols', { method: 'HEAD' })
    expect([reply.status, reply.text]).toEqual([404, ''])
    expect(reply.headers['x-request-id']).toBeDefined()
  })

  it.each([
    '/',
    '/api/v1',
    '/api/v1/',
    '/api/v2/accounts',
    '/accounts',
    '/api/v1/accounts/',
    '/api/v1//accounts',
    '//api/v1/accounts',
    '/api/v1/Accounts',
    '/API/v1/accounts',
    '/api/v1/accounts;x=1',
    '/api/v1/%61ccounts',
    '/api/v1/accounts//history',
    `/api/v1/accounts/${accountId}/`,
    `/api/v1/accounts/${accountId}/history/1h`,
    '/api/v1/market/symbols',
    '/api/v1/trades/stats/',
    '/api/v1/__proto__',
    '/api/v1/positions#x',
    '/operator/v1/apply',
    '*',
  ])('is 404: %s', async (target) => {
    for (const request of [{ headers: {} }, {}]) {
      const reply = await send(api, target, request)
      expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
      expect(reply.json.error?.request_id).toBe(reply.headers['x-request-id'])
    }
  })

  it.each(apiRoutes)('without /api/v1 in $method $path says what was meant', async (route) => {
    const [path = ''] = targetOf(route).slice(apiPrefix.length).split('?')
    const reply = await send(api, path, { method: route.method, headers: {} })
    expect(reply.status).toBe(404)
    expect(reply.json.error?.message).toBe(`No route has this method and path. Did you mean ${apiPrefix}${route.path}?`)
  })
})

describe('a path', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('is found in a request line of absolute form, as proxies send it', async () => {
    expect((await send(api, 'http://tradeport.example/api/v1/accounts')).status).toBe(200)
  })

  it.each([
    ['/accounts/%', 'ACCOUNT_NOT_FOUND'],
    ['/accounts/%ff', 'ACCOUNT_NOT_FOUND'],
    ['/accounts/%c3%28/history', 'ACCOUNT_NOT_FOUND'],
    ['/quotes/%FF', 'NOT_FOUND'],
    ['/quotes/%ff', 'VALIDATION_ERROR'],
  ])('%s with broken escapes is %s', async (target, code) => {
    expect((await send(api, `/api/v1${target}`)).json.error?.code).toBe(code)
  })

  it('may have an encoded id', async () => {
    expect((await send(api, `/api/v1/positions/${encodeURIComponent(`${accountId}:42`)}`)).status).toBe(200)
    expect((await send(api, `/api/v1/positions/${accountId}:42`)).status).toBe(200)
  })
})
