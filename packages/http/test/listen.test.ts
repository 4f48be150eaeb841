// The listener as a client sees it: what never becomes a request, pipelined requests, bodies that
// do not arrive whole, slow clients, and its end.
import { times } from '@tradeport/testkit'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { scopes } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import * as TE from 'fp-ts/lib/TaskEither.js'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import { createApi, listen } from '../src/index.ts'
import {
  account,
  credential,
  fakeDependencies,
  fakeUseCases,
  goodKey,
  pendingOrder,
  run,
  runApi,
  type Running,
  send,
  lasting,
} from './fakes.ts'
import {
  chunked,
  converse,
  get,
  host,
  lastGet,
  order,
  post,
  type RawReply,
  repliesIn,
  statusesOf,
  withLength,
} from './raw.ts'

/** Expects one reply: an error in the envelope on a connection that ends with it. */
const expectOneError = (replies: readonly RawReply[], status: number, code: string) => {
  expect(statusesOf(replies)).toEqual([status])
  const { headers, body } = replies[0] as RawReply
  expect(JSON.parse(body)).toMatchObject({
    success: false,
    data: null,
    error: { code, request_id: headers['x-request-id'] },
  })
  expect(headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
}

const asking = (headers: string, key = goodKey) =>
  post(`Expect: 100-continue\r\n${headers}`, '', key)
const manyHeaders = (count: number) => times(count, (n) => `X-${n}: x\r\n`).join('')
const longHeader = `X-Long: ${'x'.repeat(17_000)}\r\n`

describe('a listener', async () => {
  let placed = 0
  const placeOrder = () => TE.fromIO(() => ((placed += 1), pendingOrder))
  const unread: number[] = []
  const api = await lasting(
    runApi({ placeOrder }, fakeDependencies(), {
      onMalformedRequest: (status) => unread.push(status),
    }),
  )

  it('rejects when the port is in use', async () => {
    const app = createApi(fakeUseCases(), fakeDependencies())
    await expect(
      listen(app, { host: '127.0.0.1', port: api.port }, { newRequestId: () => 'req_1' }),
    ).rejects.toThrow('EADDRINUSE')
  })

  it.each([
    ['text that is not HTTP', 400, 'HELLO\r\n\r\nHELLO\r\n\r\n'],
    ['a TLS handshake', 400, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['HTTP/2.0 in the request line', 400, get('/api/v1/symbols').replace('HTTP/1.1', 'HTTP/2.0')],
    ['no Host', 400, get('/api/v1/symbols').replace(host, '')],
    ['two API keys', 400, get('/api/v1/symbols', 'X-API-Key: a\r\nx-api-key: b\r\n')],
    ['two bearer tokens', 400, get('/api/v1/symbols', 'Authorization: Bearer a\r\n'.repeat(2))],
    ['two Hosts', 400, get('http://tradeport.example/api/v1/symbols', 'hOST: other.example\r\n')],
    ['a header above 16 KiB', 431, get('/api/v1/symbols', longHeader)],
    ['more than 100 headers', 431, get('/api/v1/symbols', manyHeaders(100))],
  ])(
    'answers %s with %i in the envelope, closes the connection and reports it once',
    async (_, status, text) => {
      unread.length = 0
      expectOneError(
        await converse(api.port, text),
        status,
        status === 431 ? 'HEADERS_TOO_LARGE' : 'VALIDATION_ERROR',
      )
      expect(unread).toEqual([status])
    },
  )

  const inChunks = post(chunked, `${order.length.toString(16)}\r\n${order}\r\n0\r\n\r\n`)
  // A proxy in front of the service could see another end of each of these requests.
  it.each([
    ['two lengths', post(`${withLength}Content-Length: 1\r\n`, order)],
    ['a length and chunks', post(`${withLength}${chunked}`, '0\r\n\r\n')],
    ['a chunk that is longer than its size', post(chunked, `1\r\n${order}\r\n0\r\n\r\n`)],
    ['chunks in HTTP/1.0', inChunks.replace('HTTP/1.1', 'HTTP/1.0')],
    ['two Hosts before it', post(`${host}${withLength}`, order)],
  ])('answers 400 to a body with %s, does nothing, and ignores what follows', async (_, text) => {
    const before = placed
    expectOneError(
      await converse(api.port, `${text}${post(withLength, order)}`),
      400,
      'VALIDATION_ERROR',
    )
    expect(placed).toBe(before)
  })

  it.each([
    ...[
      `Content-Length: 5\r\n${chunked}`,
      'Transfer-Encoding: xchunked\r\n',
      'Transfer-Encoding: chunked, identity\r\n',
      'Transfer-Encoding:\u000bchunked\r\n',
      `${chunked}Transfer-Encoding: x\r\n`,
      'Transfer-Encoding:\r\n chunked\r\n',
      `X: y\n${chunked}`,
    ].map((headers) => post(headers, `0\r\n\r\n${get('/api/v1/symbols')}`)),
    ...[
      'Content-Length: 0\r\nContent-Length: 44\r\n',
      'Content-Length: 0, 44\r\n',
      'Content-Length: +0\r\n',
      'Content-Length: -1\r\n',
      `Content-Length: ${'9'.repeat(30)}\r\n`,
      'Content-Length : 0\r\n',
      'X: y\r\n Content-Length: 0\r\n',
    ].map((headers) => post(headers, get('/api/v1/symbols'))),
    ...[
      '1\n{\n0\n\n',
      '-1\r\n\r\n',
      'ffffffffffffffffff\r\n',
      '1;\n{\r\n0\r\n\r\n',
      '\r\n\r\n',
    ].map((chunks) => post(chunked, `${chunks}${get('/api/v1/symbols')}`)),
  ])('answers nothing that is smuggled behind a request: %j', async (text) => {
    expect(statusesOf(await converse(api.port, text))).toEqual([400])
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

  it.for<[string, number[], ...string[]]>([
    [
      'pipelined requests in order',
      [200, 404, 200, 401, 404],
      ...['/api/v1/symbols', '/x', '/api/v1/quotes/EURUSD', '/api/v1/accounts'].map((target) =>
        get(target),
      ),
      lastGet('/'),
    ],
    [
      '100 headers',
      [200],
      lastGet('/api/v1/accounts', `X-API-Key: ${goodKey}\r\n${manyHeaders(97)}`),
    ],
    ['HTTP/1.0 without Host', [200], 'GET /api/v1/symbols HTTP/1.0\r\n\r\n'],
    ['a target in absolute form', [200], lastGet('https://tradeport.example/api/v1/symbols')],
    ['a malformed URL', [404], lastGet('http://[a/api/v1/symbols')],
    ['another scheme', [404], lastGet('ftp://tradeport.example/api/v1/symbols')],
    ['OPTIONS *', [404], lastGet('*').replace('GET', 'OPTIONS')],
    ['another expectation', [200], lastGet('/api/v1/symbols', 'Expect: x\r\n')],
    [
      'an upgrade to WebSocket as without it',
      [200],
      get('/api/v1/symbols', 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n'),
    ],
    [
      'who asks before sending a body',
      [100, 201, 404],
      asking(withLength),
      order,
      lastGet('/nowhere'),
    ],
    [
      'who asks and wants no further reply',
      [100, 201],
      asking(`Connection: close\r\n${withLength}`),
      order,
    ],
    ['who asks with a bad credential', [401], asking(withLength, 'tp_live_bad')],
    ['who asks for too large a body', [413], asking('Content-Length: 10485761\r\n')],
    [
      'who asks in HTTP/1.0, which knows no interim reply',
      [201],
      asking(withLength).replace('HTTP/1.1', 'HTTP/1.0'),
      order,
    ],
  ])('answers %s: %j', { timeout: 10_000 }, async ([, statuses, ...pieces]) => {
    expect(statusesOf(await converse(api.port, ...pieces))).toEqual(statuses)
  })

  it('answers no second time when the body of an answered request breaks off', async () => {
    const socket = connect(api.port, '127.0.0.1')
    socket.write(post(chunked, '1\r\n{\r\n', 'tp_live_bad'))
    const [reply] = (await once(socket, 'data')) as [Buffer]
    socket.write('nonsense\r\n')
    const rest: Buffer[] = await socket.toArray()
    expect(statusesOf(repliesIn(String(Buffer.concat([reply, ...rest]))))).toEqual([401])
  })

  it('has logged nothing of all that', () => {
    expect(api.dependencies.lines).toEqual([])
  })

  it('sends the last reply of a connection whole, whatever follows its request', async () => {
    const many = times(20_000, () => ({ account, liveDataUpdatedAt: null }))
    await using large = await runApi({ listAccounts: () => TE.right(many) })
    const replies = await converse(
      large.port,
      `${lastGet('/api/v1/accounts', `X-API-Key: ${goodKey}\r\n`)}NONSENSE\r\n\r\n`,
    )
    expect(replies.map(({ body }) => JSON.parse(body).data.length)).toEqual([20_000])
  })

  it('never answers a request with the fault of a later one', async () => {
    const connectionEnded = Promise.withResolvers<unknown>()
    await using slow = await runApi({
      placeOrder: () => TE.rightTask(() => connectionEnded.promise.then(() => pendingOrder)),
    })
    const replies = converse(slow.port, post(withLength, order), post(chunked, 'zz\r\n'))
    connectionEnded.resolve(replies)
    // The order was placed, so that the 400 of the second request must not stand in its place.
    expect(await replies).toEqual([])
  })
})

it('handles 16 of 10,000 pipelined requests, disconnects their client, and serves another', async () => {
  let handled = 0
  const app = new Koa()
  app.use((context) => void (context.body = String((handled += 1))))
  await using counting = await run(app)
  const socket = connect(counting.port, '127.0.0.1').on('error', () => undefined)
  socket.write(get('/').repeat(10_000))
  await new Promise((resolve) => socket.once('close', resolve))
  expect((await converse(counting.port, lastGet('/'))).map(({ body }) => body)).toEqual(['17'])
})

describe.concurrent('a slow answer', () => {
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
    expect((await converse(slow.port, text)).map(({ body }) => body)).toEqual(
      text.match(/\/(?:slow|fast)/g),
    )
  })

  it('is followed by one refusal, however many malformed pieces arrive meanwhile', async () => {
    const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const app = new Koa()
    app.use(async (context) => {
      begun.resolve()
      await release.promise
      context.body = 'done'
    })
    await using slow = await run(app)
    const replies = converse(slow.port, get('/slow'), ...times(100, () => 'x'))
    await begun.promise
    await setTimeout(100)
    release.resolve()
    expect(statusesOf(await replies)).toEqual([200, 400])
  })
})

describe.concurrent('a slow client', async () => {
  const bounds = { headMs: 1_000, requestMs: 1_500, checkMs: 100, idleMs: 3_000, keepAliveMs: 500 }
  let cancelled = 0
  const cancelOrder = () => TE.fromIO(() => ((cancelled += 1), pendingOrder as never))
  const api = await lasting(runApi({ cancelOrder }, fakeDependencies(), { bounds }))

  it.each([
    ['nothing', ''],
    ['half a head', `GET /api/v1/symbols HTTP/1.1\r\n${host}X-Slow: `],
    ['half a body', post(withLength, order.slice(0, 10))],
    ['half of the chunks', post(chunked, '5\r\n{"acc\r\n')],
  ])('that sends %s is answered 408', async (_, text) => {
    expectOneError(await converse(api.port, text), 408, 'REQUEST_TIMEOUT')
  })

  it.each([
    [
      'after the reply to a refused body, the rest of which does not arrive',
      401,
      post(withLength, order.slice(0, 10), 'tp_live_bad'),
    ],
    ['when its connection is idle', 200, get('/api/v1/symbols')],
  ])('is disconnected %s', async (_, status, text) => {
    expect(statusesOf(await converse(api.port, text))).toEqual([status])
  })

  it('whose key is revoked while its body comes is refused', async () => {
    let isRevoked = false
    let placed = 0
    await using own = await runApi({
      identifyCaller: () =>
        isRevoked ? TE.left(refuse('Unauthorized')) : TE.right(credential(scopes)),
      placeOrder: () => TE.fromIO(() => ((placed += 1), pendingOrder)),
    })
    const socket = connect(own.port, '127.0.0.1')
    const text = post(withLength, order).replace('keep-alive', 'close')
    socket.write(text.slice(0, -5))
    await setTimeout(400)
    isRevoked = true
    socket.write(text.slice(-5))
    const [reply] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect([String(reply).slice(9, 12), placed]).toEqual(['401', 0])
  })

  it.each([
    ['does not arrive', 'Content-Length: 2\r\n', '', 408],
    ['is malformed', chunked, 'zz\r\n', 400],
    ['is too large', 'Content-Length: 65537\r\n', '', 413],
  ])('cancels no order when the body of its DELETE %s', async (_, headers, body, status) => {
    const head = `DELETE /api/v1/orders/x HTTP/1.1\r\n${host}X-API-Key: ${goodKey}\r\n${headers}\r\n`
    expect(statusesOf(await converse(api.port, head, body))).toEqual([status])
    await setTimeout(200)
    expect([cancelled, api.dependencies.lines]).toEqual([0, []])
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
    const dependencies = fakeDependencies({
      pages: { '/endless': (ctx) => void (ctx.body = Readable.from(endless())) },
    })
    await using unread = await runApi({}, dependencies, { bounds: { ...bounds, idleMs: 1_000 } })
    const socket = connect(unread.port, '127.0.0.1', () => socket.write(get('/endless')))
    socket.on('error', () => undefined)
    await abandoned.promise
    socket.destroy()
    expect(dependencies.lines).toEqual([])
  })
})

describe('a listener that ends', () => {
  const longText = 'x'.repeat(20_000_000)
  const longMs = 60_000
  const bounds = { headMs: 150, requestMs: 300, checkMs: 20, keepAliveMs: longMs, unreadMs: 500 }
  const release = Promise.withResolvers<void>()
  const app = new Koa()
  app.silent = true
  app.use(async (context) => {
    if (context.path === '/slow') await release.promise
    if (context.method === 'POST') await once(context.req.resume(), 'end')
    context.body = context.path === '/long' ? longText : 'done'
  })

  const sockets: Socket[] = []
  const connected = async ({ port }: Running, text: string) => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    await setTimeout(20)
    return socket
  }
  const start = async (text: string) => {
    const listener = await run(app, { bounds })
    return { listener, socket: await connected(listener, text) }
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
    const { listener, socket } = await start(text)
    socket.resume()
    expect(await listener.end(longMs)).toBe(0)
  })

  it.each([
    ['that it accepted', get('/slow'), ''],
    ['that arrives on a connection that was just accepted', '', get('/done')],
  ])('answers a request %s, and accepts no new connection', async (_, before, after) => {
    const { listener, socket } = await start(before)
    const answer = once(socket, 'data')
    const ended = listener.end(longMs)
    if (after !== '') socket.write(after)
    await expect(connected(listener, '')).rejects.toThrow('ECONNREFUSED')
    release.resolve()
    expect(String((await answer)[0])).toContain('done')
    expect(await ended).toBe(0)
  })

  it('sends a long reply whole to a slow reader', async () => {
    const { listener, socket } = await start(get('/long'))
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

  it.each([
    [longMs, 0],
    [200, 1],
  ])(
    'waits at most %i ms for a client that reads nothing, and cuts off %i, visibly also in HTTP/1.0',
    async (patienceMs, count) => {
      const { listener, socket } = await start(get('/long').replace('HTTP/1.1', 'HTTP/1.0'))
      socket.pause()
      expect(await listener.end(patienceMs)).toBe(count)
      const closed = once(socket, 'close')
      socket.resume()
      await expect(closed).rejects.toMatchObject({ code: 'ECONNRESET' })
    },
  )

  it.each(['/api/v1/symbols', '/nowhere'])(
    'closes connections after their replies while the app is draining: %s',
    async (path) => {
      let isDraining = false
      await using api = await runApi({}, fakeDependencies({ isDraining: () => isDraining }))
      const connectionOf = async () =>
        (await send(api, path, { headers: { connection: 'keep-alive' } })).headers.connection
      expect(await connectionOf()).toBe('keep-alive')
      isDraining = true
      expect(await connectionOf()).toBe('close')
    },
  )

  it('closes after a reply during whose wait for others the app began to drain, and counts the wait', async () => {
    let isDraining = false
    const durationsMs: number[] = []
    const dependencies = fakeDependencies({
      isDraining: () => isDraining,
      onAnswered: ({ durationMs }) => durationsMs.push(durationMs),
      pages: {
        '/busy': async (ctx) => {
          ctx.body = 'done'
          // Runs before what the reply waits for.
          globalThis.setImmediate(() => {
            const startedAt = performance.now()
            while (performance.now() - startedAt < 50);
            isDraining = true
          })
        },
      },
    })
    await using api = await runApi({}, dependencies)
    const { headers } = await send(api, '/busy', { headers: { connection: 'keep-alive' } })
    expect(headers.connection).toBe('close')
    expect(durationsMs).toEqual([expect.toSatisfy((ms: number) => ms >= 50)])
  })
})
