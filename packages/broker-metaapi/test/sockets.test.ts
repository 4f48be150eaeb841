// Connections that break, hang or never end, over real sockets: a trade was certainly not sent only
// if its connection broke before it was open, and everything ends within its deadline.
import * as http from 'node:http'
import * as net from 'node:net'
import type { AddressInfo } from 'node:net'
import * as tls from 'node:tls'
import nock from 'nock'
import { createCertificate } from '@tradeport/testkit/certificates'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { MetaApiConfig } from '../src/index.ts'
import { account, apiWith, everWindow, notSent, place, reasonOf, unknown } from './support.ts'

// The sockets of nock are open from the start; these tests need the real ones.
nock.restore()

const open: net.Server[] = []
const sockets = new Set<net.Socket>()
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of open) server.close()
})

const listen = async (server: net.Server) => {
  open.push(server)
  server.on('connection', (socket) => {
    sockets.add(socket)
    // The test resets connections, at either end.
    socket.on('error', () => undefined)
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return (server.address() as AddressInfo).port
}

const [trusted, stranger] = await Promise.all([createCertificate(), createCertificate()])
tls.setDefaultCACertificates([...tls.getCACertificates('default'), trusted.cert])

/** A server with any behaviour; counts its connections, requests and bytes. */
const serve = async (onConnection: (socket: net.Socket) => void, certificate?: typeof trusted) => {
  const seen = { connections: 0, requests: 0, bytes: 0 }
  const onSocket = (socket: net.Socket) => {
    socket.on('data', (bytes) => {
      seen.bytes += bytes.length
      if (bytes.toString().startsWith('POST ')) seen.requests += 1
    })
    onConnection(socket)
  }
  const server = certificate ? tls.createServer(certificate, onSocket) : net.createServer(onSocket)
  server.on('connection', () => (seen.connections += 1))
  const url = `${certificate ? 'https' : 'http'}://localhost:${await listen(server)}`
  return {
    seen,
    url,
    api: (more: Partial<MetaApiConfig> = {}) => apiWith({ clientUrl: url, ...more }),
  }
}

const once = (answer: (socket: net.Socket) => void) => (socket: net.Socket) =>
  void socket.once('data', () => answer(socket))
const saying = (text: string) => once((socket) => void socket.end(text))
const refusal = '{"numericCode":10019,"stringCode":"TRADE_RETCODE_NO_MONEY","message":"No money"}'
const refusing = saying(`HTTP/1.1 200 OK\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`)
const done = '{"numericCode":10009}'
const silent = () => undefined

describe('a trade is certainly not sent if', () => {
  it.each<readonly [string, (port: number) => string]>([
    ['nobody listens', () => 'http://127.0.0.1:1'],
    ['the host has no address', () => 'http://no-such-host.invalid'],
    ['the other side speaks no TLS', (port) => `https://localhost:${port}`],
  ])('%s', async (_, urlAt) => {
    const port = await listen(
      net.createServer((socket) => socket.once('data', () => socket.end('hello'))),
    )
    expect(await place(apiWith({ clientUrl: urlAt(port) }))).toEqual(notSent())
  })

  it('the other side hangs up in the handshake or has another certificate', async () => {
    const port = await listen(net.createServer(once((socket) => socket.resetAndDestroy())))
    expect(await place(apiWith({ clientUrl: `https://localhost:${port}` }))).toEqual(notSent())
    const { api, seen } = await serve(silent, stranger)
    expect(await place(api())).toEqual(notSent())
    expect(seen.bytes).toBe(0)
  })

  it('its token, its region or its handshake is too late', async () => {
    const { url } = await serve(silent)
    const late = {
      providerToken: () => () => new Promise<never>(() => undefined),
      deadlines: { tokenMs: 50 },
    }
    expect(await place(apiWith(late))).toEqual(notSent(null, 'token_unreadable'))
    expect(
      await place(apiWith({ provisioningUrl: url, deadlines: { readMs: 50 } }), {
        ...account,
        region: null,
      }),
    ).toEqual(notSent())
    expect(
      await place(
        apiWith({ clientUrl: url.replace('http:', 'https:'), deadlines: { connectMs: 50 } }),
      ),
    ).toEqual(notSent())
  })
})

describe.concurrent('a trade may have been executed if the other side', () => {
  it.each([
    ['hangs up as soon as it has accepted', (socket) => void socket.end()],
    ['resets after the first bytes', once((socket) => socket.resetAndDestroy())],
    ['hangs up after the first bytes', once((socket) => void socket.end())],
    ['never answers', silent],
    ['answers with something that is not HTTP', saying('220 ready\r\n')],
    ['answers half a head', saying('HTTP/1.1 200 OK\r\ncontent-le')],
    ['answers half a body', saying(`HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n${done}`)],
    [
      'answers half a body and hangs',
      once((socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n${done}`)),
    ],
    [
      'breaks off a body in chunks',
      saying(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n15\r\n${done}\r\n`),
    ],
    [
      'changes to another protocol',
      saying('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    [
      'answers more than an answer holds',
      saying(`HTTP/1.1 200 OK\r\n\r\n${' '.repeat(70_000)}${done}`),
    ],
    [
      'points elsewhere',
      saying('HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\n\r\n'),
    ],
  ])('%s; it is sent once', async (_, onConnection) => {
    const { seen, api } = await serve(onConnection)
    expect(await place(api({ deadlines: { tradeMs: 2_000 } }))).toEqual(unknown)
    // Long enough for a second try, were there one.
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect([seen.connections, seen.requests <= 1]).toEqual([1, true])
  })
})

it("a connection is a trade's own, and closed after its answer", async () => {
  let closed = 0
  const { seen, api } = await serve((socket) => {
    socket.on('close', () => (closed += 1))
    const keep = `HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`
    // As a server does whose time to keep a connection is over.
    socket.once('data', () => {
      socket.write(keep)
      socket.once('data', () => socket.resetAndDestroy())
    })
  })
  const one = api()
  for (let sent = 0; sent < 3; sent += 1)
    expect(await place(one)).toMatchObject({ kind: 'refused' })
  expect(seen).toMatchObject({ connections: 3, requests: 3 })
  await expect.poll(() => closed).toBe(3)
})

/** True so many times, then false. */
const timesTrue = (times: number) => {
  const asked = { count: 0 }
  const maySend = () => (asked.count += 1) <= times
  return { asked, maySend }
}

describe.each([
  ['http', undefined],
  ['https', trusted],
])('over %s, permission to send is checked', (_, certificate) => {
  it.each([
    [2, 'refused', { connections: 1, requests: 1 }],
    // A second trade follows: by the time that it is answered, whatever was sent before it has
    // arrived as well.
    [1, 'not_sent', { connections: 2, requests: 1 }],
    [0, 'not_sent', { connections: 1, requests: 1 }],
  ])(
    'before dialling and before the first byte; granted %i times, the order is %s',
    async (times, kind, counts) => {
      const { seen, api } = await serve(refusing, certificate)
      const { asked, maySend } = timesTrue(times)
      expect(await place(api(), account, maySend)).toMatchObject({ kind })
      expect(asked.count).toBe(Math.min(2, times + 1))
      if (times < 2) await place(api())
      expect(seen).toMatchObject(counts)
    },
  )
})

const brokerAt = async (
  listener: http.RequestListener,
  deadlines: MetaApiConfig['deadlines'] = {},
) =>
  apiWith({ clientUrl: `http://localhost:${await listen(http.createServer(listener))}`, deadlines })
    .broker
const deadlines = { shortReadMs: 500, readMs: 700 }

describe.concurrent('a read', () => {
  it.each<[string, http.RequestListener]>([
    ['is not answered', silent],
    [
      'drips',
      (_, response) => {
        const drip = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('that %s ends at its deadline, with its connection', async (_, listener) => {
    let closed = 0
    const broker = await brokerAt((request, response) => {
      request.socket.on('close', () => (closed += 1))
      listener(request, response)
    }, deadlines)
    expect(reasonOf(await broker.positions(account)())).toBe(
      'positions: no complete response within 700 ms, including the time queued behind other requests of the token',
    )
    expect(
      reasonOf(await broker.accountInformation({ ...account, providerAccountId: 'b' })()),
    ).toBe(
      'account-information: no complete response within 500 ms, including the time queued behind other requests of the token',
    )
    expect(
      reasonOf(await broker.dealsPage({ ...account, providerAccountId: 'c' }, everWindow)()),
    ).toBe(
      'history-deals: no complete response within 700 ms, including the time queued behind other requests of the token',
    )
    const margin = { symbol: 'EURUSD', side: 'buy', volume: 1, openPrice: 1 } as const
    expect(
      reasonOf(await broker.requiredMargin({ ...account, providerAccountId: 'd' }, margin)()),
    ).toContain('calculate-margin: no complete response within 500 ms')
    await vi.waitFor(() => expect(closed).toBe(4), 60_000)
  })

  it('ends at its deadline if the token is late or a retry would be', async () => {
    const { broker } = apiWith({
      deadlines,
      providerToken: () => () => new Promise(() => undefined),
    })
    expect(reasonOf(await broker.accountInformation(account)())).toBe(
      'account-information: no complete response within 500 ms, including the time queued behind other requests of the token',
    )
    // Before it would be sent again, a tenth of a second after the first response; which is the
    // last one where it takes half of the time.
    const failing = await brokerAt((_, response) => void response.writeHead(500).end(), {
      shortReadMs: 100,
    })
    expect(reasonOf(await failing.accountInformation(account)())).toMatch(
      /^account-information: (no complete response within 100 ms|answered 500)/,
    )
  })

  it('that waited for the token for half of its time is not sent, and does not pause its account', async () => {
    const answerMs = [500, 0]
    const server = http.createServer((_, response) => {
      setTimeout(() => response.end('["EURUSD"]'), answerMs.shift())
    })
    const clientUrl = `http://localhost:${await listen(server)}`
    const { marketData } = apiWith({ clientUrl, deadlines, limits: { readsAtOnce: 1 } })
    const first = marketData.symbols({ ...account, providerAccountId: 'b' })()
    expect(reasonOf(await marketData.symbols(account)())).toBe(
      'nothing was sent: it was queued too long behind other requests of the token',
    )
    await first
    expect(await marketData.symbols(account)()).toMatchObject({ right: ['EURUSD'] })
    expect(answerMs).toEqual([])
  })

  it('that is too long is not read to its end', async () => {
    let sent = 0
    const broker = await brokerAt((_, response) => {
      const chunk = Buffer.alloc(1_048_576, ' ')
      const more = () => {
        while (!response.destroyed && sent < 200) {
          sent += 1
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    expect(reasonOf(await broker.positions(account)())).toBe(
      'positions: answered with more than 16777216 bytes',
    )
    expect(sent).toBeLessThan(60)
  })

  it('that is refused for now is not retried, though the refusal breaks off', async () => {
    let asked = 0
    const broker = await brokerAt((_, response) => {
      asked += 1
      response.writeHead(429, { 'retry-after': '7', 'content-length': 100 }).write('{')
      setTimeout(() => response.destroy(), 10)
    })
    expect(await broker.positions(account)()).toMatchObject({
      left: { _tag: 'BrokerRateLimited', retryAfterSeconds: 7 },
    })
    expect(asked).toBe(1)
  })

  it('that breaks off is retried once', async () => {
    let asked = 0
    const broker = await brokerAt((_, response) => {
      asked += 1
      response.writeHead(200, { 'content-length': 100 }).write('[')
      setTimeout(() => response.destroy(), 10)
    })
    expect(reasonOf(await broker.positions(account)())).toMatch(/^positions: no connection \(/)
    expect(asked).toBe(2)
  })
})
