// Redis servers for tests: the one that TEST_REDIS_URL names, under keys of the test's own, and one
// that the test starts, freezes and stops.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@tradeport/testkit'
import { Redis } from 'ioredis'

export const serverUrl = process.env['TEST_REDIS_URL']

export const serverTitle =
  serverUrl === undefined ? 'on a Redis server (TEST_REDIS_URL not set)' : 'on a Redis server'

/** Keys that nobody else uses. */
export const newPrefix = () => `tradeport-test-${randomBytes(6).toString('hex')}:`

export const removeKeys = async (prefix: string) => {
  const redis = new Redis(serverUrl ?? '')
  try {
    for await (const keys of redis.scanStream({
      match: `${prefix}*`,
      count: 1_000,
    }) as AsyncIterable<string[]>)
      if (keys.length > 0) await redis.unlink(...keys)
  } finally {
    redis.disconnect()
  }
}

export const isInstalled = spawnSync('redis-server', ['--version']).status === 0

/** On a free port of this machine, with nothing kept on disk. */
export const startOwnServer = async () => {
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async () => {
    child = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    )
    await answering(port)
  }
  const stop = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    /** Ends it at once; what it held is gone. */
    stop,
    /** What it held is gone, the script included, and its connections are not. */
    empty: async () => {
      const redis = new Redis(port)
      await redis.flushall()
      await redis.script('FLUSH')
      redis.disconnect()
    },
    [Symbol.asyncDispose]: stop,
    /** It keeps its connections and answers nothing until it is thawed. */
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
  }
}

const answering = async (port: number) => {
  const redis = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  })
  redis.on('error', () => undefined)
  try {
    while ((await redis.ping().catch(() => '')) !== 'PONG') await pause(50)
  } finally {
    redis.disconnect()
  }
}
