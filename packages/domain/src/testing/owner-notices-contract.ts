// What the queue of notices does, numbered: every notice reaches a sender until it is sent, once, however often and wherever it was told.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OwnerNotice, SuspensionNotice } from '../notices/owner-notice.ts'
import type { OwnerNoticeJob, OwnerNoticeJobs, OwnerNotices } from '../ports/owner-notices.ts'
import type { Owner } from '../primitives/ids.ts'
import { newTenant, newUser, rightOf } from './stored-records.ts'

export interface NoticePorts {
  readonly notices: OwnerNotices
  /** The same queue as another instance of the service sees it. */
  readonly elsewhere: OwnerNotices
  readonly jobs: OwnerNoticeJobs
  /** Lets so much time pass for the jobs. */
  readonly elapse: (ms: number) => Promise<void>
  /** Lets jobs that are being sent count as those of a process that died. */
  readonly forget: () => Promise<void>
}

/** Opens an empty queue once per suite; `close` ends it. */
export type OpenNoticePorts = () => Promise<{ readonly ports: NoticePorts; readonly close: () => Promise<void> }>

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const patienceMs = 60_000
const turnMs = 50

const newOwner = (): Owner => {
  const tenant = newTenant()
  return { tenantId: tenant.id, userId: newUser(tenant.id).id }
}

const suspension = (fields: Partial<SuspensionNotice> = {}): SuspensionNotice => ({
  kind: 'suspended',
  credential: { kind: 'api_key', id: 'k-1', applicationId: null },
  since: noon,
  until: noon + 900_000,
  ...fields,
})

const disabling: OwnerNotice = {
  kind: 'webhook_disabled',
  webhookId: '0a000000-0000-4000-8000-000000000001',
  url: 'https://hooks.example.com/a?b=ü',
  at: noon,
  because: 'failures',
}

export const ownerNoticesContract = (title: string, open: OpenNoticePorts): void => {
  describe(`owner notices, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenNoticePorts>>
    let ports: NoticePorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const tell = (owner: Owner, notice: OwnerNotice = suspension(), by = ports.notices) => rightOf(by.tell(owner, notice))
    const until = async (isReached: () => boolean): Promise<void> => {
      for (let waited = 0; waited < patienceMs && !isReached(); waited += turnMs) await ports.elapse(turnMs)
      expect(isReached()).toBe(true)
    }
    /** Sends everything; `told` are the jobs as they came. */
    const sending = async () => {
      const told: OwnerNoticeJob[] = []
      const worker = await ports.jobs.work(async (job) => void told.push(job))
      return { told, of: (owner: Owner) => told.filter((job) => job.owner.userId === owner.userId), stop: worker.stop }
    }

    const token: SuspensionNotice['credential'] = { kind: 'access_token', id: 't-1', applicationId: 'app-1' }

    it.each([
      ['a key', suspension()] as const,
      ['an application', suspension({ credential: token })] as const,
      ['a webhook', disabling] as const,
    ])('N1 hands out a notice of %s, with whose and what it is', async (_, notice) => {
      const owner = newOwner()
      const sender = await sending()
      await tell(owner, notice)
      await until(() => sender.of(owner).length > 0)
      expect(sender.of(owner)).toStrictEqual([{ id: expect.stringMatching(/^[A-Za-z0-9-]+$/), owner, notice }])
      await sender.stop()
    })

    it('N2 hands out one that was told while nobody worked', async () => {
      const owner = newOwner()
      await tell(owner)
      await ports.elapse(100)
      const sender = await sending()
      await until(() => sender.of(owner).length > 0)
      await sender.stop()
    })

    it('N3 hands out one notice, however often it is told: before, while and after it is sent, here and elsewhere', async () => {
      const owner = newOwner()
      await Promise.all([tell(owner), tell(owner), tell(owner, suspension(), ports.elsewhere)])
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      let attempts = 0
      const worker = await ports.jobs.work(async () => {
        attempts += 1
        await held
      })
      await until(() => attempts > 0)
      await tell(owner)
      await tell(owner, suspension({ since: noon + 1 }), ports.elsewhere)
      letGo()
      await worker.stop()
      await tell(owner)
      const sender = await sending()
      const next = newOwner()
      await tell(next)
      await until(() => sender.of(next).length > 0)
      expect([attempts, sender.of(owner)]).toStrictEqual([1, []])
      await sender.stop()
    })

    it('N4 takes another suspension, another key, a key and an application of one name, and another owner’s for other notices', async () => {
      const [owner, other] = [newOwner(), newOwner()]
      const sender = await sending()
      const key = suspension().credential
      await tell(owner)
      await tell(owner, suspension({ until: noon + 900_001 }))
      await tell(owner, suspension({ credential: { ...key, id: 'k-2' } }))
      await tell(owner, suspension({ credential: { kind: 'access_token', id: 't-1', applicationId: 'k-1' } }))
      await tell(owner, disabling)
      await tell(owner, { ...disabling, at: noon + 1 })
      await tell(other)
      await until(() => sender.told.length >= 7)
      expect([sender.of(owner).length, sender.of(other).length]).toStrictEqual([6, 1])
      expect(new Set(sender.told.map(({ id }) => id)).size).toBe(7)
      await sender.stop()
    })

    it('N5 takes two tokens of one application for one, because they are suspended together', async () => {
      const owner = newOwner()
      const sender = await sending()
      await tell(owner, suspension({ credential: token }))
      await tell(owner, suspension({ credential: { ...token, id: 't-2' } }))
      await until(() => sender.of(owner).length > 0)
      await sender.stop()
      const rest = await sending()
      await ports.elapse(1_000)
      expect([...sender.of(owner), ...rest.of(owner)]).toHaveLength(1)
      await rest.stop()
    })

    it('N6 hands one out again that was rejected, with the same id, and no more once it is sent', async () => {
      const owner = newOwner()
      const jobs: OwnerNoticeJob[] = []
      const worker = await ports.jobs.work(async (job) => {
        jobs.push(job)
        if (jobs.length < 3) throw new Error('the mail server is down')
      })
      await tell(owner)
      await until(() => jobs.length >= 3)
      await ports.elapse(3_000)
      expect(jobs.map(({ id }) => id)).toStrictEqual(Array.from({ length: 3 }, () => jobs[0]?.id))
      await worker.stop()
    })

    it('N7 hands one out again whose process died', async () => {
      const owner = newOwner()
      const { promise: never, resolve: end } = Promise.withResolvers<void>()
      await tell(owner)
      let begun = 0
      const dead = await ports.jobs.work(async () => {
        begun += 1
        await never
      })
      await until(() => begun > 0)
      const stopped = dead.stop()
      const sender = await sending()
      await ports.forget()
      await until(() => sender.of(owner).length > 0)
      end()
      await Promise.all([stopped, sender.stop()])
    })

    it('N8 stops when those under way have ended, and hands out nothing after it', async () => {
      const [first, second] = [newOwner(), newOwner()]
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const begun: string[] = []
      let ended = 0
      const worker = await ports.jobs.work(async ({ owner }) => {
        begun.push(owner.userId)
        await held
        ended += 1
      })
      await tell(first)
      await until(() => begun.length > 0)
      const stopped = worker.stop()
      await tell(second)
      await ports.elapse(500)
      letGo()
      await stopped
      expect([begun, ended]).toStrictEqual([[first.userId], 1])
      const sender = await sending()
      await until(() => sender.of(second).length > 0)
      await sender.stop()
    })

    it('N9 does not let one that hangs hold back the others', async () => {
      const [hanging, ...others] = Array.from({ length: 4 }, newOwner)
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
      const sent = new Set<string>()
      let isHanging = false
      const worker = await ports.jobs.work(async ({ owner }) => {
        if (owner.userId === hanging?.userId) {
          isHanging = true
          await held
        }
        sent.add(owner.userId)
      })
      await tell(hanging as Owner)
      await until(() => isHanging)
      for (const owner of others) await tell(owner)
      await until(() => others.every(({ userId }) => sent.has(userId)))
      expect(sent.has(hanging?.userId ?? '')).toBe(false)
      letGo()
      await worker.stop()
    })
  })
}
