// Notices to owners: each reaches a sender until it is sent, once, wherever and however often it
// was queued. Neither a job that cannot be read nor a database that is unavailable loses one.
import type { OwnerNotice, SuspensionNotice } from '@tradeport/domain/notices'
import type { OwnerNoticeJob } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { newTenant, newUser, rightOf } from '@tradeport/testkit'
import { afterEach, expect, it } from 'vitest'
import { onEachDatabase } from './harness.ts'

const newOwner = (): Owner => {
  const { id: tenantId } = newTenant()
  return { tenantId, userId: newUser(tenantId).id }
}

const suspension: SuspensionNotice = {
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: 1,
  until: 2,
}
const ofToken = (id: string, applicationId: string): SuspensionNotice => ({
  ...suspension,
  credential: { kind: 'access_token', id, applicationId },
})
const disabling: OwnerNotice = {
  kind: 'webhook_disabled',
  webhookId: '0a000000-0000-4000-8000-000000000001',
  url: 'https://hooks.example.com/a?b=ü',
  at: 1,
  because: 'failures',
}

onEachDatabase(
  'owner notices',
  (here, there) => {
    const stops: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
      await here.knex.raw('delete from pgboss.job')
    })
    const queue = (owner: Owner, notice: OwnerNotice = suspension, by = here) =>
      rightOf(by.notices.enqueue(owner, notice))
    /** Sends until the test ends or `stop`. */
    const sending = async (send: (job: OwnerNoticeJob) => unknown = () => undefined) => {
      const jobs: OwnerNoticeJob[] = []
      const { stop } = await here.notices.work(async (job) => {
        jobs.push(job)
        await send(job)
      })
      stops.push(stop)
      const noticesOf = ({ userId }: Owner) =>
        jobs.filter(({ owner }) => owner.userId === userId).map(({ notice }) => notice)
      return { jobs, noticesOf }
    }
    const jobOf = ({ userId }: Owner): Promise<{ state: string; pause: number }> =>
      here
        .knex('pgboss.job')
        .whereRaw(`data->>'user_id' = ?`, [userId])
        .first('state', here.knex.raw('extract(epoch from start_after - now())::float8 as pause'))
    const stateOf = (owner: Owner) =>
      expect.poll(async () => (await jobOf(owner)).state, { interval: 20 })

    it('one is sent of those with the same content, also when queued on another instance', async () => {
      const [owner, other, next] = [newOwner(), newOwner(), newOwner()]
      const different = [
        suspension,
        { ...suspension, until: 3 },
        ofToken('t-1', 'k-1'),
        ofToken('t-1', 'app-1'),
        disabling,
        { ...disabling, at: 2 },
      ]
      for (const notice of different) await queue(owner, notice)
      await queue(other)
      await Promise.all([
        queue(owner),
        queue(owner, { ...suspension, since: 2 }, there),
        queue(owner, ofToken('t-2', 'app-1')),
      ])
      const { jobs, noticesOf } = await sending()
      await expect.poll(() => jobs.length).toBe(7)
      await queue(owner)
      await queue(next)
      await expect.poll(() => noticesOf(next)).toStrictEqual([suspension])
      expect(noticesOf(owner)).toHaveLength(different.length)
      expect(noticesOf(owner)).toEqual(expect.arrayContaining(different))
      expect(noticesOf(other)).toStrictEqual([suspension])
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(8)
    })

    it('they are queued with their transaction or not at all, also while it holds the only connection', async () => {
      const [kept, lost] = [newOwner(), newOwner()]
      const { noticesOf } = await sending()
      const queued = [kept, kept].map((owner) => ({ owner, notice: suspension }))
      await here.knex.transaction((trx) => here.notices.enqueueWithin(trx, queued))
      const undone = here.knex.transaction(async (trx) => {
        await here.notices.enqueueWithin(trx, [{ owner: lost, notice: suspension }])
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      await expect.poll(() => noticesOf(kept)).toHaveLength(1)
      expect(await jobOf(lost)).toBeUndefined()
    })

    it('one whose process died is sent again, and one that hangs delays no other', async () => {
      const [hanging, other] = [newOwner(), newOwner()]
      const { promise: held, resolve: end } = Promise.withResolvers<void>()
      const dead = await sending(({ owner }) => owner.userId === hanging.userId && held)
      for (const owner of [hanging, other]) {
        await queue(owner)
        await expect.poll(() => dead.noticesOf(owner)).toHaveLength(1)
      }
      const stopped = stops.splice(0)[0]?.()
      const next = await sending()
      await here.knex.raw(
        `update pgboss.job set started_on = started_on - interval '1 hour' where state = 'active'`,
      )
      await expect.poll(() => next.noticesOf(hanging)).toHaveLength(1)
      end()
      await stopped
    })

    it('none is sent after stop, which waits for those in progress', async () => {
      const [first, second] = [newOwner(), newOwner()]
      const { promise: held, resolve: end } = Promise.withResolvers<void>()
      let ended = 0
      const { jobs } = await sending(() => held.then(() => (ended += 1)))
      await queue(first)
      await expect.poll(() => jobs.length).toBe(1)
      const stopped = stops.splice(0)[0]?.()
      await queue(second)
      end()
      await stopped
      expect([jobs.length, ended]).toStrictEqual([1, 1])
      const { noticesOf } = await sending()
      await expect.poll(() => noticesOf(second)).toHaveLength(1)
    })

    it('they are tried again with the same id after pauses that grow to 15 minutes, for three days, and then given up', async () => {
      const owner = newOwner()
      const { jobs } = await sending(() => Promise.reject(new Error('the mail server is down')))
      /** The job after the attempt with this number. */
      const after = async (attempt: number) => {
        const before = jobs.length
        await here.knex.raw(
          `update pgboss.job set start_after = now(), retry_count = ? where state = 'retry'`,
          [attempt - 2],
        )
        await expect.poll(() => jobs.length).toBe(before + 1)
        await stateOf(owner).not.toBe('active')
        return jobOf(owner)
      }
      await queue(owner)
      await stateOf(owner).toBe('retry')
      expect((await jobOf(owner)).pause).toBeLessThanOrEqual(10)
      const late = (await after(12)).pause
      expect(late).toBeGreaterThan(14 * 60)
      expect(late).toBeLessThanOrEqual(15 * 60)
      expect((await after(300)).state).toBe('retry')
      expect(here.warnings.map(({ event }) => event)).not.toContain('owner_notice_given_up')
      expect((await after(301)).state).toBe('failed')
      expect(here.warnings).toContainEqual({
        event: 'owner_notice_given_up',
        reason: expect.stringMatching(/^[0-9a-f-]{36} failed 301 times$/),
      })
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(1)
    })

    it('one that this version cannot read is kept, and delays no other', async () => {
      const [odd, plain] = [newOwner(), newOwner()]
      await queue(odd)
      await here.knex.raw(
        `update pgboss.job set data = jsonb_set(data, '{notice,kind}', '"newer"') where data->>'user_id' = ?`,
        [odd.userId],
      )
      const { noticesOf } = await sending()
      await queue(plain)
      await expect.poll(() => noticesOf(plain)).toHaveLength(1)
      await stateOf(odd).toBe('retry')
      expect(here.warnings).toContainEqual({
        event: 'owner_notice_failed',
        reason: expect.stringContaining('does not decode at notice') as string,
      })
    })

    it('one is not sent again where the database could not be written after it was sent', async () => {
      const owner = newOwner()
      const { jobs } = await sending(() =>
        here.knex.raw('alter table pgboss.job_common rename to job_away'),
      )
      await queue(owner)
      const failed = { event: 'owner_notice_end', reason: '42P01' }
      await expect.poll(() => here.warnings).toContainEqual(failed)
      await here.knex.raw('alter table pgboss.job_away rename to job_common')
      await stateOf(owner).toBe('completed')
      expect(jobs).toHaveLength(1)
    })
  },
  { superviseSeconds: 1, notices: { pollSeconds: 0.5, pauseSeconds: 1 } },
)
