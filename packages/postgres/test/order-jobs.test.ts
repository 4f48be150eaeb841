// Every order that is due is processed, also one whose process failed or died.
import type { PendingOrder, PlacementStep } from '@tradeport/domain/orders'
import type { OrderJob } from '@tradeport/domain/ports'
import { newOrder, rightOf, storedOwner, toRecord } from '@tradeport/domain/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from './open-stores.ts'
import { startInstance } from './order-ports.ts'
import type { OrderInstance } from './order-ports.ts'

const settled: PlacementStep = {
  placement: { step: 'settled' },
  outcome: { kind: 'filled', fill: {} },
  continueInMs: null,
}
const lookingUp = (continueInMs: number): PlacementStep => ({
  placement: { step: 'looking_up', sentAt: 0, orderId: null, lookups: 0, absence: null },
  continueInMs,
})

onEachDatabase((open, title) =>
  describe(`order jobs, ${title}`, () => {
    let instance: OrderInstance
    let close: () => Promise<void>
    const stops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      const opened = await open()
      close = opened.close
      instance = await startInstance(opened.database)
    })
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })
    afterAll(async () => {
      await instance.stop()
      await close()
    })

    const recorded = async (): Promise<PendingOrder> => {
      const owner = await storedOwner(instance.ports.operator)
      return rightOf(instance.ports.orders.record(owner, toRecord(newOrder(owner, Date.now()))))
    }
    const advance = (job: OrderJob, step = settled) =>
      rightOf(instance.ports.orders.advance(job.order.owner, job, step, Date.now()))
    /** Works until the test has ended; the jobs as they came. */
    const work = async (
      process: (job: OrderJob) => Promise<unknown>,
    ): Promise<readonly OrderJob[]> => {
      const jobs: OrderJob[] = []
      const { stop } = await instance.ports.jobs.work(async (job) => {
        jobs.push(job)
        await process(job)
        return undefined
      })
      stops.push(stop)
      return jobs
    }

    it('come when the next version is due and not before, and never for a settled order', async () => {
      const jobs = await work((job) => advance(job, job.version === 1 ? lookingUp(1_500) : settled))
      const { id } = await recorded()
      const versions = () => [
        ...new Set(jobs.filter(({ order }) => order.id === id).map(({ version }) => version)),
      ]
      await expect.poll(() => jobs.length).toBeGreaterThan(0)
      await new Promise((resolve) => setTimeout(resolve, 700))
      expect(versions()).toStrictEqual([1])
      await expect.poll(versions).toStrictEqual([1, 2])
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      expect(versions()).toStrictEqual([1, 2])
    })

    it('come again after a process failed or never came back', async () => {
      const { promise: never, resolve: end } = Promise.withResolvers<void>()
      const [hanging, failing] = [await recorded(), await recorded()]
      const dead = await work(({ order }) =>
        order.id === hanging.id ? never : Promise.reject(new Error('the process failed')),
      )
      await expect.poll(() => dead.length).toBe(2)
      const stopped = stops.splice(0)[0]?.()
      const jobs = await work((job) => advance(job))
      await expect
        .poll(() => jobs.map(({ order }) => order.id).toSorted())
        .toStrictEqual([hanging.id, failing.id].toSorted())
      end()
      await stopped
    })

    it('come no more once work is stopped, which waits for those under way', async () => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      let ended = 0
      const jobs = await work(async (job) => {
        await held
        await advance(job)
        ended += 1
      })
      const first = await recorded()
      await expect.poll(() => jobs.length).toBe(1)
      const stopped = stops.splice(0)[0]?.()
      const second = await recorded()
      letGo()
      await stopped
      expect([jobs.map(({ order }) => order.id), ended]).toStrictEqual([[first.id], 1])
      const rest = await work((job) => advance(job))
      await expect.poll(() => rest.map(({ order }) => order.id)).toStrictEqual([second.id])
    })

    it('run several at once', async () => {
      const [all, done] = [Promise.withResolvers<void>(), new Set<string>()]
      const jobs = await work(async (job) => {
        if (jobs.length >= 4) all.resolve()
        await all.promise
        await advance(job)
        done.add(job.order.id)
      })
      const orders = await Promise.all(Array.from({ length: 20 }, recorded))
      await expect.poll(() => orders.filter(({ id }) => !done.has(id))).toStrictEqual([])
    })
  }),
)
