// Events are recorded once and delivered in order to each webhook that asked for them, until it
// answers or is given up. A process that dies loses no delivery and sends no replay twice, and
// receivers that never answer delay nobody else's events.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { startOfLog, type EventId, type ServiceEvent } from '@tradeport/domain/events'
import {
  dayMs,
  minuteMs,
  secondMs,
  type DeliveryId,
  type Instant,
  type Owner,
} from '@tradeport/domain/primitives'
import type {
  AttemptAnswer,
  DueDelivery,
  Webhook,
  WebhookDelivery,
} from '@tradeport/domain/webhooks'
import { storedOwner, times } from '@tradeport/testkit'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { LogEvent, openEvents } from '../src/index.ts'
import { createDueDeliveries } from '../src/webhooks/deliveries.ts'
import {
  answersOf,
  countRows,
  lockWaits,
  onEachDatabase,
  startInstance,
  testCipher,
  webhookSecret,
  type Instance,
  poll,
} from './harness.ts'

type EventOptions = Partial<Parameters<typeof openEvents>[0]>
type Attempt = (due: DueDelivery) => AttemptAnswer | Promise<AttemptAnswer>

const ok: AttemptAnswer = { responseCode: 200, responseTimeMs: 3 }
const bad: AttemptAnswer = { responseCode: 503, responseTimeMs: 4 }
const timedOut: AttemptAnswer = {
  responseCode: 0,
  responseTimeMs: 30_000,
  failureReason: 'timed_out',
}

/** Within 50 seconds of the time in so many minutes. */
const inMinutes = (minutes: number) => expect.closeTo(Date.now() + minutes * minuteMs, -5)

/** What an event that is missing has instead of its id: the start of a log. */
const none = startOfLog

const accountId = randomUUID()
let lastKey = 0
const newEvent = (fields: Partial<ServiceEvent> = {}): ServiceEvent => ({
  type: 'order.created',
  key: `event ${(lastKey += 1)}`,
  data: {
    account_id: accountId,
    volume: 0.1,
    client_id: 'Ünï \u0000 \ud800 "\\"',
    exit_price: null,
    place: lastKey,
  },
  ...fields,
})
const newEvents = (count: number) => times(count, () => newEvent())

const dueDeliveriesOf = (instance: Instance) =>
  createDueDeliveries({
    knex: instance.knex,
    cipher: testCipher,
    schedule: [1_000],
    onDisabled: () => undefined,
    onUnreadable: () => undefined,
    leaseId: randomUUID(),
    leaseMs: 60_000,
  })
const attempt = (due: DueDelivery, answer: AttemptAnswer) =>
  [due, { answer, durationMs: 1 }, false] as const
const anyDue = [false, { fullShares: [], inProgress: [], limit: 9 }] as const

onEachDatabase('events and deliveries', (here, there, kind, onServer) => {
  let knex: Knex
  let workers: { readonly stop: () => Promise<void> }[]
  let warnings: LogEvent[]
  /** Webhooks whose receivers do not answer, and the attempts that wait for such an answer. */
  let silent: Set<string>
  let hanging: { readonly due: DueDelivery; readonly end: (answer: AttemptAnswer) => void }[]
  let ports: Instance
  const { deliveries, webhooks, eventLog } = answersOf(() => ports)
  beforeEach(async () => {
    knex = here.knex
    silent = new Set()
    ;[hanging, workers, warnings] = [[], [], []]
    ports = await start()
  })
  const stop = async () => {
    for (const { end } of hanging.splice(0)) end(ok)
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  }
  afterEach(async () => {
    await stop()
    for (const table of ['webhooks', 'events', 'owner_notices']) await knex(table).delete()
  })

  const start = async (options: EventOptions = {}, { database } = here) => {
    return startInstance(database, {
      warn: (event) => void warnings.push(event),
      events: options,
    })
  }
  /** Sends by instances; what was sent to a webhook. */
  const working = async (attempt: Attempt, by: readonly Instance[] = [ports]) => {
    const sent: DueDelivery[] = []
    for (const { deliveryJobs } of by)
      workers.push(
        await deliveryJobs.work(async (due) => {
          sent.push(due)
          return attempt(due)
        }),
      )
    return ({ id }: Webhook) => sent.filter(({ to }) => to.webhook.id === id)
  }
  const hangWhereSilent: Attempt = (due) =>
    silent.has(due.to.webhook.id)
      ? new Promise((resolve) => void hanging.push({ due, end: resolve }))
      : ok
  const restart = async (options: EventOptions = {}) => {
    await stop()
    ports = await start(options)
    await working(hangWhereSilent)
  }
  const newOwner = () => storedOwner(ports.operator)
  const created = async (
    of?: Owner,
    fields: Partial<Webhook> = { eventTypes: ['order.created', 'order.filled'] },
  ) => {
    return ports.storedWebhook(of ?? (await newOwner()), fields)
  }
  const createSilent = async (count: number, owner: Owner) => {
    for (let made = 0; made < count; made++) silent.add((await created(owner)).id)
  }
  const record = (owner: Owner, events = newEvents(1)) => ports.record(owner, events)
  const page = ({ owner, id }: Webhook, query: object = {}, by = owner) =>
    deliveries.list(by, id, { page: 1, limit: 100, ...query })
  const log = async (webhook: Webhook) => (await page(webhook)).data
  const statuses = async (webhook: Webhook) => (await log(webhook)).map(({ status }) => status)
  const latest = async (webhook: Webhook) => (await log(webhook))[0]
  const statusOf = async (webhook: Webhook) => (await latest(webhook))?.status
  const recordUntil = async (
    status: WebhookDelivery['status'],
    webhook: Webhook,
    event = newEvent(),
  ) => {
    await record(webhook.owner, [event])
    await poll(() => statusOf(webhook)).toBe(status)
    return event.data
  }
  const find = async ({ owner, id }: Webhook) => O.toUndefined(await webhooks.find(owner, id))
  const switchTo = ({ owner, id }: Webhook, enabled: boolean) =>
    webhooks.change(owner, id, { enabled }, Date.now())
  const replay = (
    { owner, id }: Webhook,
    of: DeliveryId | undefined,
    as = randomUUID() as DeliveryId,
    by = owner,
  ) => deliveries.replay(by, id, of as DeliveryId, as)
  /** As if so much time had passed since everything that is recorded. */
  const elapse = (ms: number) => {
    const earlier = (column: string) => knex.raw(`${column} - ${ms} * interval '1 ms'`)
    return knex('webhook_deliveries').update({
      created_at: earlier('created_at'),
      last_attempt_at: earlier('last_attempt_at'),
      next_attempt_at: earlier('next_attempt_at'),
    })
  }
  /** As if the process that sends to it had died so long ago. */
  const endLeaseOf = ({ id }: Webhook, until = `now() - interval '1 second'`) =>
    knex('webhooks')
      .where({ id })
      .update({ leased_until: knex.raw(until) })
  const eventIdsOf = async ({ owner }: Webhook) => (await ports.eventsOf(owner)).map(({ id }) => id)
  const noticesTo = async ({ userId }: Owner) => {
    return knex('owner_notices').where({ user_id: userId }).pluck('notice')
  }

  it('an event makes one delivery, however often it is recorded, for each webhook of the owner that is enabled and asked for it', async () => {
    const [webhook, theirs] = [await created(), await created()]
    const { owner } = webhook
    const others = [
      await created(owner, { eventTypes: ['trade.closed'] }),
      await created(owner, { enabled: false }),
    ]
    const event = newEvent()
    await Promise.all([
      record(owner, [event, event]),
      record(owner, [event]),
      record(owner, [event, newEvent()]),
      record(theirs.owner, [event]),
    ])
    expect(await log(webhook)).toHaveLength(2)
    const [{ recordedAt } = expect.fail('no event')] = await ports.eventsOf(theirs.owner)
    expect(await log(theirs)).toStrictEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        webhookId: theirs.id,
        eventId: expect.stringMatching(/^evt_[0-9a-z]{28}$/),
        eventType: 'order.created',
        status: 'pending',
        attempts: 0,
        responseCode: null,
        responseTimeMs: null,
        failureReason: null,
        createdAt: recordedAt,
        lastAttemptAt: null,
        nextAttemptAt: recordedAt,
        replayOf: null,
      },
    ])
    for (const other of others) expect(await log(other)).toStrictEqual([])
    await record(owner, newEvents(3))
    const all = await log(webhook)
    const second = await page(webhook, { page: 2, limit: 2 })
    expect(second).toStrictEqual({
      data: all.slice(2, 4),
      pagination: { page: 2, limit: 2, total: 5 },
    })
    expect(await page(webhook, { status: 'success' })).toMatchObject({
      data: [],
      pagination: { total: 0 },
    })
    expect(await page(webhook, {}, theirs.owner)).toMatchObject({
      data: [],
      pagination: { total: 0 },
    })
  })

  it('deliveries are sent in the order of recording, one at a time to one webhook and each once, by two instances', async () => {
    const webhook = await created()
    let [running, most] = [0, 0]
    const another = await start({}, there)
    const sentTo = await working(async () => {
      most = Math.max(most, (running += 1))
      await Promise.resolve()
      running -= 1
      return ok
    }, [ports, another])
    const events = newEvents(20)
    await record(webhook.owner, events.slice(0, 6))
    for (const event of events.slice(6)) await record(webhook.owner, [event])
    await poll(() => statuses(webhook)).toStrictEqual(events.map(() => 'success'))
    expect(sentTo(webhook).map(({ data }) => data)).toStrictEqual(events.map(({ data }) => data))
    expect(most).toBe(1)
    expect(sentTo(webhook)[0]?.to).toMatchObject({
      webhook: { url: webhook.url },
      secret: webhookSecret,
    })
    expect(await find(webhook)).toMatchObject({ failureCount: 0, lastSuccessAt: inMinutes(0) })
  })

  it('a failed delivery is tried again at its time with the same id, while others are sent', async () => {
    const webhook = await created()
    const sentTo = await working(({ delivery }) =>
      delivery.eventType === 'order.filled' ? bad : ok,
    )
    await record(webhook.owner, [newEvent({ type: 'order.filled' })])
    const first = async () => (await log(webhook)).at(-1)
    for (const [index, minutes] of [1, 5, 15, 60].entries()) {
      await poll(first).toMatchObject({
        status: 'pending',
        attempts: index + 1,
        responseCode: 503,
        failureReason: 'not_2xx',
        lastAttemptAt: inMinutes(0),
        nextAttemptAt: inMinutes(minutes),
      })
      await elapse((minutes - 1 / 2) * minuteMs)
      // A success in between keeps the webhook from being disabled.
      await recordUntil('success', webhook)
      expect((await first())?.attempts).toBe(index + 1)
      await elapse(minuteMs / 2)
    }
    await poll(first).toMatchObject({ status: 'failed', attempts: 5 })
    const tries = sentTo(webhook).filter(({ delivery }) => delivery.eventType === 'order.filled')
    expect(new Set(tries.map(({ delivery }) => delivery.id)).size).toBe(1)
    expect(await find(webhook)).toMatchObject({ enabled: true, failureCount: 1 })
    expect(await noticesTo(webhook.owner)).toStrictEqual([])
  })

  it('a webhook is disabled after five failed attempts in a row, its deliveries are withdrawn, and its owner is notified once', async () => {
    const webhook = await created()
    const fine = await created(webhook.owner)
    const sentTo = await working(({ to }) => (to.webhook.id === fine.id ? ok : timedOut))
    await record(webhook.owner, newEvents(7))
    await poll(() => statuses(webhook)).toStrictEqual(Array(7).fill('failed'))
    expect(sentTo(webhook)).toHaveLength(5)
    const withdrawn = { failureReason: 'webhook_disabled', attempts: 0 }
    expect((await log(webhook)).slice(0, 3)).toMatchObject([
      withdrawn,
      withdrawn,
      { failureReason: 'timed_out', attempts: 1 },
    ])
    expect(await find(webhook)).toMatchObject({ enabled: false, failureCount: 5 })
    const { id: webhookId, url, owner } = webhook
    const recoverSince = expect.closeTo(Date.now(), -6)
    const notice = { kind: 'webhook_disabled', webhookId, url, at: inMinutes(0), recoverSince }
    await poll(() => noticesTo(owner)).toStrictEqual([notice])
    await poll(() => ports.disabled).toStrictEqual([webhookId])
    await record(owner)
    await poll(async () => (await page(fine, { status: 'success' })).pagination.total).toBe(8)
    expect(await log(webhook)).toHaveLength(7)
    await stop()
    await switchTo(webhook, true)
    const [{ recoverSince: since }] = await knex('owner_notices').pluck('notice')
    expect(await deliveries.recover(owner, webhookId, since)).toBe(8)
  })

  it('however many deliveries wait, a webhook that is disabled gets none of them', async () => {
    const webhook = await created()
    const sentTo = await working(() => timedOut)
    await record(webhook.owner, newEvents(1_010))
    const pending = async () => (await page(webhook, { status: 'pending' })).pagination.total
    await poll(async () => [await pending(), sentTo(webhook).length]).toStrictEqual([0, 5])
  })

  it('nothing is sent to a webhook that its user disabled or removed, and nobody is notified', async () => {
    const [off, removed] = [await created(), await created()]
    for (const { owner } of [off, removed]) await record(owner, newEvents(2))
    await switchTo(off, false)
    const sentTo = await working(async ({ to: { webhook } }) => {
      await webhooks.remove(webhook.owner, webhook.id)
      return ok
    })
    await poll(async () =>
      (await log(off)).map(({ failureReason }) => failureReason),
    ).toStrictEqual(Array(2).fill('webhook_disabled'))
    await poll(() => find(removed)).toBeUndefined()
    expect(await noticesTo(off.owner)).toStrictEqual([])
    const next = await created(removed.owner)
    await record(removed.owner)
    await poll(() => sentTo(next)).toHaveLength(1)
    expect([sentTo(off).length, sentTo(removed).length]).toStrictEqual([0, 1])
  })

  it('a delivery is replayed once, as a new one, also to a webhook that is disabled, for its owner alone', async () => {
    const [webhook, other] = [await created(), await created()]
    const sentTo = await working(() => bad)
    const event = newEvent()
    await record(webhook.owner, [event])
    await poll(async () => (await latest(webhook))?.attempts).toBe(1)
    await switchTo(webhook, false)
    const original = (await latest(webhook))?.id
    const id = randomUUID() as DeliveryId
    for (const refused of [
      replay(webhook, original, id, other.owner),
      replay(other, original),
      replay(webhook, randomUUID() as DeliveryId),
    ])
      expect(await refused).toStrictEqual(O.none)
    expect(await replay(webhook, original, id)).toMatchObject({
      value: { id, status: 'pending', attempts: 0, replayOf: original },
    })
    await poll(() => latest(webhook)).toMatchObject({
      id,
      status: 'failed',
      attempts: 1,
      failureReason: 'not_2xx',
    })
    await elapse(100 * minuteMs)
    expect(sentTo(webhook).filter(({ delivery }) => delivery.id === id)).toMatchObject([
      { data: event.data },
    ])
    expect(await find(webhook)).toMatchObject({ failureCount: 1 })
  })

  it('what a webhook has missed is delivered again in the order of the log, once, and neither what arrived nor what is pending', async () => {
    const [webhook, other] = [await created(), await created()]
    const { owner, id } = webhook
    const recover = (since: EventId | Instant, by = owner) => deliveries.recover(by, id, since)
    let answer: AttemptAnswer = ok
    const sentTo = await working((due) => (answer === ok ? hangWhereSilent(due) : answer))
    const recordFifthFailure = async () => {
      await knex('webhooks').where({ id }).update({ failure_count: 4 })
      answer = bad
      return recordUntil('failed', webhook)
    }
    await recordUntil('success', webhook)
    const failed = await recordFifthFailure()
    const whileDisabled = [newEvent(), newEvent({ type: 'trade.closed' }), newEvent()]
    await record(owner, whileDisabled)
    expect(await recover(0)).toBe(0)

    answer = ok
    silent.add(id)
    await switchTo(webhook, true)
    const pending = await recordUntil('pending', webhook)
    await poll(() => hanging.length).toBe(1)
    expect([await recover(0, other.owner), await recover(Date.now() + minuteMs)]).toStrictEqual([
      0, 0,
    ])
    const counts = await Promise.all([recover(0), recover(0)])
    expect(new Set(counts)).toStrictEqual(new Set([0, 3]))
    silent.clear()
    for (const { end } of hanging.splice(0)) end(ok)
    await poll(async () => (await page(webhook, { status: 'pending' })).pagination.total).toBe(0)
    const [, , ...again] = sentTo(webhook)
    const wanted = [pending, failed, whileDisabled[0]?.data, whileDisabled[2]?.data]
    expect(again.map(({ data }) => data)).toStrictEqual(wanted)
    expect(await recover(0)).toBe(0)
    // The delivery that failed was replaced.
    expect(await statuses(webhook)).toStrictEqual(Array(5).fill('success'))

    await recordFifthFailure()
    await record(owner)
    await switchTo(webhook, true)
    const lastFailed = sentTo(webhook).at(-1)?.delivery.eventId as EventId
    expect(await recover(lastFailed)).toBe(1)
  })

  // An embedded database has one connection, and so one transaction at a time.
  onServer(
    'an event waits for those of its user that are being recorded, and is delivered to a webhook that is enabled between, which can recover the others',
    async () => {
      const webhook = await created()
      const { owner, id } = webhook
      await switchTo(webhook, false)
      const [first, second] = newEvents(2) as [ServiceEvent, ServiceEvent]
      const waiting = await there.knex.transaction(async (trx) => {
        await there.recorder.recordWithin(trx, [{ owner, event: first }])
        const enabling = switchTo(webhook, true)
        await poll(() => lockWaits(here)).toBe(1)
        const recording = record(owner, [second])
        await poll(() => lockWaits(here)).toBe(2)
        return [enabling, recording]
      })
      await Promise.all(waiting)
      expect(await log(webhook)).toHaveLength(1)
      expect(await deliveries.recover(owner, id, 0)).toBe(1)
    },
  )

  it('events of a month ago are deleted with their deliveries, except those with one that is pending or a replay', async () => {
    const [plain, replayed] = [await created(), await created()]
    await record(plain.owner)
    await record(replayed.owner, newEvents(4))
    const [only = none] = await eventIdsOf(plain)
    const [first = none, second = none, third = none, fourth = none] = await eventIdsOf(replayed)
    await knex('webhook_deliveries').whereNot({ event_id: third }).update({ status: 'success' })
    const delivery = (await log(replayed)).at(-1)?.id
    await replay(replayed, delivery)
    silent.add(replayed.id)
    await knex('events')
      .whereNot({ id: fourth })
      .update({ recorded_at: knex.raw(`now() - interval '31 days'`) })
    // More than one statement could delete in its time.
    const many = await newOwner()
    await knex.raw(
      `insert into events (tenant_id, id, user_id, key, type, account_id, data, recorded_at)
       select ?, gen_random_uuid(), ?, n, 'order.created', ?, '{}', now() - interval '32 days' from generate_series(1, 2500) n`,
      [many.tenantId, many.userId, accountId],
    )
    const pieces = countRows(knex, /delete from events/)
    await working(hangWhereSilent)
    await poll(() => knex('events').where({ user_id: many.userId })).toStrictEqual([])
    await poll(() => pieces.counts.filter((count) => count > 0)).toHaveLength(3)
    pieces.stop()
    await poll(() => log(plain)).toStrictEqual([])
    expect(await log(replayed)).toMatchObject([{ replayOf: delivery }, {}, {}, { id: delivery }])
    expect(await eventIdsOf(replayed)).toStrictEqual([third, fourth])
    const { bounds, isResumable } = eventLog
    expect(await Promise.all([plain, replayed].map(({ owner }) => bounds(owner)))).toEqual([
      { clearedTo: only, oldest: null, newest: only },
      { clearedTo: second, oldest: third, newest: fourth },
    ])
    const after = [none, first, second, third].map((id) => isResumable(replayed.owner, id))
    expect(await Promise.all(after)).toStrictEqual([false, false, true, true])
    const days = [32, 30].map((age) => isResumable(replayed.owner, Date.now() - age * dayMs))
    expect(await Promise.all(days)).toStrictEqual([false, true])
    expect(await isResumable((await created()).owner, 0)).toBe(true)

    // One that was kept for its replay is deleted after later ones.
    await stop()
    const age = (days: number) => knex.raw(`now() - ${days} * interval '1 day'`)
    const ageEvent = (id: EventId, days: number) =>
      knex('events')
        .where({ id })
        .update({ recorded_at: age(days) })
    await ageEvent(first, 40)
    await ageEvent(third, 0)
    await knex('webhook_deliveries')
      .where({ event_id: first })
      .update({ status: 'success', created_at: age(31) })
    await working(hangWhereSilent)
    await poll(() => knex('events').where({ id: first })).toStrictEqual([])
    expect(await bounds(replayed.owner)).toMatchObject({ clearedTo: second })
    expect(await isResumable(replayed.owner, Date.now() - 35 * dayMs)).toBe(false)
  })

  it('deliveries that were not made within twice the time are deleted with their events, and counted', async () => {
    const webhook = await created()
    const { owner } = webhook
    await record(owner, newEvents(4))
    const at = (days: number) => knex.raw(`now() - ${days} * interval '1 day'`)
    await knex('events')
      .where({ user_id: owner.userId })
      .update({ recorded_at: at(61) })
    await knex('webhook_deliveries').update({
      created_at: at(61),
      next_attempt_at: new Date(Date.now() + dayMs),
    })
    const [made] = await log(webhook)
    await knex('webhook_deliveries').where({ id: made?.id }).update({ status: 'success' })
    await working(() => ok)
    await poll(() => warnings).toContainEqual({
      event: 'webhook_deliveries_expired',
      reason: '3 were never made, and deleted with their old events',
    })
    expect(await ports.eventsOf(owner)).toStrictEqual([])
  })

  onServer(
    'old events are deleted without waiting for a user who is locked, with the locks of others',
    async () => {
      const owners = [await newOwner(), await newOwner()] as const
      const [free, locked] = owners.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1))
      for (const owner of owners) await record(owner)
      await knex('events').update({ recorded_at: knex.raw(`now() - interval '31 days'`) })
      const keptOf = (owner: Owner | undefined) =>
        knex('events').where({ user_id: owner?.userId ?? '' })
      await there.knex.transaction(async (trx) => {
        await trx('users')
          .where({ id: locked?.userId ?? '' })
          .forUpdate()
        await working(() => ok)
        await poll(() => keptOf(free), { timeout: 5_000 }).toStrictEqual([])
        expect(await keptOf(locked)).toHaveLength(1)
      })
    },
  )

  it('a delivery whose process died is sent again under the same id, and an answer that comes late changes nothing; a replay is not sent again', async () => {
    const webhook = await created()
    const dead = await working(hangWhereSilent, [await start()])
    await recordUntil('success', webhook)
    silent.add(webhook.id)
    await record(webhook.owner)
    await poll(() => hanging.length).toBe(1)
    const accepted: AttemptAnswer = { responseCode: 202, responseTimeMs: 1 }
    await endLeaseOf(webhook)
    const sentTo = await working(() => accepted, [await start()])
    await poll(() => statusOf(webhook)).toBe('success')
    expect(sentTo(webhook).map(({ delivery }) => delivery.id)).toStrictEqual(
      hanging.map(({ due }) => due.delivery.id),
    )
    await stop()
    expect(await latest(webhook)).toMatchObject({ attempts: 1, responseCode: 202 })

    await working(hangWhereSilent, [await start()])
    await replay(webhook, dead(webhook)[0]?.delivery.id)
    await poll(() => hanging.length).toBe(1)
    // A clock that was set back by an hour: no lease lasts so long.
    await endLeaseOf(webhook, `now() + interval '1 hour'`)
    const afterwards = await working(() => ok, [await start()])
    await poll(() => latest(webhook)).toMatchObject({
      status: 'failed',
      attempts: 1,
      failureReason: 'interrupted',
    })
    expect(afterwards(webhook)).toStrictEqual([])
  })

  it('no other process sends to a webhook during an attempt, and its events wait in order', async () => {
    const webhook = await created()
    silent.add(webhook.id)
    const lasting = { leaseMs: 8_000 }
    await working(hangWhereSilent, [await start(lasting)])
    await record(webhook.owner)
    await poll(() => hanging.length).toBe(1)
    const sentByOther = await working(() => ok, [await start(lasting)])
    await record(webhook.owner)
    await setTimeout(500)
    expect(sentByOther(webhook)).toStrictEqual([])
    silent.clear()
    for (const { end } of hanging.splice(0)) end(ok)
    await poll(() => statuses(webhook)).toStrictEqual(['success', 'success'])
  })

  it('a delivery is sent although the clock was set back after it was recorded', async () => {
    const webhook = await created()
    await record(webhook.owner)
    await elapse(-120 * minuteMs)
    await working(() => ok)
    await poll(() => statusOf(webhook)).toBe('success')
  })

  it('webhooks with something due are found however much others have waiting', async () => {
    const [many, one] = [await created(), await created()]
    for (const { owner } of [many, one]) await record(owner)
    await knex.raw(
      `insert into webhook_deliveries (tenant_id, id, webhook_id, event_id, status, attempts, created_at, next_attempt_at)
       select tenant_id, gen_random_uuid(), webhook_id, event_id, status, attempts, created_at, next_attempt_at
       from webhook_deliveries, generate_series(1, 3000) where webhook_id = ?`,
      [many.id],
    )
    const deliveries = dueDeliveriesOf(here)
    const claims: Knex.Sql[] = []
    const keep = (statement: Knex.Sql) => void claims.push(statement)
    knex.on('query', keep)
    const found = await deliveries.claim(...anyDue)
    knex.off('query', keep)
    expect(found.map(({ id }) => id)).toStrictEqual(expect.arrayContaining([many.id, one.id]))
    const [claim = expect.fail('nothing was claimed')] = claims
    await record((await created()).owner)
    const { rows } = await knex.raw<{ rows: unknown[] }>(
      `explain (analyze, format json) ${claim.sql.replaceAll(/\$\d+/g, '?')}`,
      claim.bindings as Knex.RawBinding[],
    )
    const read = JSON.stringify(rows).matchAll(
      /"Relation Name":"webhook_deliveries"[^{}]*?"Actual Rows":([\d.]+)/g,
    )
    const counts = [...read].map(([, count]) => Number(count))
    expect(counts).not.toHaveLength(0)
    expect(Math.max(...counts)).toBeLessThanOrEqual(1)
  })

  it('each delivery that cannot be read is logged, and keeps no other of its webhook waiting', async () => {
    const webhook = await created()
    const events = newEvents(3)
    await record(webhook.owner, events)
    const unreadable = knex('events').whereIn(
      'key',
      events.slice(0, 2).map(({ key }) => key),
    )
    await unreadable.clone().update({ data: '0' })
    await knex('events').where({ key: events[1]?.key }).update({ data: '{' })
    const sentTo = await working(() => ok)
    await poll(() => statuses(webhook)).toStrictEqual(['success', 'pending', 'pending'])
    expect(warnings).toStrictEqual(
      (await log(webhook))
        .slice(1)
        .toReversed()
        .map(({ eventId }) => ({
          event: 'webhook_delivery_unreadable',
          reason: `the data of event ${eventId} does not decode`,
        })),
    )
    await unreadable.update({ data: '{}' })
    await elapse(minuteMs)
    await poll(() => statuses(webhook)).toStrictEqual(['success', 'success', 'success'])
    expect(sentTo(webhook)).toHaveLength(3)
  })

  it('a webhook is sent to again after a failure of the service, which is logged once', async () => {
    const webhook = await created()
    let attempts = 0
    await working(async () => {
      if ((attempts += 1) < 3) throw new Error('a fault')
      return ok
    }, [await start({ leaseMs: 1_500 })])
    await recordUntil('success', webhook)
    expect(warnings).toStrictEqual([{ event: 'webhook_delivery_failed', reason: 'Error' }])
  })

  const rename = (from: string, to: string) => knex.raw('alter table ?? rename to ??', [from, to])

  it('an attempt that cannot be recorded at once is recorded soon after, and not made again', async () => {
    const webhook = await created()
    const sentTo = await working(async () => {
      await rename('webhooks', 'hidden_webhooks')
      void setTimeout(300).then(() => rename('hidden_webhooks', 'webhooks'))
      return ok
    })
    await recordUntil('success', webhook)
    expect(sentTo(webhook)).toHaveLength(1)
  })

  /** A delivery that has been sent, and its webhook. */
  const sentOnce = async () => {
    const webhook = await created()
    await working(() => ok)
    await recordUntil('success', webhook)
    await stop()
    return { webhook, original: (await latest(webhook))?.id }
  }

  it.each<[string, (webhook: Webhook) => Promise<void>]>([
    [
      'that was not sent in time',
      async ({ id }) => {
        const rowVersion = () => knex('webhooks').where({ id }).pluck<string[]>('xmin')
        const [before = ''] = await rowVersion()
        await working(() => ok, [await start({ leaseMs: 1 })])
        await poll(async () => (await rowVersion()).includes(before)).toBe(false)
        await stop()
        await working(() => ok)
      },
    ],
    [
      'whose webhook could not be read',
      async ({ id }) => {
        const { secret } = await knex('webhooks').where({ id }).first()
        const seal = (sealed: Buffer) => knex('webhooks').where({ id }).update({ secret: sealed })
        await seal(Buffer.from('none'))
        await working(() => ok, [await start({ leaseMs: 1_500 })])
        await poll(() => warnings).toMatchObject([{ event: 'webhook_delivery_failed' }])
        await seal(secret)
      },
    ],
  ])('a replay %s is sent later', async (_, startLate) => {
    const { webhook, original } = await sentOnce()
    await replay(webhook, original)
    await startLate(webhook)
    await poll(() => latest(webhook)).toMatchObject({
      replayOf: original,
      status: 'success',
      attempts: 1,
    })
  })

  it('a process that no longer leases a webhook begins no replay, and keeps no other from the webhook', async () => {
    const { webhook, original } = await sentOnce()
    await replay(webhook, original)
    const [lapsed, holding] = [dueDeliveriesOf(here), dueDeliveriesOf(there)]
    const owned = { owner: webhook.owner, id: webhook.id }
    expect(await lapsed.claim(...anyDue)).toStrictEqual([owned])
    await knex('webhooks').update({ leased_until: knex.raw(`now() - interval '1 second'`) })
    expect(await lapsed.next(owned)).toBeUndefined()
    expect(await holding.claim(...anyDue)).toStrictEqual([owned])
    const begun = await holding.next(owned)
    if (begun === undefined) return expect.fail('the replay is due')
    await holding.endLease(owned)
    await lapsed.recordAttempt(...attempt(begun.due, ok))
    expect(await latest(webhook)).toMatchObject({ status: 'success', attempts: 1 })
    await record(webhook.owner)
    expect(await holding.claim(...anyDue)).toStrictEqual([owned])
  })

  it('a process that no longer leases a webhook ends no lease of another, and changes nothing that was recorded meanwhile', async () => {
    const webhook = await created()
    await record(webhook.owner)
    const owned = { owner: webhook.owner, id: webhook.id }
    const next = async (deliveries: ReturnType<typeof dueDeliveriesOf>) => {
      await deliveries.claim(...anyDue)
      return (await deliveries.next(owned))?.due ?? expect.fail('nothing is due')
    }
    const [lapsed, holding] = [dueDeliveriesOf(here), dueDeliveriesOf(there)]
    const late = await next(lapsed)
    await endLeaseOf(webhook)
    const due = await next(holding)
    await lapsed.endLease(owned)
    expect(await knex('webhooks').whereNotNull('lease_id')).toHaveLength(1)
    await holding.recordAttempt(...attempt(due, bad))
    await lapsed.recordAttempt(...attempt(late, timedOut))
    expect(await latest(webhook)).toMatchObject({ attempts: 1, responseCode: bad.responseCode })
    expect(await find(webhook)).toMatchObject({ failureCount: 1 })
    await elapse(secondMs)
    const again = await next(holding)
    await knex('webhook_deliveries').update({ status: 'failed' })
    await holding.recordAttempt(...attempt(again, bad))
    expect(await latest(webhook)).toMatchObject({ attempts: 1, status: 'failed' })
  })

  it.skipIf(kind === 'server')(
    'nothing is withdrawn from a webhook that is enabled again just after it was found disabled',
    async () => {
      const webhook = await created()
      await record(webhook.owner)
      await switchTo(webhook, false)
      const deliveries = dueDeliveriesOf(here)
      const [found] = await deliveries.claim(...anyDue)
      if (found === undefined) return expect.fail('no webhook was found')
      // There is one connection, and it goes to whoever asked for it first: to this query, and
      // only then to the next one of `next`.
      let enabling: Promise<unknown> | undefined
      const enable = () => {
        enabling ??= Promise.resolve(
          knex('webhooks').where({ id: webhook.id }).update({ enabled: true }),
        )
      }
      knex.on('query-response', enable)
      const due = await deliveries.next(found)
      knex.off('query-response', enable)
      expect(await enabling).toBe(1)
      expect(due).toMatchObject({ due: { delivery: { status: 'pending' } } })
    },
  )

  const timeOut = async () => {
    for (const { due, end } of hanging.splice(0)) {
      end(timedOut)
      await poll(() => latest(due.to.webhook)).toMatchObject({
        status: 'pending',
        attempts: 1,
      })
    }
  }

  it('silent receivers delay no other receiver, of another user or of their own, while none of them has timed out', async () => {
    await restart()
    const crowd = await Promise.all(times(12, newOwner))
    for (const owner of crowd) await createSilent(9, owner)
    const own = await created(crowd[0])
    for (const owner of crowd) await record(owner)
    await poll(() => hanging.length).toBeGreaterThanOrEqual(100)
    const healthy = await created()
    await record(healthy.owner)
    for (const one of [healthy, own]) await poll(() => statusOf(one)).toBe('success')
    await poll(() => hanging.length).toBe(108)
  })

  it('silent receivers use only the sockets of slow ones from the first attempt without an answer to the next answer, also after a restart', async () => {
    const limits = { fast: { size: 2, perUser: 1 }, slow: { size: 1, perUser: 1 } }
    await restart({ limits })
    const owners = [await newOwner(), await newOwner()]
    for (const owner of owners) {
      await createSilent(1, owner)
      await record(owner)
    }
    await poll(() => hanging.length).toBe(2)
    await timeOut()
    await restart({ limits })
    await elapse(minuteMs)
    for (const owner of owners) await record(owner)
    const healthy = await created()
    for (let count = 0; count < 3; count++) {
      await recordUntil('success', healthy)
    }
    const [answered, ...others] = hanging
    if (answered === undefined) return expect.fail('nothing hangs')
    expect(others).toStrictEqual([])
    silent.delete(answered.due.to.webhook.id)
    answered.end(ok)
    // The other one has the only socket of slow ones now.
    await poll(() => hanging.length).toBe(2)
    await poll(() => statuses(answered.due.to.webhook)).toStrictEqual(['success', 'success'])
  })

  it('webhooks with a long backlog take turns with others', async () => {
    const [long, other] = [await created(), await created()]
    await record(long.owner, newEvents(3))
    await elapse(minuteMs)
    await record(other.owner)
    const due = dueDeliveriesOf(here)
    const claim = () => due.claim(false, { ...anyDue[1], limit: 1 })
    const turns = []
    for (let turn = 0; turn < 3; turn++)
      for (const claimed of await claim()) {
        turns.push(claimed.id)
        await due.endLease(claimed)
      }
    expect(turns).toEqual([long.id, other.id, long.id])
  })

  it('slow receivers of one user leave those of others their share', async () => {
    await restart({ limits: { slow: { size: 2, perUser: 1 } } })
    const [many, one] = [await newOwner(), await newOwner()]
    await createSilent(3, many)
    await createSilent(1, one)
    for (const owner of [many, one]) await record(owner)
    await poll(() => hanging.length).toBe(4)
    await timeOut()
    await elapse(minuteMs)
    await poll(() =>
      hanging.map(({ due }) => due.to.webhook.owner.userId).toSorted(),
    ).toStrictEqual([many.userId, one.userId].toSorted())
  })

  it('receivers that answer late count as slow', async () => {
    await restart({ slowAfterMs: -1, limits: { slow: { size: 1, perUser: 1 } } })
    const late = [await created(), await created()]
    for (const webhook of late) {
      await recordUntil('success', webhook)
      silent.add(webhook.id)
    }
    for (const webhook of late) await record(webhook.owner)
    const untried = await created()
    await recordUntil('success', untried)
    expect(hanging).toHaveLength(1)
    // A turn of one group must not hold a lease of the other for its own.
    silent.add(untried.id)
    await knex('webhooks').where({ id: untried.id }).update({ is_slow: false })
    await record(untried.owner)
    await poll(() => hanging.length).toBe(2)
    const leased = hanging.map(({ due }) => due.to.webhook.id)
    const leases = await knex('webhooks').whereIn('id', leased).pluck('lease_id')
    expect(new Set(leases).size).toBe(2)
  })

  onServer('deliveries that end at once leave most database connections to requests', async () => {
    await restart()
    const webhooks = await Promise.all(times(40, () => created()))
    for (const { id, owner } of webhooks) {
      silent.add(id)
      await record(owner)
    }
    await poll(() => hanging.length).toBe(40)
    let mostInUse = 0
    const measure = () => (mostInUse = Math.max(mostInUse, here.database.pool().inUse))
    knex.on('query', measure)
    await stop()
    knex.off('query', measure)
    // Four for the deliveries, and one for each of the two polls.
    expect(mostInUse).toBeGreaterThan(0)
    expect(mostInUse).toBeLessThanOrEqual(6)
  })
})
