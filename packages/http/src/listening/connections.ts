// The connections of a server and how far each is, so that it can end: every request that was taken is answered, its reply is written to the end, and nobody who
// sends nothing is waited for.
import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Connection {
  /** The last reply: since they leave in the order of their requests, all are sent when it is. */
  last: ServerResponse | undefined
  /** What was no request is to be answered once the last reply is sent. */
  isRefusalDue: boolean
}

export interface Connections {
  readonly of: (socket: Duplex) => Connection
  /**
   * Takes no new connection and waits for the others to end, each after its replies.
   * @returns how many were cut off because that took longer than `patienceMs`
   */
  readonly end: (patienceMs: number) => Promise<number>
}

interface Tracked extends Connection {
  /** The bytes read when it was seen to rest. */
  restedAt: number | undefined
}

const sweepMs = 50

export const trackConnections = (server: Server): Connections => {
  const tracked = new Map<Duplex, Tracked>()
  server.on('connection', (socket: Duplex) => {
    tracked.set(socket, newConnection())
    socket.once('close', () => tracked.delete(socket))
  })

  // Seen at rest twice, with nothing read between: a request may be on its way to a connection that was just taken.
  const sweep = (): void => {
    for (const [socket, connection] of tracked) {
      if (!isAtRest(socket, connection)) continue
      const { bytesRead } = socket as Duplex & { readonly bytesRead: number }
      if (connection.restedAt === bytesRead) socket.destroy()
      connection.restedAt = bytesRead
    }
  }

  return {
    // Of one that is closed nothing has to be kept.
    of: (socket) => tracked.get(socket) ?? newConnection(),
    end: async (patienceMs) => {
      const sweeping = setInterval(sweep, sweepMs)
      let cut = 0
      const patience = setTimeout(() => {
        cut = tracked.size
        server.closeAllConnections()
      }, patienceMs)
      try {
        await stopTaking(server)
      } finally {
        clearInterval(sweeping)
        clearTimeout(patience)
      }
      return cut
    },
  }
}

const newConnection = (): Tracked => ({ last: undefined, isRefusalDue: false, restedAt: undefined })

const isAtRest = (socket: Duplex, { last, isRefusalDue }: Tracked): boolean =>
  (last === undefined || last.writableFinished) && !isRefusalDue && socket.writableLength === 0

// The server's own `close` would look no more at how long requests take to arrive, and cut replies off that are ended and not yet sent. It has its turn when
// there is no connection left, and says then that the server is closed.
const stopTaking = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => server.close(() => resolve()))
  })
