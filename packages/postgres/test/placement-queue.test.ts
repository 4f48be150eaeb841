// The queue beside its contract: it starts anywhere and ends cleanly, an order recorded here is begun at once, and nothing is left in its tables.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { newOrder, removes, rightOf, storedOwner, write } from '@tradeport/domain/testing'
import type { PlacementStep } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrderStore, openDatabase, openOwnerNotices, openPlacementJobs, startJobs } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { createServerDatabase, openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { startInstance } from './order-ports.ts'
import type { OrderInstance } from './order-ports.ts'

const settled: PlacementStep = { placement: { step: 'settled', settlement: { kind: 'filled', fill: {} } }, continueInMs: null }

const queueOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`the queue, ${title}`, () => {
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
    const recorded = async () => {
      const owner = await storedOwner(instance.ports.operator)
      return rightOf(instance.ports.orders.record(owner, newOrder(owner, Date.now()), undefined))
    }

    it('begins an order that this process recorded without waiting for the queue, and leaves no job behind', async () => {
      const { knex } = opened.database
      const never = { pollMs: 3_600_000, sweepMs: 3_600_000 }
      const jobs = await startJobs({ knex })
      const placements = await openPlacementJobs(jobs, never)
      const orders = createOrderStore({ knex, queue: placements.queue })
      const begun = new Set<string>()
      const worker = await placements.work(async ({ owner, orderId, version }) => {
        begun.add(orderId)
        await rightOf(orders.advance(owner, orderId, version, settled, Date.now()))
      })
      // The queue is looked at once when work begins, and not again for an hour.
      await recorded()
      for (let count = 0; count < 5; count++) {
        const owner = await storedOwner(instance.ports.operator)
        const { id } = await rightOf(orders.record(owner, newOrder(owner, Date.now()), undefined))
        await expect.poll(() => begun.has(id), { timeout: 60_000 }).toBe(true)
      }
      await worker.stop()
      await jobs.stop()
      const rest = await instance.ports.jobs.work(async ({ owner, orderId, version }) => {
        await rightOf(instance.ports.orders.advance(owner, orderId, version, settled, Date.now()))
      })
      await expect.poll(() => countOf('pgboss.job'), { timeout: 60_000 }).toBe(0)
      await rest.stop()
    })

    it('takes up at a sweep what others left, however seldom it looks at the queue', async () => {
      const { knex } = opened.database
      const jobs = await startJobs({ knex })
      const placements = await openPlacementJobs(jobs, { pollMs: 3_600_000, sweepMs: 50, forgottenAfterMs: 100 })
      const orders = createOrderStore({ knex, queue: placements.queue })
      const begun = new Set<string>()
      const worker = await placements.work(async ({ owner, orderId, version }) => {
        begun.add(orderId)
        await rightOf(orders.advance(owner, orderId, version, settled, Date.now()))
      })
      for (let count = 0; count < 3; count++) {
        const { id } = await recorded()
        await expect.poll(() => begun.has(id), { timeout: 60_000 }).toBe(true)
      }
      await worker.stop()
      await jobs.stop()
    })

    it('hands out within moments what is due an hour late because the clock of the database was set back', async () => {
      const { knex } = opened.database
      const { id } = await recorded()
      await knex('orders')
        .where({ id })
        .update({ due_at: knex.raw(`now() + interval '1 hour'`) })
      await knex.raw(`update pgboss.job set start_after = now() + interval '1 hour'`)
      const begun = new Set<string>()
      const worker = await instance.ports.jobs.work(async ({ owner, orderId, version }) => {
        begun.add(orderId)
        await rightOf(instance.ports.orders.advance(owner, orderId, version, settled, Date.now()))
      })
      await expect.poll(() => begun.has(id), { timeout: 60_000 }).toBe(true)
      await expect.poll(() => countOf('pgboss.job'), { timeout: 60_000 }).toBe(0)
      await worker.stop()
    })

    it('leaves no job behind of an order that was handed out again while its settler took its time', async () => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const worker = await instance.ports.jobs.work(async ({ owner, orderId, version }) => {
        await held
        await rightOf(instance.ports.orders.advance(owner, orderId, version, settled, Date.now()))
      })
      const { id } = await recorded()
      const dueAt = async () => (await opened.database.knex('orders').where({ id }).first('due_at')).due_at
      const firstDueAt = await dueAt()
      // The sweep takes the order for forgotten, and its second job is taken out of the queue as well.
      await expect.poll(dueAt, { timeout: 60_000 }).not.toStrictEqual(firstDueAt)
      await expect.poll(() => countOf(`pgboss.job where state = 'created'`), { timeout: 60_000 }).toBe(0)
      letGo()
      await expect.poll(() => countOf('pgboss.job'), { timeout: 60_000 }).toBe(0)
      await worker.stop()
    })

    it('does not hold back a transaction that needs the connection', async () => {
      await Promise.all([
        recorded(),
        recorded(),
        instance.ports.orders.find(await storedOwner(instance.ports.operator), newOrder({} as never, 0).id)(),
      ])
      const worker = await instance.ports.jobs.work(async ({ owner, orderId, version }) => {
        await rightOf(instance.ports.orders.advance(owner, orderId, version, settled, Date.now()))
      })
      await expect.poll(() => countOf(`orders where status = 'pending'`), { timeout: 60_000 }).toBe(0)
      await worker.stop()
    })

    it('forgets the orders, keys and counts of a user that is removed, and settles on without them', async () => {
      const order = await recorded()
      const claim = { key: 'k', bodyHash: 'h' }
      await rightOf(instance.ports.orders.claim(order.owner, claim, Date.now()))
      await write(instance.ports.operator, { users: removes(order.owner.userId) })
      expect(await rightOf(instance.ports.orders.find(order.owner, order.id))).toStrictEqual(O.none)
      expect(await rightOf(instance.ports.orders.advance(order.owner, order.id, 1, settled, Date.now()))).toBe(false)
      expect(await instance.ports.orders.record(order.owner, newOrder(order.owner, 0), undefined)()).toMatchObject({
        left: { _tag: 'ServiceUnavailable', reason: expect.stringMatching(/^orders\.record: 23503 on /) },
      })
      expect(await countOf(`order_counters where user_id = '${order.owner.userId}'`)).toBe(0)
      expect(await countOf(`idempotency_keys where user_id = '${order.owner.userId}'`)).toBe(0)
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

queueOn('embedded', openEmbedded)

const program = fileURLToPath(new URL('settle-and-exit.ts', import.meta.url))

describe('a process that settled orders', () => {
  it('ends by itself once everything is stopped', async () => {
    const child = spawn(process.execPath, ['--conditions=@tradeport/source', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    const [code] = await once(child, 'exit')
    expect([code, printed]).toStrictEqual([0, 'filled\n'])
  })
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  queueOn('server', openServer)

  it('makes its tables once for four instances that start at the same moment', async () => {
    const { url, drop } = await createServerDatabase()
    const databases: readonly Database[] = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ url })))
    const started = await Promise.all(databases.map((database) => startJobs(database)))
    await Promise.all(started.flatMap((jobs) => [openPlacementJobs(jobs), openOwnerNotices(jobs)]))
    const { rows } = await (databases[0] as Database).knex.raw<{ rows: unknown[] }>('select name from pgboss.queue order by name')
    expect(rows).toStrictEqual([{ name: 'owner-notices' }, { name: 'placements' }])
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
