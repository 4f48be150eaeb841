// A trade whose time to be sent is over is not sent: asked before the connection is made and again once it stands, over real sockets.
import * as E from 'fp-ts/lib/Either.js'
import * as http from 'node:http'
import * as net from 'node:net'
import type { AddressInfo } from 'node:net'
import * as tls from 'node:tls'
import nock from 'nock'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, it } from 'vitest'
import { brokerUnavailable } from '@tradeport/domain'
import type { MaySend } from '@tradeport/domain'
import { createMetaApi } from '../../src/index.ts'
import type { MetaApiConfig } from '../../src/index.ts'
import { writes } from '../positions/desk-support.ts'
import { account } from '../support.ts'
import { always, configOf, notSent, order } from './order-support.ts'

// The sockets of nock are open from the start; these tests need the real ones.
nock.restore()

const extensions = [{ name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'localhost' }] }]
const made = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  curve: 'P-256',
  algorithm: 'sha256',
  extensions,
})
tls.setDefaultCACertificates([...tls.getCACertificates('default'), made.cert])

const servers: net.Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const answer = '{"numericCode":10019,"stringCode":"TRADE_RETCODE_NO_MONEY","message":"No money"}'

/** Counts the connections, and those on which anything of a request came; answers each request with a refusal. */
const serve = async (protocol: 'http' | 'https') => {
  const seen = { connections: 0, requests: 0 }
  const onSocket = (socket: net.Socket): void => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      seen.requests += 1
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`)
    })
  }
  const server = protocol === 'http' ? net.createServer(onSocket) : tls.createServer({ key: made.private, cert: made.cert }, onSocket)
  server.on('connection', () => (seen.connections += 1))
  server.on('tlsClientError', () => undefined)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return { seen, url: `${protocol}://localhost:${(server.address() as AddressInfo).port}` }
}

/** True so many times, then false. */
const timesTrue = (times: number) => {
  const asked = { count: 0 }
  const maySend: MaySend = () => (asked.count += 1) <= times
  return { asked, maySend }
}

const apiAt = (clientUrl: string, more: Partial<MetaApiConfig> = {}) => createMetaApi(configOf({ clientUrl, ...more }))

/** By the time that it is answered, whatever was sent before it has arrived as well. */
const sendAnother = (url: string) => apiAt(url).trading.placeOrder(account, order, always)()

describe.each(['http', 'https'] as const)('over %s, an order', (protocol) => {
  it('is sent while it may be, and is asked about twice', async () => {
    const { seen, url } = await serve(protocol)
    const { asked, maySend } = timesTrue(2)
    expect(await apiAt(url).trading.placeOrder(account, order, maySend)()).toMatchObject({ kind: 'refused' })
    expect(asked.count).toBe(2)
    expect(seen).toEqual({ connections: 1, requests: 1 })
  })

  it('makes no connection once it may not be sent', async () => {
    const { seen, url } = await serve(protocol)
    expect(await apiAt(url).trading.placeOrder(account, order, () => false)()).toEqual(notSent())
    await sendAnother(url)
    expect(seen).toEqual({ connections: 1, requests: 1 })
  })

  it('writes not a byte where its time is over when the connection stands', async () => {
    const { seen, url } = await serve(protocol)
    const { asked, maySend } = timesTrue(1)
    expect(await apiAt(url).trading.placeOrder(account, order, maySend)()).toEqual(notSent())
    expect(asked.count).toBe(2)
    await sendAnother(url)
    expect(seen).toEqual({ connections: 2, requests: 1 })
  })

  it.each(writes)('and $what write not a byte in the same way, and say that the broker is unavailable', async ({ make }) => {
    const { seen, url } = await serve(protocol)
    const unavailable = E.left(brokerUnavailable(account.accountId, expect.stringContaining('the time to send it was over')))
    expect(await make(apiAt(url).positionDesk, account, timesTrue(1).maySend)).toEqual(unavailable)
    await sendAnother(url)
    expect(seen).toEqual({ connections: 2, requests: 1 })
  })
})

/** A server that accepts connections and says nothing. */
const silent = async (): Promise<string> => {
  const server = http.createServer(() => undefined)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('nothing is sent, and the answer comes in its time, where', () => {
  it('the region of the account does not come', async () => {
    const { trading } = createMetaApi(configOf({ provisioningUrl: await silent(), deadlines: { readMs: 50 } }))
    expect(await trading.placeOrder({ ...account, region: null }, order, always)()).toEqual(notSent())
  })

  it('the token does not come', async () => {
    const { trading } = createMetaApi(configOf({ providerToken: () => () => new Promise(() => undefined), deadlines: { tokenMs: 50 } }))
    expect(await trading.placeOrder(account, order, always)()).toEqual(notSent())
  })

  it('the handshake takes longer than a connection may', async () => {
    const url = (await silent()).replace('http:', 'https:')
    const { trading } = apiAt(url, { deadlines: { connectMs: 50 } })
    expect(await trading.placeOrder(account, order, always)()).toEqual(notSent())
  })
})
