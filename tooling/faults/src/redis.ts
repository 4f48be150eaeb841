// The run of a Redis that is stopped, killed and frozen under load, with two instances: neither
// refuses what it should let through nor waves through what it should refuse, and the limits are
// shared again by themselves.
import { setTimeout as pause } from 'node:timers/promises'
import { ask, link, newUser, newUsers, startBroker, startFleet } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'
import { checkPassed, freeBucketSize } from './load-check.ts'
import type { Passed } from './load-check.ts'
import { startLoad } from './load.ts'
import { reportLoad, settledOrders } from './outcome.ts'
import { startOwnPostgres, startOwnRedis } from './own-servers.ts'
import type { OwnRedis } from './own-servers.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'

export interface RedisRun {
  readonly seed: number
  readonly outages: number
  /** How soon both instances must know that it is away, and that it is back. */
  readonly withinMs: number
}

const ways = ['stopped', 'killed', 'frozen'] as const
type Way = (typeof ways)[number]

const userCount = 4
const scopes = ['trading:read', 'trading:write', 'accounts:read']
/** A Redis that goes away changes nothing for those who are within their limits. */
const allowed = { order: ['201'], '*': ['200'] }

/** Keys of the free plan, each with a bucket that nobody has touched, for one outage. */
interface Counted {
  readonly before: FaultUser
  readonly across: FaultUser
  readonly during: FaultUser
  readonly after: FaultUser
}

/** @returns whether every promise was kept */
export const runRedis = ({ seed, outages, withinMs }: RedisRun): Promise<boolean> =>
  inRun(async (run) => {
    const random = createRandom(seed)
    const users = newUsers(userCount)
    const counted = Array.from({ length: outages }, (_, index) => countedFor(userCount + 4 * index))
    const all = [...users, ...counted.flatMap((four) => Object.values(four) as FaultUser[])]
    const sandbox = await startBroker(run, seed, all)
    const database = await startOwnPostgres(run)
    const redis = await startOwnRedis(run)
    const fleet = await startFleet(run, {
      databaseUrl: database.url,
      providerUrl: sandbox.url,
      more: { REDIS_URL: redis.url },
    })
    await link(fleet, all, scopes)
    const load = startLoad(fleet, users)
    const broken: string[] = []
    for (const [index, keys] of counted.entries()) {
      await pause(random.whole(500, 1_500))
      broken.push(
        ...(await outage(fleet, redis, ways[index % ways.length] ?? 'stopped', keys, withinMs)),
      )
    }
    await load.stop()
    await load.sendAgain(withinMs)
    const orders = await settledOrders(fleet, users)
    say(
      `seed ${seed}, a Redis and a PostgreSQL server of its own, two instances, ${outages} outages`,
    )
    return [...broken, ...reportLoad(load, allowed, orders, sandbox)]
  })

const countedFor = (index: number): Counted => ({
  before: { ...newUser(index), plan: 'free' },
  across: { ...newUser(index + 1), plan: 'free' },
  during: { ...newUser(index + 2), plan: 'free' },
  after: { ...newUser(index + 3), plan: 'free' },
})

const half = freeBucketSize / 2

const outage = async (
  fleet: Fleet,
  redis: OwnRedis,
  way: Way,
  keys: Counted,
  withinMs: number,
): Promise<readonly string[]> => {
  const instances = fleet.slots.filter((instance) => instance !== null)
  const broken: string[] = []
  const count = (where: string, passed: Passed, atLeast: number, atMost: number): void => {
    say(`  ${where}: ${passed.count} passed in ${Math.round(passed.elapsedMs)} ms`)
    broken.push(...checkPassed(where, passed, atLeast, atMost))
  }
  count(
    'shared, over both instances',
    await untilRefused(instances, keys.before),
    freeBucketSize,
    freeBucketSize,
  )
  const halvedAt = performance.now()
  await askTimes(instances, keys.across, half)

  await takeAway(redis, way)
  const awayAt = performance.now()
  broken.push(...(await standing(instances, 'alone', withinMs)))
  say(`${way}: alone after ${Math.round(performance.now() - awayAt)} ms`)
  for (const [index, instance] of instances.entries()) {
    count(
      `alone, instance ${index + 1}`,
      await untilRefused([instance], keys.during),
      freeBucketSize,
      freeBucketSize,
    )
    const across = await untilRefused([instance], keys.across)
    const elapsedMs = performance.now() - halvedAt
    count(
      `alone from where Redis left off, instance ${index + 1}`,
      { ...across, elapsedMs },
      half,
      half,
    )
  }

  await bringBack(redis, way)
  const backAt = performance.now()
  broken.push(...(await standing(instances, 'shared', withinMs)))
  say(`${way}: shared again after ${Math.round(performance.now() - backAt)} ms`)
  count(
    'shared again, over both instances',
    await untilRefused(instances, keys.after),
    freeBucketSize,
    freeBucketSize,
  )
  return broken
}

const takeAway = async (redis: OwnRedis, way: Way): Promise<void> => {
  if (way === 'frozen') redis.freeze()
  else await redis.stop(way === 'stopped' ? 'fast' : 'immediate')
}

const bringBack = async (redis: OwnRedis, way: Way): Promise<void> => {
  if (way === 'frozen') redis.thaw()
  else await redis.start()
}

const path = '/orders?limit=1'

/** In turn of one instance after the other. */
const untilRefused = async (instances: readonly Instance[], user: FaultUser): Promise<Passed> => {
  const beganAt = performance.now()
  for (let count = 0; ; count += 1) {
    const status = await askOne(instances, user, count)
    if (status === 429) return { count, elapsedMs: performance.now() - beganAt }
    if (status !== 200) throw new Error(`a request that counts was answered with ${status}`)
  }
}

const askTimes = async (
  instances: readonly Instance[],
  user: FaultUser,
  times: number,
): Promise<void> => {
  for (let count = 0; count < times; count += 1) await askOne(instances, user, count)
}

const askOne = async (
  instances: readonly Instance[],
  user: FaultUser,
  turn: number,
): Promise<number | undefined> => {
  const instance = instances[turn % instances.length]
  return instance === undefined ? undefined : (await ask(instance, user, { path }))?.status
}

/** Waits until `/readyz` of every instance says so. */
const standing = async (
  instances: readonly Instance[],
  wanted: string,
  withinMs: number,
): Promise<readonly string[]> => {
  const deadline = performance.now() + withinMs
  for (;;) {
    const told = await Promise.all(instances.map(readiness))
    if (told.every(({ ready, limiter }) => ready && limiter === wanted)) return []
    if (performance.now() > deadline)
      return [
        `/readyz does not say ${wanted} on every instance after ${withinMs} ms: ${JSON.stringify(told)}`,
      ]
    await pause(50)
  }
}

interface Ready {
  readonly ready: boolean
  readonly limiter: string
  readonly failing: readonly string[]
}

const readiness = async ({ apiUrl }: Instance): Promise<Ready> =>
  (await fetch(new URL('/readyz', apiUrl))).json() as Promise<Ready>
