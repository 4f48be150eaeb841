// How a listener ends: it answers every request that it accepted and sends every reply whole, but does not wait long for a silent client.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeEdge, run, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'

const host = 'Host: tradeport.example\r\n'
const get = (target: string): string => `GET ${target} HTTP/1.1\r\n${host}\r\n`
const longText = 'x'.repeat(20_000_000)
const longMs = 60_000

describe('a listener that ends', () => {
  const bounds = { headMs: 150, requestMs: 300, checkMs: 20, keepAliveMs: longMs }
  const release = Promise.withResolvers<void>()
  const app = new Koa()
  app.silent = true
  app.use(async (context) => {
    if (context.path === '/slow') await release.promise
    if (context.method === 'POST') await once(context.req.resume(), 'end')
    context.body = context.path === '/long' ? longText : 'done'
  })

  const sockets: Socket[] = []
  const open = async ({ port }: Running, text: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    await setTimeout(20)
    return socket
  }
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })

  it.each([
    ['has sent nothing', ''],
    ['has sent half a head', 'GET /done HTT'],
    ['has sent half a body', `POST /done HTTP/1.1\r\n${host}Content-Length: 10\r\n\r\nhalf`],
    ['waits for its next request', get('/done')],
  ])('does not wait for a connection that %s', async (_, text) => {
    const listener = await run(app, { bounds })
    const socket = await open(listener, text)
    socket.resume()
    expect(await listener.end(longMs)).toBe(0)
  })

  it('answers a request that it accepted, and accepts no new connection', async () => {
    const listener = await run(app, { bounds })
    const socket = await open(listener, get('/slow'))
    const answer = once(socket, 'data')
    const ended = listener.end(longMs)
    await expect(open(listener, '')).rejects.toThrow('ECONNREFUSED')
    release.resolve()
    expect(String((await answer)[0])).toContain('done')
    expect(await ended).toBe(0)
  })

  it('answers a request that arrives on a connection that was just accepted', async () => {
    const listener = await run(app, { bounds })
    const socket = await open(listener, '')
    const answer = once(socket, 'data')
    const ended = listener.end(longMs)
    socket.write(get('/done'))
    expect(String((await answer)[0])).toContain('done')
    expect(await ended).toBe(0)
  })

  it('sends a long reply whole to a slow reader', async () => {
    const listener = await run(app, { bounds })
    const socket = await open(listener, get('/long'))
    let read = 0
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length
      socket.pause()
      globalThis.setTimeout(() => socket.resume(), 1)
    })
    const closed = once(socket, 'close')
    expect(await listener.end(longMs)).toBe(0)
    await closed
    expect(read).toBeGreaterThan(longText.length)
  })

  it('cuts off a client that does not read its reply once the time is over, and returns how many it cut off', async () => {
    const listener = await run(app, { bounds })
    const socket = await open(listener, get('/long'))
    socket.pause()
    expect(await listener.end(200)).toBe(1)
  })
})

it.each(['/api/v1/symbols', '/api/v1/accounts', '/api/v1/openapi.json', '/nowhere'])(
  'an app that is draining closes the connection after its reply to %s',
  async (path) => {
    let isDraining = false
    await using api = await runApi({}, fakeEdge({ isDraining: () => isDraining }))
    const connectionOf = async () => (await send(api, path, { headers: { connection: 'keep-alive' } })).headers.connection
    expect(await connectionOf()).toBe('keep-alive')
    isDraining = true
    expect(await connectionOf()).toBe('close')
  },
)
