// Pages beside the routes: files, metrics and the index. They are answered without an envelope, by their exact path, and never hide a route.
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filePages, indexPage, metricsPage } from '../src/index.ts'
import type { Pages } from '../src/index.ts'
import { fakeEdge, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'

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
  ...metricsPage({ contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' }, 'metrics-token'),
  '/page': (ctx) => void (ctx.body = 'größe'),
  '/broken': () => Promise.reject(new Error('broken')),
  '/api/v1/beside': (ctx) => void (ctx.body = ctx.get('X-API-Key')),
  '/api/v1/symbols': (ctx) => void (ctx.body = 'hidden by the route'),
}

let api: Running
beforeAll(async () => {
  api = await runApi({}, fakeEdge({ pages }))
})
afterAll(() => api[Symbol.asyncDispose]())

interface Encoded {
  readonly encoding: string | null
  readonly bytes: Buffer
  readonly etag: string
}

/** The reply as it was sent, not decompressed. */
const encodedFile = (acceptEncoding: string): Promise<Encoded> =>
  new Promise((resolve, reject) => {
    const sent = request(
      { port: api.port, path: '/files/text', headers: { 'accept-encoding': acceptEncoding }, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const { 'content-encoding': encoding = null, etag = '' } = response.headers
          resolve({ encoding, bytes: Buffer.concat(chunks), etag })
        })
      },
    )
    sent.on('error', reject).end()
  })

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

  it('is answered to HEAD without its body', async () => {
    const head = await send(api, '/page', { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '7'])
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is not found by %s', async (method) => {
    expect((await send(api, '/page', { method })).status).toBe(404)
  })

  it.each([
    '/page/',
    '/Page',
    '/pages',
    '//page',
    '/page%20',
    '/constructor',
    '/__proto__',
    '/files',
    '/files/',
    '/files/text/',
    '/files/../files/text',
    '/files/%2e%2e/text',
    '/files/text%00',
    '//files/text',
  ])('is not found at %s', async (path) => {
    expect(await send(api, path)).toMatchObject({ status: 404, json: { error: { code: 'NOT_FOUND' } } })
  })

  it('may stand under the prefix of the routes, needs no credential, and hides no route', async () => {
    expect((await send(api, '/api/v1/beside', { headers: { 'x-api-key': 'any' } })).text).toBe('any')
    expect((await send(api, '/api/v1/symbols')).json).toMatchObject({ success: true })
  })

  it('that fails is answered 500 in the envelope', async () => {
    expect(await send(api, '/broken')).toMatchObject({ status: 500, json: { error: { code: 'INTERNAL_ERROR' } } })
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

  it.each(['gzip', 'deflate, gzip;q=0.5, br', ' GZIP ; q=1.0'])(
    'is compressed for Accept-Encoding %j, with an ETag of its own',
    async (accepted) => {
      const [plain, compressed] = [await encodedFile('identity'), await encodedFile(accepted)]
      expect([compressed.encoding, gunzipSync(compressed.bytes).toString()]).toEqual(['gzip', text])
      expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 10)
      expect(compressed.etag).not.toBe(plain.etag)
    },
  )

  it.each(['', 'br', 'gzip;q=0', 'gzip; q=0.000', 'x-gzipped'])('is not compressed for Accept-Encoding %j', async (accepted) => {
    const { encoding, bytes } = await encodedFile(accepted)
    expect([encoding, bytes.toString()]).toEqual([null, text])
  })

  it('is answered 304 to whoever has it', async () => {
    const { etag = '' } = (await send(api, '/files/text')).headers
    const again = await send(api, '/files/text', { headers: { 'if-none-match': `"other", ${etag}` } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers['content-security-policy']).toBe("script-src 'self'")
    expect((await send(api, '/files/text', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  it('is read once, however many ask at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => send(api, '/files/counted')))
    expect(replies.map((reply) => reply.text)).toEqual(Array.from({ length: 5 }, () => 'read 1 times'))
  })

  it('is read again after it could not be read', async () => {
    expect((await send(api, '/files/failing')).status).toBe(500)
    expect(await send(api, '/files/failing')).toMatchObject({ status: 200, text: 'readable' })
  })
})

describe('GET /metrics', () => {
  it.each([
    [200, 'Bearer metrics-token'],
    [200, 'bearer metrics-token'],
    [401, 'Bearer metrics-token2'],
    [401, 'Basic metrics-token'],
    [401, 'Bearer'],
    [401, ''],
  ])('answers %i to the authorization %j', async (status, authorization) => {
    const reply = await send(api, '/metrics', { headers: { authorization } })
    expect(reply.status).toBe(status)
    expect(reply.headers['content-type']).toBe(status === 200 ? 'text/plain; version=0.0.4' : 'text/plain; charset=utf-8')
    expect(reply.headers['www-authenticate']).toBe(status === 200 ? undefined : 'Bearer')
    expect(reply.text === 'up 1\n').toBe(status === 200)
  })

  it('needs no token where none is configured', async () => {
    const open = metricsPage({ contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' }, null)
    await using own = await runApi({}, fakeEdge({ pages: open }))
    expect(await send(own, '/metrics', { headers: {} })).toMatchObject({ status: 200, text: 'up 1\n' })
  })
})

it('the index links to the pages', async () => {
  const reply = await send(api, '/', { headers: {} })
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(reply.text).toContain('<a href="/docs">Reference</a>')
})
