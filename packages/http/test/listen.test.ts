// The listener: its address, and what it does with requests that never become one (section 8, input limits; section 7).
import { once } from 'node:events'
import { connect } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, listen } from '../src/index.ts'
import { mount } from '../src/routing/mount.ts'
import { openRoute } from '../src/routing/route.ts'
import { account, fakeEdge, fakeUseCases, goodKey, orderBody, pendingOrder, run, runApi, send, untold } from './fakes.ts'
import type { FakeEdge, Running } from './fakes.ts'

interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Writes the pieces one after the other, and reads until the server hangs up: this side never does. */
const talk = async (port: number, ...pieces: readonly string[]): Promise<string> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString()))
  const ended = once(socket, 'end')
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  socket.destroy()
  return answer
}

/** The replies in what was read, by their Content-Length; interim ones have neither headers nor a body. */
const repliesIn = (text: string): readonly Told[] => {
  const replies: Told[] = []
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const [line = '', ...lines] = rest.slice(0, end - 4).split('\r\n')
    const headers = Object.fromEntries(lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 2)]))
    const length = Number(headers['content-length'] ?? 0)
    replies.push({ status: Number(line.split(' ')[1]), headers, body: rest.slice(end, end + length) })
    rest = rest.slice(end + length)
  }
  return replies
}

/** The one reply, which is a refusal in the envelope on a connection that ends with it. */
const refusalIn = (text: string): readonly [status: number, code: string, message: string] => {
  const replies = repliesIn(text)
  expect(replies).toHaveLength(1)
  const { status, headers, body } = replies[0] as Told
  const { success, data, error } = JSON.parse(body)
  expect({ success, data, requestId: error.request_id }).toEqual({ success: false, data: null, requestId: headers['x-request-id'] })
  expect(headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-request-id': expect.stringMatching(/^req_/) as string,
  })
  return [status, error.code, error.message]
}

const host = 'Host: tradeport.example\r\n'
const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\n${host}${headers}\r\n`
const order = JSON.stringify(orderBody)
const post = (headers: string, body = '', key = goodKey): string =>
  `POST /api/v1/orders HTTP/1.1\r\n${host}X-API-Key: ${key}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
const withLength = `Content-Length: ${order.length}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'
const asking = (headers: string, key = goodKey): string => post(`Expect: 100-continue\r\n${headers}`, '', key)
const openDoor = () => Promise.resolve({ outcome: E.right(undefined) })

describe('the listener', () => {
  let placed = 0
  let api: Running & { readonly edge: FakeEdge }
  beforeAll(async () => {
    api = await runApi({
      placeOrder: (_, { request }) => {
        placed += 1
        return TE.right({ order: { ...pendingOrder, request }, isReplayed: false })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('rejects when the address is taken', async () => {
    const app = createApi(fakeUseCases(), fakeEdge())
    const options = { newRequestId: () => 'req_1' }
    await expect(listen(app, { host: '127.0.0.1', port: api.port }, options)).rejects.toThrow('EADDRINUSE')
  })

  it.each([
    ['a greeting', 'HELLO\r\n\r\n'],
    ['a method that is none', get('/').replace('GET', 'GRAB')],
    ['a target with a space', get('/api/v1/symbols ?x')],
    ['a version that is none', get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/9.9')],
    ['no version', 'GET /api/v1/symbols\r\n\r\n'],
    ['HTTP/2.0 as a version of this line', get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/2.0')],
    ['HTTP/0.9', get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/0.9')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a handshake of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['a header without a name', get('/', ': x\r\n')],
    ['a header with a space before the colon', get('/', 'X-API-Key : x\r\n')],
    ['a header folded over two lines', get('/', 'X-Folded: a\r\n b\r\n')],
    ['a header with a NUL', get('/', 'X-Nul: a\0b\r\n')],
    ['a header with a lone line feed in it', get('/', 'X-Feed: a\rb\r\n')],
    ['no Host', get('/api/v1/symbols').replace(host, '')],
    ['two Hosts', get('/api/v1/symbols', host)],
    ['two Hosts in absolute form', get('http://tradeport.example/api/v1/symbols', 'hOST: other.example\r\n')],
  ])('answers 400 in the envelope to %s, and hangs up', async (_, text) => {
    const [status, code, message] = refusalIn(await talk(api.port, text))
    expect([status, code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(message).toMatch(/^The request has a fault: .+\.$/)
  })

  // Each is a request of which a proxy before us could see another end than we do.
  it.each([
    ['two lengths', post(`${withLength}Content-Length: 1\r\n`, order)],
    ['two lengths in one header', post(`Content-Length: ${order.length}, 1\r\n`, order)],
    ['one length twice', post(`${withLength}${withLength}`, order)],
    ['a length with a sign', post(`Content-Length: +${order.length}\r\n`, order)],
    ['a length in hexadecimal', post('Content-Length: 0x10\r\n', order)],
    ['a length below 0', post('Content-Length: -1\r\n', order)],
    ['a length of more digits than a number has', post(`Content-Length: ${'9'.repeat(40)}\r\n`, order)],
    ['a length and chunks', post(`${withLength}${chunked}`, '0\r\n\r\n')],
    ['chunks and a length', post(`${chunked}${withLength}`, '0\r\n\r\n')],
    ['an encoding that is not of HTTP', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n')],
    ['chunks that are not the last encoding', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n')],
    ['a chunk whose size is none', post(chunked, `zz\r\n${order}\r\n0\r\n\r\n`)],
    ['a chunk that is longer than its size', post(chunked, `1\r\n${order}\r\n0\r\n\r\n`)],
    ['a chunk whose size ends in a lone line feed', post(chunked, `${order.length.toString(16)}\n${order}\r\n0\r\n\r\n`)],
    ['chunks in HTTP/1.0', post(chunked, `${order.length.toString(16)}\r\n${order}\r\n0\r\n\r\n`).replace('HTTP/1.1', 'HTTP/1.0')],
  ])('answers 400 to a body with %s, runs nothing, and takes nothing that follows', async (_, text) => {
    const before = placed
    const told = await talk(api.port, `${text}${get('/api/v1/symbols')}`)
    expect(refusalIn(told).slice(0, 2)).toEqual([400, 'VALIDATION_ERROR'])
    expect(placed).toBe(before)
  })

  it.each([
    ['16 KiB', get('/api/v1/symbols', `X-Long: ${'x'.repeat(17_000)}\r\n`)],
    ['16 KiB in its line', get(`/api/v1/symbols?search=${'x'.repeat(17_000)}`)],
    ['16 KiB in many headers', get('/', Array.from({ length: 4_000 }, (_, n) => `X-${n}: x\r\n`).join(''))],
    ['a hundred headers', get('/api/v1/symbols', Array.from({ length: 100 }, (_, n) => `X-${n}: x\r\n`).join(''))],
  ])('answers 431 to a head above %s', async (_, text) => {
    expect(refusalIn(await talk(api.port, text)).slice(0, 2)).toEqual([431, 'HEADERS_TOO_LARGE'])
  })

  it.each([
    ['a header that is none', 'X-Request-ID: \u0000\r\n'],
    ['two hosts', host],
  ])('lets the answer to %s be read, however much follows it', async (_, header) => {
    const socket = connect({ port: api.port, host: '127.0.0.1' })
    const failed: Error[] = []
    socket.on('error', (error) => failed.push(error))
    const told: string[] = []
    socket.on('data', (chunk) => told.push(chunk.toString()))
    const body = Buffer.alloc(9_000_000, ' ')
    socket.write(post(`${header}Content-Length: ${body.length}\r\n`))
    // Whoever sends all of it before reading finds the answer there, and a connection that was ended and not cut off.
    await new Promise<void>((resolve) => socket.write(body, () => resolve()))
    socket.end()
    await once(socket, 'close')
    expect(failed).toEqual([])
    expect(refusalIn(told.join('')).slice(0, 2)).toEqual([400, 'VALIDATION_ERROR'])
  })

  it('tells of each that it was answered, once, and of no request', async () => {
    const unread: number[] = []
    await using own = await runApi({}, fakeEdge(), { onUnread: (status) => unread.push(status) })
    await talk(own.port, 'HELLO\r\n\r\nHELLO\r\n\r\n')
    await talk(own.port, get('/', `X-Long: ${'x'.repeat(17_000)}\r\n`))
    await talk(own.port, get('/', 'Host: another.example\r\n'))
    await talk(own.port, `CONNECT tradeport.example:1 HTTP/1.1\r\n${host}\r\n`)
    await talk(own.port, get('/api/v1/symbols', 'Connection: close\r\n'))
    expect(unread).toEqual([400, 431, 400, 404])
  })

  it('takes a head of a hundred headers', async () => {
    const headers = Object.fromEntries(Array.from({ length: 97 }, (_, n) => [`x-${n}`, 'x']))
    // Host, Connection and the key are the others.
    expect((await send(api, '/api/v1/accounts', { headers: { ...headers, 'x-api-key': goodKey } })).status).toBe(200)
  })

  it('answers requests that were sent at once in their order, each with its own', async () => {
    const targets = ['/api/v1/symbols?type=metal', '/api/v1/nowhere', '/api/v1/quotes/EURUSD', '/api/v1/accounts']
    const told = await talk(api.port, targets.map((target) => get(target)).join(''), get('/', 'Connection: close\r\n'))
    expect(repliesIn(told).map(({ status }) => status)).toEqual([200, 404, 501, 401, 404])
  })

  it('answers the good request before what is none, and hangs up after both', async () => {
    const before = placed
    const told = repliesIn(await talk(api.port, `${post(withLength, order)}NONSENSE\r\n\r\n${get('/api/v1/symbols')}`))
    expect(told.map(({ status }) => status)).toEqual([201, 400])
    expect(placed).toBe(before + 1)
  })

  it('answers the last request of a connection whole, whatever comes after it', async () => {
    const many = Array.from({ length: 20_000 }, () => ({ account, liveDataUpdatedAt: null }))
    await using large = await runApi({ listAccounts: () => TE.right(many) })
    const told = await talk(large.port, `${get('/api/v1/accounts', `X-API-Key: ${goodKey}\r\nConnection: close\r\n`)}NONSENSE\r\n\r\n`)
    const [reply, ...others] = repliesIn(told)
    expect([reply?.status, reply?.body.length, others]).toEqual([200, Number(reply?.headers['content-length']), []])
  })

  it('says nothing more where a body breaks off whose request is answered', async () => {
    const told = repliesIn(await talk(api.port, post(chunked, '1\r\n{\r\n', 'tp_live_bad'), 'nonsense\r\n'))
    expect(told.map(({ status }) => status)).toEqual([401])
  })

  it('never answers an earlier request with the fault of a later one', async () => {
    const broken = Promise.withResolvers<string>()
    await using slow = await runApi({
      // The order is under way until the connection is gone.
      placeOrder: () => TE.rightTask(() => broken.promise.then(() => ({ order: pendingOrder, isReplayed: false }))),
    })
    const told = talk(slow.port, post(withLength, order), post(chunked, 'zz\r\n'))
    broken.resolve(told)
    // It was carried out, so that the other's 400 would tell a lie of it.
    expect(await told).toBe('')
  })

  it.each([
    ['HTTP/1.0', get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/1.0'), 200],
    ['HTTP/1.0 without Host', 'GET /api/v1/symbols HTTP/1.0\r\n\r\n', 200],
    ['absolute form', get('https://tradeport.example/api/v1/symbols', 'Connection: close\r\n'), 200],
    ['absolute form of another scheme', get('ftp://tradeport.example/api/v1/symbols', 'Connection: close\r\n'), 404],
    ['asterisk form', `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 404],
    [
      'an upgrade to WebSocket',
      get('/api/v1/symbols', 'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'),
      200,
    ],
    [
      'an upgrade to HTTP/2',
      get('/api/v1/symbols', 'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'),
      200,
    ],
    ['an expectation that nobody knows', get('/api/v1/symbols', 'Expect: 200-ok\r\nConnection: close\r\n'), 200],
    ['TRACE, without repeating what was sent', `TRACE /api/v1/symbols HTTP/1.1\r\n${host}X-Mine: mine\r\nConnection: close\r\n\r\n`, 404],
  ])('answers a request of %s like any other', async (_, text, status) => {
    const [reply, ...others] = repliesIn(await talk(api.port, text))
    expect([reply?.status, others]).toEqual([status, []])
    expect(JSON.parse(reply?.body ?? '').success).toBe(status === 200)
    expect(reply?.headers).not.toHaveProperty('upgrade')
    expect(reply?.body).not.toContain('X-Mine')
  })

  it.each(['tradeport.example:443', '127.0.0.1:22', '/api/v1/symbols'])('opens no tunnel to %s', async (target) => {
    const told = await talk(api.port, `CONNECT ${target} HTTP/1.1\r\n${host}\r\n${get('/api/v1/symbols')}`)
    expect(refusalIn(told).slice(0, 2)).toEqual([404, 'NOT_FOUND'])
  })

  it('goes on after all of that, of which nobody need read in the log', async () => {
    expect((await send(api, '/api/v1/symbols')).status).toBe(200)
    expect(api.edge.lines).toEqual([])
  })

  it('names neither itself nor what it is made of', async () => {
    for (const target of ['/api/v1/symbols', '/api/v1/accounts', '/api/v1/trades/export', '/nowhere']) {
      const { headers } = await send(api, target)
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(server|x-powered-by|via)$/)]))
    }
  })
})

describe('a sender who asks before sending a body (Expect: 100-continue)', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('is told to go on, and answered', async () => {
    const told = await talk(api.port, asking(withLength), order, get('/nowhere', 'Connection: close\r\n'))
    expect(repliesIn(told).map(({ status }) => status)).toEqual([100, 201, 404])
  })

  it.each([
    [401, 'is refused', withLength, 'tp_live_bad'],
    [413, 'would send too much', 'Content-Length: 10485761\r\n', goodKey],
  ])('is answered %i at once where that %s, and the connection ends', async (status, _, headers, key) => {
    const told = repliesIn(await talk(api.port, asking(headers, key)))
    expect(told.map((one) => [one.status, one.headers['connection']])).toEqual([[status, 'close']])
  })

  it('is not told to go on in HTTP/1.0, which does not know it', async () => {
    const told = await talk(api.port, asking(withLength).replace('HTTP/1.1', 'HTTP/1.0'), order)
    expect(repliesIn(told).map(({ status }) => status)).toEqual([201])
  })
})

describe('an answer that takes longer than a connection may be idle', () => {
  it.each([
    ['alone', get('/slow')],
    ['with another behind it that is ready', get('/slow') + get('/fast')],
  ])('is waited for, %s', async (_, text) => {
    const app = new Koa()
    app.use(async (context) => {
      if (context.path === '/slow') await new Promise((resolve) => setTimeout(resolve, 500))
      context.body = context.path
    })
    await using slow = await run(app, { bounds: { idleMs: 100, keepAliveMs: 60 } })
    expect(repliesIn(await talk(slow.port, text)).map(({ body }) => body)).toEqual(text.match(/\/(?:slow|fast)/g))
  })
})

describe('what is no request, behind one that takes its time', () => {
  it('is refused once, after the answer, and piles nothing up however many pieces it comes in', async () => {
    const release = Promise.withResolvers<void>()
    const listeners: number[] = []
    const app = new Koa()
    app.use(async (context) => {
      const count = (): number => listeners.push(context.res.listenerCount('close'))
      count()
      await release.promise
      count()
      context.body = 'told'
    })
    await using slow = await run(app)
    const told = talk(slow.port, get('/slow'), ...Array.from({ length: 100 }, () => 'x'))
    await expect.poll(() => listeners).toHaveLength(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    release.resolve()
    expect(repliesIn(await told).map(({ status }) => status)).toEqual([200, 400])
    const [before = 0, after = 0] = listeners
    expect(after - before).toBeLessThanOrEqual(1)
  })
})

describe('a slow sender', () => {
  const bounds = { headMs: 1_000, requestMs: 1_500, checkMs: 100, idleMs: 3_000, keepAliveMs: 500 }
  let api: Running & { readonly edge: FakeEdge }
  beforeAll(async () => {
    api = await runApi({}, fakeEdge(), { bounds })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it.each([
    ['nothing', ''],
    ['half a line', 'GET /api/v1/sym'],
    ['half a head', `GET /api/v1/symbols HTTP/1.1\r\n${host}X-Slow: `],
    ['half a body', post(withLength, order.slice(0, 10))],
    ['half of the chunks', post(chunked, '5\r\n{"acc\r\n')],
  ])('of %s is answered 408 and hung up', async (_, text) => {
    expect(refusalIn(await talk(api.port, text)).slice(0, 2)).toEqual([408, 'REQUEST_TIMEOUT'])
  })

  it('of a body that nobody reads is hung up after the answer', async () => {
    const told = repliesIn(await talk(api.port, post(withLength, order.slice(0, 10), 'tp_live_bad')))
    expect(told.map(({ status }) => status)).toEqual([401])
  })

  it.each([
    ['does not come', 'Content-Length: 2\r\n', '', 408],
    ['is broken', chunked, 'zz\r\n', 400],
    ['is too long', 'Content-Length: 10485761\r\n', '', 413],
  ])('of a body that is not taken, and %s, does not have done what was asked for', async (_, headers, body, status) => {
    let cancelled = 0
    const cancelOrder = () => {
      cancelled += 1
      return TE.right(pendingOrder as never)
    }
    await using cancelling = await runApi({ cancelOrder }, fakeEdge(), { bounds })
    const head = `DELETE /api/v1/orders/x HTTP/1.1\r\n${host}X-API-Key: ${goodKey}\r\n${headers}\r\n`
    expect(repliesIn(await talk(cancelling.port, head, body)).map((reply) => reply.status)).toEqual([status])
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(cancelled).toBe(0)
  })

  it('of a next request is hung up', async () => {
    expect(repliesIn(await talk(api.port, get('/api/v1/symbols'))).map(({ status }) => status)).toEqual([200])
  })

  it('is not spoken of in the log', () => {
    expect(api.edge.lines).toEqual([])
  })

  it('that does not read the reply either is hung up, and the reply given up', async () => {
    const givenUp = Promise.withResolvers<void>()
    const pieces = async function* (): AsyncGenerator<string> {
      try {
        for (;;) {
          await new Promise((resolve) => setImmediate(resolve))
          yield 'x'.repeat(65_536)
        }
      } finally {
        givenUp.resolve()
      }
    }
    const endless = openRoute({
      ...untold,
      method: 'GET',
      path: '/endless',
      refusals: [],
      access: { kind: 'public' },
      useCase: () => TE.right({}),
      present: () => ({ kind: 'file', name: 'endless', contentType: 'text/plain', headers: {}, pieces }),
    })
    const edge = fakeEdge()
    await using app = await run(mount({ prefix: '', routes: [endless], useCases: {}, door: openDoor, edge }), { bounds })
    const socket = connect(app.port, '127.0.0.1', () => socket.write(get('/endless')))
    socket.on('error', () => undefined)
    await givenUp.promise
    socket.destroy()
    expect(edge.lines).toEqual([])
  })
})
