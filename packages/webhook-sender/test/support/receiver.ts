// A receiver on loopback that speaks TLS and then does what the test says with the raw socket, and
// counts everything that comes.
import { once } from 'node:events'
import net from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import tls from 'node:tls'
import type { Certificate } from './certificates.ts'

export interface Receiver extends AsyncDisposable {
  readonly port: number
  /** Connections, whatever became of them. */
  readonly connections: () => number
  /** What was received over TLS, one text for each connection that was made. */
  readonly received: () => readonly string[]
  /** The name that each connection asked for; false where it asked for none. */
  readonly serverNames: () => readonly (string | false | null)[]
  /** Connections that are still open. */
  readonly open: () => number
}

export interface ReceiverOptions {
  readonly certificate: Certificate
  /** Called when a request's body has arrived, as far as one came at once. */
  readonly onRequest?: (socket: Socket) => void
  /** How long the handshake is kept waiting; for ever where it is null. */
  readonly handshakeAfterMs?: number | null
}

export const answering =
  (head: string, body = '') =>
  (socket: Socket) =>
    void socket.end(
      `HTTP/1.1 ${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )

export const startReceiver = async (options: ReceiverOptions): Promise<Receiver> => {
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
    received: () => received,
    serverNames: () => serverNames,
    open: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
