// Walks every route record of the API for users: who may call it, what it refuses, and that the
// document says so. And the example of the README.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { RefusalTag } from '@tradeport/domain/errors'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import { exampleOf } from '../src/errors.ts'
import { type ApiDocument, documents, expectDocumented, replyTo, users } from './documents.ts'
import {
  accountId,
  fakeDependencies,
  fakeUseCases,
  issuesOf,
  jsonRequest,
  requestOf,
  runApi,
  scopelessKey,
  send,
  type SentRequest,
  targetOf,
  lasting,
} from './fakes.ts'
import { operatorToken, operatorUseCases, runOperatorApi } from './operator-use-cases.ts'

const api = await lasting(runApi())

it('these endpoints have limits of their own', () => {
  const limits = apiRoutes.flatMap(({ limit }) => (limit === undefined ? [] : [limit]))
  expect(limits.map((one) => `${one.route} ${one.requests}/${one.periodSeconds}s`)).toEqual([
    'POST /orders 100/60s',
    'GET /trades/export 10/3600s',
    'GET /quotes/:symbol 1000/60s',
    'GET /candles/:symbol 200/60s',
  ])
})

// The second letter is written twice: `liimit` is nearest to `limit`.
const misspelt = (name: string) => name.slice(0, 2) + name.slice(1)

const unknown = (name: string, hint: string, kind = 'field') => [
  { path: name, message: `${name} is not a known ${kind}; ${hint}` },
]

let refused: RefusalTag
const beforeRoutes = ['identifyCaller', 'idempotency']
const refusing = (useCases: object) =>
  Object.fromEntries(
    Object.keys(useCases)
      .filter((name) => !beforeRoutes.includes(name))
      .map((name) => [name, () => TE.left(exampleOf(refused))]),
  )
const refusingApis = {
  users: await lasting(runApi(refusing(fakeUseCases()))),
  operator: await lasting(runOperatorApi(refusing(operatorUseCases()) as never)),
}

const refusalsOf = (api: ApiDocument) =>
  [...new Set(api.operations.flatMap(({ route }) => [...route.refusals]))].map((tag) => ({
    api,
    tag,
  }))

it.each(documents.flatMap(refusalsOf))(
  'routes below $api.prefix whose record has $tag answer it as documented',
  async ({ api: documented, tag }) => {
    refused = tag
    const headers = documented === users ? {} : { authorization: `Bearer ${operatorToken}` }
    // That the document of every route has its refusals is shown without a request.
    for (const { route } of documented.operations
      .filter((one) => one.route.refusals.has(tag))
      .slice(0, 5)) {
      const target = targetOf(route, '', documented.prefix)
      const reply = await send(refusingApis[documented.name], target, requestOf(route, headers))
      expect([target, reply.status, reply.json.error?.code]).toEqual([
        target,
        replyTo(tag).status,
        replyTo(tag).error.code,
      ])
      expectDocumented(documented, route.method, target, reply)
    }
  },
)

describe.each(users.operations)('$name', ({ route }) => {
  const target = targetOf(route)
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
      expectDocumented(
        users,
        method,
        target,
        await send(api, targetOf(route, 'unknown=1'), request),
      )
  })

  it('refuses unknown parameters and fields, and names the nearest known one', async () => {
    const names = Object.keys(route.query)
    if (names.length === 0)
      expect(issuesOf(await send(api, targetOf(route, 'page=1'), requestOf(route)))).toEqual(
        unknown('page', 'none is accepted here', 'parameter'),
      )
    for (const name of names) {
      const reply = await send(api, targetOf(route, `${misspelt(name)}=1`), requestOf(route))
      expect(issuesOf(reply)).toEqual(
        unknown(misspelt(name), `the nearest is ${name}`, 'parameter'),
      )
    }
    if (route.method !== 'GET' && route.body === undefined) {
      // Node's client would send the body of a DELETE without its length.
      const request = jsonRequest(route.method, { page: 1 }, { 'content-length': '10' })
      expect(issuesOf(await send(api, target, request))).toEqual(
        unknown('page', 'none is accepted here'),
      )
    }
    for (const name of Object.keys(Object(route.body?.example) as object)) {
      const body = {
        ...(JSON.parse(String(requestOf(route).body)) as object),
        [misspelt(name)]: null,
      }
      const reply = await send(api, target, jsonRequest(route.method, body))
      expect(issuesOf(reply)).toEqual(unknown(misspelt(name), `the nearest is ${name}`))
    }
  })
})

it.each(['DELETE', 'GET'])(
  'the body of %s, which is not used, is searched for a credential',
  async (method) => {
    const statusOf = async (text: string, framing: SentRequest['headers']) =>
      (
        await send(api, `/api/v1/webhooks/${accountId}`, {
          ...jsonRequest(method, {}, framing),
          body: text,
        })
      ).status
    for (const [text, expected] of [
      ['{"access_token":"abc"}', 401],
      ['["tp_live_x"]', 401],
      ['"tp_live_x"', 401],
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

it.each([
  ...['POST', 'PATCH', 'OPTIONS', 'HEAD'].map((method) => `${method} /api/v1/positions`),
  'GET /',
  'GET /api/v1/accounts/',
  'GET //api/v1/accounts',
  'GET /api/v1/Accounts',
  'GET /api/v1/accounts;x=1',
  'GET /api/v1/%61ccounts',
  'GET /api/v1/__proto__',
  'GET /api/v1/positions#x',
  'GET /operator/v1/apply',
])('%s is 404', async (line) => {
  const [method = '', target = ''] = line.split(' ')
  expect((await send(api, target, { method })).status).toBe(404)
})

it('a path without the prefix is answered with the one that was meant', async () => {
  expect(
    (await send(api, `/positions/${accountId}:42/close`, { method: 'POST' })).json.error?.message,
  ).toBe(`No route has this method and path. Did you mean ${apiPrefix}/positions/:id/close?`)
})

it('the query is checked before the id, which only names no account', async () => {
  const { json } = await send(api, '/api/v1/accounts/1/history?interval=x')
  expect(json.error?.code).toBe('VALIDATION_ERROR')
})

describe('what is reported of requests', async () => {
  const document = 'GET /api/v1/openapi.json'
  const observed = () =>
    answered.splice(0).map(({ method, route, status }) => `${method} ${route} ${status}`)
  const dependencies = fakeDependencies({
    pages: { '/healthz': (ctx) => void (ctx.body = 'alive') },
  })
  const { answered } = dependencies
  const observing = await lasting(runApi({}, dependencies))

  it('has each route', async () => {
    for (const route of apiRoutes) {
      await send(observing, targetOf(route), requestOf(route))
      expect(observed()).toEqual([`${route.method} ${apiPrefix}${route.path} ${route.status}`])
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
    expect(observed()).toEqual([expected])
  })

  it('has nothing that the caller sent but the request id', async () => {
    answered.length = 0
    await send(
      observing,
      `/api/v1/accounts/${accountId}?hush=hush`,
      requestOf({ method: 'GET' }, { 'x-request-id': 'mine' }),
    )
    expect(answered).toEqual([
      {
        requestId: 'mine',
        method: 'GET',
        route: '/api/v1/accounts/:id',
        status: 400,
        durationMs: expect.any(Number),
      },
    ])
  })
})

it('answers the example of the README', async () => {
  const cwd = join(import.meta.dirname, '..')
  const [, code = ''] =
    /```js\n([^]*?)```/.exec(await readFile(join(cwd, 'README.md'), 'utf8')) ?? []
  const options = ['--conditions=@tradeport/source', '--no-warnings', '--input-type=module', '-e']
  const { stdout } = await promisify(execFile)(process.execPath, [...options, code], { cwd })
  expect(stdout).toBe('XAUUSD\n')
})
