// Keys of a test's own on the Redis server that TEST_REDIS_URL names, behind a proxy that the test can make fail.
import { randomBytes } from 'node:crypto'
import { createTcpProxy } from '@tradeport/testkit'
import { Redis } from 'ioredis'

export const redisUrl = process.env['TEST_REDIS_URL']

export interface RedisSpace {
  readonly url: string
  /** Closes all connections and refuses new ones. */
  readonly cut: () => Promise<void>
  readonly mend: () => Promise<void>
  /** Removes what was written. */
  readonly close: () => Promise<void>
}

export const createRedisSpace = async (): Promise<RedisSpace> => {
  const prefix = `tradeport-test-${randomBytes(6).toString('hex')}:`
  const proxy = await createTcpProxy({ target: redisUrl ?? '' })
  const url = new URL(proxy.url)
  url.searchParams.set('keyPrefix', prefix)
  return {
    url: url.href,
    cut: proxy.refuse,
    mend: proxy.resume,
    close: async () => {
      await proxy.close()
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
