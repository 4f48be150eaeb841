// A TLS receiver on loopback whose answers a test writes to the raw socket.
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import type { Certificate } from '@tradeport/testkit/certificates'

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export interface ReceiverOptions {
  readonly certificate: Certificate
  /** Called when the body of a request begins to arrive. */
  readonly onRequest?: (socket: Socket) => void
  /** When the handshake begins; never if null. */
  readonly handshakeAfterMs?: number | null
}

export const answering =
  (head: string, body = '') =>
  (socket: Socket) =>
    void socket.end(
      `HTTP/1.1 ${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )

export const startReceiver = async (options: ReceiverOptions) => {
  const { certificate, onRequest = answering('200 OK'), handshakeAfterMs = 0 } = options
  const received: string[] = []
  const serverNames: (string | false | null)[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const secured = tls.createServer(certificate)
  const server = net.createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    if (handshakeAfterMs !== null)
      setTimeout(() => secured.emit('connection', socket), handshakeAfterMs)
  })
  secured.on('tlsClientError', () => undefined)
  secured.on('secureConnection', (socket) => {
    const index = received.push('') - 1
    serverNames.push(socket.servername)
    socket.on('error', () => undefined)
    let isAnswered = false
    socket.on('data', (chunk: Buffer) => {
      received[index] += chunk.toString('latin1')
      if (isAnswered || !received[index]?.includes('\r\n\r\n{')) return
      isAnswered = true
      onRequest(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    /** What was received over TLS, one text for each connection. */
    received: () => received,
    /** The requested name of each connection; false for none. */
    serverNames: () => serverNames,
    /** Connections that are still open. */
    open: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
