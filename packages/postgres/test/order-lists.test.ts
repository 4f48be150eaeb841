// Lists of orders beside their contract: what they rest on, what a reading writes, and what is left of them afterwards.
import { newOrder, removes, rightOf, someProgram, storedOwner, toRecord, write } from '@tradeport/domain/testing'
import type { OrdersQuery, Owner } from '@tradeport/domain'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purgeOrderLists } from '../src/orders/order-list.ts'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { startInstance } from './order-ports.ts'
import type { OrderInstance } from './order-ports.ts'

const minuteMs = 60_000

const listsOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`order lists, ${title}`, () => {
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

    const ownerWith = async (orders: number): Promise<Owner> => {
      const owner = await storedOwner(instance.ports.operator)
      for (let n = 0; n < orders; n += 1) await rightOf(instance.ports.orders.record(owner, toRecord(newOrder(owner, n))))
      return owner
    }
    const list = (owner: Owner, query: Partial<OrdersQuery> = {}, at = Date.now()) =>
      rightOf(instance.ports.orders.list(owner, someProgram, { page: 1, limit: 2, ...query }, at))
    const startsOf = async (owner: Owner): Promise<readonly { readonly version: string }[]> => {
      const { knex } = opened.database
      return knex('order_list_starts').where({ user_id: owner.userId }).select(knex.raw('xmin::text as version'))
    }

    it('writes for a full page 1, and for nothing else that is read', async () => {
      const owner = await ownerWith(2)
      for (const query of [{ limit: 3 }, { page: 2 }, { symbol: 'XAUUSD' }]) await list(owner, query)
      expect(await startsOf(owner)).toHaveLength(0)
      await list(owner)
      expect(await startsOf(owner)).toHaveLength(1)
    })

    it('writes once in a minute for a page 1 that is asked for again and again and shows nothing new', async () => {
      const owner = await ownerWith(3)
      const at = Date.now()
      await list(owner, {}, at)
      const first = await startsOf(owner)
      for (const later of [1, 1_000, minuteMs - 1]) await list(owner, {}, at + later)
      expect(await startsOf(owner)).toStrictEqual(first)
      await list(owner, {}, at + minuteMs)
      const renewed = await startsOf(owner)
      expect(renewed).not.toStrictEqual(first)
      await rightOf(instance.ports.orders.record(owner, toRecord(newOrder(owner, 9))))
      await list(owner, {}, at + minuteMs + 1)
      expect(await startsOf(owner)).not.toStrictEqual(renewed)
    })

    it('clears away the lists of an hour ago, and leaves those that are walked', async () => {
      const owner = await ownerWith(2)
      await list(owner, {}, Date.now() - 80 * minuteMs)
      await list(owner, { limit: 1 }, Date.now() - 15 * minuteMs)
      expect(await startsOf(owner)).toHaveLength(2)
      await purgeOrderLists(opened.database.knex)
      expect(await startsOf(owner)).toHaveLength(1)
    })

    it('clears them away by itself where jobs are worked on', async () => {
      const owner = await ownerWith(2)
      await list(owner, {}, Date.now() - 80 * minuteMs)
      const worker = await instance.ports.jobs.work(async () => undefined)
      await expect.poll(async () => (await startsOf(owner)).length, { timeout: 60_000 }).toBe(0)
      await worker.stop()
    })

    it('forgets the lists of a user that is removed', async () => {
      const owner = await ownerWith(2)
      await list(owner)
      await write(instance.ports.operator, { users: removes(owner.userId) })
      expect(await startsOf(owner)).toHaveLength(0)
    })
  })
}

listsOn('embedded', openEmbedded)

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  listsOn('server', openServer)

  it('an order gets its number only once it has its user’s lock, so that numbers rise in the order of commits', async () => {
    const { database, close } = await openServer()
    const { ports, stop } = await startInstance(database)
    const [owner, other] = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
    const record = (of: Owner) => rightOf(ports.orders.record(of, toRecord(newOrder(of, 0))))
    await record(owner)
    const isWaiting = async (): Promise<boolean> => {
      const { rows } = await database.knex.raw<{ rows: unknown[] }>(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    }
    const { recording, drawn } = await database.knex.transaction(async (trx: Knex.Transaction) => {
      await trx('order_counters').where({ user_id: owner.userId }).forUpdate().select()
      // Together with another user's, as they come under load.
      const [mine] = [record(owner), record(other)]
      await expect.poll(isWaiting, { timeout: 60_000 }).toBe(true)
      const { rows } = await trx.raw<{ rows: { number: string }[] }>(
        `select nextval(pg_get_serial_sequence('orders', 'sequence')) as number`,
      )
      return { recording: { mine }, drawn: Number(rows[0]?.number) }
    })
    const { id } = await recording.mine
    const row = await database.knex('orders').where({ id }).first('sequence')
    expect(Number(row?.sequence)).toBeGreaterThan(drawn)
    await stop()
    await close()
  })
})
