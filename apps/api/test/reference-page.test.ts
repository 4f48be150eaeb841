// GET /docs and what it needs, from the service as it runs: served to everybody, each by its own path, and nothing else of the viewer's package.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { request, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await startTestService([])
})
afterAll(() => service.close())

const get = (path: string, init: RequestInit = {}): Promise<Reply> => request(`${service.apiUrl}${path}`, init)
/** A file, which is no reply of the API: neither its secrets nor its contract are checked. */
const getFile = (path: string, headers: Record<string, string> = {}): Promise<Response> => fetch(`${service.apiUrl}${path}`, { headers })
const scriptsIn = (page: string): readonly string[] => [...page.matchAll(/src="([^"]+)"/g)].map(([, path]) => path ?? '')

describe('GET /docs', () => {
  it('shows the document to everybody, by scripts of the service alone', async () => {
    const page = await get('/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.body).not.toMatch(/https?:/)
    const policy = page.headers.get('content-security-policy')
    expect(policy).toMatch(/default-src 'none'.*script-src 'self'.*connect-src 'self'/)
    expect(policy).not.toMatch(/https?:/)
    const [viewer = '', start = ''] = scriptsIn(page.body)
    for (const path of [viewer, start]) {
      const script = await getFile(path)
      expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
      expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    const documentPath: string = /"url":"([^"]+)"/.exec(await (await getFile(start)).text())?.[1] ?? ''
    const document = await getFile(documentPath)
    expect([document.status, await document.json()]).toEqual([200, expect.objectContaining({ openapi: '3.1.0' })])
  })

  it('counts against no limit, credential or not', async () => {
    const page = await get('/docs', { headers: { 'X-API-Key': 'tp_live_anything' } })
    expect(page.status).toBe(200)
    expect([...page.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
  })

  it('is packed for the way, and not sent again to whoever holds it', async () => {
    const [viewer = ''] = scriptsIn((await get('/docs')).body)
    const { headers } = await getFile(viewer)
    expect(headers.get('content-encoding')).toBe('gzip')
    expect(Number(headers.get('content-length'))).toBeLessThan(2_000_000)
    expect((await getFile(viewer, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304)
  })

  it.each([
    '/docs/',
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/viewer.js',
    '/docs/standalone.js.map',
  ])('is all that there is: %s is nothing', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
  })

  it('is not at the operator’s listener', async () => {
    expect((await request(`${service.operatorUrl}/docs`)).status).toBe(404)
  })
})
