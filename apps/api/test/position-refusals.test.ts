// Every way in which the changes of a position are refused before the broker is sent anything, and what the broker itself refuses, with the details that
// the documentation names; and that a body which is none never reaches the broker.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import { linkingDesks } from './support/position-desk.ts'
import type { LinkedDesk } from './support/position-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_position_refusals'
const strangeKey = 'tp_live_only_for_automated_tests_position_refusals_of_a_stranger'
const readingKey = 'tp_live_only_for_automated_tests_position_refusals_reading'
const freeKey = 'tp_live_only_for_automated_tests_position_refusals_free'
const clock = createTestClock('2026-03-05T12:00:00.000Z')
const bid = 1.1
const ask = 1.1002

/** The three routes, each with a body that it takes. */
const routes = [
  { method: 'PUT', path: 'sl', body: { value: 1.05 } },
  { method: 'PUT', path: 'tp', body: { value: 1.2 } },
  { method: 'POST', path: 'close', body: {} },
] as const
type Route = (typeof routes)[number]

let service: RunningService
let link: ReturnType<typeof linkingDesks>
/** A desk with one position, that no test changes. */
let desk: LinkedDesk
let ticket: string

const call = (
  { method, path }: Pick<Route, 'method' | 'path'>,
  id: string,
  body: string | undefined,
  headers: Record<string, string> = { 'X-API-Key': key },
): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1/positions/${id}/${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  })
const change = (route: Route, id: string, as?: string): Promise<Reply> =>
  call(route, id, JSON.stringify(route.body), as === undefined ? undefined : { 'X-API-Key': as })

const expectRefusal = ({ status, body }: Reply, wanted: number, code: string, details?: object): void => {
  expect([status, body.error?.code, body.success, body.data]).toEqual([wanted, code, false, null])
  expect(body.error).toMatchObject({ message: expect.stringMatching(/\w/), request_id: expect.stringMatching(/\w/) })
  expect(body.error.details).toEqual(details)
}

beforeAll(async () => {
  service = await startTestService([], { now: clock.now })
  service.sandbox.prices.pin('EURUSD', { bid, ask })
  link = linkingDesks(service, { user: 'u-1', key })
  desk = await link()
  ticket = desk.open({ stopLoss: 1.04 })
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-2', key: strangeKey, providerToken }, [], ['trading:read', 'trading:write']),
    linkDocument({ tenant: 'acme', user: 'u-3', key: freeKey, providerToken }, [], ['trading:write']),
  )
  await service.setUp({
    users: [{ id: 'u-3', plan: 'free' }],
    apiKeys: [
      { id: 'reading', userId: 'u-1', name: 'reading', key: readingKey, scopes: ['trading:read', 'positions:read', 'orders:write'] },
    ],
  })
})
afterAll(() => service?.close())

describe.each(routes)('$method /positions/:id/$path', (route) => {
  it('needs a credential, and one that may write', async () => {
    const bare = await call(route, desk.idOf(ticket), JSON.stringify(route.body), {})
    expectRefusal(bare, 401, 'UNAUTHORIZED')
    const read = await change(route, desk.idOf(ticket), readingKey)
    expectRefusal(read, 403, 'INSUFFICIENT_SCOPE', { required_any_of: ['trading:write', 'positions:write'] })
    expect(desk.sends()).toBe(0)
  })

  it('knows no other method and no other path', async () => {
    for (const method of ['PATCH', 'DELETE', route.method === 'PUT' ? 'POST' : 'PUT'] as const) {
      expectRefusal(await call({ ...route, method } as never, desk.idOf(ticket), '{}'), 404, 'NOT_FOUND')
    }
    expectRefusal(await call({ ...route, path: `${route.path}/` } as never, desk.idOf(ticket), '{}'), 404, 'NOT_FOUND')
  })

  it('has no position for an id that is malformed, unknown, another’s or on an account that is not linked', async () => {
    const unknown = [desk.idOf('1'), `${newAccountUuid(999)}:${ticket}`, desk.accountId, ticket, ':', `${desk.accountId}:`, '%20']
    for (const id of unknown) expectRefusal(await change(route, id), 404, 'POSITION_NOT_FOUND')
    expectRefusal(await change(route, desk.idOf(ticket), strangeKey), 404, 'POSITION_NOT_FOUND')
    expect(desk.sends()).toBe(0)
  })

  it('has no position once it is closed, by the broker or while the change is on its way', async () => {
    const own = await link()
    const closed = own.open()
    own.broker.trade({ actionType: 'POSITION_CLOSE_ID', positionId: closed })
    expectRefusal(await change(route, own.idOf(closed)), 404, 'POSITION_NOT_FOUND')
    expect(own.sends()).toBe(0)
    const closing = own.open()
    await own.list()
    service.sandbox.faults.set(own.provider, 'trade', { kind: 'delay', ms: 300 })
    const changing = change(route, own.idOf(closing))
    await expect.poll(own.sends).toBe(1)
    own.broker.trade({ actionType: 'POSITION_CLOSE_ID', positionId: closing })
    expectRefusal(await changing, 404, 'POSITION_NOT_FOUND')
    // Another instance may hear of it a moment later.
    await expect.poll(async () => (await own.list()).body.data).toEqual([])
  })

  it.each<readonly [string, Partial<AccountOptions>, object, number, string]>([
    ['of another purpose', {}, { purpose: 'introducing_broker' }, 403, 'ACCOUNT_PURPOSE_RESTRICTED'],
    ['that copies trades', {}, { purpose: 'trade_copier' }, 403, 'ACCOUNT_PURPOSE_RESTRICTED'],
    [
      'of another purpose that is live too',
      { type: 'real' },
      { purpose: 'trade_copier', isDemo: false },
      403,
      'ACCOUNT_PURPOSE_RESTRICTED',
    ],
    ['that is linked as live', {}, { isDemo: false }, 403, 'LIVE_ACCOUNT_RESTRICTED'],
    ['that its broker calls live, whatever the link says', { type: 'real' }, {}, 403, 'LIVE_ACCOUNT_RESTRICTED'],
    ['of a contest', { type: 'contest' }, {}, 403, 'LIVE_ACCOUNT_RESTRICTED'],
    ['on another platform', {}, { brokerType: 'ctrader' }, 400, 'UNSUPPORTED_BROKER'],
    ['in the paper book', {}, { brokerType: 'paper', providerAccountId: null }, 400, 'UNSUPPORTED_BROKER'],
    ['that is not provisioned', {}, { providerAccountId: null }, 400, 'NOT_PROVISIONED'],
    ['that the provider does not know', {}, { providerAccountId: 'nowhere' }, 400, 'NOT_PROVISIONED'],
  ])('is refused on an account %s, and nothing is sent', async (_, options, fields, status, code) => {
    const own = await link(options, fields)
    const details = status === 400 ? { accountId: own.accountId } : undefined
    expectRefusal(await change(route, own.idOf(own.open())), status, code, details)
    expect(own.sends()).toBe(0)
    expect(own.held()).toHaveLength(1)
  })

  it('is refused where the tenant has no token for the provider', async () => {
    const user = `tokenless-${route.path}`
    const own = await link()
    const id = newAccountUuid(800 + routes.indexOf(route))
    const links = [{ id, providerAccountId: own.provider }]
    await service.setUp(
      linkDocument({ tenant: user, user, key: `tp_live_only_for_automated_tests_${user}`, providerToken }, links, ['trading:write']),
    )
    await service.setUp({ tenants: [{ id: user, providerToken: null }] })
    expectRefusal(await change(route, `${id}:${own.open()}`, `tp_live_only_for_automated_tests_${user}`), 503, 'BROKER_UNAVAILABLE', {
      accountId: id,
    })
    expect(service.sandbox.requests.count({ account: own.provider })).toBe(0)
  })

  it('is no way past the limits of a plan', async () => {
    const replies = await Promise.all(Array.from({ length: 310 }, () => change(route, desk.idOf(ticket), freeKey)))
    const limited = replies.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThan(0)
    for (const { body, headers } of limited) {
      expect(body.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', details: { scope: expect.any(String) } })
      expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(1)
    }
  })

  it('takes no credential in the body or the query', async () => {
    const body = JSON.stringify({ ...route.body, api_key: key })
    expectRefusal(await call(route, desk.idOf(ticket), body), 401, 'UNAUTHORIZED')
    expectRefusal(await call({ ...route, path: `${route.path}?api_key=${key}` } as never, desk.idOf(ticket), body), 401, 'UNAUTHORIZED')
    expect(desk.sends()).toBe(0)
  })

  it('takes no body beyond 10 MiB', async () => {
    const body = JSON.stringify({ ...route.body, note: 'x'.repeat(10 * 1_024 * 1_024) })
    expectRefusal(await call(route, desk.idOf(ticket), body), 413, 'PAYLOAD_TOO_LARGE', expect.anything())
    expect(desk.sends()).toBe(0)
  })
})

/** What is no body of the route, as text; undefined is none at all. */
const levelBodies = [
  undefined,
  '',
  ' ',
  'null',
  '[]',
  '[1.05]',
  '"1.05"',
  '1.05',
  'true',
  '{',
  '{value:1.05}',
  '{"value":1.05',
  '{"value":01}',
  '{"value":NaN}',
  '{}',
  '{"value":null}',
  '{"value":"1.05"}',
  '{"value":0}',
  '{"value":-1.05}',
  '{"value":true}',
  '{"value":[1.05]}',
  '{"value":{}}',
  '{"value":1e999}',
  '{"value":-0}',
  '{"Value":1.05}',
  '{"volume":1.05}',
  '\u0000',
  '{"value":1.05}}',
]
const closeBodies = [
  undefined,
  '',
  ' ',
  'null',
  '[]',
  '[{}]',
  '"all"',
  '0.1',
  'false',
  '{',
  '{volume:0.1}',
  '{"volume":.1}',
  '{}{}',
  '{"volume":null}',
  '{"volume":"0.1"}',
  '{"volume":0}',
  '{"volume":-0.1}',
  '{"volume":false}',
  '{"volume":[]}',
  '{"volume":1e999}',
]

describe('a body that is none of the route', () => {
  it.each([
    ...levelBodies.map((body) => [routes[0], body] as const),
    ...levelBodies.map((body) => [routes[1], body] as const),
    ...closeBodies.map((body) => [routes[2], body] as const),
  ])('$path refuses %j, and the broker hears nothing of it', async (route, body) => {
    const before = service.sandbox.requests.count()
    const { status, body: reply } = await call(route, desk.idOf(ticket), body)
    expect([status, reply.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(reply.error.details.issues.length).toBeGreaterThan(0)
    for (const { path, message } of reply.error.details.issues)
      expect([path, message]).toEqual([expect.any(String), expect.stringMatching(/\w/)])
    expect(service.sandbox.requests.count()).toBe(before)
  })

  it.each(routes)('$path refuses one that is not called JSON', async (route) => {
    const before = service.sandbox.requests.count()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const reply = await call(route, desk.idOf(ticket), JSON.stringify(route.body), { 'X-API-Key': key, 'Content-Type': type })
      expectRefusal(reply, 400, 'VALIDATION_ERROR', expect.anything())
    }
    expect(service.sandbox.requests.count()).toBe(before)
  })

  it('changes nothing where it has a field that the route does not know', async () => {
    const own = await link()
    const id = own.idOf(own.open())
    const replies = [
      await call(routes[0], id, '{"value":1.05,"takeProfit":9}'),
      await call(routes[1], id, '{"value":1.2,"stopLoss":1}'),
      await call(routes[2], id, '{"lots":0.1}'),
    ]
    expect(replies.map(({ status, body }) => [status, body.error?.details.issues.map(({ path }: Json) => path)])).toEqual([
      [400, ['takeProfit']],
      [400, ['stopLoss']],
      [400, ['lots']],
    ])
    expect(own.held()).toMatchObject([{ stopLoss: undefined, takeProfit: undefined, volume: 0.4 }])
  })
})

describe('a level on the wrong side of the price', () => {
  it.each([
    ['BUY', 'sl', bid, [bid, 1.10001, 1.2, 1e9]],
    ['BUY', 'tp', bid, [bid, 1.09999, 1, 1e-9]],
    ['SELL', 'sl', ask, [ask, 1.10019, 1, 1e-9]],
    ['SELL', 'tp', ask, [ask, 1.10021, 1.2, 1e9]],
  ] as const)('of a %s, /%s, is refused with the current price, %d', async (side, path, currentPrice, values) => {
    const own = await link()
    const id = own.idOf(own.open({ actionType: `ORDER_TYPE_${side}` }))
    for (const value of values) {
      expectRefusal(await call({ method: 'PUT', path }, id, JSON.stringify({ value })), 400, 'INVALID_PRICE', { currentPrice })
    }
    expect(own.sends()).toBe(0)
    expect(own.held()).toMatchObject([{ stopLoss: undefined, takeProfit: undefined }])
  })

  it('is told by the price of that moment, not by one that was kept', async () => {
    const own = await link()
    const id = own.idOf(own.open())
    await own.list()
    service.sandbox.prices.pin('EURUSD', { bid: 1.02, ask: 1.0202 })
    expectRefusal(await call(routes[0], id, '{"value":1.05}'), 400, 'INVALID_PRICE', { currentPrice: 1.02 })
    service.sandbox.prices.pin('EURUSD', { bid, ask })
  })
})

it.each([0.41, 0.400001, 1, 1e9])('a close of %d of 0.4 lots is refused', async (volume) => {
  const own = await link()
  const reply = await call(routes[2], own.idOf(own.open()), JSON.stringify({ volume }))
  expectRefusal(reply, 400, 'INVALID_VOLUME', { volume, openVolume: 0.4 })
  expect([own.sends(), own.held()[0]?.volume]).toEqual([0, 0.4])
})

const rejected = (brokerCode: string): object => ({ brokerCode, brokerMessage: expect.stringMatching(/\w/) })

describe('what the broker refuses', () => {
  it.each(['mt5', 'mt4'] as const)('while the market is closed is TRADE_REJECTED, on %s', async (platform) => {
    const own = await link({ platform })
    const id = own.idOf(own.open({ stopLoss: 1.04 }))
    service.sandbox.market.close('EURUSD')
    const code = platform === 'mt5' ? 'TRADE_RETCODE_MARKET_CLOSED' : 'ERR_MARKET_CLOSED'
    for (const route of routes) expectRefusal(await change(route, id), 422, 'TRADE_REJECTED', rejected(code))
    service.sandbox.market.open('EURUSD')
    expect(own.held()).toMatchObject([{ volume: 0.4, stopLoss: 1.04, takeProfit: undefined }])
    expect((await own.list()).body.data).toMatchObject([{ id, volume: 0.4, stopLoss: 1.04 }])
  })

  it.each<readonly [string, (own: Route['path']) => Json, Route['path'], string]>([
    ['a stop loss too near', () => ({ value: 1.09995 }), 'sl', 'TRADE_RETCODE_INVALID_STOPS'],
    ['a take profit too near', () => ({ value: 1.10005 }), 'tp', 'TRADE_RETCODE_INVALID_STOPS'],
    ['lots that it does not trade', () => ({ volume: 0.015 }), 'close', 'TRADE_RETCODE_INVALID_VOLUME'],
  ])('%s is TRADE_REJECTED, and the position stays as it was', async (_, body, path, code) => {
    const own = await link()
    const id = own.idOf(own.open({ stopLoss: 1.04, takeProfit: 1.3 }))
    const route = routes.find((one) => one.path === path) ?? routes[0]
    expectRefusal(await call(route, id, JSON.stringify(body(path))), 422, 'TRADE_REJECTED', rejected(code))
    expect(own.held()).toMatchObject([{ volume: 0.4, stopLoss: 1.04, takeProfit: 1.3 }])
  })

  it.each(routes)('for an investor is TRADE_REJECTED: /$path', async (route) => {
    const own = await link({ positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.4 }], tradeAllowed: false })
    const reply = await change(route, own.idOf(own.held()[0]?.ticket ?? ''))
    expectRefusal(reply, 422, 'TRADE_REJECTED', rejected('ERR_INVESTOR'))
  })
})
