// Orders beyond the law of the stores: every due order is processed, also one whose process failed
// or died; lists rely on numbers that rise in the order of commits; operators see and end orders.
import { setTimeout } from 'node:timers/promises'
import type { Account } from '@tradeport/domain/accounts'
import type { OrderId, PlacementStep } from '@tradeport/domain/orders'
import type { OperatorOrders, OrderJob, OrdersQuery } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import {
  newClaim,
  newOrder,
  newOrderOn,
  placementOf,
  removes,
  rightOf,
  someProgram,
  storedAccount,
  storedOwner,
  toRecord,
  write,
} from '@tradeport/testkit'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOperatorOrders, openOrders, type Jobs } from '../src/index.ts'
import { onEachDatabase, stopwatch, testCipher, type OpenedDatabase } from './open-stores.ts'
import { startInstance, type OrderInstance } from './order-ports.ts'

const minuteMs = 60_000
const never = { pollMs: 3_600_000, idlePollMs: 3_600_000 }
const filled: PlacementStep = {
  placement: { step: 'ended' },
  outcome: { kind: 'filled', fill: {} },
  continueInMs: null,
}
const made = Date.parse('2026-11-21T12:00:00.000Z')
const lookingUp: PlacementStep = {
  placement: {
    step: 'looking_up',
    sentAt: made + 1_000,
    brokerOrderId: '4711',
    lookups: 3,
    absence: null,
  },
  continueInMs: minuteMs,
}

onEachDatabase((open, title) => {
  let opened: OpenedDatabase
  let knex: Knex
  let ports: OrderInstance['ports']
  let jobs: Jobs
  let operatorOrders: OperatorOrders
  beforeAll(async () => {
    opened = await open()
    knex = opened.database.knex
    ;({ ports, jobs } = await startInstance(opened.database))
    operatorOrders = createOperatorOrders(opened.database)
  })
  afterAll(async () => {
    await jobs.stop()
    await opened.close()
  })

  const another = (options: Parameters<typeof openOrders>[1]) =>
    openOrders({ jobs, cipher: testCipher, stopwatch }, options)
  const serverRun = async (): Promise<string> => {
    const { rows } = await knex.raw<{ rows: { run: string }[] }>(
      'select extract(epoch from pg_postmaster_start_time())::text as run',
    )
    return rows[0]?.run ?? ''
  }
  const recorded = async (owner?: Owner, createdAt = Date.now()) => {
    const holder = owner ?? (await storedOwner(ports.operator))
    return rightOf(ports.orders.record(holder, toRecord(newOrder(holder, createdAt))))
  }
  const end = async (job: OrderJob): Promise<undefined> => {
    await rightOf(ports.orders.advance(job.order.owner, job, filled, Date.now()))
    return undefined
  }
  const countOf = async (table: string, { userId }: Owner): Promise<number> =>
    (await knex(table).where({ user_id: userId })).length

  /** Works until `stop`; the jobs as they came. */
  const working = async (process: (job: OrderJob) => Promise<unknown>, by = ports.jobs) => {
    const given: OrderJob[] = []
    const { stop } = await by.work(async (job) => {
      given.push(job)
      await process(job)
      return undefined
    })
    return { given, stop }
  }

  it('a due order is given out at once where it was recorded, and again after its pause, without reading the table', async () => {
    const { store, jobs: own } = another(never)
    const given: OrderJob[] = []
    const worker = await own.work(async (job) => {
      given.push(job)
      const again = given.length < 3
      const step: PlacementStep = again
        ? { placement: { step: 'recorded' }, continueInMs: 20 }
        : filled
      await rightOf(store.advance(job.order.owner, job, step, Date.now()))
      return again ? { job: { ...job, version: job.version + 1 }, inMs: 20 } : undefined
    })
    const owner = await storedOwner(ports.operator)
    const run = await serverRun()
    const { id } = await rightOf(
      store.record(owner, toRecord(newOrder(owner, Date.now()), { serverRun: run })),
    )
    await expect.poll(() => given.length).toBe(3)
    await worker.stop()
    expect(given).toMatchObject(
      [1, 2, 3].map((version) => ({
        order: { id },
        mustLookUpFirst: false,
        version,
        serverRun: run,
      })),
    )
  })

  it('a due order is left to the process that recorded it for some seconds, then given out as another’s, with what is left of its time', async () => {
    const { id } = await recorded()
    const recordedAt = stopwatch.elapsedMs()
    const { given, stop } = await working(end, another({ pollMs: 50, idlePollMs: 50 }).jobs)
    await expect.poll(() => given.map(({ order }) => order.id)).toContain(id)
    await stop()
    expect(stopwatch.elapsedMs() - recordedAt).toBeGreaterThan(2_500)
    expect(given[0]).toMatchObject({ mustLookUpFirst: true, serverRun: await serverRun() })
    expect((given[0]?.sendDeadlineMs ?? 0) - recordedAt).toBeLessThan(31_000)
    expect((given[0]?.sendDeadlineMs ?? 0) - recordedAt).toBeGreaterThan(20_000)
  })

  it('an order is given out once its next version is due, not before, and never once it is ended', async () => {
    const later = { ...lookingUp, continueInMs: 1_500 }
    const { given, stop } = await working((job) =>
      job.version === 1
        ? rightOf(ports.orders.advance(job.order.owner, job, later, Date.now()))
        : end(job),
    )
    await recorded()
    const versions = () => given.map(({ version }) => version)
    await expect.poll(versions).toStrictEqual([1])
    await setTimeout(700)
    expect(versions()).toStrictEqual([1])
    await expect.poll(versions).toStrictEqual([1, 2])
    await setTimeout(1_000)
    expect(versions()).toStrictEqual([1, 2])
    await stop()
  })

  it('an order whose process failed or died is given out again, and stop waits for those in progress and begins no other', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const [hanging, failing] = [await recorded(), await recorded()]
    const dead = await working(({ order }) =>
      order.id === hanging.id ? held : Promise.reject(new Error('the process failed')),
    )
    await expect.poll(() => dead.given.length).toBe(2)
    let isStopped = false
    const stopped = dead.stop().then(() => (isStopped = true))
    const third = await recorded()
    const next = await working(end)
    await expect
      .poll(() => next.given.map(({ order }) => order.id).toSorted())
      .toStrictEqual([hanging.id, failing.id, third.id].toSorted())
    expect(isStopped).toBe(false)
    release()
    await stopped
    await next.stop()
    expect(dead.given).toHaveLength(2)
  })

  it('an order is given out although the clock of the database was set back, and several are processed at once', async () => {
    const { promise: all, resolve: areThere } = Promise.withResolvers<void>()
    const orders = await Promise.all(Array.from({ length: 5 }, () => recorded()))
    await knex('orders')
      .where({ id: orders[0]?.id })
      .update({ due_at: knex.raw(`now() + interval '2 hours'`) })
    const { given, stop } = await working(async (job) => {
      if (given.length === orders.length) areThere()
      await all
      await end(job)
    })
    await all
    await stop()
    expect(given).toHaveLength(orders.length)
  })

  it('an order is not given out twice to a process that is slow', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const { id } = await recorded()
    const { given, stop } = await working((job) => held.then(() => end(job)))
    for (let round = 0; round < 2; round++) {
      await knex('orders')
        .where({ id })
        .update({ due_at: new Date(Date.now() - minuteMs) })
      await expect
        .poll(async () => (await knex('orders').where({ id }).first('due_at')).due_at.getTime())
        .toBeGreaterThan(Date.now())
    }
    release()
    await expect
      .poll(async () => (await knex('orders').where({ id }).first('status')).status)
      .toBe('filled')
    await stop()
    expect(given).toHaveLength(1)
  })

  it('nothing is left of a removed user, except orders under way until they have ended', async () => {
    const done = await recorded()
    const { owner } = done
    await rightOf(ports.orders.advance(owner, placementOf(done), filled, Date.now()))
    const underWay = await recorded(owner)
    await rightOf(ports.idempotency.claim(owner, newClaim(), Date.now()))
    await write(ports.operator, { users: removes(owner.userId) })
    expect(await rightOf(ports.orders.find(owner, done.id))).toStrictEqual(O.none)
    expect(await ports.orders.record(owner, toRecord(newOrder(owner, 0)))()).toMatchObject({
      left: {
        _tag: 'ServiceUnavailable',
        reason: expect.stringMatching(/^orders\.record: 23503 on /),
      },
    })
    expect(
      await rightOf(ports.orders.advance(owner, placementOf(underWay), filled, Date.now())),
    ).toBe(true)
    // The purge runs when work begins.
    const worker = await ports.jobs.work(end)
    await expect.poll(() => countOf('orders', owner)).toBe(0)
    await worker.stop()
    for (const table of ['order_counters', 'idempotency_keys', 'order_list_starts'])
      expect(await countOf(table, owner)).toBe(0)
  })

  const ownerWith = async (orders: number): Promise<Owner> => {
    const owner = await storedOwner(ports.operator)
    for (let n = 0; n < orders; n += 1) await recorded(owner, n)
    return owner
  }
  const list = (owner: Owner, query: Partial<OrdersQuery> = {}, at = Date.now()) =>
    rightOf(ports.orders.list(owner, someProgram, { page: 1, limit: 2, ...query }, at))
  const startsOf = async ({ userId }: Owner): Promise<readonly object[]> =>
    knex('order_list_starts').where({ user_id: userId }).select(knex.raw('xmin::text as version'))

  it('a list is written for a full page 1 alone, and once a minute where it shows nothing new', async () => {
    const owner = await ownerWith(3)
    const at = Date.now()
    for (const query of [{ limit: 4 }, { page: 2 }, { symbol: 'XAUUSD' }]) await list(owner, query)
    expect(await startsOf(owner)).toHaveLength(0)
    await list(owner, {}, at)
    const first = await startsOf(owner)
    expect(first).toHaveLength(1)
    await list(owner, {}, at + minuteMs - 1)
    expect(await startsOf(owner)).toStrictEqual(first)
    await list(owner, {}, at + minuteMs)
    const renewed = await startsOf(owner)
    expect(renewed).not.toStrictEqual(first)
    await recorded(owner, 9)
    await list(owner, {}, at + minuteMs + 1)
    expect(await startsOf(owner)).not.toStrictEqual(renewed)
  })

  it('lists and keys that have expired are removed by the workers', async () => {
    const owner = await ownerWith(2)
    await list(owner, {}, Date.now() - 80 * minuteMs)
    await list(owner, { limit: 1 }, Date.now() - 15 * minuteMs)
    for (const [key, hours] of [
      ['lately', 24],
      ['long ago', 26],
    ] as const) {
      await rightOf(ports.idempotency.claim(owner, newClaim({ key }), Date.now()))
      await knex('idempotency_keys')
        .where({ user_id: owner.userId, key })
        .update({ since: knex.raw(`now() - ? * interval '1 hour'`, [hours]) })
    }
    const worker = await ports.jobs.work(end)
    await expect.poll(async () => (await startsOf(owner)).length).toBe(1)
    await expect
      .poll(() => knex('idempotency_keys').where({ user_id: owner.userId }).pluck<string[]>('key'))
      .toStrictEqual(['lately'])
    await worker.stop()
  })

  it.skipIf(title === 'embedded')(
    'an order gets its number only once it has its user’s lock, so that numbers rise in the order of commits',
    async () => {
      const [owner, other] = [await ownerWith(1), await ownerWith(0)]
      const isWaiting = async (): Promise<boolean> =>
        (
          await knex('pg_stat_activity').whereRaw(
            `datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length > 0
      const { recording, drawn } = await knex.transaction(async (trx) => {
        await trx('order_counters').where({ user_id: owner.userId }).forUpdate().select()
        // Together with another user's, as they come under load.
        const [mine] = [recorded(owner), recorded(other)]
        await expect.poll(isWaiting).toBe(true)
        const { rows } = await trx.raw<{ rows: { number: string }[] }>(
          `select nextval(pg_get_serial_sequence('orders', 'sequence')) as number`,
        )
        return { recording: { mine }, drawn: Number(rows[0]?.number) }
      })
      const { id } = await recording.mine
      expect(
        Number((await knex('orders').where({ id }).first('sequence')).sequence),
      ).toBeGreaterThan(drawn)
    },
  )

  const recordedOn = async (account: Account, createdAt = made): Promise<OrderId> =>
    (await rightOf(ports.orders.record(account.owner, toRecord(newOrderOn(account, createdAt))))).id
  const advanced = async ({ owner }: Account, id: OrderId, step: PlacementStep): Promise<void> => {
    const from = O.toNullable(await rightOf(ports.orders.placement(owner, id)))
    if (from === null) throw new Error(`there is no order ${id}`)
    expect(await rightOf(ports.orders.advance(owner, from, step, made))).toBe(true)
  }
  it('orders under way are listed oldest first, by tenant, user or account, after a place and up to a limit', async () => {
    const [account, other] = [
      await storedAccount(ports.operator),
      await storedAccount(ports.operator),
    ]
    const [young, old, theirs, gone] = [
      await recordedOn(account, made),
      await recordedOn(account, made - 1_000),
      await recordedOn(other, made - 2_000),
      await recordedOn(account, made - 3_000),
    ]
    await advanced(account, gone, filled)
    const of = { tenants: [], users: [], accounts: [account.id] }
    const read = async (
      filter: Parameters<OperatorOrders['underWay']>[0],
      after?: OrderId,
      limit = 9,
    ) => {
      const place = after === undefined ? undefined : { id: after, createdAt: made - 1_000 }
      return (await rightOf(operatorOrders.underWay(filter, { after: place, limit }))).map(
        ({ order }) => order.id,
      )
    }
    expect(await read({ of })).toStrictEqual([old, young])
    expect(await read({ of }, old)).toStrictEqual([young])
    expect(await read({ of }, undefined, 1)).toStrictEqual([old])
    expect(
      await read({
        of: { tenants: [other.owner.tenantId], users: [account.owner.userId], accounts: [] },
      }),
    ).toStrictEqual([theirs, old, young])
    expect(await read({ of, pendingSince: made - 1_000 })).toStrictEqual([old])
  })

  it('an order ended by an operator says by whom and why, and is counted once, also when its user is removed', async () => {
    const account = await storedAccount(ports.operator)
    const [done, left] = [await recordedOn(account), await recordedOn(account)]
    await advanced(account, done, lookingUp)
    const find = async () => O.toUndefined(await rightOf(operatorOrders.find(done)))
    expect(await find()).toMatchObject({
      placement: lookingUp.placement,
      destination: { providerAccountId: `provider-${account.id}`, platform: 'mt5' },
      version: 2,
      dueAt: expect.any(Number),
      finish: null,
    })
    const finish = { by: 'kim', reason: 'seen there' }
    await advanced(account, done, { ...filled, finish })
    expect(await find()).toMatchObject({
      order: { status: 'filled' },
      placement: { step: 'ended' },
      dueAt: null,
      finish,
    })
    const { userId } = account.owner
    expect(await knex('order_counters').where({ user_id: userId }).pluck('pending')).toStrictEqual([
      1,
    ])
    await write(ports.operator, { users: removes(userId) })
    await advanced(account, left, { ...filled, finish })
  })

  it('the counters agree with the orders after everything that these tests did', async () => {
    const { rows } = await knex.raw<{ rows: unknown[] }>(
      `select * from order_counters c where pending <> (select count(*) from orders o where o.user_id = c.user_id and status = 'pending')
         or created <> (select count(*) from orders o where o.user_id = c.user_id and (created_at at time zone 'utc')::date = c.day)`,
    )
    expect(await knex('order_counters')).not.toHaveLength(0)
    expect(rows).toStrictEqual([])
  })
})
