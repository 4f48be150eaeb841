// Due orders beside their contract: an order recorded here is given out at once, one of another process only after a while, and nothing is left behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { OrderJob, PlacementStep } from '@tradeport/domain'
import { newClaim, newOrder, placementOf, removes, rightOf, storedOwner, toRecord, write } from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, openOrders, openOwnerNotices, startJobs } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { createServerDatabase, openEmbedded, openServer, serverTitle, serverUrl, testCipher } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { startInstance, stopwatch } from './order-ports.ts'
import type { OrderInstance } from './order-ports.ts'

const filled: PlacementStep = { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: {} }, continueInMs: null }

const dueOrdersOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`due orders, ${title}`, () => {
    let opened: OpenedDatabase
    let instance: OrderInstance
    beforeAll(async () => {
      opened = await open()
      instance = await startInstance(opened.database)
    })
    afterAll(async () => {
      await instance.stop()
      await opened.close()
    })

    const countOf = async (table: string): Promise<number> => {
      const { rows } = await opened.database.knex.raw<{ rows: { count: number }[] }>(`select count(*)::int as count from ${table}`)
      return rows[0]?.count ?? Number.NaN
    }
    const serverRun = async (): Promise<string> => {
      const { rows } = await opened.database.knex.raw<{ rows: { run: string }[] }>(
        'select extract(epoch from pg_postmaster_start_time())::text as run',
      )
      return rows[0]?.run ?? ''
    }
    const recorded = async () => {
      const owner = await storedOwner(instance.ports.operator)
      return rightOf(instance.ports.orders.record(owner, toRecord(newOrder(owner, Date.now()))))
    }
    const end = async (job: OrderJob): Promise<undefined> => {
      await rightOf(instance.ports.orders.advance(job.order.owner, job, filled, Date.now()))
      return undefined
    }

    it('gives an order that this process recorded out at once, without reading the table', async () => {
      const never = { pollMs: 3_600_000, idlePollMs: 3_600_000 }
      const { store, jobs } = openOrders({ jobs: await startJobs(opened.database), cipher: testCipher, stopwatch }, never)
      const given = new Map<string, OrderJob>()
      const worker = await jobs.work(async (job) => {
        given.set(job.order.id, job)
        await rightOf(store.advance(job.order.owner, job, filled, Date.now()))
      })
      for (let count = 0; count < 5; count++) {
        const owner = await storedOwner(instance.ports.operator)
        const run = await serverRun()
        const { id } = await rightOf(store.record(owner, toRecord(newOrder(owner, Date.now()), { serverRun: run })))
        await expect.poll(() => given.get(id), { timeout: 60_000 }).toMatchObject({ isOwn: true, serverRun: run })
      }
      await worker.stop()
    })

    it('leaves a recorded order to its own process for some seconds, then gives it out as another’s, with what is left of its time', async () => {
      const { id } = await recorded()
      const other = openOrders({ jobs: await startJobs(opened.database), cipher: testCipher, stopwatch }, { pollMs: 50, idlePollMs: 50 })
      const given: OrderJob[] = []
      const recordedAt = stopwatch.elapsedMs()
      const worker = await other.jobs.work(async (job) => {
        if (job.order.id === id) given.push(job)
        await end(job)
      })
      await expect.poll(() => given.length, { timeout: 60_000 }).toBe(1)
      await worker.stop()
      expect(stopwatch.elapsedMs() - recordedAt).toBeGreaterThan(2_500)
      expect(given[0]).toMatchObject({ isOwn: false, serverRun: await serverRun() })
      expect((given[0]?.sendUntilMs ?? 0) - recordedAt).toBeLessThan(31_000)
      expect((given[0]?.sendUntilMs ?? 0) - recordedAt).toBeGreaterThan(20_000)
    })

    it('gives out within moments what is due hours late because the clock of the database was set back', async () => {
      const { knex } = opened.database
      const { id } = await recorded()
      await knex('orders')
        .where({ id })
        .update({ due_at: knex.raw(`now() + interval '2 hours'`) })
      const given = new Set<string>()
      const worker = await instance.ports.jobs.work(async (job) => {
        given.add(job.order.id)
        await end(job)
      })
      await expect.poll(() => given.has(id), { timeout: 60_000 }).toBe(true)
      await worker.stop()
    })

    it('does not give an order out twice to one process that takes its time', async () => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      let times = 0
      const { id, owner } = await recorded()
      const worker = await instance.ports.jobs.work(async (job) => {
        if (job.order.id !== id) return end(job)
        times += 1
        await held
        await end(job)
      })
      const dueAt = async () => (await opened.database.knex('orders').where({ id }).first('due_at')).due_at
      const makeDue = () =>
        opened.database
          .knex('orders')
          .where({ id })
          .update({ due_at: new Date(Date.now() - 60_000) })
      await makeDue()
      await expect.poll(() => times, { timeout: 60_000 }).toBe(1)
      await makeDue()
      await expect.poll(async () => (await dueAt()).getTime() > Date.now(), { timeout: 60_000 }).toBe(true)
      letGo()
      await expect
        .poll(async () => O.toUndefined(await rightOf(instance.ports.orders.find(owner, id)))?.status, { timeout: 60_000 })
        .toBe('filled')
      expect(times).toBe(1)
      await worker.stop()
    })

    it('gives an order that was not sent out again after its pause, still as its own process’s', async () => {
      const never = { pollMs: 3_600_000, idlePollMs: 3_600_000 }
      const { store, jobs } = openOrders({ jobs: await startJobs(opened.database), cipher: testCipher, stopwatch }, never)
      const given: OrderJob[] = []
      const worker = await jobs.work(async (job) => {
        given.push(job)
        const recordedAgain: PlacementStep = { placement: { step: 'recorded' }, continueInMs: 20 }
        const step = given.length < 3 ? recordedAgain : filled
        await rightOf(store.advance(job.order.owner, job, step, Date.now()))
        return step === filled ? undefined : { job: { ...job, version: job.version + 1 }, inMs: 20 }
      })
      const owner = await storedOwner(instance.ports.operator)
      const { id } = await rightOf(store.record(owner, toRecord(newOrder(owner, Date.now()))))
      await expect.poll(() => given.length, { timeout: 60_000 }).toBe(3)
      await worker.stop()
      expect(given.map(({ order, isOwn, version }) => [order.id, isOwn, version])).toEqual([
        [id, true, 1],
        [id, true, 2],
        [id, true, 3],
      ])
    })

    it('does not hold back a transaction that needs the connection', async () => {
      await Promise.all([
        recorded(),
        recorded(),
        instance.ports.orders.find(await storedOwner(instance.ports.operator), newOrder({} as never, 0).id)(),
      ])
      const worker = await instance.ports.jobs.work(end)
      await expect.poll(() => countOf(`orders where status = 'pending'`), { timeout: 60_000 }).toBe(0)
      await worker.stop()
    })

    it('removes the finished orders, keys and counts of a user that is removed, and keeps an order under way until it has ended', async () => {
      const { orders, operator } = instance.ports
      const done = await recorded()
      await rightOf(orders.advance(done.owner, placementOf(done), filled, Date.now()))
      const { owner } = done
      const underWay = await rightOf(orders.record(owner, toRecord(newOrder(owner, Date.now()))))
      await rightOf(instance.ports.idempotency.claim(owner, newClaim(), Date.now()))
      await write(operator, { users: removes(owner.userId) })
      expect(await rightOf(orders.find(owner, done.id))).toStrictEqual(O.none)
      expect(await orders.record(owner, toRecord(newOrder(owner, 0)))()).toMatchObject({
        left: { _tag: 'ServiceUnavailable', reason: expect.stringMatching(/^orders\.record: 23503 on /) },
      })
      expect(await countOf(`order_counters where user_id = '${owner.userId}'`)).toBe(0)
      expect(await countOf(`idempotency_keys where user_id = '${owner.userId}'`)).toBe(0)
      expect(await rightOf(orders.advance(owner, placementOf(underWay), filled, Date.now()))).toBe(true)
      // The purge runs when work begins.
      const worker = await instance.ports.jobs.work(end)
      await expect.poll(() => countOf(`orders where user_id = '${owner.userId}'`), { timeout: 60_000 }).toBe(0)
      await worker.stop()
    })

    it('has counted what there is, after everything that these tests did', async () => {
      const { rows } = await opened.database.knex.raw<{ rows: unknown[] }>(
        `select * from order_counters c where pending <> (select count(*) from orders o where o.user_id = c.user_id and status = 'pending')
           or created <> (select count(*) from orders o where o.user_id = c.user_id and (created_at at time zone 'utc')::date = c.day)`,
      )
      expect(await countOf('order_counters')).toBeGreaterThan(0)
      expect(rows).toStrictEqual([])
    })
  })
}

dueOrdersOn('embedded', openEmbedded)

const program = fileURLToPath(new URL('settle-and-exit.ts', import.meta.url))

describe('a process that took orders to their end', () => {
  it('ends by itself once everything is stopped', async () => {
    const child = spawn(process.execPath, ['--conditions=@tradeport/source', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    const [code] = await once(child, 'exit')
    expect([code, printed]).toStrictEqual([0, 'filled\n'])
  })
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  dueOrdersOn('server', openServer)

  it('makes its tables once for four instances that start at the same moment', async () => {
    const { url, drop } = await createServerDatabase()
    const databases: readonly Database[] = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ url })))
    const started = await Promise.all(databases.map((database) => startJobs(database)))
    await Promise.all(started.map((jobs) => openOwnerNotices(jobs)))
    const { rows } = await (databases[0] as Database).knex.raw<{ rows: unknown[] }>('select name from pgboss.queue order by name')
    expect(rows).toStrictEqual([{ name: 'owner-notices' }])
    await Promise.all(started.map(({ stop }) => stop()))
    await Promise.all(databases.map(({ close }) => close()))
    await drop()
  })

  it('says that it cannot start where the database cannot be used, without a secret', async () => {
    const { url, drop } = await createServerDatabase()
    const database = await openDatabase({ url })
    await database.close()
    await expect(startJobs(database)).rejects.toThrow(/^the job queue cannot be started: Unable to acquire a connection$/)
    await drop()
  })
})
