// Receivers that accept a delivery and never answer delay nobody else's events.
import { newWebhook, rightOf, storedOwner } from '@tradeport/domain/testing'
import type { EventPorts } from '@tradeport/domain/testing'
import { minuteMs } from '@tradeport/domain'
import type { AttemptAnswer, DueDelivery, Owner, Webhook } from '@tradeport/domain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestClock, eventPortsOf, startEvents } from './event-ports.ts'
import type { EventInstance, TestClock } from './event-ports.ts'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const patience = { timeout: 60_000 }
const ok: AttemptAnswer = { responseCode: 200, responseTimeMs: 1 }
const timedOut: AttemptAnswer = { responseCode: 0, responseTimeMs: 30_000, failureReason: 'timed_out' }

const silenceOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`silent receivers, ${title}`, () => {
    let opened: OpenedDatabase
    let clock: TestClock
    let instance: EventInstance | undefined
    let worker: { readonly stop: () => Promise<void> } | undefined
    let ports: EventPorts
    /** Webhooks whose receivers do not answer. */
    let silent: Set<string>
    /** Attempts that wait for such an answer. */
    let hanging: { readonly due: DueDelivery; readonly end: (answer: AttemptAnswer) => void }[]
    let lastKey = 0

    beforeEach(async () => {
      opened = await open()
      clock = createTestClock()
      silent = new Set()
      hanging = []
    })
    afterEach(async () => {
      await stop()
      await opened.close()
    })

    const stop = async (): Promise<void> => {
      for (const { end } of hanging.splice(0)) end(ok)
      await worker?.stop()
      await instance?.jobs.stop()
    }
    const restart = async (options: Parameters<typeof startEvents>[2] = {}): Promise<void> => {
      await stop()
      instance = await startEvents(opened.database, clock, options)
      ports = await eventPortsOf(opened.database, instance, instance, clock)
      worker = await ports.jobs.work((due) => {
        if (!silent.has(due.to.webhook.id)) return Promise.resolve(ok)
        return new Promise((resolve) => void hanging.push({ due, end: resolve }))
      })
    }
    const createWebhook = async (owner: Owner): Promise<Webhook> => {
      const webhook = newWebhook(owner, 0, { eventTypes: ['order.created'] })
      await rightOf(ports.webhooks.create(owner, { webhook, secret: 'a secret of some length' }))
      return webhook
    }
    const createSilent = async (count: number, owner: Owner): Promise<void> => {
      for (let made = 0; made < count; made++) silent.add((await createWebhook(owner)).id)
    }
    const newOwner = () => storedOwner(ports.operator)
    const record = (owner: Owner) =>
      ports.record(owner, [{ type: 'order.created', key: `event ${(lastKey += 1)}`, data: { order_id: 'ord_1' }, at: 0 }])
    const logOf = async ({ owner, id }: Webhook) => (await rightOf(ports.deliveries.list(owner, id, { page: 1, limit: 10 }))).items
    const statusOf = async (webhook: Webhook) => (await logOf(webhook))[0]?.status
    const timeOut = async (): Promise<void> => {
      for (const { due, end } of hanging.splice(0)) {
        end(timedOut)
        await expect.poll(() => statusAndAttempts(due), patience).toStrictEqual(['pending', 1])
      }
    }
    const statusAndAttempts = async ({ to: { webhook } }: DueDelivery) => {
      const [delivery] = await logOf(webhook)
      return [delivery?.status, delivery?.attempts]
    }

    it('delay no other receiver, of another user or of their own, while none of them has timed out', async () => {
      await restart()
      const crowd = await Promise.all(Array.from({ length: 12 }, newOwner))
      for (const owner of crowd) await createSilent(9, owner)
      const [first] = crowd
      if (first === undefined) return expect.fail('no user')
      const own = await createWebhook(first)
      for (const owner of crowd) await record(owner)
      await expect.poll(() => hanging.length, patience).toBeGreaterThanOrEqual(100)
      const healthy = await createWebhook(await newOwner())
      await record(healthy.owner)
      await expect.poll(() => statusOf(healthy), patience).toBe('success')
      await expect.poll(() => statusOf(own), patience).toBe('success')
      await expect.poll(() => hanging.length, patience).toBe(108)
    })

    it('use only the sockets of slow ones from the first attempt without an answer to the next answer, also after a restart', async () => {
      const limits = { prompt: { size: 1, perUser: 1 }, slow: { size: 1, perUser: 1 } }
      await restart({ limits })
      const owners = [await newOwner(), await newOwner()]
      for (const owner of owners) {
        await createSilent(1, owner)
        await record(owner)
      }
      await expect.poll(() => hanging.length, patience).toBe(2)
      await timeOut()
      await restart({ limits })
      clock.elapse(minuteMs)
      for (const owner of owners) await record(owner)
      const healthy = await createWebhook(await newOwner())
      for (let count = 0; count < 3; count++) {
        await record(healthy.owner)
        await expect.poll(() => statusOf(healthy), patience).toBe('success')
      }
      expect(hanging).toHaveLength(1)
      const [answered] = hanging
      if (answered === undefined) return expect.fail('nothing hangs')
      silent.delete(answered.due.to.webhook.id)
      answered.end(ok)
      // The other one has the only socket of slow ones now.
      await expect.poll(() => hanging.length, patience).toBe(2)
      await expect.poll(() => logOf(answered.due.to.webhook), patience).toMatchObject([{ status: 'success' }, { status: 'success' }])
    })

    it('leave slow ones of other users their share', async () => {
      await restart({ limits: { slow: { size: 2, perUser: 1 } } })
      const [many, one] = [await newOwner(), await newOwner()]
      await createSilent(3, many)
      await record(many)
      await expect.poll(() => hanging.length, patience).toBe(3)
      await createSilent(1, one)
      await record(one)
      await expect.poll(() => hanging.length, patience).toBe(4)
      await timeOut()
      clock.elapse(minuteMs)
      await expect.poll(() => hanging.map(({ due }) => due.to.webhook.owner), patience).toHaveLength(2)
      expect(new Set(hanging.map(({ due }) => due.to.webhook.owner.userId))).toStrictEqual(new Set([many.userId, one.userId]))
    })

    it('count as slow where they answer late', async () => {
      await restart({ promptMs: -1, limits: { slow: { size: 1, perUser: 1 } } })
      const late = [await createWebhook(await newOwner()), await createWebhook(await newOwner())]
      for (const webhook of late) {
        await record(webhook.owner)
        await expect.poll(() => statusOf(webhook), patience).toBe('success')
        silent.add(webhook.id)
      }
      for (const webhook of late) await record(webhook.owner)
      const untried = await createWebhook(await newOwner())
      await record(untried.owner)
      await expect.poll(() => statusOf(untried), patience).toBe('success')
      expect(hanging).toHaveLength(1)
    })
  })
}

silenceOn('embedded', openEmbedded)

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  silenceOn('server', openServer)

  it('leaves most database connections to requests while many deliveries end at once', async () => {
    const { database, close } = await openServer()
    const clock = createTestClock()
    const instance = await startEvents(database, clock)
    const ports = await eventPortsOf(database, instance, instance, clock)
    const owners = await Promise.all(Array.from({ length: 40 }, () => storedOwner(ports.operator)))
    for (const owner of owners) {
      const webhook = newWebhook(owner, 0, { eventTypes: ['order.created'] })
      await rightOf(ports.webhooks.create(owner, { webhook, secret: 'a secret of some length' }))
      await ports.record(owner, [{ type: 'order.created', key: 'one', data: { order_id: 'ord_1' }, at: 0 }])
    }
    const { promise: answered, resolve: answer } = Promise.withResolvers<AttemptAnswer>()
    let begun = 0
    let mostInUse = 0
    const worker = await ports.jobs.work(() => {
      begun += 1
      return answered
    })
    await expect.poll(() => begun, patience).toBe(40)
    database.knex.on('query', () => (mostInUse = Math.max(mostInUse, database.pool().inUse)))
    answer(ok)
    await worker.stop()
    // Four for the deliveries, one for the poll and one for the leases.
    expect(mostInUse).toBeGreaterThan(0)
    expect(mostInUse).toBeLessThanOrEqual(6)
    await instance.jobs.stop()
    await close()
  })
})
