// Walks every route record: what each says of itself, and that each is guarded as it says.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import { accountId, jsonRequest, requestOf, runApi, scopelessKey, send } from './fakes.ts'
import type { ParameterSchema } from '../src/requests/parameter.ts'
import type { Running, SentRequest } from './fakes.ts'

const samples: Readonly<Record<string, string>> = { id: accountId, deliveryId: 'd-1', symbol: 'EURUSD' }
const targetOf = (path: string): string =>
  `${apiPrefix}${path.replace(/:(\w+)/g, (_, name: string) => samples[name] ?? '')}${path.startsWith('/candles') ? '?timeframe=1h' : ''}`

// Texts at the edges of a schema: the last that are taken, and the first that are not.
const edgesOf = (schema: ParameterSchema): { readonly taken: readonly string[]; readonly refused: readonly string[] } => {
  const { minimum, maximum, minLength, maxLength, enum: values, format, pattern } = schema
  if (minimum !== undefined && maximum !== undefined)
    return { taken: [String(minimum), String(maximum)], refused: [String(minimum - 1), String(maximum + 1)] }
  if (minLength !== undefined && maxLength !== undefined)
    return { taken: ['X'.repeat(minLength), 'X'.repeat(maxLength)], refused: ['X'.repeat(minLength - 1), 'X'.repeat(maxLength + 1)] }
  if (values !== undefined) return { taken: values, refused: ['other', ''] }
  if (format === 'uuid') return { taken: [accountId], refused: ['1', ''] }
  return pattern === undefined
    ? { taken: ['', 'any'], refused: [] }
    : { taken: ['2026-01-31', '2026-01-31T10:00:00Z'], refused: ['31.1.2026', ''] }
}

// No order can be changed or cancelled today (3.1).
const passedStatuses: Readonly<Record<string, number>> = {
  'POST /orders': 201,
  'PUT /orders/:id': 409,
  'DELETE /orders/:id': 409,
  'POST /webhooks': 201,
  'POST /webhooks/:id/deliveries/:deliveryId/replay': 201,
}

const describeAccess = (route: (typeof apiRoutes)[number]): string =>
  route.access.kind === 'scoped' ? route.access.anyOf.join(' ') : route.access.kind

describe('the routes of /api/v1', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('are these, for holders of these scopes, with these endpoint limits (4.1 to 4.6, section 5, 8 rule 3)', () => {
    const rows = apiRoutes.map((route) =>
      [
        route.method,
        route.path,
        describeAccess(route),
        ...(route.limit === undefined ? [] : [`${route.limit.requests}/${route.limit.periodSeconds}s`]),
      ].join(' '),
    )
    expect(rows).toEqual([
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
      'GET /openapi.json public',
    ])
  })

  it.each(apiRoutes)(
    '$method $path says of every parameter what it takes, what it is and its schema',
    ({ path, params, query, headers, description }) => {
      expect(description).toMatch(/\.$/)
      for (const { takes, description, schema } of Object.values({ ...params, ...query, ...headers })) {
        expect(takes).not.toBe('')
        expect(description).toMatch(/\.$/)
        expect(schema.type).toMatch(/^(string|integer)$/)
      }
      const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
      expect(Object.keys(params)).toEqual(named)
    },
  )

  it.each(
    apiRoutes.flatMap(({ method, path, query, headers }) =>
      Object.entries({ ...query, ...headers }).map(([name, parameter]) => ({ method, path, name, ...parameter })),
    ),
  )('$method $path takes $name up to the bounds that its schema tells, and nothing beyond them', ({ schema, codec }) => {
    const { taken, refused } = edgesOf(schema)
    const reads = (text: string): boolean => codec.decode(text)._tag === 'Right'
    expect(taken.filter((text) => !reads(text))).toEqual([])
    expect(refused.filter(reads)).toEqual([])
  })

  it.each(apiRoutes.filter(({ access }) => access.kind === 'scoped'))(
    '$method $path answers 401 without a credential, 403 without the scope, and is let in with both',
    async (route) => {
      const { method, path, access } = route
      const target = targetOf(path)
      const anonymous = await send(api, target, { ...requestOf(route), headers: {} })
      expect([anonymous.status, anonymous.json.error?.code]).toEqual([401, 'UNAUTHORIZED'])
      expect(anonymous.headers['www-authenticate']).toBe('Bearer')
      const scopeless = await send(api, target, requestOf(route, { 'x-api-key': scopelessKey }))
      expect([scopeless.status, scopeless.json.error?.code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
      expect(scopeless.json.error?.details).toEqual({ required_any_of: access.kind === 'scoped' ? access.anyOf : [] })
      expect((await send(api, target, requestOf(route))).status).toBe(passedStatuses[`${method} ${path}`] ?? 200)
    },
  )

  it.each(apiRoutes.filter(({ access }) => access.kind === 'public'))('$path answers all alike, credential or not', async ({ path }) => {
    const expected = ['/symbols', '/openapi.json'].includes(path) ? 200 : 501
    for (const headers of [{}, { 'x-api-key': scopelessKey }, { 'x-api-key': 'tp_live_bad' }])
      expect((await send(api, targetOf(path), { headers })).status).toBe(expected)
  })

  it('tell of credential and scope before the query (decision 1)', async () => {
    expect((await send(api, '/api/v1/trades?limit=0', { headers: {} })).status).toBe(401)
    expect((await send(api, '/api/v1/trades?limit=0', { headers: { 'x-api-key': scopelessKey } })).status).toBe(403)
    expect((await send(api, '/api/v1/trades?limit=0')).status).toBe(400)
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'answer 404 to %s, credential or not (section 7)',
    async (method) => {
      for (const headers of [{}, { 'x-api-key': 'tp_live_bad' }]) {
        const reply = await send(api, '/api/v1/positions', { method, headers })
        expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
      }
    },
  )

  it.each(['DELETE', 'GET'])('answer %s with 401 where a credential lies in a body that they do not take (5 rule 5)', async (method) => {
    const path = '/api/v1/webhooks/0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c'
    const statusWith = async (text: string, framing: SentRequest['headers']): Promise<number> =>
      (await send(api, path, { ...jsonRequest(method, {}, framing), body: text })).status
    for (const [text, expected] of [
      ['{"access_token":"abc"}', 401],
      ['{"anything":["else"]}', 200],
      ['no JSON', 200],
    ] as const) {
      expect(await statusWith(text, { 'content-length': String(text.length) })).toBe(expected)
      expect(await statusWith(text, { 'transfer-encoding': 'chunked' })).toBe(expected)
    }
  })

  it('answer HEAD with a 404 that has a head alone', async () => {
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
  ])('are not at %s', async (target) => {
    for (const headers of [{}, undefined] as const) {
      const reply = await send(api, target, headers === undefined ? {} : { headers })
      expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
      expect(reply.json.error?.request_id).toBe(reply.headers['x-request-id'])
    }
  })

  it('are found in a request line of absolute form, as proxies send it', async () => {
    const reply = await send(api, 'http://tradeport.example/api/v1/accounts?x=1')
    expect(reply.status).toBe(200)
  })

  it.each([
    ['/accounts/%', 'ACCOUNT_NOT_FOUND'],
    ['/accounts/%ff', 'ACCOUNT_NOT_FOUND'],
    ['/accounts/%c3%28/history', 'ACCOUNT_NOT_FOUND'],
    ['/quotes/%FF', 'NOT_FOUND'],
    ['/quotes/%ff', 'VALIDATION_ERROR'],
  ])('take %s, whose escapes are broken, for the name of nothing: %s', async (target, code) => {
    expect((await send(api, `/api/v1${target}`)).json.error?.code).toBe(code)
  })

  it('take encoded ids', async () => {
    expect((await send(api, `/api/v1/positions/${encodeURIComponent(`${accountId}:42`)}`)).status).toBe(200)
    expect((await send(api, `/api/v1/positions/${accountId}:42`)).status).toBe(200)
  })
})
