// Bad input is a VALIDATION_ERROR that tells every fault at once, and nothing that a caller sends gets a 500 (section 7; decision 5). Routes and
// parameters are read off the API's own table, so that a new one is tested without being named here.
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { apiRoutes } from '@tradeport/http'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { hearReply } from './support/hear-reply.ts'
import { createTestClock } from './support/test-clock.ts'
import { keysInTurn, linkDocument, newAccountUuid } from './support/trading-user.ts'

type Parameter = (typeof apiRoutes)[number]['query'][string]

const keys = keysInTurn('tp_live_bad_input', 50)
const account = newAccountUuid(1)
const clock = createTestClock('2026-03-09T12:00:00.000Z')

let service: RunningService

beforeAll(async () => {
  service = await startTestService([{ id: 'main', generate: { trades: 10, openPositions: 2 } }], { now: clock.now })
  await service.setUp(
    linkDocument(
      { tenant: 'acme', user: 'u-1', key: keys.all, providerToken },
      [{ id: account, providerAccountId: 'main' }],
      ['accounts:read', 'trading:read', 'webhooks:read'],
    ),
  )
})
afterAll(() => service?.close())

/** Texts that a parameter does not take; none where it takes any. */
const badValues = ({ schema }: Parameter): readonly string[] => {
  if (schema.type === 'integer')
    return ['', '0', '-1', '1.5', '1e2', '0x10', ' 1', 'ten', '١', String((schema.maximum ?? 0) + 1), '9'.repeat(400), 'Infinity', 'NaN']
  if (schema.enum !== undefined)
    return ['', 'nothing', (schema.enum[0] ?? '').toUpperCase() === schema.enum[0] ? 'x' : 'ALL', `${schema.enum[0]},`, '__proto__']
  if (schema.format === 'uuid') return ['', '1', account.replaceAll('-', ''), `${account}0`, `{${account}}`, '../../etc/passwd']
  if (schema.format === 'date-time')
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
  return schema.maxLength === undefined ? [] : ['', 'x'.repeat(schema.maxLength + 1)]
}

const targetOf = (path: string): string => path.replace(':id', account).replace(':symbol', 'EURUSD')
const queryOf = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString()
const routes = apiRoutes.filter(({ method, query }) => method === 'GET' && Object.keys(query).length > 0)
const rows = routes.flatMap(({ path, query }) => Object.entries(query).map(([name, parameter]) => ({ path, name, parameter, query })))
/** What a route must be sent besides the parameter that is looked at. */
const required = (query: Readonly<Record<string, Parameter>>, but: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, { whenAbsent, schema }]) =>
      whenAbsent._tag === 'Left' && !but.includes(name) ? [[name, schema.enum?.[0] ?? '']] : [],
    ),
  )

describe('a query parameter', () => {
  it('is looked at on every route that takes one', () => {
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

  it.each(rows)('$name of $path is refused where it is none, and named', async ({ path, name, parameter, query }) => {
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

  it.each(routes)('is named with all others that are at fault: $path', async ({ path, query }) => {
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

  it.each(routes)('that is not known is passed over: $path', async ({ path, query }) => {
    const plain = queryOf(required(query, []))
    const { status } = await service.get(`${targetOf(path)}?${plain}`, keys.next())
    expect((await service.get(`${targetOf(path)}?${plain}&colour=red&__proto__=1&constructor=`, keys.next())).status).toBe(status)
  })

  it.each(['/positions', '/trades', '/trades/stats', '/trades/export'])('symbol of %s is refused in lower case', async (path) => {
    for (const symbol of ['eurusd', 'EURusd', 'EUR USD', ''])
      expect(await service.get(`${path}?symbol=${encodeURIComponent(symbol)}`, keys.next())).toMatchObject({
        status: 400,
        body: { error: { details: { issues: [{ path: 'symbol' }] } } },
      })
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
        const told = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
        hearReply({ method: 'GET', url: `${service.apiUrl}${target}`, sent: undefined, status, headers: told, text })
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
    '/',
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
        const { status } = await sendRaw(`/api/v1${targetOf(path)}`, sent)
        expect([200, 304, 400, 401, 404, 501]).toContain(status)
      }),
      { numRuns: 100 },
    )
  })
})
