// The runs in which what the service stands on is taken away: its PostgreSQL server, its Redis, and
// the room on its disk.
import { execFile } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { backAfterMs, checkPassed, checkReplies, freeBucketSize } from './checks.ts'
import type { Instance } from './instance.ts'
import { eventually, inRun, say } from './run.ts'
import { startOwnPostgres, startOwnRedis } from './servers.ts'
import { ask, newUsers, running, type FaultUser, type Fleet } from './service.ts'
import { underLoad, type World } from './under-load.ts'

const unavailable = '503 SERVICE_UNAVAILABLE'
const calmReplies = { 'POST /orders': ['201'], '*': ['200'] }

/** Waits until an order is accepted on every instance. */
const acceptsOrders = async (
  { fleet, load }: World,
  what: string,
  within: number,
): Promise<readonly string[]> => {
  const at = performance.now()
  const slots = [...fleet.slots.keys()]
  const backMs = () =>
    slots.map((slot) =>
      backAfterMs(load.replies, at, { what: 'POST /orders', slot, outcome: '201' }),
    )
  await eventually(within * 1_000, () => (backMs().includes(undefined) ? undefined : true))
  const shown = backMs().map((ms) => (ms === undefined ? 'never' : `after ${Math.round(ms)} ms`))
  say(`${what}: orders are accepted again ${shown.join(' and ')}`)
  return backMs().includes(undefined) ? [`${what}: no order within ${within} s`] : []
}

export interface PostgresRun {
  readonly restarts: number
  /** Seconds until writes must succeed once the server accepts connections again. */
  readonly within: number
}

/** In turn `fast` and `immediate`; between two restarts everything must succeed for a while. */
export const runPostgres = (seed: number, { restarts, within }: PostgresRun) =>
  inRun(seed, async (run) => {
    const server = await startOwnPostgres(run)
    // The provider's credentials are in the database.
    const reads = ['200', unavailable, '503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED']
    return underLoad(run, {
      databaseUrl: server.url,
      users: 6,
      receivers: ['fine'],
      allowed: {
        'GET /symbols': ['200'],
        'POST /orders': [
          '201',
          unavailable,
          '503 CHALLENGE_CHECK_UNAVAILABLE',
          '503 LIMIT_CHECK_UNAVAILABLE',
          '409 IDEMPOTENCY_IN_PROGRESS',
        ],
        'POST /positions/{id}/close': [
          ...reads,
          '404 POSITION_NOT_FOUND',
          '409 ORDER_IN_FLIGHT',
          '504 BROKER_OUTCOME_UNKNOWN',
        ],
        '*': reads,
      },
      disturb: async (world) => {
        const broken: string[] = []
        for (let index = 0; index < restarts; index += 1) {
          const calmAt = performance.now()
          await pause(run.random.whole(3_000, 4_000))
          const calm = world.load.replies.filter(
            ({ beganAt, what }) => beganAt >= calmAt && what !== 'POST /positions/{id}/close',
          )
          broken.push(...checkReplies(calm, calmReplies).map((one) => `in calm, ${one}`))
          const mode = index % 2 === 0 ? 'fast' : 'immediate'
          await server.stop(mode)
          await pause(index % 3 === 2 ? run.random.whole(3_000, 6_000) : run.random.whole(0, 1_000))
          await server.start()
          broken.push(...(await acceptsOrders(world, `restart ${index + 1} (${mode})`, within)))
          await pause(within * 100)
        }
        return broken
      },
    })
  })

export interface RedisRun {
  readonly outages: number
  /** Seconds until both instances must know that Redis is away, and that it is back. */
  readonly within: number
}

const half = freeBucketSize / 2

/**
 * Keys of the free plan are used until they are refused: over both instances while Redis works, on
 * each by itself while it does not, and over both again afterwards.
 */
export const runRedis = (seed: number, { outages, within }: RedisRun) =>
  inRun(seed, async (run) => {
    const keysOf = Array.from({ length: outages }, () => newUsers(4, () => ({ plan: 'free' })))
    const database = await startOwnPostgres(run)
    const redis = await startOwnRedis(run)
    const ways = [
      { name: 'stopped', start: () => redis.stop('fast'), end: redis.start },
      { name: 'killed', start: () => redis.stop('immediate'), end: redis.start },
      {
        name: 'frozen',
        start: async () => redis.signal('SIGSTOP'),
        end: async () => redis.signal('SIGCONT'),
      },
    ]
    return underLoad(run, {
      databaseUrl: database.url,
      users: 4,
      quietUsers: keysOf.flat(),
      environment: { REDIS_URL: redis.url },
      // Nobody within the limits notices anything.
      allowed: {
        'POST /positions/{id}/close': ['200', '404 POSITION_NOT_FOUND', '409 ORDER_IN_FLIGHT'],
        ...calmReplies,
      },
      disturb: async ({ fleet }) => {
        const broken: string[] = []
        const all = running(fleet)
        const count = async (
          where: string,
          instances: readonly Instance[],
          key: FaultUser | undefined,
          bucket = freeBucketSize,
          since = performance.now(),
        ): Promise<void> => {
          const passed = await countPassed(instances, key)
          say(`  ${where}: ${passed} passed`)
          broken.push(...checkPassed(where, passed, performance.now() - since, bucket))
        }
        for (const [index, [before, halved, during, after]] of keysOf.entries()) {
          const way = ways[index % ways.length]
          await pause(run.random.whole(500, 1_500))
          await count('shared', all, before)
          const halvedAt = performance.now()
          await countPassed(all, halved, half)
          await way?.start()
          broken.push(...(await limiterIs(fleet, 'alone', `Redis is ${way?.name}`, within)))
          for (const instance of all) {
            await count('alone', [instance], during)
            await count('alone, with half of a bucket', [instance], halved, half, halvedAt)
          }
          await way?.end()
          broken.push(...(await limiterIs(fleet, 'shared', 'Redis is back', within)))
          await count('shared again', all, after)
        }
        return broken
      },
    })
  })

/** How many requests pass, of one instance after the other, until one is refused. */
const countPassed = async (
  instances: readonly Instance[],
  key: FaultUser | undefined,
  most = Infinity,
): Promise<number> => {
  for (let count = 0; ; count += 1) {
    const instance = instances[count % instances.length]
    if (instance === undefined || key === undefined || count >= most) return count
    const { status, outcome } = await ask(instance, key, { path: '/orders?limit=1' })
    if (status === 429) return count
    if (status !== 200) throw new Error(`a request that counts was answered with ${outcome}`)
  }
}

/** Waits until `/readyz` of every instance says so. */
const limiterIs = async (
  fleet: Fleet,
  wanted: string,
  why: string,
  within: number,
): Promise<readonly string[]> => {
  const startedAt = performance.now()
  const isSo = await eventually(within * 1_000, async () => {
    const answers = await Promise.all(
      running(fleet).map(async ({ apiUrl }) => (await fetch(new URL('/readyz', apiUrl))).json()),
    )
    const all = answers as readonly { readonly ready: boolean; readonly limiter: string }[]
    return all.every(({ ready, limiter }) => ready && limiter === wanted) ? true : undefined
  })
  say(`${why}: limits are ${wanted} after ${Math.round(performance.now() - startedAt)} ms`)
  return isSo ? [] : [`${why}: /readyz does not say ${wanted} on every instance in ${within} s`]
}

export interface DiskRun {
  /** How often the disk is filled; the last time the service is killed and started again. */
  readonly fills: number
  /** Seconds until writes must succeed once there is room again. */
  readonly within: number
}

const diskMb = 400
const fullMs = 6_000
const advice = 'free space on it'

/** The embedded database on a disk of its own, which only root may mount. */
export const runDisk = (seed: number, { fills, within }: DiskRun) =>
  inRun(seed, async (run) => {
    const disk = join(run.folder, 'disk')
    await mkdir(disk)
    const execute = promisify(execFile)
    const options = ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', disk]
    const mounted = await execute('mount', options).catch(() => undefined)
    if (mounted === undefined) {
      say('left out: only root can mount a disk here, and not in every container')
      return []
    }
    run.closeLater(() => execute('umount', [disk]))
    const reads = ['200', unavailable, '503 ACCOUNT_DISCONNECTED']
    return underLoad(run, {
      databaseUrl: null,
      users: 3,
      dataFolder: join(disk, 'data'),
      // What must be written is refused, and with it the reads that record something.
      allowed: {
        'POST /orders': ['201', unavailable, '409 IDEMPOTENCY_IN_PROGRESS'],
        'POST /positions/{id}/close': [...reads, '404 POSITION_NOT_FOUND', '409 ORDER_IN_FLIGHT'],
        'GET /symbols': ['200'],
        'GET /positions': ['200'],
        '*': reads,
      },
      disturb: async (world) => {
        const { fleet } = world
        const broken: string[] = []
        await pause(2_000)
        for (let index = 1; index <= fills; index += 1) {
          const leftKb = run.random.whole(0, 4_000)
          const free = fillDisk(disk, leftKb)
          await pause(fullMs)
          if (fleet.slots[0]?.logged().includes(advice) !== true)
            broken.push('the log does not say that the disk is full, and what to do')
          if (index === fills) broken.push(...(await killOnFullDisk(fleet)))
          free()
          fleet.slots[0] ??= await fleet.start()
          broken.push(...(await acceptsOrders(world, `fill ${index}, to ${leftKb} kB`, within)))
        }
        return broken
      },
    })
  })

/** @returns what frees the disk again */
const fillDisk = (disk: string, leftKb: number): (() => void) => {
  const path = join(disk, 'filler')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4 * 1_024)
  try {
    const { bavail, bsize } = statfsSync(disk)
    for (let left = bavail * bsize - leftKb * 1_024; left > 0; left -= block.length)
      writeSync(file, block)
  } finally {
    closeSync(file)
  }
  return () => rmSync(path, { force: true })
}

/** A start on the full disk must end with a sentence. */
const killOnFullDisk = async (fleet: Fleet): Promise<readonly string[]> => {
  const [instance] = fleet.slots
  fleet.slots[0] = null
  await instance?.end('SIGKILL')
  const ended = await fleet.start().then(
    (started) => started.end('SIGKILL').then(() => 'it started'),
    (error: unknown) => String(error),
  )
  return ended.includes(advice)
    ? []
    : [`a start on the full disk did not end with what to do: ${ended.slice(0, 500)}`]
}
