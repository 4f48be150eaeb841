// The listener as a client sees it: what never becomes a request, pipelined requests, bodies that do not arrive whole, and slow or silent clients.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import * as TE from 'fp-ts/lib/TaskEither.js'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi, listen } from '../src/index.ts'
import { account, fakeEdge, fakeUseCases, goodKey, orderBody, pendingOrder, run, runApi, send } from './fakes.ts'
import type { FakeEdge, Running } from './fakes.ts'

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Writes the pieces one after the other and reads until the server closes the connection. The client never closes it. */
const converse = async (port: number, ...pieces: readonly string[]): Promise<readonly Reply[]> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString()))
  const ended = once(socket, 'end')
  for (const piece of pieces) {
    socket.write(piece)
    await setImmediate()
  }
  await ended
  socket.destroy()
  return repliesIn(received)
}

/** Splits replies by their Content-Length; interim replies have neither headers nor a body. */
const repliesIn = (received: string): readonly Reply[] => {
  const replies: Reply[] = []
  for (let rest = received; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const [line = '', ...lines] = rest.slice(0, end - 4).split('\r\n')
    const headers = Object.fromEntries(lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 2)]))
    const length = Number(headers['content-length'] ?? 0)
    replies.push({ status: Number(line.split(' ')[1]), headers, body: rest.slice(end, end + length) })
    rest = rest.slice(end + length)
  }
  return replies
}

const statusesOf = (replies: readonly Reply[]): readonly number[] => replies.map(({ status }) => status)

/** Expects one reply: an error in the envelope on a connection that ends with it. */
const expectOneError = (replies: readonly Reply[], status: number, code: string): void => {
  expect(statusesOf(replies)).toEqual([status])
  const { headers, body } = replies[0] as Reply
  expect(JSON.parse(body)).toMatchObject({ success: false, data: null, error: { code, request_id: headers['x-request-id'] } })
  expect(headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-request-id': expect.stringMatching(/^req_/) as string,
  })
}

const host = 'Host: tradeport.example\r\n'
const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\n${host}${headers}\r\n`
const lastGet = (target: string, headers = ''): string => get(target, `Connection: close\r\n${headers}`)
const order = JSON.stringify(orderBody)
const post = (headers: string, body = '', key = goodKey): string =>
  `POST /api/v1/orders HTTP/1.1\r\n${host}X-API-Key: ${key}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
const withLength = `Content-Length: ${order.length}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'
const inOneChunk = `${order.length.toString(16)}\r\n${order}\r\n0\r\n\r\n`
const asking = (headers: string, key = goodKey): string => post(`Expect: 100-continue\r\n${headers}`, '', key)
const manyHeaders = (count: number): string => Array.from({ length: count }, (_, n) => `X-${n}: x\r\n`).join('')

describe('a listener', () => {
  let placed = 0
  let api: Running & { readonly edge: FakeEdge }
  beforeAll(async () => {
    api = await runApi({
      placeOrder: (_, { request }) => {
        placed += 1
        return TE.right({ ...pendingOrder, request })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('rejects when the port is in use', async () => {
    const app = createApi(fakeUseCases(), fakeEdge())
    await expect(listen(app, { host: '127.0.0.1', port: api.port }, { newRequestId: () => 'req_1' })).rejects.toThrow('EADDRINUSE')
  })

  it.each([
    ['text that is not HTTP', 400, 'HELLO\r\n\r\n'],
    ['a TLS handshake', 400, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['the preface of HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/2.0 in the request line', 400, get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/2.0')],
    ['HTTP/0.9 in the request line', 400, get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/0.9')],
    ['a malformed header', 400, get('/', 'X-API-Key : x\r\n')],
    ['no Host', 400, get('/api/v1/symbols').replace(host, '')],
    ['two Hosts', 400, get('/api/v1/symbols', host)],
    ['two Hosts with a target in absolute form', 400, get('http://tradeport.example/api/v1/symbols', 'hOST: other.example\r\n')],
    ['a header above 16 KiB', 431, get('/api/v1/symbols', `X-Long: ${'x'.repeat(17_000)}\r\n`)],
    ['a target above 16 KiB', 431, get(`/api/v1/symbols?search=${'x'.repeat(17_000)}`)],
    ['more than 100 headers', 431, get('/api/v1/symbols', manyHeaders(100))],
  ])('answers %s with %i in the envelope and closes the connection', async (_, status, text) => {
    expectOneError(await converse(api.port, text), status, status === 431 ? 'HEADERS_TOO_LARGE' : 'VALIDATION_ERROR')
  })

  // A proxy in front of the service could see another end of each of these requests.
  it.each([
    ['two lengths', post(`${withLength}Content-Length: 1\r\n`, order)],
    ['a length and chunks', post(`${withLength}${chunked}`, '0\r\n\r\n')],
    ['a malformed chunk', post(chunked, `zz\r\n${order}\r\n0\r\n\r\n`)],
    ['a chunk that is longer than its size', post(chunked, `1\r\n${order}\r\n0\r\n\r\n`)],
    ['chunks in HTTP/1.0', post(chunked, inOneChunk).replace('HTTP/1.1', 'HTTP/1.0')],
    ['two Hosts before it', post(`${host}${withLength}`, order)],
  ])('answers 400 to a body with %s, does nothing, and ignores what follows', async (_, text) => {
    const before = placed
    expectOneError(await converse(api.port, `${text}${post(withLength, order)}`), 400, 'VALIDATION_ERROR')
    expect(placed).toBe(before)
  })

  it.each([
    ['a malformed header', 'X-Request-ID: \u0000\r\n'],
    ['two Hosts', host],
  ])('lets a client that sends a large body first read the answer to %s', async (_, header) => {
    const socket = connect({ port: api.port, host: '127.0.0.1' })
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString()))
    const body = Buffer.alloc(9_000_000, ' ')
    socket.write(post(`${header}Content-Length: ${body.length}\r\n`))
    await new Promise<void>((resolve) => socket.write(body, () => resolve()))
    socket.end()
    await once(socket, 'close')
    expect(errors).toEqual([])
    expectOneError(repliesIn(received), 400, 'VALIDATION_ERROR')
  })

  it('reports the status of everything that never became a request, once', async () => {
    const statuses: number[] = []
    await using own = await runApi({}, fakeEdge(), { onUnread: (status) => statuses.push(status) })
    await converse(own.port, 'HELLO\r\n\r\nHELLO\r\n\r\n')
    await converse(own.port, get('/', `X-Long: ${'x'.repeat(17_000)}\r\n`))
    await converse(own.port, get('/', host))
    await converse(own.port, lastGet('/api/v1/symbols'))
    expect(statuses).toEqual([400, 431, 400])
  })

  it('accepts 100 headers', async () => {
    const headers = `X-API-Key: ${goodKey}\r\n${manyHeaders(97)}`
    expect(statusesOf(await converse(api.port, lastGet('/api/v1/accounts', headers)))).toEqual([200])
  })

  it('answers pipelined requests in order', async () => {
    const targets = ['/api/v1/symbols?type=metal', '/api/v1/nowhere', '/api/v1/quotes/EURUSD', '/api/v1/accounts']
    const replies = await converse(api.port, targets.map((target) => get(target)).join(''), lastGet('/'))
    expect(statusesOf(replies)).toEqual([200, 404, 501, 401, 404])
  })

  it('answers a request before it refuses the text that follows it', async () => {
    const before = placed
    const replies = await converse(api.port, `${post(withLength, order)}NONSENSE\r\n\r\n${get('/api/v1/symbols')}`)
    expect(statusesOf(replies)).toEqual([201, 400])
    expect(placed).toBe(before + 1)
  })

  it('sends the last reply of a connection whole, whatever follows its request', async () => {
    const many = Array.from({ length: 20_000 }, () => ({ account, liveDataUpdatedAt: null }))
    await using large = await runApi({ listAccounts: () => TE.right(many) })
    const replies = await converse(large.port, `${lastGet('/api/v1/accounts', `X-API-Key: ${goodKey}\r\n`)}NONSENSE\r\n\r\n`)
    expect(statusesOf(replies)).toEqual([200])
    expect(JSON.parse(replies[0]?.body ?? '').data).toHaveLength(20_000)
  })

  it('sends no second reply when the body of an answered request breaks off', async () => {
    expect(statusesOf(await converse(api.port, post(chunked, '1\r\n{\r\n', 'tp_live_bad'), 'nonsense\r\n'))).toEqual([401])
  })

  it('never answers a request with the fault of a later one', async () => {
    const connectionEnded = Promise.withResolvers<unknown>()
    await using slow = await runApi({ placeOrder: () => TE.rightTask(() => connectionEnded.promise.then(() => pendingOrder)) })
    const replies = converse(slow.port, post(withLength, order), post(chunked, 'zz\r\n'))
    connectionEnded.resolve(replies)
    // The order was placed, so that the 400 of the second request must not stand in its place.
    expect(await replies).toEqual([])
  })

  it.each([
    ['in HTTP/1.0', 200, get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/1.0')],
    ['in HTTP/1.0 without Host', 200, 'GET /api/v1/symbols HTTP/1.0\r\n\r\n'],
    ['with a target in absolute form', 200, lastGet('https://tradeport.example/api/v1/symbols')],
    ['with a URL that is none', 404, lastGet('http://[a/api/v1/symbols')],
    ['for another scheme', 404, lastGet('ftp://tradeport.example/api/v1/symbols')],
    ['OPTIONS *', 404, lastGet('*').replace('GET', 'OPTIONS')],
    ['to upgrade to WebSocket', 200, get('/api/v1/symbols', 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n')],
    ['with an unknown expectation', 200, lastGet('/api/v1/symbols', 'Expect: 200-ok\r\n')],
    ['TRACE, without an echo', 404, lastGet('/api/v1/symbols', 'X-Mine: mine\r\n').replace('GET', 'TRACE')],
  ])('answers a request %s with %i', async (_, status, text) => {
    const replies = await converse(api.port, text)
    expect(statusesOf(replies)).toEqual([status])
    expect(JSON.parse(replies[0]?.body ?? '').success).toBe(status === 200)
    expect(replies[0]?.headers).not.toHaveProperty('upgrade')
    expect(replies[0]?.body).not.toContain('X-Mine')
  })

  it('still answers after all of that, and has logged nothing', async () => {
    expect((await send(api, '/api/v1/symbols')).status).toBe(200)
    expect(api.edge.lines).toEqual([])
  })

  it.each(['/api/v1/symbols', '/api/v1/accounts', '/api/v1/trades/export', '/nowhere'])(
    'does not name its software in the reply to %s',
    async (target) => {
      const names = Object.keys((await send(api, target)).headers)
      expect(names.filter((name) => ['server', 'x-powered-by', 'via'].includes(name))).toEqual([])
    },
  )
})

describe('a request with Expect: 100-continue', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('is told to continue, then answered', async () => {
    expect(statusesOf(await converse(api.port, asking(withLength), order, lastGet('/nowhere')))).toEqual([100, 201, 404])
  })

  it.each([
    ['a bad credential', 401, withLength, 'tp_live_bad'],
    ['a body that is too large', 413, 'Content-Length: 10485761\r\n', goodKey],
  ])('and %s is answered %i at once, and the connection ends', async (_, status, headers, key) => {
    const replies = await converse(api.port, asking(headers, key))
    expect(replies.map((reply) => [reply.status, reply.headers['connection']])).toEqual([[status, 'close']])
  })

  it('in HTTP/1.0, which does not know it, gets no interim reply', async () => {
    expect(statusesOf(await converse(api.port, asking(withLength).replace('HTTP/1.1', 'HTTP/1.0'), order))).toEqual([201])
  })
})

describe('a slow answer', () => {
  it.each([
    ['alone', get('/slow')],
    ['with another behind it that is ready', get('/slow') + get('/fast')],
  ])('does not count as an idle connection, %s', async (_, text) => {
    const app = new Koa()
    app.use(async (context) => {
      if (context.path === '/slow') await setTimeout(500)
      context.body = context.path
    })
    await using slow = await run(app, { bounds: { idleMs: 100, keepAliveMs: 60 } })
    expect((await converse(slow.port, text)).map(({ body }) => body)).toEqual(text.match(/\/(?:slow|fast)/g))
  })

  it('is followed by one refusal, and by one listener, however many malformed pieces arrive meanwhile', async () => {
    const release = Promise.withResolvers<void>()
    const listeners: number[] = []
    const app = new Koa()
    app.use(async (context) => {
      const count = (): number => listeners.push(context.res.listenerCount('close'))
      count()
      await release.promise
      count()
      context.body = 'done'
    })
    await using slow = await run(app)
    const replies = converse(slow.port, get('/slow'), ...Array.from({ length: 100 }, () => 'x'))
    await expect.poll(() => listeners).toHaveLength(1)
    await setTimeout(100)
    release.resolve()
    expect(statusesOf(await replies)).toEqual([200, 400])
    const [before = 0, after = 0] = listeners
    expect(after - before).toBeLessThanOrEqual(1)
  })
})

describe('a slow client', () => {
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
  ])('that sends %s is answered 408', async (_, text) => {
    expectOneError(await converse(api.port, text), 408, 'REQUEST_TIMEOUT')
  })

  it('is disconnected after the reply when the rest of a refused body does not arrive', async () => {
    expect(statusesOf(await converse(api.port, post(withLength, order.slice(0, 10), 'tp_live_bad')))).toEqual([401])
  })

  it('is disconnected when its connection is idle', async () => {
    expect(statusesOf(await converse(api.port, get('/api/v1/symbols')))).toEqual([200])
  })

  it.each([
    ['does not arrive', 'Content-Length: 2\r\n', '', 408],
    ['is malformed', chunked, 'zz\r\n', 400],
    ['is too large', 'Content-Length: 65537\r\n', '', 413],
  ])('does not cancel an order when the body of its DELETE %s', async (_, headers, body, status) => {
    let cancelled = 0
    const cancelOrder = () => {
      cancelled += 1
      return TE.right(pendingOrder as never)
    }
    await using cancelling = await runApi({ cancelOrder }, fakeEdge(), { bounds })
    const head = `DELETE /api/v1/orders/x HTTP/1.1\r\n${host}X-API-Key: ${goodKey}\r\n${headers}\r\n`
    expect(statusesOf(await converse(cancelling.port, head, body))).toEqual([status])
    await setTimeout(200)
    expect(cancelled).toBe(0)
  })

  it('is not logged', () => {
    expect(api.edge.lines).toEqual([])
  })

  it('that does not read its reply is disconnected, and the reply is abandoned', async () => {
    const abandoned = Promise.withResolvers<void>()
    const endless = async function* (): AsyncGenerator<string> {
      try {
        for (;;) {
          await setImmediate()
          yield 'x'.repeat(65_536)
        }
      } finally {
        abandoned.resolve()
      }
    }
    const edge = fakeEdge({ pages: { '/endless': (ctx) => void (ctx.body = Readable.from(endless())) } })
    await using unread = await runApi({}, edge, { bounds })
    const socket = connect(unread.port, '127.0.0.1', () => socket.write(get('/endless')))
    socket.on('error', () => undefined)
    await abandoned.promise
    socket.destroy()
    expect(edge.lines).toEqual([])
  })
})
