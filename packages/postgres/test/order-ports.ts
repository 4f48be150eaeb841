// The stores of one instance of the service, with the jobs of its orders.
import { afterAll, beforeAll, describe } from 'vitest'
import {
  createHalts,
  createLimitStore,
  createRiskThresholds,
  createIdempotencyStore,
  createTenantRecords,
  createUserStore,
  openOrders,
  startJobs,
  type Database,
  type Log,
} from '../src/index.ts'
import {
  onEachDatabase,
  silent,
  stopwatch,
  storesOn,
  testCipher,
  webhooksOn,
  type OpenedDatabase,
} from './open-stores.ts'

export type OrderInstance = Awaited<ReturnType<typeof startInstance>>
export type StorePorts = Omit<OrderInstance['ports'], 'jobs'>

export const startInstance = async (database: Database, log: Log = silent) => {
  const jobs = await startJobs({ knex: database.knex, log })
  const orders = openOrders(
    { jobs, cipher: testCipher, stopwatch },
    { pollMs: 100, idlePollMs: 200 },
  )
  const ports = {
    ...storesOn(database),
    users: createUserStore(database),
    tenantRecords: createTenantRecords(database),
    riskThresholds: createRiskThresholds({ ...database, mayHalt: true }),
    webhooks: webhooksOn(database),
    idempotency: createIdempotencyStore({ knex: database.knex, cipher: testCipher }),
    halts: createHalts(database),
    orderLimits: createLimitStore(database),
    orders: orders.store,
    jobs: orders.jobs,
  }
  return { ports, jobs, stop: jobs.stop }
}

/**
 * Tests of the stores as two instances of the service see them: even numbers are one, odd ones the
 * other.
 */
export const describeStores = (
  what: string,
  tests: (instance: (index: number) => StorePorts) => void,
): void =>
  onEachDatabase((open, title) =>
    describe(`${what}, ${title}`, () => {
      let opened: OpenedDatabase
      let instances: readonly [OrderInstance, OrderInstance]
      beforeAll(async () => {
        opened = await open()
        instances = [await startInstance(opened.database), await startInstance(opened.elsewhere)]
      })
      afterAll(async () => {
        await Promise.all(instances.map(({ stop }) => stop()))
        await opened.close()
      })
      tests((index) => instances[index % 2 ? 1 : 0].ports)
    }),
  )
