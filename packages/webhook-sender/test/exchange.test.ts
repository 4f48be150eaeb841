// What becomes of a delivery once there is a connection: real sockets, real TLS, receivers that
// misbehave in every way.
import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UnansweredDelivery, WebhookSenderOptions } from '../src/index.ts'
import { createCertificates } from './support/certificates.ts'
import type { Certificates } from './support/certificates.ts'
import { body, senderWith } from './support/delivery.ts'
import { answering, startReceiver } from './support/receiver.ts'
import type { Receiver, ReceiverOptions } from './support/receiver.ts'

const kib = 1_024
const shortMs = 2_000

let certificates: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
})

const start = (options: Partial<ReceiverOptions> = {}): Promise<Receiver> =>
  startReceiver({ certificate: certificates.good, ...options })
const sendTo = ({ port }: Receiver, options: Partial<WebhookSenderOptions> = {}, path = '/') =>
  senderWith({ ca: certificates.ca, ...options })(`https://receiver.example:${port}${path}`)
const isClosed = (receiver: Receiver) => expect.poll(receiver.open).toBe(0)
const answered = (responseCode: number) => ({ responseCode, responseTimeMs: expect.any(Number) })
const unanswered = (failureReason: string) => ({ ...answered(0), failureReason })
const ok = 'HTTP/1.1 200 OK\r\n'

describe('a delivery', () => {
  it('is one POST with the bytes and headers that it was given, under the name of its URL', async () => {
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

  it('goes to an address that stands in its URL, asking for no name, and by no look-up', async () => {
    await using receiver = await start()
    const send = senderWith({
      ca: certificates.ca,
      resolveName: () => expect.fail('an address was looked up'),
    })
    expect(await send(`https://127.0.0.1:${receiver.port}/`)).toStrictEqual(answered(200))
    expect(receiver.serverNames()).toStrictEqual([false])
  })

  it('has a connection of its own each time, which is closed', async () => {
    await using receiver = await start({
      onRequest: (socket) =>
        void socket.write(`${ok}Connection: keep-alive\r\nContent-Length: 2\r\n\r\n{}`),
    })
    const send = senderWith({ ca: certificates.ca })
    for (let sent = 0; sent < 3; sent += 1)
      expect(await send(`https://receiver.example:${receiver.port}/`)).toStrictEqual(answered(200))
    expect(receiver.connections()).toBe(3)
    await isClosed(receiver)
  })

  it('tells how long the answer’s head took, counted from the request and not from the dialling', async () => {
    await using receiver = await start({
      handshakeAfterMs: 200,
      onRequest: later(100, answering('200 OK')),
    })
    const startedAt = performance.now()
    const { responseTimeMs } = await sendTo(receiver)
    // A busy machine makes all of it longer, and none of it shorter. Timers may be a millisecond
    // early.
    expect(responseTimeMs).toBeGreaterThanOrEqual(98)
    expect(responseTimeMs).toBeLessThanOrEqual(performance.now() - startedAt - 198)
    expect(Number.isInteger(responseTimeMs)).toBe(true)
  })
})

const later = (ms: number, act: (socket: Socket) => void) => (socket: Socket) =>
  void setTimeout(() => act(socket), ms)

describe('an answer', () => {
  it.each([200, 201, 202, 204, 226, 400, 401, 404, 410, 429, 500, 503, 599])(
    'of %i is told as it is',
    async (code) => {
      await using receiver = await start({
        onRequest: answering(`${code} Reason`, code === 204 ? '' : 'text'),
      })
      expect(await sendTo(receiver)).toStrictEqual(answered(code))
    },
  )

  it.each([300, 301, 302, 303, 307, 308])('of %i is told and not followed', async (code) => {
    await using target = await start()
    const location = `https://receiver.example:${target.port}/`
    await using receiver = await start({
      onRequest: answering(`${code} Moved\r\nLocation: ${location}`),
    })
    expect(await sendTo(receiver)).toStrictEqual(answered(code))
    expect([receiver.connections(), target.connections()]).toStrictEqual([1, 0])
  })

  it('counts by its head, after any that only say to wait', async () => {
    await using receiver = await start({
      onRequest: (socket) => {
        socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')
        answering('202 Accepted')(socket)
      },
    })
    expect(await sendTo(receiver)).toStrictEqual(answered(202))
  })

  it.each<readonly [string, (socket: Socket) => void]>([
    ['is cut off', (socket) => void socket.end(`${ok}Content-Length: 90\r\n\r\n{`)],
    [
      'is reset',
      (socket) => {
        socket.write(`${ok}Content-Length: 90\r\n\r\n{`)
        setTimeout(() => socket.destroy(), 20)
      },
    ],
    ['has no length', (socket) => void socket.end(`${ok}\r\nall that there is`)],
    [
      'breaks its own framing',
      (socket) => void socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\nnot a length\r\n`),
    ],
    ['never ends', (socket) => void socket.write(`${ok}Content-Length: 90\r\n\r\n{`)],
    [
      'drips',
      (socket) => {
        socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`)
        const drip = setInterval(() => socket.write('1\r\nx\r\n'), 10)
        socket.on('close', () => clearInterval(drip))
      },
    ],
  ])(
    'counts by its head, also when its body %s; it is waited for no longer than the deadline',
    async (_, onRequest) => {
      await using receiver = await start({ onRequest })
      expect(await sendTo(receiver, { deadlineMs: shortMs })).toStrictEqual(answered(200))
      await isClosed(receiver)
    },
  )

  it('is not read beyond 64 KiB', async () => {
    let written = 0
    const piece = Buffer.alloc(16 * kib, 'x')
    const pour = (socket: Socket): void => {
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
    // The deadline of the port: whoever read on would wait for it.
    expect(await sendTo(receiver)).toStrictEqual(answered(200))
    await isClosed(receiver)
    // What stands in the buffers of the machine between the two is written, and not read.
    expect(written).toBeLessThan(32 * kib * kib)
  })
})

describe('there is no answer where the receiver', () => {
  it.each<readonly [string, string, (socket: Socket) => void]>([
    ['hangs up', 'answer_broken', (socket) => void socket.end()],
    ['resets', 'answer_broken', (socket) => void socket.destroy()],
    [
      'says something that is not HTTP',
      'answer_broken',
      (socket) => void socket.end('220 ready\r\n'),
    ],
    [
      'breaks off in the head',
      'answer_broken',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
    ],
    [
      'has a head that does not end',
      'answer_broken',
      (socket) => void socket.write(`${ok}X: ${'x'.repeat(40 * kib)}`),
    ],
    [
      'changes to another protocol',
      'answer_broken',
      (socket) =>
        void socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
        ),
    ],
    ['says nothing', 'timed_out', () => undefined],
    [
      'says only to wait',
      'timed_out',
      (socket) => void socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
    ],
    [
      'drips its head',
      'timed_out',
      (socket) => {
        socket.write(ok)
        const drip = setInterval(() => socket.write('X: y\r\n'), 50)
        socket.on('close', () => clearInterval(drip))
      },
    ],
  ])('%s: %s, and it is sent once', async (_, reason, onRequest) => {
    await using receiver = await start({ onRequest })
    const told: UnansweredDelivery[] = []
    const options = {
      deadlineMs: shortMs,
      onUnanswered: (delivery: UnansweredDelivery) => told.push(delivery),
    }
    expect(await sendTo(receiver, options, '/secret')).toStrictEqual(unanswered(reason))
    expect(told).toStrictEqual([{ host: `receiver.example:${receiver.port}`, reason }])
    await isClosed(receiver)
    expect([receiver.connections(), receiver.received().length]).toStrictEqual([1, 1])
  })

  it('waits in the handshake: timed_out, with nothing sent', async () => {
    await using receiver = await start({ handshakeAfterMs: null })
    expect(await sendTo(receiver, { deadlineMs: shortMs })).toStrictEqual({
      responseCode: 0,
      responseTimeMs: 0,
      failureReason: 'timed_out',
    })
    expect(receiver.received()).toStrictEqual([])
  })

  it('hangs up in the handshake, or speaks no TLS: tls_failed', async () => {
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

describe('a receiver that cannot prove who it is gets to read nothing', () => {
  afterAll(() => {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  })

  it.each(['otherName', 'expired', 'unknown'] as const)(
    'with a certificate that will not do: %s',
    async (kind) => {
      await using receiver = await start({ certificate: certificates[kind] })
      expect(await sendTo(receiver)).toStrictEqual({
        responseCode: 0,
        responseTimeMs: 0,
        failureReason: 'tls_failed',
      })
      expect(receiver.received().join('')).toBe('')
    },
  )

  it('by its address, where the certificate is for the name', async () => {
    await using receiver = await start({ certificate: certificates.otherName })
    const answer = await senderWith({ ca: certificates.ca })(`https://127.0.0.1:${receiver.port}/`)
    expect(answer).toMatchObject(unanswered('tls_failed'))
  })

  it('by an authority that the system does not know, also where the process was told not to look', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    await using receiver = await start()
    expect(await sendTo(receiver, { ca: undefined })).toMatchObject(unanswered('tls_failed'))
    expect(receiver.received().join('')).toBe('')
  })
})
