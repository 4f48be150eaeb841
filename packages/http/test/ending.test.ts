// How a listener ends: what it has taken is answered and read to the end, and nobody who sends nothing, or reads nothing, holds it up for long.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { run } from './fakes.ts'
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
    context.body = context.path === '/long' ? longText : 'told'
  })

  const dialled: Socket[] = []
  const dial = async ({ port }: Running, text: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    dialled.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    await pause(20)
    return socket
  }
  afterEach(() => {
    for (const socket of dialled.splice(0)) socket.destroy()
  })

  it.each([
    ['that has sent nothing', ''],
    ['with half a head', 'GET /told HTT'],
    ['with half a body', `POST /told HTTP/1.1\r\n${host}Content-Length: 10\r\n\r\nhalf`],
    ['that waits for its next request', get('/told')],
  ])('is not held up by a connection %s', async (_, text) => {
    const listener = await run(app, { bounds })
    await dial(listener, text)
    expect(await listener.end(longMs)).toBe(0)
  })

  it('answers a request that it has taken, and takes no new connection', async () => {
    const listener = await run(app, { bounds })
    const socket = await dial(listener, get('/slow'))
    const answer = once(socket, 'data')
    const ended = listener.end(longMs)
    await expect(dial(listener, '')).rejects.toThrow('ECONNREFUSED')
    release.resolve()
    expect(String((await answer)[0])).toContain('told')
    expect(await ended).toBe(0)
  })

  it('answers a request that arrives on a connection that was taken just before', async () => {
    const listener = await run(app, { bounds })
    const socket = await dial(listener, '')
    const answer = once(socket, 'data')
    const ended = listener.end(longMs)
    socket.write(get('/told'))
    expect(String((await answer)[0])).toContain('told')
    expect(await ended).toBe(0)
  })

  it('writes a long reply to the end for a slow reader', async () => {
    const listener = await run(app, { bounds })
    const socket = await dial(listener, get('/long'))
    let read = 0
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length
      socket.pause()
      setTimeout(() => socket.resume(), 1)
    })
    const closed = once(socket, 'close')
    expect(await listener.end(longMs)).toBe(0)
    await closed
    expect(read).toBeGreaterThan(longText.length)
  })

  it('cuts off who does not read the reply, once its patience is over, and says so', async () => {
    const listener = await run(app, { bounds })
    const socket = await dial(listener, get('/long'))
    socket.pause()
    expect(await listener.end(200)).toBe(1)
  })
})
