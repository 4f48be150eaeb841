// What OrderJobs do, numbered: every order that is due is processed, also one whose process died.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PendingOrder } from '../orders/order.ts'
import type { PlacementStep } from '../orders/placement.ts'
import type { OrderJob } from '../ports/order-store.ts'
import { newOrder, placementOf, toRecord } from './stored-orders.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { rightOf, storedOwner } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const settled: PlacementStep = { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: {} }, continueInMs: null }
const lookingUp = (continueInMs: number): PlacementStep => ({
  placement: { step: 'looking_up', sentAt: noon, orderId: null, lookups: 0, absence: null },
  continueInMs,
})

/** Long enough for an order to count as forgotten several times. */
const patienceMs = 30_000
const turnMs = 50

export const orderJobsContract = (title: string, open: OpenOrderPorts): void => {
  describe(`order jobs, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const recorded = async (): Promise<PendingOrder> => {
      const owner = await storedOwner(ports.operator)
      return rightOf(ports.orders.record(owner, toRecord(newOrder(owner, noon))))
    }
    const advance = (job: OrderJob, step: PlacementStep) => rightOf(ports.orders.advance(job.order.owner, job, step, noon))
    const until = async (isReached: () => boolean): Promise<void> => {
      for (let waited = 0; waited < patienceMs && !isReached(); waited += turnMs) await ports.elapse(turnMs)
      expect(isReached()).toBe(true)
    }

    it('J1 gives out an order that was just recorded, as its own process’s', async () => {
      const jobs: OrderJob[] = []
      const worker = await ports.jobs.work(async (job) => {
        jobs.push(job)
        await advance(job, settled)
      })
      const order = await recorded()
      await until(() => jobs.length > 0)
      expect(jobs[0]).toEqual({ ...placementOf(order), isOwn: true, sendUntilMs: expect.any(Number) })
      await worker.stop()
    })

    it('J2 gives out an order that was recorded while nobody worked', async () => {
      const { id } = await recorded()
      const jobs: OrderJob[] = []
      const worker = await ports.jobs.work(async (job) => {
        jobs.push(job)
        await advance(job, settled)
      })
      await until(() => jobs.some(({ order }) => order.id === id))
      await worker.stop()
    })

    it('J3 gives the next version out when it is due and not before, and none of a settled order', async () => {
      const jobs: OrderJob[] = []
      const worker = await ports.jobs.work(async (job) => {
        jobs.push(job)
        await advance(job, job.version === 1 ? lookingUp(6_000) : settled)
      })
      // A version may be handed out twice, when a busy machine lets it look forgotten.
      const versions = (): ReadonlySet<number> => new Set(jobs.map(({ version }) => version))
      await recorded()
      await until(() => jobs.length > 0)
      await ports.elapse(1_000)
      const early = versions()
      await until(() => versions().has(2))
      await ports.elapse(5_000)
      await worker.stop()
      expect([early, versions()]).toStrictEqual([new Set([1]), new Set([1, 2])])
    })

    it('J4 gives an order out again whose process never came back', async () => {
      const jobs: OrderJob[] = []
      const { promise: never, resolve: end } = Promise.withResolvers<void>()
      // Recorded while nobody works, so that the one that dies has taken the job out of the queue.
      const { id } = await recorded()
      const dead = await ports.jobs.work(async (job) => {
        jobs.push(job)
        await never
      })
      await until(() => jobs.length >= 1)
      const stopped = dead.stop()
      const alive = await ports.jobs.work(async (job) => {
        jobs.push(job)
        await advance(job, settled)
      })
      await until(() => jobs.length >= 2)
      expect(jobs.slice(0, 2).map(({ order, version }) => [order.id, version])).toStrictEqual([
        [id, 1],
        [id, 1],
      ])
      end()
      await Promise.all([stopped, alive.stop()])
    })

    it('J5 gives an order out again whose process failed', async () => {
      let attempts = 0
      const worker = await ports.jobs.work(async (job) => {
        attempts += 1
        if (attempts < 3) throw new Error('the process failed')
        await advance(job, settled)
      })
      await recorded()
      await until(() => attempts >= 3)
      await worker.stop()
    })

    it('J6 stops when those under way have ended, and gives out nothing after it', async () => {
      let started = 0
      let ended = 0
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const worker = await ports.jobs.work(async (job) => {
        started += 1
        await held
        await advance(job, settled)
        ended += 1
      })
      await recorded()
      await until(() => started >= 1)
      const stopped = worker.stop()
      await recorded()
      await ports.elapse(500)
      letGo()
      await stopped
      expect([started, ended]).toStrictEqual([1, 1])
      const rest = await ports.jobs.work(async (job) => {
        await advance(job, settled)
        ended += 1
      })
      await until(() => ended >= 2)
      await rest.stop()
    })

    it('J7 settles many orders, several at once', async () => {
      let atOnce = 0
      let most = 0
      const done = new Set<string>()
      const worker = await ports.jobs.work(async (job) => {
        atOnce += 1
        most = Math.max(most, atOnce)
        await advance(job, settled)
        atOnce -= 1
        done.add(job.order.id)
      })
      const orders = await Promise.all(Array.from({ length: 40 }, recorded))
      await until(() => orders.every(({ id }) => done.has(id)))
      expect(most).toBeGreaterThan(1)
      await worker.stop()
    })
  })
}
