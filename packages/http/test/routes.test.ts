// Walks every route record of the API for users: who may call it, what it refuses, and that the
// document says so.
import { scopes } from '@tradeport/domain/access'
import type { Scope } from '@tradeport/domain/access'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import type { Route } from '../src/index.ts'
import { exampleOf } from '../src/errors.ts'
import { expectDocumented, replyTo, users } from './documents.ts'
import {
  accountId,
  credential,
  fakeEdge,
  fakeUseCases,
  issuesOf,
  jsonRequest,
  requestOf,
  runApi,
  scopelessKey,
  send,
  targetOf,
} from './fakes.ts'
import type { Running, SentRequest } from './fakes.ts'

// No order can be changed or cancelled today, and there is no market data.
const expectedStatuses: Readonly<Record<string, number>> = {
  placeOrder: 201,
  modifyOrder: 409,
  cancelOrder: 409,
  createWebhook: 201,
  replayWebhookDelivery: 201,
  getQuote: 501,
  listCandles: 501,
  listTicks: 501,
}
const expectedStatus = ({ operationId }: Pick<Route<never>, 'operationId'>): number =>
  expectedStatuses[operationId] ?? 200

const describeRoute = ({ method, path, operationId, access, limit }: Route<never>): string =>
  [
    operationId,
    method,
    path,
    ...(access.kind === 'scoped' ? access.scopes : [access.kind]),
    ...(limit ? [`${limit.requests}/${limit.periodSeconds}s`] : []),
  ].join(' ')

let api: Running
let limited: Running
let held: readonly Scope[] = []
beforeAll(async () => {
  api = await runApi()
  limited = await runApi({ identifyCaller: () => TE.right(credential(held)) })
})
afterAll(() => Promise.all([api[Symbol.asyncDispose](), limited[Symbol.asyncDispose]()]))

// Generated clients name their methods by the operation.
it('the routes are these, with these scopes and endpoint limits', () => {
  expect(users.routes.map(describeRoute)).toEqual([
    'listAccounts GET /accounts accounts:read',
    'getAccount GET /accounts/:id accounts:read',
    'listBalanceHistory GET /accounts/:id/history accounts:read',
    'placeOrder POST /orders trading:write orders:write 100/60s',
    'listOrders GET /orders trading:read',
    'getOrder GET /orders/:id trading:read',
    'modifyOrder PUT /orders/:id trading:write orders:write',
    'cancelOrder DELETE /orders/:id trading:write orders:write',
    'listPositions GET /positions trading:read positions:read',
    'getPosition GET /positions/:id trading:read positions:read',
    'moveStopLoss PUT /positions/:id/sl trading:write positions:write',
    'moveTakeProfit PUT /positions/:id/tp trading:write positions:write',
    'closePosition POST /positions/:id/close trading:write positions:write',
    'listTrades GET /trades trading:read history:read',
    'getTradeStatistics GET /trades/stats trading:read history:read',
    'exportTrades GET /trades/export trading:read history:read 10/3600s',
    'getTrade GET /trades/:id trading:read history:read',
    'listSymbols GET /symbols public',
    'getQuote GET /quotes/:symbol public 1000/60s',
    'listCandles GET /candles/:symbol public 200/60s',
    'listTicks GET /ticks/:symbol public',
    'createWebhook POST /webhooks webhooks:write',
    'listWebhooks GET /webhooks webhooks:read',
    'getWebhook GET /webhooks/:id webhooks:read',
    'changeWebhook PUT /webhooks/:id webhooks:write',
    'deleteWebhook DELETE /webhooks/:id webhooks:write',
    'testWebhook POST /webhooks/:id/test webhooks:write',
    'listWebhookDeliveries GET /webhooks/:id/deliveries webhooks:read',
    'replayWebhookDelivery POST /webhooks/:id/deliveries/:deliveryId/replay webhooks:write',
  ])
})

// The second letter is written twice: `liimit` is nearest to `limit`.
const misspelt = (name: string): string => name.slice(0, 2) + name.slice(1)

const unknown = (name: string, hint: string) => [
  { path: name, message: `${name} is not known; ${hint}` },
]

describe.each(users.operations)('$name', ({ route, pointer }) => {
  const target = targetOf(route)
  const statusWith = async (headers: SentRequest['headers'], at = api): Promise<number> =>
    (
      await send(at, target, {
        ...requestOf(route),
        headers: { 'content-type': 'application/json', ...headers },
      })
    ).status

  it('needs a credential with one of its scopes, or none where it is public', async () => {
    const isPublic = route.access.kind === 'public'
    expect(await statusWith({})).toBe(isPublic ? expectedStatus(route) : 401)
    expect(await statusWith({ 'x-api-key': 'tp_live_bad' })).toBe(
      isPublic ? expectedStatus(route) : 401,
    )
    for (const scope of scopes) {
      held = [scope]
      const isAllowed = isPublic || route.access.scopes.includes(scope)
      expect([scope, await statusWith({ 'x-api-key': 'any' }, limited)]).toEqual([
        scope,
        isAllowed ? expectedStatus(route) : 403,
      ])
    }
  })

  it('answers every refusal of its record as documented', async () => {
    for (const tag of route.refusals) {
      await using refusing = await runApi(
        Object.fromEntries(
          Object.keys(fakeUseCases())
            .filter(
              (name) => !['identifyCaller', 'webhookHostIssues', 'idempotency'].includes(name),
            )
            .map((name) => [name, () => TE.left(exampleOf(tag))]),
        ),
      )
      const reply = await send(refusing, target, requestOf(route))
      expect([tag, reply.status, reply.json.error?.code]).toEqual([
        tag,
        replyTo(tag).status,
        replyTo(tag).error.code,
      ])
      expectDocumented(users, pointer, reply)
    }
  })

  it('answers faulty requests as documented', async () => {
    const { method, body } = route
    const tooLong = body === undefined ? 65_537 : 10_485_761
    // Node sends no Content-Length of its own with a GET.
    const withBody = (text: string) => ({
      ...jsonRequest(method, {}, { 'content-length': String(text.length) }),
      body: text,
    })
    const faulty = [
      jsonRequest(method, {}, { 'x-api-key': 'tp_live_bad', 'content-length': '2' }),
      jsonRequest(method, {}, { 'x-api-key': scopelessKey, 'content-length': '2' }),
      jsonRequest(method, {}, { 'idempotency-key': 'ü', 'content-length': '2' }),
      withBody('not JSON'),
      withBody(' '.repeat(tooLong)),
    ]
    for (const request of faulty)
      for (const query of ['unknown=1', ''])
        expectDocumented(users, pointer, await send(api, targetOf(route, query), request))
  })

  it('refuses unknown parameters and fields, and names the nearest known one', async () => {
    const names = Object.keys(route.query)
    if (names.length === 0)
      expect(issuesOf(await send(api, targetOf(route, 'page=1'), requestOf(route)))).toEqual(
        unknown('page', 'none is accepted here'),
      )
    for (const name of names) {
      const reply = await send(api, targetOf(route, `${misspelt(name)}=1`), requestOf(route))
      expect(issuesOf(reply)).toEqual(unknown(misspelt(name), `the nearest name is ${name}`))
    }
    for (const name of Object.keys(Object(route.body?.example) as object)) {
      const body = {
        ...(JSON.parse(String(requestOf(route).body)) as object),
        [misspelt(name)]: null,
      }
      const reply = await send(api, target, jsonRequest(route.method, body))
      expect(issuesOf(reply)).toEqual(unknown(misspelt(name), `the nearest name is ${name}`))
    }
  })

  it('is what was meant by its path without the prefix', async () => {
    const [path = ''] = target.slice(apiPrefix.length).split('?')
    const reply = await send(api, path, { method: route.method, headers: {} })
    expect([reply.status, reply.json.error?.message]).toEqual([
      404,
      `No route has this method and path. Did you mean ${apiPrefix}${route.path}?`,
    ])
  })
})

it.each(['DELETE', 'GET'])(
  'the body of %s, which is not used, is searched for a credential',
  async (method) => {
    const statusOf = async (text: string, framing: SentRequest['headers']): Promise<number> =>
      (
        await send(api, `/api/v1/webhooks/${accountId}`, {
          ...jsonRequest(method, {}, framing),
          body: text,
        })
      ).status
    for (const [text, expected] of [
      ['{"access_token":"abc"}', 401],
      ['["tp_live_x"]', 200],
      ['not JSON', 200],
      ['['.repeat(65_536), 200],
      [`{"a":[0${',0'.repeat(30_000)}],"token":1}`, 401],
      [`{"a":${'['.repeat(5_000)}"tp_live_x"${']'.repeat(5_000)}}`, 401],
      [`"${'x'.repeat(65_535)}"`, 413],
    ] as const)
      for (const framing of [
        { 'content-length': String(text.length) },
        { 'transfer-encoding': 'chunked' },
      ])
        expect([text.slice(0, 20), await statusOf(text, framing)]).toEqual([
          text.slice(0, 20),
          expected,
        ])
  },
)

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'HEAD'])(
  '%s on a GET route is 404',
  async (method) => {
    for (const headers of [{}, { 'x-api-key': 'tp_live_bad' }]) {
      const reply = await send(api, '/api/v1/positions', { method, headers })
      expect([reply.status, method === 'HEAD' ? reply.text : reply.json.error?.code]).toEqual([
        404,
        method === 'HEAD' ? '' : 'NOT_FOUND',
      ])
    }
  },
)

it.each([
  '/',
  '/api/v1',
  '/api/v2/accounts',
  '/accounts',
  '/api/v1/accounts/',
  '/api/v1//accounts',
  '//api/v1/accounts',
  '/api/v1/Accounts',
  '/API/v1/accounts',
  '/api/v1/accounts;x=1',
  '/api/v1/%61ccounts',
  `/api/v1/accounts/${accountId}/`,
  `/api/v1/accounts/${accountId}/history/1h`,
  '/api/v1/__proto__',
  '/api/v1/positions#x',
  '/operator/v1/apply',
])('the path %s is 404', async (target) => {
  const reply = await send(api, target)
  expect([reply.status, reply.json.error?.code, reply.json.error?.request_id]).toEqual([
    404,
    'NOT_FOUND',
    reply.headers['x-request-id'],
  ])
})

it.each([
  ['/accounts/%', 'ACCOUNT_NOT_FOUND'],
  ['/accounts/%c3%28/history', 'ACCOUNT_NOT_FOUND'],
  ['/accounts/1/history', 'ACCOUNT_NOT_FOUND'],
  // The query is checked before the id, which only names no account.
  ['/accounts/1/history?interval=x', 'VALIDATION_ERROR'],
  ['/quotes/%FF', 'NOT_FOUND'],
  ['/quotes/NOPE', 'NOT_FOUND'],
  ['/quotes/eurusd', 'VALIDATION_ERROR'],
  ['/candles/NOPE', 'VALIDATION_ERROR'],
  ['/quotes/EURUSD', 'NOT_IMPLEMENTED'],
])('%s is %s', async (target, code) => {
  expect((await send(api, `/api/v1${target}`)).json.error?.code).toBe(code)
})

describe('what is reported of requests', () => {
  const document = 'GET /api/v1/openapi.json'
  const names: string[] = []
  const observed: string[] = []
  const answered: object[] = []
  let observing: Running
  beforeAll(async () => {
    const edge = fakeEdge({
      pages: { '/healthz': (ctx) => void (ctx.body = 'alive') },
      meter: (method, route) => {
        names.push(`${method} ${route}`)
        return (status) => observed.push(`${method} ${route} ${status}`)
      },
      onAnswered: (request) => answered.push(request),
    })
    observing = await runApi({}, edge)
  })
  afterAll(() => observing[Symbol.asyncDispose]())

  it('has each route and page, and one name for everything else', async () => {
    const routes = apiRoutes.map(({ method, path }) => `${method} ${apiPrefix}${path}`)
    expect(names.toSorted()).toEqual(
      [...routes, document, 'GET /healthz', 'any unmatched'].toSorted(),
    )
    for (const [index, route] of apiRoutes.entries()) {
      await send(observing, targetOf(route), requestOf(route))
      expect(observed.splice(0)).toEqual([`${routes[index]} ${expectedStatus(route)}`])
    }
  })

  it.each([
    ['GET /healthz 200', 'HEAD', '/healthz'],
    [`${document} 200`, 'GET', '/api/v1/openapi.json'],
    ['GET /api/v1/accounts 401', 'GET', '/api/v1/accounts'],
    ['any unmatched 404', 'GET', '/api/v1/accounts/'],
    ['any unmatched 404', 'PATCH', '/api/v1/accounts'],
    ['any unmatched 404', 'POST', '/healthz'],
  ])('is %s for %s %s', async (expected, method, path) => {
    await send(observing, path, { method, headers: {} })
    expect(observed.splice(0)).toEqual([expected])
  })

  it('has nothing that the caller sent but the request id', async () => {
    answered.length = 0
    await send(
      observing,
      `/api/v1/accounts/${accountId}?hush=hush`,
      requestOf({ method: 'GET', path: '/x' }, { 'x-request-id': 'mine' }),
    )
    expect(answered).toEqual([
      {
        requestId: 'mine',
        method: 'GET',
        route: '/api/v1/accounts/:id',
        status: 400,
        durationMs: expect.any(Number) as number,
      },
    ])
  })
})
