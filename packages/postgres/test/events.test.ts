// Events and deliveries beside their contract: a process that dies loses no delivery and sends no
// replay twice, and receivers that accept a delivery and never answer delay nobody else's events.
import { randomUUID } from 'node:crypto'
import { minuteMs } from '@tradeport/domain/primitives'
import type { DueDelivery } from '@tradeport/domain/ports'
import type { DeliveryId, Owner } from '@tradeport/domain/primitives'
import type { AttemptAnswer, Webhook } from '@tradeport/domain/webhooks'
import { newWebhook, rightOf, storedOwner } from '@tradeport/domain/testing'
import type { Knex } from 'knex'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { LogEvent } from '../src/index.ts'
import { createDueDeliveries } from '../src/webhooks/deliveries.ts'
import { createTestClock, eventPortsOf, startEvents } from './event-ports.ts'
import type { EventInstance, EventOptions, EventPorts, TestClock } from './event-ports.ts'
import { never } from './lock-ports.ts'
import { onEachDatabase, testCipher } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const ok: AttemptAnswer = { responseCode: 200, responseTimeMs: 1 }
const timedOut: AttemptAnswer = {
  responseCode: 0,
  responseTimeMs: 30_000,
  failureReason: 'timed_out',
}
/** Does not renew its leases, so that one that hangs counts as dead after three seconds. */
const frail = { leaseMs: 3_000, renewMs: never }

onEachDatabase((open, title) => {
  let opened: OpenedDatabase
  let knex: Knex
  let clock: TestClock
  let ports: EventPorts
  let instances: EventInstance[]
  let workers: { readonly stop: () => Promise<void> }[]
  let warnings: LogEvent[]
  /** Webhooks whose receivers do not answer, and the attempts that wait for such an answer. */
  let silent: Set<string>
  let hanging: { readonly due: DueDelivery; readonly end: (answer: AttemptAnswer) => void }[]
  let lastKey = 0
  beforeEach(async () => {
    opened = await open()
    knex = opened.database.knex
    clock = createTestClock()
    silent = new Set()
    hanging = []
    instances = []
    workers = []
    warnings = []
  })
  afterEach(async () => {
    await stop()
    await opened.close()
  })

  const stop = async (): Promise<void> => {
    for (const { end } of hanging.splice(0)) end(ok)
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
    await Promise.all(instances.splice(0).map(({ jobs }) => jobs.stop()))
  }
  const start = async (options: EventOptions = {}): Promise<EventInstance> => {
    const instance = await startEvents(opened.database, clock, options, {
      warn: (event) => void warnings.push(event),
    })
    instances.push(instance)
    ports = eventPortsOf(instance, instance, clock)
    return instance
  }
  const work = async (
    attempt: (due: DueDelivery) => Promise<AttemptAnswer>,
    instance = instances.at(-1),
  ) => {
    if (instance === undefined) throw new Error('no instance was started')
    const worker = await instance.events.jobs.work(attempt)
    workers.push(worker)
    return worker
  }
  const hangWhereSilent = (due: DueDelivery): Promise<AttemptAnswer> =>
    silent.has(due.to.webhook.id)
      ? new Promise((resolve) => void hanging.push({ due, end: resolve }))
      : Promise.resolve(ok)
  const restart = async (options: EventOptions = {}): Promise<void> => {
    await stop()
    await start(options)
    await work(hangWhereSilent)
  }
  const newOwner = () => storedOwner(ports.operator)
  const createWebhook = async (owner?: Owner): Promise<Webhook> => {
    const webhook = newWebhook(owner ?? (await newOwner()), 0, { eventTypes: ['order.created'] })
    await rightOf(
      ports.webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' }),
    )
    return webhook
  }
  const createSilent = async (count: number, owner: Owner): Promise<void> => {
    for (let made = 0; made < count; made++) silent.add((await createWebhook(owner)).id)
  }
  const event = () =>
    ({
      type: 'order.created',
      key: `event ${(lastKey += 1)}`,
      data: { order_id: 'ord_1' },
      at: 0,
    }) as const
  const record = (owner: Owner) => ports.record(owner, [event()])
  const logOf = async ({ owner, id }: Webhook) =>
    (await rightOf(ports.deliveries.list(owner, id, { page: 1, limit: 10 }))).items
  const statusOf = async (webhook: Webhook) => (await logOf(webhook))[0]?.status
  const replay = async ({ owner, id }: Webhook, of: DeliveryId | undefined) => {
    const made = { id: randomUUID() as DeliveryId, at: clock.now() }
    await rightOf(ports.deliveries.replay(owner, id, of as DeliveryId, made))
    return made.id
  }

  it('events of a month ago go with their deliveries, but for one that is to be sent again', async () => {
    await start()
    const [plain, replayed] = [await createWebhook(), await createWebhook()]
    for (const { owner } of [plain, replayed]) await record(owner)
    const first = (await logOf(replayed))[0]?.id
    const again = await replay(replayed, first)
    silent.add(replayed.id)
    await knex('events').update({ recorded_at: knex.raw(`now() - interval '31 days'`) })
    await work(hangWhereSilent)
    await expect.poll(() => logOf(plain)).toStrictEqual([])
    expect((await logOf(replayed)).map(({ id }) => id)).toStrictEqual([again, first])
  })

  it('a delivery whose process died is sent again under the same id, and an answer that comes late changes nothing', async () => {
    const dying = await start(frail)
    const webhook = await createWebhook()
    silent.add(webhook.id)
    await work(hangWhereSilent, dying)
    await record(webhook.owner)
    await expect.poll(() => hanging.length).toBe(1)
    const sent: DueDelivery[] = []
    const next = await start(frail)
    await work(async (due) => {
      sent.push(due)
      return { responseCode: 202, responseTimeMs: 1 }
    }, next)
    await expect.poll(() => statusOf(webhook)).toBe('success')
    expect(sent.map(({ delivery }) => delivery.id)).toStrictEqual(
      hanging.map(({ due }) => due.delivery.id),
    )
    await stop()
    await start()
    expect(await logOf(webhook)).toMatchObject([
      { status: 'success', attempts: 1, responseCode: 202 },
    ])
  })

  it('a replay whose process died is not sent again', async () => {
    const dying = await start(frail)
    const webhook = await createWebhook()
    await work(hangWhereSilent, dying)
    await record(webhook.owner)
    await expect.poll(() => statusOf(webhook)).toBe('success')
    silent.add(webhook.id)
    const id = await replay(webhook, (await logOf(webhook))[0]?.id)
    await expect.poll(() => hanging.length).toBe(1)
    const sent: DueDelivery[] = []
    await work(
      async (due) => {
        sent.push(due)
        return ok
      },
      await start(frail),
    )
    await expect.poll(() => statusOf(webhook)).toBe('failed')
    expect(sent).toStrictEqual([])
    expect((await logOf(webhook))[0]).toMatchObject({
      id,
      status: 'failed',
      attempts: 1,
      failureReason: 'interrupted',
    })
  })

  it('a webhook is sent to again after a failure of the service, which is logged once', async () => {
    await start()
    const webhook = await createWebhook()
    let attempts = 0
    await work(async () => {
      if ((attempts += 1) < 3) throw new Error('a fault')
      return ok
    })
    await record(webhook.owner)
    await expect.poll(() => statusOf(webhook)).toBe('success')
    expect(warnings).toStrictEqual([
      { event: 'webhook_delivery_failed', reason: 'Error; it is tried again' },
    ])
  })

  it.skipIf(title === 'server')(
    'nothing is withdrawn from a webhook that is switched on again just after it was found off',
    async () => {
      await start()
      const webhook = await createWebhook()
      await record(webhook.owner)
      const switchTo = async (enabled: boolean): Promise<unknown> =>
        knex('webhooks').where({ id: webhook.id }).update({ enabled })
      await switchTo(false)
      const parts = {
        knex,
        cipher: testCipher,
        schedule: [1_000],
        tellWithin: async () => undefined,
      }
      const deliveries = createDueDeliveries({ ...parts, sender: randomUUID(), leaseMs: 60_000 })
      const [found] = await deliveries.findWebhooks(clock.now(), {
        responsivenesses: ['untried'],
        except: [],
        limit: 1,
      })
      if (found === undefined) return expect.fail('no webhook was found')
      expect(await deliveries.lease(found)).toBe(true)
      // There is one connection, and it goes to whoever asked for it first: to this query, and only
      // then to the next one of `next`.
      let switched: Promise<unknown> | undefined
      knex.on('query-response', () => {
        switched ??= switchTo(true)
      })
      const due = await deliveries.next(found, clock.now())
      expect(await switched).toBe(1)
      expect(due).toMatchObject({
        delivery: { status: 'pending' },
        to: { webhook: { id: webhook.id } },
      })
    },
  )

  it('silent receivers delay no other receiver, of another user or of their own, while none of them has timed out', async () => {
    await restart()
    const crowd = await Promise.all(Array.from({ length: 12 }, newOwner))
    for (const owner of crowd) await createSilent(9, owner)
    const own = await createWebhook(crowd[0])
    for (const owner of crowd) await record(owner)
    await expect.poll(() => hanging.length).toBeGreaterThanOrEqual(100)
    const healthy = await createWebhook()
    await record(healthy.owner)
    await expect.poll(() => statusOf(healthy)).toBe('success')
    await expect.poll(() => statusOf(own)).toBe('success')
    await expect.poll(() => hanging.length).toBe(108)
  })

  const timeOut = async (): Promise<void> => {
    for (const { due, end } of hanging.splice(0)) {
      end(timedOut)
      await expect
        .poll(async () => (await logOf(due.to.webhook))[0])
        .toMatchObject({ status: 'pending', attempts: 1 })
    }
  }

  it('silent receivers use only the sockets of slow ones from the first attempt without an answer to the next answer, also after a restart', async () => {
    const limits = { prompt: { size: 1, perUser: 1 }, slow: { size: 1, perUser: 1 } }
    await restart({ limits })
    const owners = [await newOwner(), await newOwner()]
    for (const owner of owners) {
      await createSilent(1, owner)
      await record(owner)
    }
    await expect.poll(() => hanging.length).toBe(2)
    await timeOut()
    await restart({ limits })
    clock.elapse(minuteMs)
    for (const owner of owners) await record(owner)
    const healthy = await createWebhook()
    for (let count = 0; count < 3; count++) {
      await record(healthy.owner)
      await expect.poll(() => statusOf(healthy)).toBe('success')
    }
    expect(hanging).toHaveLength(1)
    const [answered] = hanging
    if (answered === undefined) return expect.fail('nothing hangs')
    silent.delete(answered.due.to.webhook.id)
    answered.end(ok)
    // The other one has the only socket of slow ones now.
    await expect.poll(() => hanging.length).toBe(2)
    await expect
      .poll(() => logOf(answered.due.to.webhook))
      .toMatchObject([{ status: 'success' }, { status: 'success' }])
  })

  it('slow receivers of one user leave those of others their share', async () => {
    await restart({ limits: { slow: { size: 2, perUser: 1 } } })
    const [many, one] = [await newOwner(), await newOwner()]
    await createSilent(3, many)
    await record(many)
    await expect.poll(() => hanging.length).toBe(3)
    await createSilent(1, one)
    await record(one)
    await expect.poll(() => hanging.length).toBe(4)
    await timeOut()
    clock.elapse(minuteMs)
    await expect
      .poll(() => new Set(hanging.map(({ due }) => due.to.webhook.owner.userId)))
      .toStrictEqual(new Set([many.userId, one.userId]))
    expect(hanging).toHaveLength(2)
  })

  it('receivers that answer late count as slow', async () => {
    await restart({ promptMs: -1, limits: { slow: { size: 1, perUser: 1 } } })
    const late = [await createWebhook(), await createWebhook()]
    for (const webhook of late) {
      await record(webhook.owner)
      await expect.poll(() => statusOf(webhook)).toBe('success')
      silent.add(webhook.id)
    }
    for (const webhook of late) await record(webhook.owner)
    const untried = await createWebhook()
    await record(untried.owner)
    await expect.poll(() => statusOf(untried)).toBe('success')
    expect(hanging).toHaveLength(1)
  })

  it.skipIf(title === 'embedded')(
    'deliveries that end at once leave most database connections to requests',
    async () => {
      await restart()
      const webhooks = await Promise.all(Array.from({ length: 40 }, () => createWebhook()))
      for (const { id, owner } of webhooks) {
        silent.add(id)
        await record(owner)
      }
      await expect.poll(() => hanging.length).toBe(40)
      let mostInUse = 0
      knex.on('query', () => (mostInUse = Math.max(mostInUse, opened.database.pool().inUse)))
      await stop()
      // Four for the deliveries, one for the poll and one for the leases.
      expect(mostInUse).toBeGreaterThan(0)
      expect(mostInUse).toBeLessThanOrEqual(6)
    },
  )
})
