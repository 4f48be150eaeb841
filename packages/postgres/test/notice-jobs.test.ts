// Every notice reaches a sender until it is sent, once, however often and wherever it was told.
import type { OwnerNotice, SuspensionNotice } from '@tradeport/domain/notices'
import type { OwnerNoticeJob } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { newTenant, newUser, rightOf } from '@tradeport/domain/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startNotices } from './notice-ports.ts'
import type { NoticeInstance } from './notice-ports.ts'
import { onEachDatabase } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const newOwner = (): Owner => {
  const tenant = newTenant()
  return { tenantId: tenant.id, userId: newUser(tenant.id).id }
}

const key: SuspensionNotice = {
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: 1,
  until: 2,
}
const token = (id: string, applicationId: string): SuspensionNotice => ({
  ...key,
  credential: { kind: 'access_token', id, applicationId },
})
const disabling: OwnerNotice = {
  kind: 'webhook_disabled',
  webhookId: '0a000000-0000-4000-8000-000000000001',
  url: 'https://hooks.example.com/a?b=ü',
  at: 1,
  because: 'failures',
}

onEachDatabase((open, title) =>
  describe(`owner notices, ${title}`, () => {
    let opened: OpenedDatabase
    let here: NoticeInstance
    let elsewhere: NoticeInstance
    const stops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      opened = await open()
      here = await startNotices(opened.database, { pauseSeconds: 1 })
      elsewhere = await startNotices(opened.elsewhere, { pauseSeconds: 1 })
    })
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })
    afterAll(async () => {
      await Promise.all([here.jobs.stop(), elsewhere.jobs.stop()])
      await opened.close()
    })
    const tell = (owner: Owner, notice: OwnerNotice = key, by = here) =>
      rightOf(by.notices.tell(owner, notice))
    /** Sends until the test ends or `stop`; the jobs as they came. */
    const sending = async (
      send: (job: OwnerNoticeJob) => Promise<unknown> = async () => undefined,
    ) => {
      const jobs: OwnerNoticeJob[] = []
      const { stop } = await here.notices.work(async (job) => {
        jobs.push(job)
        await send(job)
      })
      stops.push(stop)
      return {
        jobs,
        noticesOf: ({ userId }: Owner) =>
          jobs.filter(({ owner }) => owner.userId === userId).map(({ notice }) => notice),
        stop,
      }
    }

    it('are one where they tell of one thing, also when told elsewhere, and each arrives with whose and what it is', async () => {
      const [owner, other] = [newOwner(), newOwner()]
      const different = [
        key,
        { ...key, until: 3 },
        token('t-1', 'k-1'),
        token('t-1', 'app-1'),
        disabling,
        { ...disabling, at: 2 },
      ]
      for (const notice of different) await tell(owner, notice)
      await tell(other)
      await Promise.all([
        tell(owner),
        tell(owner, { ...key, since: 2 }, elsewhere),
        tell(owner, token('t-2', 'app-1')),
      ])
      const { jobs, noticesOf } = await sending()
      await expect.poll(() => jobs.length).toBe(7)
      const next = newOwner()
      await tell(owner)
      await tell(next)
      await expect.poll(() => noticesOf(next)).toStrictEqual([key])
      expect(noticesOf(owner)).toHaveLength(different.length)
      expect(noticesOf(owner)).toEqual(expect.arrayContaining(different))
      expect(noticesOf(other)).toStrictEqual([key])
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(8)
    })

    it('come again that were rejected, with the same id, until they are sent', async () => {
      const { jobs } = await sending(async () => {
        if (jobs.length < 3) throw new Error('the mail server is down')
      })
      await tell(newOwner())
      await expect.poll(() => jobs.length).toBe(3)
      const next = newOwner()
      await tell(next)
      await expect.poll(() => jobs.length).toBe(4)
      expect(jobs.map(({ id }) => id)).toStrictEqual([
        ...Array.from({ length: 3 }, () => jobs[0]?.id),
        jobs[3]?.id,
      ])
    })

    it('come again whose process died, and wait for none that hangs', async () => {
      const [hanging, other] = [newOwner(), newOwner()]
      const { promise: held, resolve: end } = Promise.withResolvers<void>()
      const dead = await sending(({ owner }) =>
        owner.userId === hanging.userId ? held : Promise.resolve(),
      )
      await tell(hanging)
      await expect.poll(() => dead.noticesOf(hanging)).toHaveLength(1)
      await tell(other)
      await expect.poll(() => dead.noticesOf(other)).toHaveLength(1)
      const stopped = stops.splice(0)[0]?.()
      const next = await sending()
      await opened.database.knex.raw(
        `update pgboss.job set started_on = started_on - interval '1 hour' where state = 'active'`,
      )
      await expect.poll(() => next.noticesOf(hanging)).toHaveLength(1)
      end()
      await stopped
    })

    it('come no more once work is stopped, which waits for those under way', async () => {
      const [first, second] = [newOwner(), newOwner()]
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      let ended = 0
      const { jobs } = await sending(async () => {
        await held
        ended += 1
      })
      await tell(first)
      await expect.poll(() => jobs.length).toBe(1)
      const stopped = stops.splice(0)[0]?.()
      await tell(second)
      letGo()
      await stopped
      expect([jobs.length, ended]).toStrictEqual([1, 1])
      const { noticesOf } = await sending()
      await expect.poll(() => noticesOf(second)).toHaveLength(1)
    })
  }),
)
