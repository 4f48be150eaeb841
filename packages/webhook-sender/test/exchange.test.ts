// A delivery over real sockets with real TLS, to receivers that misbehave.
import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterAll, describe, expect, it, vi } from 'vitest'
import {
  createWebhookReach,
  type UnansweredDelivery,
  type WebhookSenderOptions,
} from '../src/index.ts'
import { certificates } from './support/certificates.ts'
import { body, senderWith } from './support/delivery.ts'
import {
  answering,
  startReceiver,
  type Receiver,
  type ReceiverOptions,
} from './support/receiver.ts'

const kib = 1_024
const shortMs = 2_000

const start = (options: Partial<ReceiverOptions> = {}) =>
  startReceiver({ certificate: certificates.receivers.good, ...options })
const sendTo = ({ port }: Receiver, options: Partial<WebhookSenderOptions> = {}, path = '/') =>
  senderWith({ ca: certificates.ca, ...options })(`https://receiver.example:${port}${path}`)
const isClosed = (receiver: Receiver) => vi.waitFor(() => expect(receiver.open()).toBe(0), 60_000)
const answered = (responseCode: number) => ({ responseCode, responseTimeMs: expect.any(Number) })
const unanswered = (failureReason: string) => ({ ...answered(0), failureReason })
const ok = 'HTTP/1.1 200 OK\r\n'

describe('a delivery', () => {
  it('is one POST with the given bytes and headers to the name of its URL', async () => {
    await using receiver = await start()
    expect(await sendTo(receiver, {}, '/a%20b/?q=1&x=%F0%9F%8D%A5')).toStrictEqual(answered(200))
    const [request = '', ...more] = receiver.received()
    const [head = '', ...sent] = request.split('\r\n\r\n')
    expect([more, sent.join('\r\n\r\n')]).toStrictEqual([[], body.toString('latin1')])
    expect(head.split('\r\n').toSorted()).toStrictEqual(
      [
        'POST /a%20b/?q=1&x=%F0%9F%8D%A5 HTTP/1.1',
        'Content-Type: application/json',
        'X-Webhook-Id: w-1',
        'User-Agent: TradingPlatform-Webhook/1.0',
        `Content-Length: ${body.length}`,
        `Host: receiver.example:${receiver.port}`,
        'Connection: close',
      ].toSorted(),
    )
    expect(receiver.serverNames()).toStrictEqual(['receiver.example'])
  })

  it('to an address resolves no name, and sends no server name', async () => {
    await using receiver = await start()
    const send = senderWith({
      ca: certificates.ca,
      resolveName: () => expect.fail('an address was resolved'),
    })
    expect(await send(`https://127.0.0.1:${receiver.port}/`)).toStrictEqual(answered(200))
    expect(receiver.serverNames()).toStrictEqual([false])
  })

  it('goes over http to this machine where that is allowed, and to nowhere else', async () => {
    const received: string[] = []
    const server = createServer((request, response) => {
      received.push(`${request.method} ${request.headers.host}`)
      response.end()
    })
    server.listen(0)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const reach = createWebhookReach([], true)
    const send = senderWith({ reach, resolveName: () => expect.fail('a name was resolved') })
    const hosts = ['127.0.0.1', '127.8.9.1', '[::1]', 'localhost'].map((host) => `${host}:${port}`)
    for (const host of hosts) expect(await send(`http://${host}/`)).toStrictEqual(answered(200))
    expect(received).toStrictEqual(hosts.map((host) => `POST ${host}`))
    const refused = [
      'http://0.0.0.0',
      'http://[::ffff:127.0.0.1]',
      'http://10.0.0.1',
      'http://8.8.8.8',
      'http://example.com',
      'gopher://8.8.8.8',
      'http://app.localhost',
      'https://127.0.0.1',
      'https://localhost',
    ]
    for (const url of refused)
      expect(await send(`${url}:${port}/`), url).toStrictEqual({
        responseCode: 0,
        responseTimeMs: 0,
        failureReason: 'host_not_allowed',
      })
    expect(received).toHaveLength(hosts.length)
    server.close()
  })

  it('has its own connection, which is closed', async () => {
    await using receiver = await start({
      onRequest: (socket) =>
        void socket.write(`${ok}Connection: keep-alive\r\nContent-Length: 2\r\n\r\n{}`),
    })
    for (let sent = 0; sent < 3; sent += 1)
      expect(await sendTo(receiver)).toStrictEqual(answered(200))
    expect(receiver.connections()).toBe(3)
    await isClosed(receiver)
  })

  it('reports the time from the request to the head of the answer, without the handshake', async () => {
    await using receiver = await start({
      handshakeAfterMs: 200,
      onRequest: later(100, answering('200 OK')),
    })
    const startedAt = performance.now()
    const { responseTimeMs } = await sendTo(receiver)
    // Timers may be a millisecond early, and everything may take longer.
    expect(responseTimeMs).toBeGreaterThanOrEqual(98)
    expect(responseTimeMs).toBeLessThanOrEqual(performance.now() - startedAt - 198)
    expect(Number.isInteger(responseTimeMs)).toBe(true)
  })
})

const later = (ms: number, act: (socket: Socket) => void) => (socket: Socket) =>
  void setTimeout(() => act(socket), ms)

const drip = (first: string, drop: string) => (socket: Socket) => {
  socket.write(first)
  const timer = setInterval(() => socket.write(drop), 20)
  socket.on('close', () => clearInterval(timer))
}

describe.concurrent('an answer', () => {
  it.each([200, 204, 226, 400, 410, 429, 500, 599])('with status %i is reported', async (code) => {
    await using receiver = await start({
      onRequest: answering(`${code} Reason`, code === 204 ? '' : 'text'),
    })
    expect(await sendTo(receiver)).toStrictEqual(answered(code))
  })

  it.each([301, 302, 303, 307, 308])(
    'with status %i is reported and not followed',
    async (code) => {
      await using target = await start()
      const location = `https://receiver.example:${target.port}/`
      await using receiver = await start({
        onRequest: answering(`${code} Moved\r\nLocation: ${location}`),
      })
      expect(await sendTo(receiver)).toStrictEqual(answered(code))
      expect([receiver.connections(), target.connections()]).toStrictEqual([1, 0])
    },
  )

  it('is the first that is final', async () => {
    await using receiver = await start({
      onRequest: (socket) => {
        socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')
        answering('202 Accepted')(socket)
      },
    })
    expect(await sendTo(receiver)).toStrictEqual(answered(202))
  })

  it.each([
    ['is cut off', (socket) => void socket.end(`${ok}Content-Length: 90\r\n\r\n{`)],
    [
      'is reset',
      (socket) => {
        socket.write(`${ok}Content-Length: 90\r\n\r\n{`)
        setTimeout(() => socket.destroy(), 20)
      },
    ],
    ['has no length', (socket) => void socket.end(`${ok}\r\ntext`)],
    [
      'breaks its own framing',
      (socket) => void socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\nnot a length\r\n`),
    ],
    ['never ends', (socket) => void socket.write(`${ok}Content-Length: 90\r\n\r\n{`)],
    ['drips', drip(`${ok}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n')],
  ])('whose body %s is reported by its head, within the deadline', async (_, onRequest) => {
    await using receiver = await start({ onRequest })
    expect(await sendTo(receiver, { deadlineMs: shortMs })).toStrictEqual(answered(200))
    await isClosed(receiver)
  })

  it('is not read beyond 64 KiB', async () => {
    let written = 0
    const piece = Buffer.alloc(16 * kib, 'x')
    const pour = (socket: Socket) => {
      while (!socket.destroyed && written < 64 * kib * kib) {
        written += piece.length
        if (!socket.write(piece)) return void socket.once('drain', () => pour(socket))
      }
    }
    await using receiver = await start({
      onRequest: (socket) => {
        socket.write(`${ok}Connection: close\r\n\r\n`)
        pour(socket)
      },
    })
    // Reading on would take until the deadline of the port.
    expect(await sendTo(receiver)).toStrictEqual(answered(200))
    await isClosed(receiver)
    // The buffers in between were filled, and not read.
    expect(written).toBeLessThan(32 * kib * kib)
  })
})

describe.concurrent('there is no answer if the receiver', () => {
  it.each([
    ['hangs up', 'answer_broken', (socket) => void socket.end()],
    ['resets', 'answer_broken', (socket) => void socket.destroy()],
    [
      'answers something other than HTTP',
      'answer_broken',
      (socket) => void socket.end('220 ready\r\n'),
    ],
    [
      'stops within the head',
      'answer_broken',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
    ],
    [
      'sends a head without end',
      'answer_broken',
      (socket) => void socket.write(`${ok}X: ${'x'.repeat(40 * kib)}`),
    ],
    [
      'switches to another protocol',
      'answer_broken',
      (socket) =>
        void socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
        ),
    ],
    ['answers nothing', 'timed_out', () => undefined],
    [
      'answers only provisionally',
      'timed_out',
      (socket) => void socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
    ],
    [
      'answers provisionally without end',
      'answer_broken',
      (socket) => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11)),
    ],
    ['drips its head', 'timed_out', drip(ok, 'X: y\r\n')],
  ])('%s: %s, after one attempt', async (_, reason, onRequest) => {
    await using receiver = await start({ onRequest })
    const reported: UnansweredDelivery[] = []
    const options = {
      deadlineMs: shortMs,
      onUnanswered: (delivery: UnansweredDelivery) => reported.push(delivery),
    }
    expect(await sendTo(receiver, options, '/secret')).toStrictEqual(unanswered(reason))
    expect(reported).toStrictEqual([{ host: `receiver.example:${receiver.port}`, reason }])
    await isClosed(receiver)
    expect([receiver.connections(), receiver.received().length]).toStrictEqual([1, 1])
  })

  it('never completes the handshake: timed_out, with nothing sent', async () => {
    await using receiver = await start({ handshakeAfterMs: null })
    expect(await sendTo(receiver, { deadlineMs: shortMs })).toStrictEqual({
      responseCode: 0,
      responseTimeMs: 0,
      failureReason: 'timed_out',
    })
    expect(receiver.received()).toStrictEqual([])
  })

  it('closes during the handshake, or has no TLS: tls_failed', async () => {
    for (const act of [
      (socket: Socket) => socket.resetAndDestroy(),
      (socket: Socket) => socket.end('hello'),
    ]) {
      const server = net.createServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => act(socket))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      expect(await senderWith({ ca: certificates.ca })(`https://127.0.0.1:${port}/`)).toMatchObject(
        unanswered('tls_failed'),
      )
      server.close()
    }
  })

  it('does not listen: connection_failed', async () => {
    const receiver = await start()
    await receiver[Symbol.asyncDispose]()
    expect(await sendTo(receiver)).toMatchObject(unanswered('connection_failed'))
  })
})

describe('a receiver without a valid certificate receives nothing', () => {
  afterAll(() => {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  })

  it.each<[string, keyof typeof certificates.receivers, string, boolean]>([
    ['that is for another name', 'otherName', 'receiver.example', true],
    ['that is for another address', 'otherName', '127.0.0.1', true],
    ['that expired', 'expired', 'receiver.example', true],
    ['of an unknown authority', 'unknown', 'receiver.example', true],
    ['that only NODE_TLS_REJECT_UNAUTHORIZED=0 would allow', 'good', 'receiver.example', false],
  ])('%s', async (_, kind, host, hasAuthority) => {
    if (!hasAuthority) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    await using receiver = await start({ certificate: certificates.receivers[kind] })
    const send = senderWith({ ca: hasAuthority ? certificates.ca : undefined })
    expect(await send(`https://${host}:${receiver.port}/`)).toStrictEqual({
      responseCode: 0,
      responseTimeMs: 0,
      failureReason: 'tls_failed',
    })
    expect(receiver.received().join('')).toBe('')
  })
})
