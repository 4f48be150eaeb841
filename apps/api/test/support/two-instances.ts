// Two instances of a service on one database and one Redis of their own, behind proxies that send every request to the next of them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../src/config.ts'
import type { Service } from '../../src/service.ts'
import { createRedisSpace, redisUrl } from './redis-space.ts'
import type { RedisSpace } from './redis-space.ts'
import { proxyAddress, startRoundRobin } from './round-robin.ts'
import { createServerDatabase, serverUrl } from './server-database.ts'
import type { ServerDatabase } from './server-database.ts'
import { environmentOf, startFrom } from './start-service.ts'
import type { StartOptions } from './start-service.ts'

/** Whether there are the servers that two instances need. */
export const areServersThere = serverUrl !== undefined && redisUrl !== undefined

export const serversTitle = areServersThere ? '' : ' (TEST_DATABASE_URL and TEST_REDIS_URL not set)'

export interface Instance {
  readonly apiUrl: string
  readonly operatorUrl: string
}

/** What stands behind the addresses of a test's service, which are those that its callers use. */
export interface Deployment extends Instance {
  readonly folder: string
  readonly environment: Environment
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface TwoInstances extends Deployment {
  readonly instances: readonly [Instance, Instance]
  readonly database: ServerDatabase
  readonly redis: RedisSpace
}

interface Options extends StartOptions {
  readonly environment?: Environment
}

export const startTwoInstances = async (providerUrl: string, { environment: changes, ...options }: Options = {}): Promise<TwoInstances> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
  const database = await createServerDatabase()
  const redis = await createRedisSpace()
  const environment: Environment = {
    ...environmentOf(folder, providerUrl),
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    TRUST_PROXY: proxyAddress,
    ...changes,
  }
  const start = () => startFrom(environment, { redis: patient, ...options })
  const services: [Service, Service] = [await start(), await start()]
  const [api, operator] = [await startRoundRobin(), await startRoundRobin()]
  const pointTo = async (running: readonly Service[]): Promise<void> => {
    await Promise.all([api.pointTo(running.map(({ apiUrl }) => apiUrl)), operator.pointTo(running.map(({ operatorUrl }) => operatorUrl))])
  }
  await pointTo(services)
  return {
    apiUrl: api.url,
    operatorUrl: operator.url,
    get instances() {
      return services
    },
    folder,
    environment,
    database,
    redis,
    // One after the other, each without requests meanwhile, as operators do it.
    restart: async () => {
      for (const [index, service] of services.entries()) {
        await pointTo(services.filter((other) => other !== service))
        await service.close()
        services[index] = await start()
      }
      await pointTo(services)
    },
    close: async () => {
      for (const { close } of [...services, api, operator, redis]) await close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Redis has as long to answer as a busy machine may take, and goes by the clock of the test. */
const patient = { clock: 'caller', boundMs: 10_000 } as const
