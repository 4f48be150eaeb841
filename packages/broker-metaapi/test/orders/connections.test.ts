// What a broken connection says of an order, over real sockets: nothing was sent only where it broke before it stood.
import * as http from 'node:http'
import * as net from 'node:net'
import type { AddressInfo } from 'node:net'
import * as tls from 'node:tls'
import nock from 'nock'
import { afterEach, describe, expect, it } from 'vitest'
import type { ProviderCall } from '../../src/index.ts'
import { account, accountPath, token } from '../support.ts'
import { always, notSent, order, place, tradePath, tradingWith, unknown } from './order-support.ts'
import { selfSigned } from './self-signed.ts'

// The sockets of nock are open from the start; these tests need the real ones.
nock.restore()

const open: net.Server[] = []
const sockets = new Set<net.Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of open.splice(0)) server.close()
})

const listen = async (server: net.Server): Promise<number> => {
  open.push(server)
  server.on('connection', (socket) => {
    sockets.add(socket)
    // The test resets connections, at either end.
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** A server that does as it likes with each connection; counts them, and the bytes that came. */
const serve = async (onConnection: (socket: net.Socket) => void) => {
  const seen = { connections: 0, requests: 0, bytes: 0 }
  const port = await listen(
    net.createServer((socket) => {
      seen.connections += 1
      socket.on('data', (bytes) => {
        seen.bytes += bytes.length
        if (bytes.toString().startsWith('POST ')) seen.requests += 1
      })
      onConnection(socket)
    }),
  )
  return { seen, trading: (deadlines = {}) => tradingWith({ clientUrl: `http://127.0.0.1:${port}`, deadlines }) }
}

const closedPort = async (): Promise<number> => {
  const server = net.createServer()
  const port = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('an order is certainly not sent where', () => {
  it('nobody listens', async () => {
    expect(await place(tradingWith({ clientUrl: `http://127.0.0.1:${await closedPort()}` }))).toEqual(notSent())
  })

  it('the host has no address', async () => {
    expect(await place(tradingWith({ clientUrl: 'http://no-such-host.invalid' }))).toEqual(notSent())
  })

  it('the other side speaks no TLS, or hangs up in its handshake', async () => {
    for (const onData of [(socket: net.Socket) => socket.end('hello'), (socket: net.Socket) => socket.resetAndDestroy()]) {
      const port = await listen(net.createServer((socket) => socket.once('data', () => onData(socket))))
      expect(await place(tradingWith({ clientUrl: `https://127.0.0.1:${port}` }))).toEqual(notSent())
    }
  })

  it('the other side is not who it should be, and gets to read nothing', async () => {
    let read = 0
    const server = tls.createServer(selfSigned, (socket) => void socket.on('data', (bytes) => (read += bytes.length)))
    server.on('tlsClientError', () => undefined)
    expect(await place(tradingWith({ clientUrl: `https://127.0.0.1:${await listen(server)}` }))).toEqual(notSent())
    expect(read).toBe(0)
  })
})

describe('an order may have been executed where the other side', () => {
  it.each<readonly [string, (socket: net.Socket) => void]>([
    ['hangs up as soon as it has accepted', (socket) => socket.end()],
    ['resets after the first bytes', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
    ['hangs up after the first bytes', (socket) => void socket.once('data', () => socket.end())],
    ['never answers', () => undefined],
    ['answers with something that is not HTTP', (socket) => void socket.once('data', () => socket.end('220 ready\r\n'))],
    ['answers half a head', (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-le'))],
    [
      'answers half a body',
      (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"numericCode":10009}')),
    ],
    [
      'answers half a body and says nothing more',
      (socket) => void socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"numericCode":10009}')),
    ],
    [
      'breaks off a body in chunks',
      (socket) =>
        void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n15\r\n{"numericCode":10009}\r\n')),
    ],
    [
      'changes to another protocol',
      (socket) =>
        void socket.once('data', () => socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')),
    ],
    [
      'answers more than an answer holds',
      (socket) => void socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n\r\n${' '.repeat(70_000)}{"numericCode":10009}`)),
    ],
  ])('%s; it is sent once', async (_, onConnection) => {
    const { seen, trading } = await serve(onConnection)
    expect(await place(trading({ tradeMs: 2_000 }))).toEqual(unknown)
    // Long enough for a second try, were there one.
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(seen.connections).toBe(1)
    expect(seen.requests).toBeLessThanOrEqual(1)
  })
})

describe('a connection', () => {
  it('that is reset as soon as it is accepted leaves open what happened, or has carried nothing', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { seen, trading } = await serve((socket) => socket.resetAndDestroy())
      const answer = await place(trading({ tradeMs: 2_000 }))
      expect(answer).toEqual(seen.bytes > 0 || answer.kind === 'unknown' ? unknown : notSent())
      expect(seen.connections).toBe(1)
    }
  })

  it("is an order's own: the next one does not meet one that the other side has given up", async () => {
    const { seen, trading } = await serve((socket) => {
      socket.once('data', () => {
        const body = '{"numericCode":10019,"stringCode":"TRADE_RETCODE_NO_MONEY","message":"No money"}'
        socket.write(`HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
        // As a server does whose time to keep a connection is over.
        socket.once('data', () => socket.resetAndDestroy())
      })
    })
    const one = trading()
    for (let sent = 0; sent < 3; sent += 1) expect(await place(one)).toMatchObject({ kind: 'refused' })
    expect(seen).toMatchObject({ connections: 3, requests: 3 })
  })

  it('is closed once the answer is there, and nothing is left running', async () => {
    let closed = 0
    const { trading } = await serve((socket) => {
      socket.on('close', () => (closed += 1))
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'))
    })
    expect(await place(trading())).toEqual(unknown)
    await expect.poll(() => closed).toBe(1)
  })
})

interface Received {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: unknown
}

/** What reaches the provider's host of an order. */
const received = async (sent = order) => {
  const requests: Received[] = []
  const port = await listen(
    http.createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        requests.push({ method, url, headers, body: JSON.parse(text) as unknown })
        response.writeHead(307, { location: `http://127.0.0.1:1/${token}` }).end()
      })
    }),
  )
  const calls: ProviderCall[] = []
  const trading = tradingWith({ clientUrl: `http://127.0.0.1:${port}`, onCall: (call) => calls.push(call) })
  const answer = await trading.placeOrder(account, sent, always)()
  return { answer, requests, calls }
}

describe('the request', () => {
  it('is one POST with the token in its header, and a redirect is not followed', async () => {
    const { answer, requests, calls } = await received()
    expect(answer).toEqual(unknown)
    expect(requests.length).toBe(1)
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: tradePath,
      headers: { 'auth-token': token, accept: 'application/json', 'content-type': 'application/json', connection: 'close' },
      body: { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, stopLoss: 1.05, takeProfit: 1.2, clientId: order.clientId },
    })
    expect(calls).toEqual([{ route: 'trade', outcome: 'unavailable', durationMs: expect.any(Number) }])
    expect(requests[0]?.url).toBe(`${accountPath}/trade`)
  })

  it('holds nothing of an order that the provider does not need', async () => {
    const { stopLoss: _stop, takeProfit: _take, ...plain } = order
    const caller = { ...plain, side: 'sell' as const, comment: 'mine', price: 1.1 }
    const { requests } = await received(caller)
    expect(requests[0]?.body).toEqual({ actionType: 'ORDER_TYPE_SELL', symbol: 'EURUSD', volume: 0.1, clientId: order.clientId })
  })
})
