// Opens what the contract suites of orders need: the stores, a second instance over the same orders, and the jobs.
import { setTimeout } from 'node:timers/promises'
import type { OpenOrderPorts, OrderPorts } from '@tradeport/domain/testing'
import { createGuardStore, createIdempotencyStore, openDatabase, openOrders, startJobs } from '../src/index.ts'
import type { Database, Log } from '../src/index.ts'
import { createServerDatabase, openEmbedded, storesOn, testCipher } from './open-stores.ts'

const quick = { pollMs: 100, idlePollMs: 200 }

export const stopwatch = { elapsedMs: () => performance.now() }

export interface OrderInstance {
  readonly ports: OrderPorts
  readonly stop: () => Promise<void>
}

/** An instance of the service as far as orders are concerned. */
export const startInstance = async (database: Database, log?: Log, elsewhere?: OrderPorts): Promise<OrderInstance> => {
  const { knex } = database
  const jobs = await startJobs({ knex, ...(log === undefined ? {} : { log }) })
  const { store: orders, jobs: orderJobs } = openOrders({ jobs, cipher: testCipher, stopwatch }, quick)
  const idempotency = createIdempotencyStore({ knex, cipher: testCipher })
  const ports: OrderPorts = {
    ...storesOn(database),
    orders,
    elsewhere: elsewhere?.orders ?? openOrders({ jobs, cipher: testCipher, stopwatch }, quick).store,
    guards: createGuardStore({ knex }),
    idempotency,
    idempotencyElsewhere: elsewhere?.idempotency ?? idempotency,
    jobs: orderJobs,
    elapse: async (ms) => {
      await setTimeout(ms)
    },
  }
  return { ports, stop: jobs.stop }
}

export const openOrdersEmbedded: OpenOrderPorts = async () => {
  const { database, close } = await openEmbedded()
  const { ports, stop } = await startInstance(database)
  return {
    ports,
    close: async () => {
      await stop()
      await close()
    },
  }
}

/** Two instances with pools of their own on one server. */
export const openOrdersOnServer: OpenOrderPorts = async () => {
  const { url, drop } = await createServerDatabase()
  const databases = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  const second = await startInstance(databases[1])
  const first = await startInstance(databases[0], undefined, second.ports)
  return {
    ports: first.ports,
    close: async () => {
      await Promise.all([first.stop(), second.stop()])
      await Promise.all(databases.map(({ close }) => close()))
      await drop()
    },
  }
}
