// Bad input is a VALIDATION_ERROR that names every fault at once, and nothing that a caller sends gets a 500. Routes and parameters are read from the
// API's own table, so that a new one is tested without being named here.
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { apiRoutes } from '@tradeport/http'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { hearReply } from './support/hear-reply.ts'
import { isRequired, isTime, schemaOf } from './support/route-fields.ts'
import { createTestClock } from './support/test-clock.ts'
import { keysInTurn, linkDocument, newAccountUuid } from './support/trading-user.ts'

type Parameter = (typeof apiRoutes)[number]['query'][string]

const keys = keysInTurn('tp_live_only_for_automated_tests_bad_input', 50)
const account = newAccountUuid(1)
const clock = createTestClock('2026-03-09T12:00:00.000Z')

let service: RunningService

beforeAll(async () => {
  service = await startTestService([{ id: 'main', generate: { trades: 10, openPositions: 2 } }], { now: clock.now })
  await service.setUp(
    linkDocument(
      { tenant: 'acme', user: 'u-1', key: keys.all, providerToken },
      [{ id: account, providerAccountId: 'main' }],
      ['accounts:read', 'trading:read', 'trading:write', 'webhooks:read', 'webhooks:write'],
    ),
  )
})
afterAll(() => service?.close())

/** Values that a parameter refuses; none where it accepts every text. */
const badValues = (parameter: Parameter): readonly string[] => {
  const schema = schemaOf(parameter)
  if (schema.type === 'integer')
    return ['', '0', '-1', '1.5', '1e2', '0x10', ' 1', 'ten', '١', String((schema.maximum ?? 0) + 1), '9'.repeat(400), 'Infinity', 'NaN']
  if (schema.enum !== undefined)
    return ['', 'nothing', (schema.enum[0] ?? '').toUpperCase() === schema.enum[0] ? 'x' : 'ALL', `${schema.enum[0]},`, '__proto__']
  if (schema.format === 'uuid') return ['', '1', account.replaceAll('-', ''), `${account}0`, `{${account}}`, '../../etc/passwd']
  if (isTime(parameter))
    return [
      '',
      'yesterday',
      '2026-02-30',
      '2026-13-01',
      '2026-01-01T25:00:00Z',
      '2026-01-01T00:00:00+25:00',
      '1767225600',
      '01/02/2026',
      '2026-W01',
      '20260101',
    ]
  const tooShort = schema.minLength === undefined ? [] : ['']
  return schema.maxLength === undefined ? tooShort : [...tooShort, 'x'.repeat(schema.maxLength + 1)]
}

const targetOf = (path: string): string => path.replace(':id', account).replace(':symbol', 'EURUSD')
const queryOf = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString()
const routes = apiRoutes.filter(({ method, query }) => method === 'GET' && Object.keys(query).length > 0)
const rows = routes.flatMap(({ path, query }) => Object.entries(query).map(([name, parameter]) => ({ path, name, parameter, query })))
/** The required parameters of a route, except those under test. */
const required = (query: Readonly<Record<string, Parameter>>, but: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, parameter]) =>
      isRequired(parameter) && !but.includes(name) ? [[name, schemaOf(parameter).enum?.[0] ?? '']] : [],
    ),
  )

describe('a query parameter', () => {
  it('is tested on every route that has one', () => {
    expect(routes.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/accounts/:id/history',
        '/positions',
        '/trades',
        '/trades/stats',
        '/trades/export',
        '/symbols',
        '/candles/:symbol',
        '/webhooks/:id/deliveries',
      ]),
    )
  })

  it.each(rows)('$name of $path is refused with a bad value, and named', async ({ path, name, parameter, query }) => {
    for (const value of badValues(parameter)) {
      const { status, body } = await service.get(`${targetOf(path)}?${queryOf({ ...required(query, [name]), [name]: value })}`, keys.next())
      expect({ value, status, code: body.error?.code }).toEqual({ value, status: 400, code: 'VALIDATION_ERROR' })
      expect(body.error.details.issues).toEqual([{ path: name, message: expect.stringMatching(new RegExp(`^${name} `)) }])
    }
  })

  it.each(rows)('$name of $path is refused when it is sent twice', async ({ path, name, query }) => {
    const { status, body } = await service.get(`${targetOf(path)}?${queryOf(required(query, [name]))}&${name}=1&${name}=1`, keys.next())
    expect({ status, paths: body.error?.details.issues.map((issue: Json) => issue.path) }).toEqual({ status: 400, paths: [name] })
  })

  it.each(routes)('is named together with all others at fault: $path', async ({ path, query }) => {
    const bad = Object.fromEntries(
      Object.entries(query).flatMap(([name, parameter]) =>
        badValues(parameter)
          .slice(1, 2)
          .map((value) => [name, value]),
      ),
    )
    const { status, body } = await service.get(`${targetOf(path)}?${queryOf(bad)}`, keys.next())
    expect(status).toBe(400)
    expect(body.error.details.issues.map((issue: Json) => issue.path).toSorted()).toEqual(Object.keys(bad).toSorted())
  })

  it.each(['/positions', '/trades', '/trades/stats', '/trades/export'])('symbol of %s is refused in lower case', async (path) => {
    for (const symbol of ['eurusd', 'EURusd', 'EUR USD', ''])
      expect(await service.get(`${path}?symbol=${encodeURIComponent(symbol)}`, keys.next())).toMatchObject({
        status: 400,
        body: { error: { details: { issues: [{ path: 'symbol' }] } } },
      })
  })
})

interface SentUnknown {
  readonly method: string
  readonly target: string
  readonly query: Readonly<Record<string, string>>
  readonly body: object | undefined
}

const send = ({ method, target, query, body }: SentUnknown): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1${target}?${queryOf(query)}`, {
    method,
    headers: { 'X-API-Key': keys.next(), 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

const bodyOf = (route: (typeof apiRoutes)[number]): object | undefined => route.body && (route.body.example as object)

describe('a name that a route does not know', () => {
  it.each(apiRoutes)('is refused in the query of $method $path', async (route) => {
    const sent = { method: route.method, target: targetOf(route.path), body: bodyOf(route) }
    const { status, body } = await send({ ...sent, query: { ...required(route.query, []), colour: 'red', constructor: '' } })
    const [nearest] = Object.keys(route.query)
    expect({ status, issues: body.error?.details.issues }).toEqual({
      status: 400,
      issues: ['colour', 'constructor'].map((path) => ({
        path,
        message: expect.stringMatching(nearest === undefined ? `^${path} is not known` : `^${path} is not known; the nearest name is `),
      })),
    })
  })

  it.each(apiRoutes.filter(({ body }) => body !== undefined))('is refused in the body of $method $path', async (route) => {
    const sent = { method: route.method, target: targetOf(route.path), query: required(route.query, []) }
    const { status, body } = await send({ ...sent, body: { ...bodyOf(route), colour: 'red' } })
    expect({ status, issues: body.error?.details.issues }).toEqual({
      status: 400,
      issues: [{ path: 'colour', message: expect.stringMatching('^colour is not known; the nearest name is ') }],
    })
  })

  it.each([
    { path: '/orders', sent: { stoploss: 1.08 }, nearest: 'stopLoss' },
    { path: '/orders', sent: { take_profit: 1.2 }, nearest: 'takeProfit' },
    { path: '/webhooks', sent: { eventType: [] }, nearest: 'eventTypes' },
  ])('is answered with the nearest one: $nearest of POST $path', async ({ path, sent, nearest }) => {
    const route = apiRoutes.find((one) => one.method === 'POST' && one.path === path)
    const { body } = await send({ method: 'POST', target: path, query: {}, body: { ...(route?.body?.example as object), ...sent } })
    const [name] = Object.keys(sent)
    expect(body.error.details.issues).toEqual([{ path: name, message: `${name} is not known; the nearest name is ${nearest}` }])
  })
})

/** Sends a target as it stands, which fetch would rewrite. */
const sendRaw = (target: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.apiUrl)
    const sent = httpRequest({ hostname, port, path: target, headers: { 'X-API-Key': keys.next(), ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const [status, text] = [response.statusCode ?? 0, Buffer.concat(chunks).toString()]
        const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
        hearReply({ method: 'GET', url: `${service.apiUrl}${target}`, sent: undefined, status, headers: received, text })
        resolve({ status, text })
      })
    })
    sent.on('error', reject)
    sent.end()
  })

describe('nothing that a caller sends', () => {
  const answers = new Set([200, 400, 401, 404, 422, 501])

  const nasty = fc.constantFrom(
    '',
    '\0',
    '%00',
    '..',
    '%',
    '%FF',
    '💥',
    '\uD800',
    "' OR 1=1 --",
    '{}',
    '[object Object]',
    '0000-01-01',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-23:59',
    `${account}:`,
    `${account}:0`,
    `${account}:\0`,
    account,
    'EURUSD',
    '1',
    '2026-01-01',
  )
  const junk = fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ maxLength: 200 }))
  const encoded = junk.map((text) => encodeURIComponent(text.toWellFormed()))
  const route = fc.constantFrom(...apiRoutes.filter(({ method }) => method === 'GET'))

  it('gets anything but an answer in the envelope: whatever stands in the path and the query', async () => {
    const requests = route.chain(({ path, query }) =>
      fc.record({
        path: encoded.map((segment) => path.replace(/:\w+/, segment)),
        query: fc.record(Object.fromEntries(Object.keys(query).map((name) => [name, encoded])), { requiredKeys: [] }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, query }) => {
        const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
        const { status, text } = await sendRaw(`/api/v1${path}?${search.join('&')}`)
        expect(answers, `${status}: ${text.slice(0, 300)}`).toContain(status)
        if (status === 200) return
        const { success, data, error } = JSON.parse(text)
        expect({ success, data, code: typeof error.code, id: error.request_id }).toEqual({
          success: false,
          data: null,
          code: 'string',
          id: expect.stringMatching(/^req_/),
        })
      }),
      { numRuns: 400 },
    )
  })

  it.each([
    '//',
    '/api/v1',
    '/api/v1/',
    '/api/v1//accounts',
    '/api/v1/accounts/%',
    '/api/v1/accounts/%E0%A4%A',
    '/api/v1/accounts/..%2f..%2faccounts',
    '/api/v1/positions/%00',
    '/api/v1/trades/%00:%00',
    '/api/v1/trades/__proto__',
    '/api/v1/constructor',
    '/api/v1/positions?limit=%',
    '/api/v1/positions?&&&=&=',
    '/api/v1/positions?accountId[]=1',
    `/api/v1/trades?cursor=${'A'.repeat(8_000)}`,
    'http://elsewhere/api/v1/accounts/x',
    '*',
  ])('gets a 500: %s', async (target) => {
    const { status, text } = await sendRaw(target)
    expect([200, 400, 404]).toContain(status)
    expect(JSON.parse(text)).toMatchObject({ success: status === 200 })
  })

  it.each(['0000-01-01', '0001-01-01', '0000-01-01T00:00:00%2B23:59', '9999-12-31', '9999-12-31T23:59:59-23:59'])(
    'gets a 500: a date at the ends of the calendar, %s',
    async (date) => {
      for (const path of [`/accounts/${account}/history`, '/trades', '/trades/stats', '/trades/export'])
        for (const name of ['startDate', 'endDate'])
          expect((await service.get(`${path}?${name}=${date}`, keys.next())).status, path).toBe(200)
    },
  )

  it('gets a 500: headers of any kind', async () => {
    const headers = fc.record(
      {
        'X-API-Key': fc.string({ maxLength: 300 }),
        Authorization: fc.oneof(
          fc.string(),
          fc.string().map((text) => `Bearer ${text}`),
        ),
        'X-Request-ID': fc.string(),
        'If-None-Match': fc.string(),
        'Content-Type': fc.string(),
        'Content-Length': fc.constant('0'),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(route, headers, async ({ path }, sent) => {
        // Slowly enough for the limit on failed credentials.
        clock.advance(2_000)
        const { status } = await sendRaw(`/api/v1${targetOf(path)}`, sent)
        expect([200, 304, 400, 401, 404, 501]).toContain(status)
      }),
      { numRuns: 100 },
    )
  })
})
