// Notices to owners beside their contract: they are queued within transactions, tried again for
// days, and neither a job that cannot be read nor a database that is away loses one or sends one
// twice.
import { rightOf, storedOwner } from '@tradeport/domain/testing'
import type { OwnerNotice } from '@tradeport/domain/notices'
import type { Owner } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LogEvent, OpenedOwnerNotices } from '../src/index.ts'
import { startNotices } from './notice-ports.ts'
import { onEachDatabase, storesOn } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const notice: OwnerNotice = {
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: 1_000,
  until: 901_000,
}

onEachDatabase((open) => {
  const warnings: LogEvent[] = []
  let opened: OpenedDatabase
  let knex: Knex
  let notices: OpenedOwnerNotices
  let stop: () => Promise<void>
  beforeAll(async () => {
    opened = await open()
    knex = opened.database.knex
    const instance = await startNotices(opened.database, {
      log: { warn: (event) => void warnings.push(event) },
    })
    notices = instance.notices
    stop = instance.jobs.stop
  })
  afterAll(async () => {
    await stop()
    await opened.close()
  })

  const newOwner = () => storedOwner(storesOn(opened.database).operator)
  const jobOf = ({ userId }: Owner): Promise<{ readonly state: string; readonly pause: number }> =>
    knex('pgboss.job')
      .whereRaw(`data->>'user_id' = ?`, [userId])
      .first('state', knex.raw('extract(epoch from start_after - now())::float8 as pause'))
  const sendAll = async () => {
    const sent: Owner[] = []
    const worker = await notices.work(async ({ owner }) => void sent.push(owner))
    return { sent, stop: worker.stop }
  }

  it('are queued within a transaction, with it or not at all, while it holds the only connection', async () => {
    const [kept, lost] = [await newOwner(), await newOwner()]
    const sender = await sendAll()
    await knex.transaction((trx) =>
      notices.tellWithin(
        trx,
        [kept, kept].map((owner) => ({ owner, notice })),
      ),
    )
    const undone = knex.transaction(async (trx) => {
      await notices.tellWithin(trx, [{ owner: lost, notice }])
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await knex.transaction((trx) => notices.tellWithin(trx, []))
    await expect.poll(() => sender.sent).toStrictEqual([kept])
    await sender.stop()
    expect(await jobOf(lost)).toBeUndefined()
  })

  it('are tried again after pauses that grow to a quarter of an hour, for three days, and then given up', async () => {
    const owner = await newOwner()
    let attempts = 0
    const worker = await notices.work(async () => {
      attempts += 1
      throw new Error('the mail server is down')
    })
    /** The job after the attempt that this one is. */
    const after = async (attempt: number) => {
      const before = attempts
      await knex.raw(
        `update pgboss.job set start_after = now(), retry_count = ? where state = 'retry'`,
        [attempt - 2],
      )
      await expect.poll(() => attempts).toBe(before + 1)
      await expect.poll(async () => (await jobOf(owner)).state).not.toBe('active')
      return jobOf(owner)
    }
    await rightOf(notices.tell(owner, notice))
    await expect.poll(async () => (await jobOf(owner)).state).toBe('retry')
    expect((await jobOf(owner)).pause).toBeLessThanOrEqual(10)
    expect((await after(8)).pause).toBeGreaterThan(300)
    const late = (await after(12)).pause
    expect(late).toBeGreaterThan(14 * 60)
    expect(late).toBeLessThanOrEqual(15 * 60)
    expect((await after(300)).state).toBe('retry')
    expect(warnings.map((warning) => warning.event)).not.toContain('owner_notice_given_up')
    expect((await after(301)).state).toBe('failed')
    expect(warnings).toContainEqual({
      event: 'owner_notice_given_up',
      reason: expect.stringMatching(/^[0-9a-f-]{36} failed 301 times$/),
    })
    await worker.stop()
  })

  it('go on beside one that this version cannot read, which is kept', async () => {
    const [odd, plain] = [await newOwner(), await newOwner()]
    await rightOf(notices.tell(odd, notice))
    await knex.raw(
      `update pgboss.job set data = jsonb_set(data, '{notice,kind}', '"newer"') where data->>'user_id' = ?`,
      [odd.userId],
    )
    const sender = await sendAll()
    await rightOf(notices.tell(plain, notice))
    await expect.poll(() => sender.sent).toStrictEqual([plain])
    await expect.poll(async () => (await jobOf(odd)).state).toBe('retry')
    expect(warnings).toContainEqual({
      event: 'owner_notice_failed',
      reason: 'a row of owner notices does not decode at notice',
    })
    await sender.stop()
  })

  it('are not sent again where the database could not be written after they were sent', async () => {
    const owner = await newOwner()
    let attempts = 0
    const worker = await notices.work(async () => {
      attempts += 1
      await knex.raw('alter table pgboss.job_common rename to job_away')
    })
    await rightOf(notices.tell(owner, notice))
    await expect.poll(() => warnings).toContainEqual({ event: 'owner_notice_end', reason: '42P01' })
    await knex.raw('alter table pgboss.job_away rename to job_common')
    await expect.poll(async () => (await jobOf(owner)).state).toBe('completed')
    expect(attempts).toBe(1)
    await worker.stop()
  })
})
