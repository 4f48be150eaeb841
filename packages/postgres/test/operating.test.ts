// What an operator is told of the database: what waits in it, how its connections are used, whether its tables are those of this version, and whether the queues
// are looked at.
import { setTimeout } from 'node:timers/promises'
import { newOrder, rightOf, storedOwner, toRecord } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openOrders, openOwnerNotices, readBacklog, startJobs } from '../src/index.ts'
import type { Database, Jobs } from '../src/index.ts'
import { openEmbedded, openServer, serverTitle, serverUrl, storesOn, testCipher } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { stopwatch } from './order-ports.ts'

const queues = (waiting: number): object[] =>
  ['orders', 'owner-notices'].map((queue) => ({
    queue,
    waiting: queue === 'orders' ? waiting : 0,
  }))

const operatingOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`what is told ${title}`, () => {
    let opened: OpenedDatabase
    let database: Database
    let jobs: Jobs
    beforeAll(async () => {
      opened = await open()
      database = opened.database
      jobs = await startJobs(database)
    })
    afterEach(() => database.knex('orders').del())
    afterAll(async () => {
      await jobs.stop()
      await opened.close()
    })
    const backlog = () => rightOf(readBacklog(database.knex))

    it('is nothing where nothing waits', async () => {
      await openOwnerNotices(jobs)
      expect(await backlog()).toMatchObject({
        queues: queues(0),
        orders: { pending: 0, unknown: 0, oldestUnknownMs: 0 },
        journals: { disagreeing: 0 },
        deliveries: { pending: 0, due: 0, oldestDueMs: 0 },
      })
    })

    it('is every order that is pending, since when one may have been sent, and the jobs that nobody takes', async () => {
      const { store: orders, jobs: orderJobs } = openOrders({ jobs, cipher: testCipher, stopwatch })
      const owner = await storedOwner(storesOn(database).operator)
      const [sent, , settled] = [1, 2, 3].map(() => newOrder(owner, Date.now()))
      for (const order of [sent, settled, newOrder(owner, Date.now())])
        if (order !== undefined) await rightOf(orders.record(owner, toRecord(order)))
      await database
        .knex('orders')
        .where({ id: sent?.id })
        .update({ step: 'looking_up', sent_at: new Date(Date.now() - 60_000), lookups: 1 })
      await database.knex('orders').update({ due_at: new Date() })
      await database.knex('orders').where({ id: settled?.id }).update({ step: 'settled', status: 'filled', due_at: null, sent_at: null })
      const told = await backlog()
      expect(told).toMatchObject({ queues: queues(2), orders: { pending: 2, unknown: 1 } })
      expect(told.orders.oldestUnknownMs).toBeGreaterThanOrEqual(59_000)
      expect(told.orders.oldestUnknownMs).toBeLessThan(120_000)
      expect(told.queues[0]?.oldestMs).toBeGreaterThanOrEqual(0)
      const worker = await orderJobs.work(() => Promise.resolve(undefined))
      await expect.poll(async () => (await backlog()).queues, { timeout: 60_000 }).toMatchObject(queues(0))
      await worker.stop()
    })

    it('is how many connections are used, and that none waits', async () => {
      expect(database.pool()).toMatchObject({ inUse: 0, waiting: 0, size: database.server === null ? 1 : 10 })
      await database.knex.transaction(async () => {
        expect(database.pool().inUse).toBe(1)
      })
      expect(database.pool().inUse).toBe(0)
    })

    it('is whether every migration of this version was run, whatever else was', async () => {
      const table = database.knex('knex_migrations')
      const isMigrated = () => rightOf(database.isMigrated)
      expect(await isMigrated()).toBe(true)
      await table.clone().insert({ name: '9999-of-a-newer-version', batch: 99, migration_time: new Date() })
      expect(await isMigrated()).toBe(true)
      await table.clone().where({ name: '0001-records' }).update({ name: 'another' })
      expect(await isMigrated()).toBe(false)
      await table.clone().where({ name: 'another' }).update({ name: '0001-records' })
      await database.knex.schema.renameTable('knex_migrations', 'elsewhere')
      expect(await isMigrated()).toBe(false)
      await database.knex.schema.renameTable('elsewhere', 'knex_migrations')
      expect(await isMigrated()).toBe(true)
    })

    it('is which queues are not looked at although somebody works on them', async () => {
      const { jobs: orderJobs } = openOrders({ jobs, cipher: testCipher, stopwatch }, { pollMs: 20, idlePollMs: 20 })
      const notices = await openOwnerNotices(jobs, { pollMs: 3_600_000 })
      const [looking, waiting] = [await orderJobs.work(() => Promise.resolve(undefined)), await notices.work(() => Promise.resolve())]
      expect(jobs.pulse.silentFor(60_000)).toEqual([])
      await setTimeout(1_500)
      // A machine that stands still for a second looks at none of them meanwhile.
      await expect.poll(() => jobs.pulse.silentFor(1_000)).toEqual(['owner-notices'])
      await waiting.stop()
      await expect.poll(() => jobs.pulse.silentFor(1_000)).toEqual([])
      await looking.stop()
    })

    it('is a failure, not nothing, once it is closed', async () => {
      const { database: closed, close } = await open()
      await close()
      expect(E.isLeft(await readBacklog(closed.knex)())).toBe(true)
      expect(E.isLeft(await closed.isMigrated())).toBe(true)
    })
  })
}

operatingOn('of the embedded database', openEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  operatingOn('of a server', openServer)
})
