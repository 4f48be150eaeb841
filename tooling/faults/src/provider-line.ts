// The way to the simulated provider, which can be taken away: whoever connects is refused, or is taken and never answered.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface ProviderLine {
  readonly url: string
  /** Nothing listens any more, and who was connected is hung up on. */
  readonly refuse: () => Promise<void>
  /** Connections stand, and nothing comes through in either direction. */
  readonly hang: () => Promise<void>
  readonly mend: () => Promise<void>
  readonly close: () => Promise<void>
}

export const openProviderLine = async (providerUrl: string): Promise<ProviderLine> => {
  const upstreamPort = Number(new URL(providerUrl).port)
  const sockets = new Set<Socket>()
  let isHanging = false
  const keep = (socket: Socket, onEnd: () => void): Socket => {
    sockets.add(socket)
    socket.on('error', onEnd)
    return socket.on('close', () => {
      sockets.delete(socket)
      onEnd()
    })
  }
  const server = createServer((client) => {
    if (isHanging) return void keep(client, () => client.destroy()).resume()
    const upstream = connect(upstreamPort, '127.0.0.1')
    keep(client, () => upstream.destroy())
    keep(upstream, () => client.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await listen(server, 0)
  const { port } = server.address() as AddressInfo

  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const refuse = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    hangUp()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}`,
    refuse,
    hang: async () => {
      isHanging = true
      if (!server.listening) await listen(server, port)
      for (const socket of sockets) socket.unpipe().pause()
    },
    mend: async () => {
      isHanging = false
      hangUp()
      if (!server.listening) await listen(server, port)
    },
    close: refuse,
  }
}

const listen = async (server: Server, port: number): Promise<void> => {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}
