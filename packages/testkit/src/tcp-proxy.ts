// A TCP proxy in front of a server, for tests of networks that fail, and a port for a server.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

const defaultPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'postgres:': 5_432,
  'postgresql:': 5_432,
  'redis:': 6_379,
}

/** A port of 127.0.0.1 on which nothing listens now. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/**
 * @param target URL of the server
 * @param onChunk called with each chunk before it is passed on. A proxy that is made to fail in
 * here does not pass it on.
 */
export const createTcpProxy = async ({
  target,
  onChunk = () => undefined,
}: {
  readonly target: string
  readonly onChunk?: (from: 'client' | 'server', chunk: Buffer) => void
}) => {
  const { hostname, port, protocol } = new URL(target)
  const sockets = new Set<Socket>()
  const lost = new WeakSet<Socket>()
  let mode: 'pass' | 'stall' | 'lose' = 'pass'

  const relay = (from: Socket, to: Socket, side: 'client' | 'server') => {
    sockets.add(from)
    if (mode === 'stall') from.pause()
    if (mode === 'lose') lost.add(from)
    from.on('data', (chunk) => {
      if (lost.has(from)) return
      onChunk(side, chunk)
      if (!lost.has(from) && !to.destroyed) to.write(chunk)
    })
    from.on('end', () => {
      if (!lost.has(from)) to.end()
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      sockets.delete(from)
      if (!lost.has(from)) to.destroy()
    })
  }

  // An end that closes its half must not be answered by this proxy when the other end cannot know
  // of it.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({
      host: hostname,
      port: Number(port) || (defaultPorts[protocol] ?? 0),
      allowHalfOpen: true,
      noDelay: true,
    })
    relay(client, upstream, 'client')
    relay(upstream, client, 'server')
  })
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port: ownPort } = server.address() as AddressInfo
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(ownPort)

  const refuse = async () => {
    for (const socket of sockets) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  return {
    /** The target's URL with the proxy's address, as written by the caller: without a new slash. */
    url: target.endsWith('/') ? url.href : url.href.replace(/\/$/, ''),
    /**
     * Connections stay open and nothing passes until `resume()`, which delivers what was sent
     * meanwhile.
     */
    stall: () => {
      mode = 'stall'
      for (const socket of sockets) socket.pause()
    },
    /**
     * What is sent on existing connections is lost for ever, and so is the news that an end has
     * closed. Until `resume()` new connections are lost too.
     */
    blackHole: () => {
      mode = 'lose'
      for (const socket of sockets) {
        lost.add(socket)
        socket.resume()
      }
    },
    /** Closes all connections and refuses new ones. */
    refuse,
    /** Works again, on the same port. Connections that were lost to a black hole stay lost. */
    resume: async () => {
      mode = 'pass'
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen(ownPort)
    },
    close: refuse,
  }
}
