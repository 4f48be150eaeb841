// Files beside the API: whole or packed, read once, and not sent again to whoever holds them.
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assetRoutes } from '../src/index.ts'
import { fakeEdge, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'

const text = 'größe '.repeat(1_000)
const headers = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'public, max-age=60',
  'Content-Security-Policy': "script-src 'self'",
}
let reads = 0
let failures = 0

const routes = assetRoutes({
  '/files/text': { headers, read: async () => text },
  '/files/counted': { headers, read: async () => `read ${(reads += 1)} times` },
  '/files/failing': {
    headers,
    read: async () => {
      if ((failures += 1) === 1) throw new Error('not now')
      return 'now'
    },
  },
})

interface Sent {
  readonly encoding: string | null
  readonly bytes: Buffer
  readonly etag: string
}

/** As they came, which fetch would unpack. */
const bytesOf = ({ port }: Running, path: string, accept: string): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const asked = request({ port, path, headers: { 'accept-encoding': accept }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { 'content-encoding': encoding = null, etag = '' } = response.headers
        resolve({ encoding, bytes: Buffer.concat(chunks), etag })
      })
    })
    asked.on('error', reject).end()
  })

describe('files beside the API', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi({}, fakeEdge({ plainRoutes: routes }))
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('are sent with their own headers, and with those that every reply has', async () => {
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
    'are packed for whoever takes %s, under a tag of their own',
    async (accept) => {
      const [whole, packed] = [await bytesOf(api, '/files/text', 'identity'), await bytesOf(api, '/files/text', accept)]
      expect([packed.encoding, gunzipSync(packed.bytes).toString()]).toEqual(['gzip', text])
      expect(packed.bytes.length).toBeLessThan(whole.bytes.length / 10)
      expect(packed.etag).not.toBe(whole.etag)
    },
  )

  it.each(['', 'br', 'gzip;q=0', 'gzip; q=0.000', 'x-gzipped'])('are sent as they are to whoever takes %j', async (accept) => {
    const { encoding, bytes } = await bytesOf(api, '/files/text', accept)
    expect([encoding, bytes.toString()]).toEqual([null, text])
  })

  it('are not sent again to whoever holds them', async () => {
    const { etag = '' } = (await send(api, '/files/text')).headers
    const again = await send(api, '/files/text', { headers: { 'if-none-match': etag } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers['content-security-policy']).toBe("script-src 'self'")
  })

  it('are read once, by the first of many who ask', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => send(api, '/files/counted')))
    expect(replies.map((reply) => reply.text)).toEqual(Array.from({ length: 5 }, () => 'read 1 times'))
  })

  it('are read anew after they could not be', async () => {
    expect((await send(api, '/files/failing')).status).toBe(500)
    expect(await send(api, '/files/failing')).toMatchObject({ status: 200, text: 'now' })
  })

  it.each(['/files', '/files/', '/files/text/', '/files/../files/text', '/files/%2e%2e/text', '/files/text%00', '//files/text'])(
    'are nothing at %s',
    async (path) => {
      expect((await send(api, path)).status).toBe(404)
    },
  )
})
