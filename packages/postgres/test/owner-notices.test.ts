// Notices keep their contract on the embedded database and on a server, and beside it: they are told within transactions, tried again for days,
// and neither a job that cannot be read nor a database that is away loses one or sends one twice.
import { newTenant, newUser, ownerNoticesContract, rightOf, userStoreContract } from '@tradeport/domain/testing'
import type { Owner, OwnerNotice } from '@tradeport/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUserStore } from '../src/index.ts'
import type { LogEvent } from '../src/index.ts'
import { openNoticesEmbedded, openNoticesOnServer, startNotices } from './notice-ports.ts'
import type { NoticeInstance } from './notice-ports.ts'
import { openEmbedded, openServer, serverTitle, serverUrl, storesOn } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const newOwner = (): Owner => {
  const tenant = newTenant()
  return { tenantId: tenant.id, userId: newUser(tenant.id).id }
}

const notice: OwnerNotice = {
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: 1_000,
  until: 901_000,
}

const daySeconds = 24 * 60 * 60

const queueOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`the queue of notices, ${title}`, () => {
    const warnings: LogEvent[] = []
    let opened: OpenedDatabase
    let instance: NoticeInstance
    beforeAll(async () => {
      opened = await open()
      instance = await startNotices(opened.database, { warn: (event) => void warnings.push(event) })
    })
    afterAll(async () => {
      await instance.jobs.stop()
      await opened.close()
    })
    const jobsOf = ({ userId }: Owner) => opened.database.knex('pgboss.job').whereRaw(`data->>'user_id' = ?`, [userId])
    const sendAll = async () => {
      const sent: Owner[] = []
      const worker = await instance.notices.work(async ({ owner }) => void sent.push(owner))
      return { sent, stop: worker.stop }
    }

    it('is told within a transaction, with it or not at all, while the transaction holds the only connection', async () => {
      const [kept, lost] = [newOwner(), newOwner()]
      const { knex } = opened.database
      const sender = await sendAll()
      await knex.transaction((trx) =>
        instance.notices.tellWithin(trx, [
          { owner: kept, notice },
          { owner: kept, notice },
        ]),
      )
      const undone = knex.transaction(async (trx) => {
        await instance.notices.tellWithin(trx, [{ owner: lost, notice }])
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      await knex.transaction((trx) => instance.notices.tellWithin(trx, []))
      await expect.poll(() => sender.sent).toStrictEqual([kept])
      await sender.stop()
    })

    it('tries again after pauses that grow to a quarter of an hour, for three days, and says when it gives up', async () => {
      const { knex } = opened.database
      const owner = newOwner()
      let attempts = 0
      const worker = await instance.notices.work(async () => {
        attempts += 1
        throw new Error('the mail server is down')
      })
      const stateOf = async (): Promise<{ readonly state: string; readonly pause: number }> =>
        jobsOf(owner).first('state', knex.raw('extract(epoch from start_after - now())::float8 as pause'))
      /** The pause after the attempt that this one is, in seconds; null where there was none any more. */
      const pauseAfter = async (attempt: number): Promise<number | null> => {
        const before = attempts
        await knex.raw(`update pgboss.job set start_after = now(), retry_count = ? where state = 'retry'`, [attempt - 2])
        await expect.poll(() => attempts).toBe(before + 1)
        await expect.poll(async () => (await stateOf()).state).not.toBe('active')
        const { state, pause } = await stateOf()
        return state === 'retry' ? pause : null
      }
      await rightOf(instance.notices.tell(owner, notice))
      await expect.poll(() => attempts).toBe(1)
      await expect.poll(async () => (await stateOf()).state).toBe('retry')
      const first = (await stateOf()).pause
      expect(first).toBeLessThanOrEqual(10)
      const eighth = (await pauseAfter(8)) ?? 0
      expect(eighth).toBeGreaterThan(300)
      const late = (await pauseAfter(12)) ?? 0
      expect(late).toBeGreaterThan(14 * 60)
      expect(late).toBeLessThanOrEqual(15 * 60)
      const last = 301
      expect(await pauseAfter(last - 1)).not.toBeNull()
      expect((last - 12) * 15 * 60).toBeGreaterThan(3 * daySeconds)
      expect(warnings.map(({ event }) => event)).not.toContain('owner_notice_given_up')
      expect(await pauseAfter(last)).toBeNull()
      expect((await stateOf()).state).toBe('failed')
      expect(warnings).toContainEqual({ event: 'owner_notice_given_up', reason: expect.stringMatching(/^[0-9a-f-]{36} failed 301 times$/) })
      await worker.stop()
    })

    it('goes on beside a job that this version cannot read, and keeps that one', async () => {
      const { knex } = opened.database
      const [odd, plain] = [newOwner(), newOwner()]
      await rightOf(instance.notices.tell(odd, notice))
      await knex.raw(`update pgboss.job set data = jsonb_set(data, '{notice,kind}', '"newer"') where data->>'user_id' = ?`, [odd.userId])
      const sender = await sendAll()
      await rightOf(instance.notices.tell(plain, notice))
      await expect.poll(() => sender.sent).toStrictEqual([plain])
      const states = async () => (await jobsOf(odd).select('state')).map(({ state }) => state)
      await expect.poll(states).toStrictEqual(['retry'])
      expect(warnings).toContainEqual({ event: 'owner_notice_failed', reason: 'a row of owner notices does not decode at notice' })
      await sender.stop()
    })

    it('holds on to how it ended while the database cannot be written, so that it is not sent again', async () => {
      const { knex } = opened.database
      const owner = newOwner()
      let attempts = 0
      const worker = await instance.notices.work(async () => {
        attempts += 1
        await knex.raw('alter table pgboss.job_common rename to job_away')
      })
      await rightOf(instance.notices.tell(owner, notice))
      await expect.poll(() => warnings).toContainEqual({ event: 'owner_notice_end', reason: '42P01' })
      await knex.raw('alter table pgboss.job_away rename to job_common')
      const states = async () => (await jobsOf(owner).select('state')).map(({ state }) => state)
      await expect.poll(states).toStrictEqual(['completed'])
      expect(attempts).toBe(1)
      await worker.stop()
    })
  })
}

const contractsOn = (title: string, openNotices: typeof openNoticesEmbedded, open: () => Promise<OpenedDatabase>): void => {
  ownerNoticesContract(title, openNotices)
  userStoreContract(title, async () => {
    const { database, close } = await open()
    return { ports: { users: createUserStore(database), operator: storesOn(database).operator }, close }
  })
  queueOn(title, open)
}

contractsOn('embedded', openNoticesEmbedded, openEmbedded)

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  contractsOn('server', openNoticesOnServer, openServer)
})
