// Keys of one's own on the Redis server that TEST_REDIS_URL names, behind a line that a test can cut.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { Redis } from 'ioredis'

export const redisUrl = process.env['TEST_REDIS_URL']

export interface RedisSpace {
  readonly url: string
  /** Hangs up on everybody and takes no new connection. */
  readonly cut: () => Promise<void>
  readonly mend: () => Promise<void>
  /** Removes what was written. */
  readonly close: () => Promise<void>
}

export const createRedisSpace = async (): Promise<RedisSpace> => {
  const prefix = `tradeport-test-${randomBytes(6).toString('hex')}:`
  const server = new URL(redisUrl ?? '')
  const line = await startLine(server.hostname, Number(server.port === '' ? 6_379 : server.port))
  const url = new URL(server)
  url.host = `127.0.0.1:${line.port}`
  url.searchParams.set('keyPrefix', prefix)
  return {
    url: url.href,
    cut: line.cut,
    mend: line.mend,
    close: async () => {
      await line.cut()
      await removeKeys(prefix)
    },
  }
}

const removeKeys = async (prefix: string): Promise<void> => {
  const redis = new Redis(redisUrl ?? '')
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 }) as AsyncIterable<string[]>)
      if (keys.length > 0) await redis.unlink(...keys)
  } finally {
    redis.disconnect()
  }
}

interface Line {
  readonly port: number
  readonly cut: () => Promise<void>
  readonly mend: () => Promise<void>
}

/** Passes bytes on to the server, both ways. */
const startLine = async (host: string, port: number): Promise<Line> => {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host, port, noDelay: true })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      keep(one)
      one.pipe(other)
      one.on('close', () => other.destroy())
    }
  })
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const own = (server.address() as AddressInfo).port
  return {
    port: own,
    cut: async () => {
      if (!server.listening) return
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
    mend: () => listen(own),
  }
}
