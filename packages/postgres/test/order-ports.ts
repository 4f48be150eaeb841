// The stores of one instance of the service, with the jobs of its orders.
import type {
  GuardStore,
  IdempotencyStore,
  OrderJobs,
  OrderStore,
  TenantRecords,
  UserStore,
  WebhookStore,
} from '@tradeport/domain/ports'
import type { Stores } from '@tradeport/domain/testing'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe } from 'vitest'
import {
  createGuardStore,
  createIdempotencyStore,
  createTenantRecords,
  createUserStore,
  createWebhookStore,
  openOrders,
  startJobs,
} from '../src/index.ts'
import type { Database, Jobs, Log } from '../src/index.ts'
import { onEachDatabase, silent, stopwatch, storesOn, testCipher } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

export interface StorePorts extends Stores {
  readonly users: UserStore
  readonly tenantRecords: TenantRecords
  readonly webhooks: WebhookStore
  readonly idempotency: IdempotencyStore
  readonly guards: GuardStore
  readonly orders: OrderStore
}

export interface OrderInstance {
  readonly ports: StorePorts & { readonly jobs: OrderJobs }
  readonly stop: () => Promise<void>
}

/** An instance of the service as far as orders are concerned. */
export const startInstance = async (database: Database, log?: Log): Promise<OrderInstance> => {
  const { knex } = database
  const jobs = await startJobs({ knex, ...(log === undefined ? {} : { log }) })
  const orders = openOrders(
    { jobs, cipher: testCipher, stopwatch },
    { pollMs: 100, idlePollMs: 200 },
  )
  const ports = {
    ...storesOn(database),
    users: createUserStore(database),
    tenantRecords: createTenantRecords(database),
    webhooks: createWebhookStore({ knex, cipher: testCipher }),
    idempotency: createIdempotencyStore({ knex, cipher: testCipher }),
    guards: createGuardStore({ knex }),
    orders: orders.store,
    jobs: orders.jobs,
  }
  return { ports, stop: jobs.stop }
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

/** Orders and what they need, here and on another instance. */
export interface OrderPorts extends Stores {
  readonly orders: OrderStore
  readonly elsewhere: OrderStore
  readonly guards: GuardStore
  readonly idempotency: IdempotencyStore
  readonly idempotencyElsewhere: IdempotencyStore
  readonly jobs: OrderJobs
  readonly elapse: (ms: number) => Promise<void>
}

/**
 * An instance of the service as far as orders are concerned, with another one on the same database.
 */
export const startOrders = async (
  { database, elsewhere }: Omit<OpenedDatabase, 'close'>,
  log: Log = silent,
): Promise<{
  readonly ports: OrderPorts
  readonly jobs: Jobs
  readonly stop: () => Promise<void>
}> => {
  const { knex } = database
  const jobs = await startJobs({ knex, log })
  const options = { pollMs: 100, idlePollMs: 200 }
  const { store: orders, jobs: orderJobs } = openOrders(
    { jobs, cipher: testCipher, stopwatch },
    options,
  )
  const ports: OrderPorts = {
    ...storesOn(database),
    orders,
    elsewhere: openOrders(
      { jobs: { ...jobs, knex: elsewhere.knex }, cipher: testCipher, stopwatch },
      options,
    ).store,
    guards: createGuardStore({ knex }),
    idempotency: createIdempotencyStore({ knex, cipher: testCipher }),
    idempotencyElsewhere: createIdempotencyStore({ knex: elsewhere.knex, cipher: testCipher }),
    jobs: orderJobs,
    elapse: (ms) => setTimeout(ms),
  }
  return { ports, jobs, stop: jobs.stop }
}
