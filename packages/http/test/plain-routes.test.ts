// What is answered beside the API: by whole paths, for everybody, without an envelope, and never in the way of a route.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PlainRoutes } from '../src/index.ts'
import { fakeEdge, runApi, send } from './fakes.ts'
import type { FakeEdge, Running } from './fakes.ts'

const text = { 'Content-Type': 'text/plain; charset=utf-8' }
const plainRoutes: PlainRoutes = {
  '/page': () => ({ kind: 'plain', status: 200, headers: text, body: 'größe' }),
  '/bytes': async () => ({
    kind: 'plain',
    status: 503,
    headers: { 'Content-Type': 'application/octet-stream', 'Content-Security-Policy': "default-src 'self'", 'Cache-Control': 'max-age=60' },
    body: new Uint8Array([0, 255]),
  }),
  '/broken': () => Promise.reject(new Error('broken')),
  '/api/v1/beside': ({ headers }) => ({ kind: 'plain', status: 200, headers: text, body: String(headers['x-api-key']) }),
  '/api/v1/symbols': () => ({ kind: 'plain', status: 200, headers: text, body: 'in the way' }),
}

describe('plain routes', () => {
  let api: Running & { readonly edge: FakeEdge }
  beforeAll(async () => {
    api = await runApi({}, fakeEdge({ plainRoutes }))
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('are answered as they say, with a request id and the headers that every reply has', async () => {
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

  it('may say so of every header but the request id', async () => {
    const bytes = await send(api, '/bytes')
    expect(bytes.status).toBe(503)
    expect(bytes.headers).toMatchObject({
      'content-length': '2',
      'content-security-policy': "default-src 'self'",
      'cache-control': 'max-age=60',
    })
    expect(bytes.headers['x-request-id']).toMatch(/^req_/)
  })

  it('are answered to HEAD with the head alone, and are nothing to other methods', async () => {
    const head = await send(api, '/page', { method: 'HEAD' })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers['content-length']).toBe('7')
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) expect((await send(api, '/page', { method })).status).toBe(404)
  })

  it('stand for their whole path alone', async () => {
    for (const path of ['/page/', '/Page', '/pages', '//page', '/page%20', '/constructor', '/__proto__'])
      expect(await send(api, path), path).toMatchObject({ status: 404, json: { error: { code: 'NOT_FOUND' } } })
  })

  it('look at no credential unless they do so themselves, and may stand beside the routes under their prefix, not in their place', async () => {
    expect((await send(api, '/api/v1/beside', { headers: { 'x-api-key': 'any' } })).text).toBe('any')
    expect((await send(api, '/api/v1/symbols')).json).toMatchObject({ success: true })
  })

  it('are a 500 in the envelope where they fail', async () => {
    expect(await send(api, '/broken')).toMatchObject({ status: 500, json: { error: { code: 'INTERNAL_ERROR' } } })
  })
})
