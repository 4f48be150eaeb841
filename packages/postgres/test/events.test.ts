// Events and deliveries keep their contract on the embedded database and on a server. Besides: a rolled back write records no event, and a process that dies
// loses no delivery and sends no replay twice.
import { randomUUID } from 'node:crypto'
import { eventsContract, newOrder, newWebhook, rightOf, storedOwner, toRecord } from '@tradeport/domain/testing'
import type { DeliveryId, DueDelivery } from '@tradeport/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDueDeliveries } from '../src/due-deliveries.ts'
import { createCipher } from '../src/index.ts'
import type { LogEvent } from '../src/index.ts'
import { purgeEvents } from '../src/record-events.ts'
import { createTestClock, eventPortsOf, openEventsEmbedded, openEventsOnServer, startEvents } from './event-ports.ts'
import type { EventInstance, TestClock } from './event-ports.ts'
import { openEmbedded, openServer, serverTitle, serverUrl, testKey } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import type { EventPorts } from '@tradeport/domain/testing'

const ok = { responseCode: 200, responseTimeMs: 3 }
const event = { type: 'order.created', key: 'one', data: { a: 1 }, at: 0 } as const

const crashesOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`events, ${title}`, () => {
    let opened: OpenedDatabase
    let clock: TestClock
    /** Neither renews its leases, so that one that hangs counts as dead after three seconds. */
    let dying: EventInstance
    let next: EventInstance
    let ports: EventPorts
    beforeAll(async () => {
      opened = await open()
      clock = createTestClock()
      const frail = { leaseMs: 3_000, renewMs: 3_600_000 }
      dying = await startEvents(opened.database, clock, frail)
      next = await startEvents(opened.database, clock, frail)
      ports = await eventPortsOf(opened.database, dying, next, clock)
    })
    afterAll(async () => {
      await Promise.all([dying.jobs.stop(), next.jobs.stop()])
      await opened.close()
    })
    const registered = async () => {
      const webhook = newWebhook(await storedOwner(ports.operator), 0, { eventTypes: ['order.created'] })
      await rightOf(ports.webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' }))
      return webhook
    }
    const log = async ({ owner, id }: Awaited<ReturnType<typeof registered>>) =>
      (await rightOf(ports.deliveries.list(owner, id, { page: 1, limit: 10 }))).items
    /** Begins to send and never ends; `answer` is what comes in spite of that, much later. */
    const hanging = async ({ id }: Awaited<ReturnType<typeof registered>>) => {
      const begun: DueDelivery[] = []
      const { promise, resolve } = Promise.withResolvers<typeof ok>()
      const worker = await dying.events.jobs.work(async (due) => {
        if (due.to.webhook.id !== id) return ok
        begun.push(due)
        return promise
      })
      return { begun, answer: () => resolve(ok), stop: worker.stop }
    }

    it('records nothing of an order that was undone', async () => {
      const webhook = await registered()
      const { knex } = opened.database
      const undone = knex.transaction(async (trx) => {
        await dying.events.recorder.recordWithin(trx, [{ owner: webhook.owner, event }])
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      expect(await log(webhook)).toStrictEqual([])
      const order = newOrder(webhook.owner, clock.now())
      await rightOf(ports.orders.record(webhook.owner, toRecord(order)))
      expect((await ports.orders.record(webhook.owner, toRecord(order))())._tag).toBe('Left')
      expect(await log(webhook)).toHaveLength(1)
    })

    it('clears events of a month ago away with their deliveries, but for one that is to be sent again', async () => {
      const webhook = await registered()
      const { knex } = opened.database
      await ports.record(webhook.owner, [event, { ...event, key: 'two' }])
      await knex('events')
        .where({ user_id: webhook.owner.userId })
        .update({ recorded_at: knex.raw(`now() - interval '31 days'`) })
      const [, first] = await log(webhook)
      if (first === undefined) return expect.fail('nothing was logged')
      const replay = { id: randomUUID() as DeliveryId, at: clock.now() }
      await rightOf(ports.deliveries.replay(webhook.owner, webhook.id, first.id, replay))
      await purgeEvents(knex)
      expect((await log(webhook)).map(({ id }) => id)).toStrictEqual([replay.id, first.id])
    })

    it('sends a delivery again whose process died, under the same id, and does not mind an answer that comes late', async () => {
      const webhook = await registered()
      const dead = await hanging(webhook)
      await ports.record(webhook.owner, [event])
      await expect.poll(() => dead.begun.length).toBe(1)
      const sent: DueDelivery[] = []
      const worker = await next.events.jobs.work(async (due) => {
        if (due.to.webhook.id === webhook.id) sent.push(due)
        return { responseCode: 202, responseTimeMs: 1 }
      })
      await expect.poll(async () => (await log(webhook))[0]?.status).toBe('success')
      expect(sent.map(({ delivery }) => delivery.id)).toStrictEqual(dead.begun.map(({ delivery }) => delivery.id))
      dead.answer()
      await dead.stop()
      await worker.stop()
      expect(await log(webhook)).toMatchObject([{ status: 'success', attempts: 1, responseCode: 202 }])
    })

    it('sends to a webhook again after a failure of its own, and logs that once', async () => {
      const webhook = await registered()
      const warnings: LogEvent[] = []
      const failing = await startEvents(opened.database, clock, {}, { warn: (told) => void warnings.push(told) })
      let attempts = 0
      const worker = await failing.events.jobs.work(async (due) => {
        if (due.to.webhook.id === webhook.id && (attempts += 1) < 3) throw new Error('a fault')
        return ok
      })
      await ports.record(webhook.owner, [event])
      await expect.poll(async () => (await log(webhook))[0]?.status, { timeout: 60_000 }).toBe('success')
      await worker.stop()
      await failing.jobs.stop()
      expect(warnings).toStrictEqual([{ event: 'webhook_delivery_failed', reason: 'Error; it is tried again' }])
    })

    it('does not send a replay again whose process died (4.6)', async () => {
      const webhook = await registered()
      await ports.record(webhook.owner, [event])
      const first = await next.events.jobs.work(async () => ok)
      await expect.poll(async () => (await log(webhook))[0]?.status).toBe('success')
      await first.stop()
      const [logged] = await log(webhook)
      if (logged === undefined) return expect.fail('nothing was logged')
      const dead = await hanging(webhook)
      const replay = { id: `${logged.id.slice(0, -1)}${logged.id.endsWith('0') ? '1' : '0'}` as typeof logged.id, at: clock.now() }
      await rightOf(ports.deliveries.replay(webhook.owner, webhook.id, logged.id, replay))
      await expect.poll(() => dead.begun.length).toBe(1)
      const sent: DueDelivery[] = []
      const worker = await next.events.jobs.work(async (due) => {
        if (due.to.webhook.id === webhook.id) sent.push(due)
        return ok
      })
      await expect.poll(async () => (await log(webhook))[0]?.status).toBe('failed')
      dead.answer()
      await dead.stop()
      await worker.stop()
      expect(sent).toStrictEqual([])
      expect((await log(webhook))[0]).toMatchObject({ id: replay.id, status: 'failed', attempts: 1, failureReason: 'interrupted' })
    })

    it('lets events go after a month, with their deliveries', async () => {
      const webhook = await registered()
      await ports.record(webhook.owner, [event])
      await opened.database.knex('events').update({ recorded_at: opened.database.knex.raw(`now() - interval '31 days'`) })
      const worker = await next.events.jobs.work(async () => ok)
      await expect.poll(() => log(webhook)).toStrictEqual([])
      await worker.stop()
    })
  })
}

eventsContract('embedded', openEventsEmbedded)
crashesOn('embedded', openEmbedded)

describe('due deliveries, embedded', () => {
  it('withdraws nothing from a webhook that is switched on again just after it was found off', async () => {
    const { database, close } = await openEmbedded()
    const { knex } = database
    const clock = createTestClock()
    const instance = await startEvents(database, clock)
    const ports = await eventPortsOf(database, instance, instance, clock)
    const webhook = newWebhook(await storedOwner(ports.operator), 0, { eventTypes: ['order.created'] })
    await rightOf(ports.webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' }))
    await ports.record(webhook.owner, [event])
    const switchTo = async (enabled: boolean): Promise<unknown> => knex('webhooks').where({ id: webhook.id }).update({ enabled })
    await switchTo(false)
    const parts = { knex, cipher: createCipher(testKey), schedule: [1_000], tellWithin: async () => undefined }
    const deliveries = createDueDeliveries({ ...parts, sender: randomUUID(), leaseMs: 60_000 })
    const [found] = await deliveries.findWebhooks(clock.now(), { responsivenesses: ['untried'], except: [], limit: 1 })
    if (found === undefined) return expect.fail('no webhook was found')
    expect(await deliveries.lease(found)).toBe(true)
    // There is one connection, and it goes to whoever asked for it first: to this query, and only then to the next one of `next`.
    let switched: Promise<unknown> | undefined
    knex.on('query-response', () => {
      switched ??= switchTo(true)
    })
    const due = await deliveries.next(found, clock.now())
    expect(await switched).toBe(1)
    expect(due).toMatchObject({ delivery: { status: 'pending' }, to: { webhook: { id: webhook.id } } })
    await instance.jobs.stop()
    await close()
  })
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  eventsContract('server', openEventsOnServer)
  crashesOn('server', openServer)
})
