// Which pages in a browser may call the API: those of the configured origins, exactly.
import { describe, expect, it } from 'vitest'
import { fakeEdge, goodKey, jsonRequest, orderBody, runApi, send } from './fakes.ts'
import type { Answer } from './fakes.ts'

const allowed = 'https://app.example.com'
const corsOrigins = [allowed, 'http://localhost:5173']
const run = (origins: readonly string[] | undefined = corsOrigins) => runApi({}, fakeEdge({ corsOrigins: origins }))

const corsHeaders = ({ headers }: Answer): readonly string[] => Object.keys(headers).filter((name) => name.startsWith('access-control-'))
const preflight = (origin: string, method = 'POST') => ({
  method: 'OPTIONS',
  headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'x-api-key,idempotency-key' },
})

describe('a reply to a page of an allowed origin', () => {
  it.each(corsOrigins)('%s may be read, with the headers that are for programs', async (origin) => {
    await using api = await run()
    const reply = await send(api, '/api/v1/accounts', { headers: { 'x-api-key': goodKey, origin } })
    expect(reply.status).toBe(200)
    expect(reply.headers['access-control-allow-origin']).toBe(origin)
    expect(reply.headers.vary).toContain('Origin')
    const exposed = String(reply.headers['access-control-expose-headers']).toLowerCase().split(',')
    for (const name of ['x-request-id', 'x-ratelimit-remaining', 'retry-after', 'location', 'idempotent-replayed', 'etag'])
      expect(exposed).toContain(name)
    expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  it.each([
    [401, '/api/v1/accounts'],
    [404, '/api/v1/nothing'],
    [200, '/api/v1/symbols'],
    [200, '/api/v1/openapi.json'],
  ])('may be read also as %i of %s', async (status, target) => {
    await using api = await run()
    const reply = await send(api, target, { headers: { origin: allowed } })
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([status, allowed])
  })

  it('that caches may keep differs by origin', async () => {
    await using api = await run()
    for (const headers of [{ origin: allowed }, { origin: 'https://evil.example.com' }, {}])
      expect((await send(api, '/api/v1/symbols', { headers })).headers.vary).toMatch(/\bOrigin\b/)
  })
})

describe('a preflight', () => {
  it.each(['GET', 'POST', 'PUT', 'DELETE'])('for %s from an allowed origin is answered without a credential', async (method) => {
    await using api = await run()
    const reply = await send(api, '/api/v1/orders', preflight(allowed, method))
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(reply.headers).toMatchObject({ 'access-control-allow-origin': allowed, 'access-control-max-age': '600' })
    expect(reply.headers['x-request-id']).toBeDefined()
    expect(String(reply.headers['access-control-allow-methods']).split(',')).toEqual(['GET', 'POST', 'PUT', 'DELETE'])
    const accepted = String(reply.headers['access-control-allow-headers']).toLowerCase().split(',')
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'x-api-key']) expect(accepted).toContain(name)
    expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  it('from another origin is 404 like any OPTIONS', async () => {
    await using api = await run()
    const reply = await send(api, '/api/v1/orders', preflight('https://evil.example.com'))
    expect([reply.status, corsHeaders(reply)]).toEqual([404, []])
  })
})

describe('a reply to any other page', () => {
  it.each([
    'https://evil.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.com',
    'https://sub.app.example.com',
    'https://APP.example.com',
    'https://app.example.com/',
    'null',
    '*',
    '',
  ])('has no CORS header: %j', async (origin) => {
    await using api = await run()
    for (const request of [
      { headers: { 'x-api-key': goodKey, origin } },
      jsonRequest('POST', orderBody, { origin }),
      { headers: { origin } },
    ]) {
      const target = 'method' in request ? '/api/v1/orders' : '/api/v1/accounts'
      expect(corsHeaders(await send(api, target, request))).toEqual([])
    }
  })

  it.each([[[]], [undefined]])('has no CORS header where %j are the configured origins', async (origins) => {
    await using api = await runApi({}, fakeEdge({ corsOrigins: origins }))
    expect(corsHeaders(await send(api, '/api/v1/accounts', { headers: { 'x-api-key': goodKey, origin: allowed } }))).toEqual([])
    const reply = await send(api, '/api/v1/orders', preflight(allowed))
    expect([reply.status, corsHeaders(reply)]).toEqual([404, []])
  })

  it('is the same without an origin', async () => {
    await using api = await run()
    const reply = await send(api, '/api/v1/accounts')
    expect([reply.status, corsHeaders(reply)]).toEqual([200, []])
  })
})
