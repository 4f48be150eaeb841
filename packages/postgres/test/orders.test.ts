// Orders beyond the law of the stores: every due order is processed, also one whose process failed
// or died; lists rely on numbers that rise in the order of commits; operators see and end orders.
import { setTimeout } from 'node:timers/promises'
import { answerOfHeldKey, mayBeClaimed } from '@tradeport/domain/access'
import type { Account } from '@tradeport/domain/accounts'
import type { OrderId, Transition } from '@tradeport/domain/orders'
import type { OperatorOrders, OrderJob } from '@tradeport/domain/ports'
import type { Owner, UserId } from '@tradeport/domain/primitives'
import {
  newClaim,
  newOrder,
  newOrderOn,
  newReply,
  newUser,
  puts,
  removes,
  rightOf,
  storedOwner,
  write,
  times,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it, vi } from 'vitest'
import { openOrderStore, type LogEvent } from '../src/index.ts'
import {
  answersOf,
  countRows,
  filled,
  lockWaits,
  onEachDatabase,
  opened,
  placementOf,
  poll,
  stopwatch,
  storedAccount,
  toRecord,
} from './harness.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const noon = Date.parse('2026-11-21T12:00:00.000Z')
const lookingUp: Transition = {
  placement: {
    step: 'looking_up',
    sentAt: noon + 1_000,
    brokerOrderId: '4711',
    lookups: 3,
    absence: null,
  },
  continueInMs: minuteMs,
}

const idsOf = (...orders: readonly { readonly id: OrderId }[]) =>
  orders.map(({ id }) => id).toSorted()

onEachDatabase('orders', (here, there, _, onServer) => {
  const { orders, idempotency, orderLimits, halts, operatorOrders } = answersOf(() => here)
  const another = (pollMs: number) => openOrderStore({ ...here, pollMs })
  const databaseRun = async () => {
    const { rows } = await here.knex.raw<{ rows: [{ run: string }] }>(
      'select extract(epoch from pg_postmaster_start_time())::text as run',
    )
    return rows[0].run
  }
  const recorded = async (owner?: Owner, createdAt = Date.now()) => {
    return here.recordOrder(newOrder(owner ?? (await storedOwner(here.operator)), createdAt))
  }
  const recordedOn = async (account: Account, createdAt = noon) =>
    (await here.recordOrder(newOrderOn(account, createdAt))).id
  const advanced = async ({ owner }: Account, id: OrderId, step: Transition) =>
    expect(await here.advance(owner, id, step)).toBe(true)
  const end = async (job: OrderJob) => {
    await orders.advance(job.order.owner, job, filled, Date.now())
    return undefined
  }
  /** Lets time pass by the clock of the orders' leases and pauses. */
  const elapse = (seconds: number, ...orders: readonly { readonly id: OrderId }[]) =>
    here.knex.raw(`update orders set due_at = due_at - ? * interval '1 second' where id = any(?)`, [
      seconds,
      orders.map(({ id }) => id),
    ])
  const rowOf = ({ id }: { readonly id: OrderId }) => here.knex('orders').where({ id }).first()
  const countOf = async (table: string, { userId }: Owner) =>
    (await here.knex(table).where({ user_id: userId })).length

  /** Works until `stop`; the jobs as they came. */
  const working = async (
    process: (job: OrderJob) => Promise<unknown> = async () => undefined,
    by = here.orderJobs,
  ) => {
    const given: OrderJob[] = []
    const { stop } = await by.work(async (job) => {
      given.push(job)
      await process(job)
      return undefined
    })
    const ids = () => given.map(({ order }) => order.id).toSorted()
    return { given, ids, stop }
  }

  it('a due order is given out at once where it was recorded, and again after its pause, without reading the table', async () => {
    const { store, jobs } = another(3_600_000)
    const given: OrderJob[] = []
    const worker = await jobs.work(async (job) => {
      given.push(job)
      const again = given.length < 3
      const step: Transition = again
        ? { placement: { step: 'recorded' }, continueInMs: 20 }
        : filled
      await rightOf(store.advance(job.order.owner, job, step, Date.now()))
      return again ? { job: { ...job, version: job.version + 1 }, inMs: 20 } : undefined
    })
    const owner = await storedOwner(here.operator)
    const run = await databaseRun()
    const { id } = await rightOf(
      store.record(owner, toRecord(newOrder(owner, Date.now()), { databaseRun: run })),
    )
    await poll(() => given.length).toBe(3)
    await worker.stop()
    expect(given).toMatchObject(
      [1, 2, 3].map((version) => ({
        order: { id },
        sentBefore: 'no',
        version,
        databaseRun: run,
      })),
    )
  })

  it('a due order is left to the process that recorded it for three seconds, then given out as another’s, with what is left of its time', async () => {
    const order = await recorded()
    const recordedAt = stopwatch.elapsedMs()
    await elapse(2, order)
    const { given, ids, stop } = await working(end, another(50).jobs)
    await setTimeout(300)
    expect(given).toStrictEqual([])
    await elapse(1, order)
    await poll(ids).toStrictEqual([order.id])
    await stop()
    expect(given[0]).toMatchObject({ sentBefore: 'unlikely', databaseRun: await databaseRun() })
    expect((given[0]?.sendDeadlineMs ?? 0) - recordedAt).toBeLessThan(31_000)
    expect((given[0]?.sendDeadlineMs ?? 0) - recordedAt).toBeGreaterThan(20_000)
  })

  it('a due order that was recorded before the last restart or failover of the database may have been sent', async () => {
    const order = await recorded()
    await here.knex.raw(
      `update orders set recorded_run = recorded_run - interval '1 ms' where id = ?`,
      [order.id],
    )
    await elapse(3, order)
    const { given, stop } = await working(end, another(50).jobs)
    await poll(() => given).toMatchObject([{ order: { id: order.id }, sentBefore: 'possible' }])
    await stop()
  })

  it('an order that was recorded before the clock was set back is given out within 30 seconds, and may have been sent', async () => {
    const order = await recorded()
    // As if the clock had been three minutes ahead.
    await here.knex.raw(
      `update orders set due_at = due_at + interval '3 minutes',
         checked_at = checked_at + interval '3 minutes' where id = ?`,
      [order.id],
    )
    // Orders with too late a due time are found when work begins, and every 30 seconds.
    const finding = await working(undefined, another(50).jobs)
    await poll(async () => (await rowOf(order)).due_at.getTime()).toBeLessThan(Date.now() + 20_000)
    await elapse(3, order)
    await poll(() => finding.given).toMatchObject([
      { order: { id: order.id }, sentBefore: 'possible' },
    ])
    await finding.stop()
  })

  it('an order is given out once its next version is due, not before, and never once it is ended', async () => {
    const { given, stop } = await working((job) =>
      job.version === 1 ? orders.advance(job.order.owner, job, lookingUp, Date.now()) : end(job),
    )
    const order = await recorded()
    const versions = () => given.map(({ version }) => version)
    for (const expected of [[1], [1, 2]]) {
      await poll(versions).toStrictEqual(expected)
      await setTimeout(400)
      expect(versions()).toStrictEqual(expected)
      await elapse(60, order)
    }
    await stop()
  })

  it('who waits for the outcome of an order is not told of a step before it', async () => {
    const order = await recorded()
    const receive = vi.fn()
    here.orders.onOutcome(order.id, receive)
    await orders.advance(order.owner, placementOf(order), lookingUp, noon)
    expect(receive).not.toHaveBeenCalled()
  })

  it('an order whose process failed or died is given out again, and stop waits for those in progress and begins no other', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const [hanging, failing] = [await recorded(), await recorded()]
    await elapse(3, hanging, failing)
    const dead = await working(({ order }) =>
      order.id === hanging.id ? held : Promise.reject(new Error('the process failed')),
    )
    await poll(dead.ids).toStrictEqual(idsOf(hanging, failing))
    let isStopped = false
    const stopped = dead.stop().then(() => (isStopped = true))
    const third = await recorded()
    await elapse(15, hanging, failing, third)
    const next = await working(end)
    await poll(next.ids).toStrictEqual(idsOf(hanging, failing, third))
    expect(isStopped).toBe(false)
    release()
    await stopped
    await next.stop()
    expect(dead.given).toHaveLength(2)
  })

  it('an order is given out although the clock of the database was set back, and several are processed at once', async () => {
    const { promise: all, resolve: areThere } = Promise.withResolvers<void>()
    const orders = await Promise.all(times(5, () => recorded()))
    await elapse(3, ...orders.slice(1))
    await elapse(-7_200, ...orders.slice(0, 1))
    const { given, stop } = await working(async (job) => {
      if (given.length === 4) await elapse(3, ...orders.slice(0, 1))
      if (given.length === orders.length) areThere()
      await all
      await end(job)
    })
    await all
    await stop()
    expect(given).toHaveLength(orders.length)
  })

  it('each order that cannot be read is logged once, and keeps no other from being given out', async () => {
    const orders = [await recorded(), await recorded(), await recorded()] as const
    const [readable, ...unreadable] = orders
    const warnings: LogEvent[] = []
    const log = { warn: (warning: LogEvent) => void warnings.push(warning) }
    const { jobs } = openOrderStore({ ...here, log, pollMs: 50 })
    const ofUnreadable = here.knex('orders').whereIn('id', idsOf(...unreadable))
    await ofUnreadable.clone().update({ side: 'both' })
    await elapse(3, ...orders)
    const { ids, stop } = await working(end, jobs)
    await poll(ids).toStrictEqual([readable.id])
    for (const _ of [1, 2]) {
      await elapse(18, ...unreadable)
      await poll(() =>
        ofUnreadable.clone().where('due_at', '<=', here.knex.fn.now()),
      ).toStrictEqual([])
    }
    expect(warnings.map(({ event, reason }) => `${event}: ${reason}`).toSorted()).toStrictEqual(
      idsOf(...unreadable).map(
        (id) => `order_processing: a row of orders does not decode at side (id ${id})`,
      ),
    )
    await ofUnreadable.clone().update({ side: 'buy' })
    await elapse(18, ...unreadable)
    await poll(ids).toStrictEqual(idsOf(...orders))
    await stop()
  })

  it('no more than 250 orders of a tenant are given out at once, and those of others beside them', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const { tenantId } = await storedOwner(here.operator)
    // A user may have 50.
    const users = times(6, () => newUser(tenantId))
    await write(here.operator, { users: puts(...users) })
    const crowd = await Promise.all(
      times(260, (index) => recorded({ tenantId, userId: users[index % 6]?.id ?? expect.fail() })),
    )
    const other = await recorded()
    await elapse(5, ...crowd)
    await elapse(4, other)
    const { ids, stop } = await working((job) => held.then(() => end(job)))
    // On a busy machine what earlier tests have left is due by now.
    const expected = idsOf(...crowd, other)
    const given = () => ids().filter((id) => expected.includes(id))
    await poll(ids).toContain(other.id)
    await setTimeout(500)
    expect(given()).toHaveLength(251)
    release()
    await poll(() => new Set(given()).size).toBe(261)
    await stop()
  })

  it('an order is not given out twice to a process that is slow', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const order = await recorded()
    const { ids, stop } = await working((job) => held.then(() => end(job)))
    for (let round = 0; round < 2; round++) {
      await elapse(minuteMs, order)
      await poll(async () => (await rowOf(order)).due_at.getTime()).toBeGreaterThan(Date.now())
    }
    release()
    await poll(async () => (await rowOf(order)).status).toBe('filled')
    await stop()
    expect(ids().filter((id) => id === order.id)).toHaveLength(1)
  })

  it('nothing is left of a removed user, except orders under way until they have ended', async () => {
    const done = await recorded()
    const { owner } = done
    const ended = (order: typeof done) =>
      orders.advance(owner, placementOf(order), filled, Date.now())
    await ended(done)
    const underWay = await recorded(owner)
    await idempotency.claim(owner, newClaim())
    await write(here.operator, { users: removes(owner.userId) })
    expect(await orders.find(owner, done.id)).toStrictEqual(O.none)
    expect(await here.orders.record(owner, toRecord(newOrder(owner, 0)))()).toMatchObject({
      left: {
        _tag: 'ServiceUnavailable',
        reason: expect.stringMatching(/^orders\.record: 23503 on /),
      },
    })
    expect(await ended(underWay)).toBe(true)
    // The purge runs when work begins.
    const { stop } = await working(end)
    await poll(() => countOf('orders', owner)).toBe(0)
    await stop()
    for (const table of ['order_counters', 'idempotency_keys'])
      expect(await countOf(table, owner)).toBe(0)
  })

  it('an order counts against limits at the provider account that it was sent to, as open while it waits there, until it ends', async () => {
    const account = await storedAccount(here.operator)
    const { id, owner } = account
    const anyLimits = {
      maxOpenLots: 1,
      maxOpenPositions: null,
      allowedSymbols: null,
      maxLotsPerOrder: null,
      approvalAboveLots: null,
    }
    await write(here.operator, { traderLimits: puts({ accountId: id, limits: anyLimits }) })
    const counted = async () => (await orderLimits.limitsOf(owner, id)).trader?.counted
    const waiting = await recordedOn(account)
    const { providerAccountId = '' } = account.provider ?? {}
    const before = { id: waiting, providerAccountId, ticket: null, volume: 0.1, isOpen: false }
    expect(await counted()).toStrictEqual([before])
    await advanced(account, waiting, opened)
    await advanced(account, await recordedOn(account), filled)
    expect(await counted()).toStrictEqual([{ ...before, ticket: '4711', isOpen: true }])
    const provider = { providerAccountId: 'another', region: null }
    await write(here.operator, { accounts: puts({ ...account, provider }) })
    expect(await counted()).toStrictEqual([])
  })

  it('a key that is held is given to another request by its age on the clock of the database', async () => {
    const owner = await storedOwner(here.operator)
    const reply = newReply()
    for (const [state, ageMs] of [
      ['claimed', 9_000],
      ['claimed', 11_000],
      ['claimed', -11_000],
      ['begun', 29_000],
      ['begun', 31_000],
      ['replied', dayMs - minuteMs],
      ['replied', dayMs],
    ] as const) {
      const claim = newClaim()
      await idempotency.claim(owner, claim)
      if (state === 'begun') await idempotency.begin(owner, claim)
      if (state === 'replied') await idempotency.storeReply(owner, claim, reply)
      await here
        .knex('idempotency_keys')
        .where({ key: claim.key })
        .update({ since: here.knex.raw(`now() - ? * interval '1 ms'`, [ageMs]) })
      const key = { requestHash: claim.requestHash, ageMs, state, reply }
      expect(
        await there.idempotency.claim(owner, { ...claim, id: newClaim().id })(),
        `${state} ${ageMs}`,
      ).toStrictEqual(
        mayBeClaimed(key) ? E.right({ kind: 'claimed' }) : answerOfHeldKey(key, claim),
      )
    }
  })

  onServer('the age of a key counts when its row is free, not when it was asked for', async () => {
    const [owner, claim] = [await storedOwner(here.operator), newClaim()]
    await idempotency.claim(owner, claim)
    const rows = () => here.knex('idempotency_keys').where({ key: claim.key })
    await rows().update({ since: here.knex.raw(`now() - interval '9 seconds'`) })
    const another = { ...claim, id: newClaim().id }
    const { claiming } = await here.knex.transaction(async (trx) => {
      await rows().transacting(trx).forUpdate()
      const claiming = there.idempotency.claim(owner, another)()
      await poll(() => lockWaits(here)).toBe(1)
      await setTimeout(1_100)
      return { claiming }
    })
    expect(await claiming).toStrictEqual(E.right({ kind: 'claimed' }))
    const [{ age }] = await rows().select(
      here.knex.raw(`extract(epoch from now() - since)::float8 as age`),
    )
    expect(age).toBeLessThan(1)
  })

  it('keys that have expired are removed by the workers', async () => {
    const owner = await storedOwner(here.operator)
    const keys = () => here.knex('idempotency_keys').where({ user_id: owner.userId })
    for (const [key, hours] of Object.entries({ lately: 24, 'long ago': 26 })) {
      await idempotency.claim(owner, newClaim({ key }))
      await keys()
        .where({ key })
        .update({ since: here.knex.raw(`now() - ? * interval '1 hour'`, [hours]) })
    }
    // More than one statement could delete in its time.
    await here.knex.raw(
      `insert into idempotency_keys (tenant_id, user_id, key, request_hash, id, state, since)
       select ?, ?, 'k' || n, '', 'c' || n, 'replied', now() - interval '26 hours' from generate_series(1, 2500) n`,
      [owner.tenantId, owner.userId],
    )
    const deleted = countRows(here.knex, /delete from idempotency_keys/)
    const { stop } = await working(end)
    await poll(() => keys().pluck<string[]>('key')).toStrictEqual(['lately'])
    await stop()
    deleted.stop()
    expect(Math.max(...deleted.counts)).toBe(1_000)
  })

  it('an account’s orders are not stored as sending while it is halted, and the open ones are given out again where the halt cancels orders', async () => {
    const sending: Transition = {
      placement: { step: 'sending', sentAt: noon },
      continueInMs: minuteMs,
    }
    const halted = async (cancelOrders: boolean) => {
      const account = await storedAccount(here.operator)
      const [waiting, unsent] = [await recordedOn(account), await recordedOn(account)]
      await advanced(account, waiting, opened)
      const halt = { since: noon, reason: null }
      for (const cancels of [cancelOrders, false])
        await halts.halt(account.owner, account.id, { ...halt, cancelOrders: cancels })
      expect(await here.advance(account.owner, unsent, sending)).toBe(false)
      return { account, waiting, unsent }
    }
    const [all, none] = [await halted(true), await halted(false)]
    await halts.lift(none.account.owner, none.account.id)
    await advanced(none.account, none.unsent, sending)
    const { ids, stop } = await working()
    await poll(ids).toContain(all.waiting)
    await stop()
    expect(ids()).not.toContain(none.waiting)
  })

  it('open orders that nobody watches are made due a thousand at a time, and once', async () => {
    const account = await storedAccount(here.operator)
    const first = await recordedOn(account)
    await advanced(account, first, opened)
    const names = Object.keys(await here.knex('orders').columnInfo())
    const copied = names.filter((name) => !['id', 'sequence'].includes(name)).join()
    await here.knex.raw(
      `insert into orders (${copied}, id) select ${copied}, left(id, 14) || lpad(n::text, 10, '0')
        from orders, generate_series(1, 1100) n where id = ?`,
      [first],
    )
    const ofAccount = { tenant_id: account.owner.tenantId }
    await here.knex('orders').where(ofAccount).update({ destination_provider_account_id: 'gone' })
    const due = countRows(here.knex, /update orders set due_at = now\(\)[^]*not exists/)
    const { ids, stop } = await working()
    await poll(ids).toContain(first)
    await poll(() => due.counts).toStrictEqual([1_000, 101])
    await stop()
    due.stop()
    for (const table of ['orders', 'order_counters'])
      await here.knex(table).where(ofAccount).delete()
  })

  it('orders under way are listed oldest first, by tenant, user or account, after a place and up to a limit', async () => {
    const [account, other] = [
      await storedAccount(here.operator),
      await storedAccount(here.operator),
    ]
    const [young, old, theirs, gone] = [
      await recordedOn(account, noon),
      await recordedOn(account, noon - 1_000),
      await recordedOn(other, noon - 2_000),
      await recordedOn(account, noon - 3_000),
    ]
    await advanced(account, gone, filled)
    await advanced(account, young, opened)
    const of = { tenants: [], users: [], accounts: [account.id] }
    const mixed = { tenants: [other.owner.tenantId], users: [account.owner.userId], accounts: [] }
    type Case = [
      filter: Parameters<OperatorOrders['underWay']>[0],
      ids: readonly OrderId[],
      slice?: object,
    ]
    for (const [filter, ids, slice] of [
      [{ of }, [old, young]],
      [{ of }, [young], { after: { id: old, createdAt: noon - 1_000 } }],
      [{ of }, [old], { limit: 1 }],
      [{ of: mixed }, [theirs, old, young]],
      [{ of, unresolvedSince: noon - 1_000 }, [old]],
    ] satisfies Case[] as Case[])
      expect(
        await operatorOrders.underWay(filter, { after: undefined, limit: 9, ...slice }),
      ).toMatchObject(ids.map((id) => ({ order: { id } })))
  })

  it('an order ended by an operator says by whom and why, and is counted once, also when its user is removed', async () => {
    const account = await storedAccount(here.operator)
    const [done, left] = [await recordedOn(account), await recordedOn(account)]
    await advanced(account, done, lookingUp)
    const find = async () => O.toUndefined(await operatorOrders.find(done))
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
    expect(
      await here.knex('order_counters').where({ user_id: userId }).pluck('pending'),
    ).toStrictEqual([1])
    const from = O.toUndefined(await operatorOrders.find(left)) ?? expect.fail('it is stored')
    await write(here.operator, { users: removes(userId) })
    const step = { ...filled, finish }
    expect(await orders.advance(account.owner, from, step, noon)).toBe(true)
  })

  it('orders are listed newest first, those of one moment in the reverse order of their records', async () => {
    const account = await storedAccount(here.operator)
    const ids: OrderId[] = []
    for (const at of [noon, noon, noon - 1]) ids.push(await recordedOn(account, at))
    const { data } = await orders.list(account.owner, { page: 1, limit: 9 })
    expect(data.map(({ id }) => id)).toStrictEqual([ids[1], ids[0], ids[2]])
  })

  it('orders under way of a removed user are followed to their end, and are not those of a user who gets the same id', async () => {
    const account = await storedAccount(here.operator)
    const { owner } = account
    const [left, watched] = [await recordedOn(account), await recordedOn(account)]
    for (const id of [left, watched]) await advanced(account, id, opened)
    await write(here.operator, { users: removes(owner.userId) })
    await write(here.operator, {
      users: puts({ ...newUser(owner.tenantId), id: owner.userId }),
      accounts: puts(account),
    })
    const own = await recordedOn(account)
    expect(await orders.list(owner, { page: 1, limit: 2 })).toMatchObject({
      data: [{ id: own }],
      pagination: { total: 1 },
    })
    expect(await orders.find(owner, left)).toStrictEqual(O.none)
    expect(await orders.findStored(owner, left)).toStrictEqual(O.none)
    expect(await orders.openOrders(owner, account.id)).toStrictEqual([])
    const { given, ids, stop } = await working()
    await poll(ids).toStrictEqual(expect.arrayContaining([left, watched]))
    await stop()
    const job = given.find(({ order }) => order.id === left) ?? expect.fail('it was given out')
    expect(await orders.advance(owner, job, filled, noon)).toBe(true)
    expect(await orders.counts(owner, noon)).toStrictEqual({ today: 1, underWay: 1 })
    expect(await here.eventsOf(owner)).toMatchObject([
      { type: 'order.created', data: { order_id: own } },
    ])
  })

  it.each<[string, (account: Account, userId: UserId) => Partial<Account>]>([
    ['user', ({ owner }, userId) => ({ owner: { ...owner, userId } })],
    ['platform', () => ({ brokerType: 'ctrader' })],
  ])(
    'an open order whose account has another %s now is looked up by itself',
    async (_, changed) => {
      const account = await storedAccount(here.operator)
      const other = newUser(account.owner.tenantId)
      const order = await recordedOn(account)
      await advanced(account, order, opened)
      await write(here.operator, { accounts: removes(account.id) })
      await write(here.operator, {
        users: puts(other),
        accounts: puts({ ...account, ...changed(account, other.id) }),
      })
      const { ids, stop } = await working()
      await poll(ids).toContain(order)
      await stop()
    },
  )

  it('the counters agree with the orders after everything that these tests did', async () => {
    const { rows } = await here.knex.raw<{ rows: unknown[] }>(
      `select * from order_counters c where pending <> (select count(*) from orders o where o.user_id = c.user_id and not is_orphaned and status in ('pending', 'open'))
         or created <> (select count(*) from orders o where o.user_id = c.user_id and not is_orphaned and (created_at at time zone 'utc')::date = c.day)`,
    )
    expect(await here.knex('order_counters')).not.toHaveLength(0)
    expect(rows).toStrictEqual([])
  })
})
