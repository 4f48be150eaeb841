// Pages in addition to the routes: files, probes, metrics and the index. They are answered without
// an envelope, by their exact path, and never hide a route.
import { times } from '@tradeport/testkit'
import { describe, expect, it } from 'vitest'
import {
  filePages,
  indexPage,
  metricsPage,
  type Pages,
  probePages,
  type Readiness,
} from '../src/index.ts'
import { fakeDependencies, runApi, send, lasting } from './fakes.ts'
import { runOperatorApi } from './operator-use-cases.ts'

const text = 'größe '.repeat(1_000)
const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'public, max-age=60',
  'Content-Security-Policy': "script-src 'self'",
}
let reads = 0
let attempts = 0

const files = filePages({
  '/files/text': { headers, read: async () => text },
  '/files/counted': { headers, read: async () => `read ${(reads += 1)} times` },
  '/files/failing': {
    headers,
    read: async () => {
      if ((attempts += 1) === 1) throw new Error('unreadable')
      return 'readable'
    },
  },
})

const pages: Pages = {
  ...files,
  ...indexPage({ '/docs': 'Reference' }),
  '/page': (ctx) => void (ctx.body = 'größe'),
  '/api/v1/beside': (ctx) => void (ctx.body = ctx.get('X-API-Key')),
  '/api/v1/symbols': (ctx) => void (ctx.body = 'hidden by the route'),
}

const api = await lasting(runApi({}, fakeDependencies({ pages })))

describe('a page', () => {
  it('has a request id and the headers of every reply, and counts against no limit', async () => {
    const page = await send(api, '/page?any=thing', { headers: { 'x-request-id': 'mine' } })
    expect(page).toMatchObject({ status: 200, text: 'größe' })
    expect(page.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '7',
      'cache-control': 'no-store',
      'x-request-id': 'mine',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(page.headers).not.toHaveProperty('x-ratelimit-limit')
  })

  it.each([
    'POST /page',
    'GET /page/',
    'GET /Page',
    'GET //page',
    'GET /files/%2e%2e/text',
    'GET /files/../files/text',
  ])('is not found by %s', async (line) => {
    const [method = '', path = ''] = line.split(' ')
    expect(await send(api, path, { method })).toMatchObject({
      status: 404,
      json: { error: { code: 'NOT_FOUND' } },
    })
  })

  it('may stand under the prefix of the routes, needs no credential, and hides no route', async () => {
    expect((await send(api, '/api/v1/beside', { headers: { 'x-api-key': 'any' } })).text).toBe(
      'any',
    )
    expect((await send(api, '/api/v1/symbols')).json).toMatchObject({ success: true })
  })
})

describe('a file', () => {
  it('has its own headers before those of every reply', async () => {
    const reply = await send(api, '/files/text')
    expect(reply).toMatchObject({ status: 200, text })
    expect(reply.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=60',
      'content-security-policy': "script-src 'self'",
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
  })

  it('is compressed, with an ETag of its own, for callers who accept that', async () => {
    const tags = new Set<unknown>()
    for (const [accepted, encoding] of [
      ['gzip;q=0', null],
      ['deflate, gzip;q=0.5, br', 'gzip'],
    ] as const) {
      const request = { headers: { 'accept-encoding': accepted } }
      const reply = await fetch(`${api.origin}/files/text`, request)
      expect([await reply.text(), reply.headers.get('content-encoding')]).toEqual([text, encoding])
      tags.add(reply.headers.get('etag'))
    }
    expect(tags.size).toBe(2)
  })

  it('is answered 304 to a caller who has it', async () => {
    const { etag = '' } = (await send(api, '/files/text')).headers
    const again = await send(api, '/files/text', {
      headers: { 'if-none-match': `"other", ${etag}` },
    })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers['content-security-policy']).toBe("script-src 'self'")
    expect(
      (await send(api, '/files/text', { headers: { 'if-none-match': '"other"' } })).status,
    ).toBe(200)
  })

  it('is read once, however many ask at the same time, but again after it could not be read', async () => {
    const replies = await Promise.all(times(5, () => send(api, '/files/counted')))
    expect(replies.map((reply) => reply.text)).toEqual(times(5, () => 'read 1 times'))
    expect([
      (await send(api, '/files/failing')).status,
      (await send(api, '/files/failing')).text,
    ]).toEqual([500, 'readable'])
  })
})

it.for<[number, string, null?]>([
  [200, 'Bearer metrics-token'],
  [401, 'Bearer metrics-token2'],
  [401, ''],
  [200, '', null],
])(
  'GET /metrics answers %i to the authorization %j where the token is %j',
  async ([status, authorization, token]) => {
    const metrics = metricsPage(
      { contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' },
      token === null ? null : 'metrics-token',
    )
    await using own = await runApi({}, fakeDependencies({ pages: metrics }))
    const reply = await send(own, '/metrics', { headers: { authorization } })
    expect([reply.status, reply.text === 'up 1\n', reply.headers['www-authenticate']]).toEqual([
      status,
      status === 200,
      status === 200 ? undefined : 'Bearer',
    ])
    expect(reply.headers['content-type']).toBe(
      status === 200 ? 'text/plain; version=0.0.4' : 'text/plain; charset=utf-8',
    )
  },
)

it('the index links to the pages', async () => {
  const reply = await send(api, '/', { headers: {} })
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(reply.text).toContain('<a href="/docs">Reference</a>')
})

const unexpected = (): never => {
  throw new Error('a probe counts against no limit')
}

describe('a probe', () => {
  it.each<[number, Readiness]>([
    [200, { failing: [], limiter: 'shared' }],
    [503, { failing: ['database', 'jobs'], limiter: 'shared' }],
  ])(
    'answers %i to readiness with %j, on both listeners, and counts against no limit',
    async (status, readiness) => {
      const dependencies = fakeDependencies({
        limiter: { decide: unexpected },
        pages: probePages(async () => readiness),
      })
      await using users = await runApi({}, dependencies)
      await using operator = await runOperatorApi(undefined, dependencies)
      for (const listener of [users, operator]) {
        expect(await send(listener, '/healthz', { headers: {} })).toMatchObject({
          status: 200,
          text: '{"alive":true}',
        })
        const reply = await send(listener, '/readyz', { headers: {} })
        expect([reply.status, JSON.parse(reply.text)]).toEqual([
          status,
          { ready: status === 200, ...readiness },
        ])
      }
    },
  )
})
