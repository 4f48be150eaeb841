// What records of closes and the jobs that look after them keep, numbered (6).
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeSent } from '../events/close-telling.ts'
import type { CloseMade, CloseStep, IntendedClose } from '../events/close-telling.ts'
import type { CloseJob, CloseJobs, CloseRecords, RecordedClose } from '../ports/close-records.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { WebhookDeliveries } from '../ports/webhook-deliveries.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { AccountId, CloseId, Owner, Ticket } from '../primitives/ids.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { rightOf, storedOwner } from './stored-records.ts'
import { newWebhook } from './stored-webhooks.ts'

export interface ClosePorts {
  readonly operator: OperatorStore
  readonly webhooks: WebhookStore
  readonly deliveries: WebhookDeliveries
  readonly closes: CloseRecords
  readonly jobs: CloseJobs
  /** The same jobs as another instance of the service works on them. */
  readonly elsewhere: CloseJobs
  /** Lets so much time pass for the jobs. */
  readonly elapse: (ms: number) => Promise<void>
}

/** Opens empty stores once per suite; `close` ends them. */
export type OpenClosePorts = () => Promise<{ readonly ports: ClosePorts; readonly close: () => Promise<void> }>

const patience = { timeout: 60_000 }
const aDayMs = 24 * 60 * 60 * 1_000
const accounts = ['0a000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000002'] as unknown as readonly AccountId[]

const intended = (fields: Partial<IntendedClose> = {}): IntendedClose => ({
  id: { accountId: accounts[0] as AccountId, ticket: '46870472' as Ticket },
  position: { symbol: 'EURUSD', side: 'buy', volume: 0.3, entryPrice: 1.23456789 },
  order: { closes: 0.1, leaves: 0.2 },
  sentAt: Date.parse('2026-11-02T12:00:00.123Z'),
  ...fields,
})

const made: CloseMade = {
  step: 'made',
  orderId: '99',
  outcome: { closedVolume: 0.1, remainingVolume: 0.2 },
  madeAt: Date.parse('2026-11-02T12:00:01.456Z'),
  looks: { count: 3, nothingSince: Date.parse('2026-11-02T12:00:02.789Z') },
}

const stepTo = (progress: CloseStep['progress'], fields: Partial<CloseStep> = {}): CloseStep => ({
  progress,
  events: [],
  continueInMs: null,
  ...fields,
})

const event = (key: string) => ({ type: 'position.closed', key, data: { a: 1 }, at: 0 }) as const

const endedWith = (key: string): CloseStep => stepTo({ step: 'ended', orderId: null, deals: [key] }, { events: [event(key)] })

export const closeRecordsContract = (title: string, open: OpenClosePorts): void => {
  describe(`records of closes, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenClosePorts>>
    let ports: ClosePorts
    const stops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })
    afterAll(() => opened.close())

    const recorded = async (owner: Owner, close = intended(), continueInMs = aDayMs): Promise<CloseId> =>
      O.getOrElse((): CloseId => expect.fail('is not recorded'))(await rightOf(ports.closes.record(owner, close, continueInMs)))
    const find = async (owner: Owner, id: CloseId): Promise<RecordedClose> =>
      O.getOrElse((): RecordedClose => expect.fail('is gone'))(await rightOf(ports.closes.find(owner, id)))
    const advance = (owner: Owner, id: CloseId, version: number, step: CloseStep) => rightOf(ports.closes.advance(owner, id, version, step))
    const created = async (owner: Owner): Promise<Webhook> => {
      const webhook = newWebhook(owner, 0, { eventTypes: ['position.closed'] })
      await rightOf(ports.webhooks.create(owner, { webhook, secret: 'a secret of some length' }))
      return webhook
    }
    const toldOf = async ({ owner, id }: Webhook): Promise<number> =>
      (await rightOf(ports.deliveries.list(owner, id, { page: 1, limit: 1 }))).total
    /** Works, and keeps the jobs of the owner. */
    const working = async (owner: Owner, settle: (job: CloseJob) => Promise<unknown>, jobs: CloseJobs = ports.jobs) => {
      const handed: CloseJob[] = []
      const { stop } = await jobs.work(async (job) => {
        if (job.owner.userId !== owner.userId) return
        handed.push(job)
        await settle(job)
      })
      stops.push(stop)
      return handed
    }

    it('CR1 keeps a close as it was recorded, for its owner alone', async () => {
      const [owner, stranger] = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
      const close = intended()
      const id = await recorded(owner, close)
      expect(await find(owner, id)).toStrictEqual({
        closeId: id,
        close,
        progress: closeSent,
        version: 1,
        toldDeals: new Map(),
        otherOrders: new Set(),
        waitsForOther: false,
        nextSentAt: null,
      })
      expect(await rightOf(ports.closes.find(stranger, id))).toStrictEqual(O.none)
      expect(await advance(stranger, id, 1, stepTo({ step: 'ended', orderId: null, deals: [] }))).toBe(false)
      expect(await recorded(owner, close)).not.toBe(id)
    })

    it.each([
      [{ step: 'sent', orderId: null, looks: { count: 1, nothingSince: null } }],
      [{ step: 'sent', orderId: '46870499', looks: { count: 7, nothingSince: Date.parse('2026-11-02T12:00:03.001Z') } }],
      [made],
      [{ ...made, orderId: null }],
      [{ step: 'told', orderId: '71', deals: ['33590001 1762084800123', '33590002 '], looks: { count: 0, nothingSince: null } }],
      [{ step: 'told', orderId: null, deals: [], looks: { count: 2, nothingSince: 5 } }],
      [{ step: 'ended', orderId: '72', deals: ['33590003 1762084800123'] }],
      [{ step: 'ended', orderId: null, deals: [] }],
    ] as const)('CR2 keeps the step %j', async (progress) => {
      const owner = await storedOwner(ports.operator)
      const id = await recorded(owner)
      expect(await advance(owner, id, 1, stepTo(progress))).toBe(true)
      expect(await find(owner, id)).toMatchObject({ progress, version: 2 })
    })

    it('CR3 writes a step with its events once, however many come to write it', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const id = await recorded(owner)
      const written = await Promise.all(['one', 'two', 'three'].map((key) => advance(owner, id, 1, endedWith(key))))
      expect(written.filter(Boolean)).toHaveLength(1)
      expect(await toldOf(webhook)).toBe(1)
      expect(await advance(owner, id, 2, endedWith('four'))).toBe(false)
      expect(await toldOf(webhook)).toBe(1)
      expect((await find(owner, id)).version).toBe(2)
    })

    it('CR4 tells of a deal for one close of its account alone', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const elsewhere = { id: { accountId: accounts[1] as AccountId, ticket: '46870472' as Ticket } }
      const ids = [await recorded(owner), await recorded(owner), await recorded(owner, intended(elsewhere))] as const
      const step = (key: string) => stepTo({ step: 'ended', orderId: null, deals: ['1 5', '2 6'] }, { events: [event(key)] })
      const written = await Promise.all(ids.map((id, index) => advance(owner, id, 1, step(`event ${index}`))))
      expect(written.slice(0, 2).filter(Boolean)).toHaveLength(1)
      expect(written[2]).toBe(true)
      expect(await toldOf(webhook)).toBe(2)
      const toldDeals = new Map(['1 5', '2 6'].map((deal) => [deal, intended().sentAt]))
      const left = ids[written[0] === true ? 1 : 0]
      expect(await find(owner, left)).toMatchObject({ progress: closeSent, version: 1, toldDeals })
      expect((await find(owner, ids[2])).toldDeals).toStrictEqual(new Map())
      expect(await advance(owner, left, 1, stepTo({ step: 'ended', orderId: null, deals: ['3 7'] }, { events: [event('last')] }))).toBe(
        true,
      )
      const another = await storedOwner(ports.operator)
      expect((await find(another, await recorded(another))).toldDeals).toStrictEqual(new Map())
    })

    it('CR5 tells when the next close of the same position was sent, and whether another goes first', async () => {
      const owner = await storedOwner(ports.operator)
      const { id, sentAt } = intended()
      const first = await recorded(owner)
      await recorded(owner, intended({ sentAt: sentAt + 9 }))
      await recorded(owner, intended({ sentAt: sentAt + 5 }))
      await recorded(owner, intended({ sentAt: sentAt + 1, id: { ...id, ticket: '1' as Ticket } }))
      const before = await recorded(owner, intended({ sentAt: sentAt - 3 }))
      const refused = await recorded(owner, intended({ sentAt: sentAt + 2 }))
      await advance(owner, refused, 1, stepTo({ step: 'ended', orderId: null, deals: [] }))
      expect(await find(owner, first)).toMatchObject({ nextSentAt: sentAt + 5, waitsForOther: true })
      expect((await find(owner, before)).waitsForOther).toBe(false)
      await advance(owner, before, 1, stepTo(made))
      expect((await find(owner, first)).waitsForOther).toBe(true)
      await advance(owner, first, 1, stepTo(made))
      expect((await find(owner, first)).waitsForOther).toBe(true)
      await advance(owner, before, 2, stepTo({ step: 'told', orderId: null, deals: ['5 5'], looks: { count: 0, nothingSince: null } }))
      expect((await find(owner, first)).waitsForOther).toBe(false)
    })

    it('CR6 tells the orders and positions of other closes of the account, but for its own position', async () => {
      const owner = await storedOwner(ports.operator)
      const { id } = intended()
      const first = await recorded(owner)
      const elsewhere = { id: { ...id, accountId: accounts[1] as AccountId } }
      for (const [orderId, close] of [
        ['98', intended()],
        ['99', intended()],
        [id.ticket, intended()],
        [null, intended({ id: { ...id, ticket: '46870473' as Ticket } })],
        ['97', intended(elsewhere)],
      ] as const)
        await advance(owner, await recorded(owner, close), 1, stepTo({ ...made, orderId }))
      expect((await find(owner, first)).otherOrders).toStrictEqual(new Set(['98', '99', '46870473']))
    })

    it('CR7 hands a close out when it is due, in each version, until nothing more is to be done', async () => {
      const owner = await storedOwner(ports.operator)
      const id = await recorded(owner, intended(), 5_000)
      const handed = await working(owner, ({ closeId, version }) =>
        version === 1
          ? advance(owner, closeId, version, stepTo(made, { continueInMs: 0 }))
          : advance(owner, closeId, version, stepTo({ step: 'ended', orderId: null, deals: [] })),
      )
      await ports.elapse(500)
      expect(handed).toStrictEqual([])
      await ports.elapse(4_600)
      await expect.poll(() => handed.length, patience).toBe(2)
      expect(handed).toStrictEqual([1, 2].map((version) => ({ owner, closeId: id, version })))
      await expect.poll(async () => (await find(owner, id)).progress.step, patience).toBe('ended')
      await ports.elapse(1_000)
      expect(handed).toHaveLength(2)
    })

    it('CR8 hands a close out again whose settler failed', async () => {
      const owner = await storedOwner(ports.operator)
      const id = await recorded(owner, intended(), 0)
      let failures = 2
      const handed = await working(owner, ({ closeId, version }) => {
        failures -= 1
        return failures >= 0
          ? Promise.reject(new Error('away'))
          : advance(owner, closeId, version, stepTo({ step: 'ended', orderId: null, deals: [] }))
      })
      await expect.poll(async () => (await find(owner, id)).progress.step, patience).toBe('ended')
      expect(handed.length).toBeGreaterThanOrEqual(3)
    })

    it('CR9 settles each close once though two instances work', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const settle = ({ closeId, version }: CloseJob) =>
        advance(owner, closeId, version, stepTo({ step: 'ended', orderId: null, deals: [closeId] }, { events: [event(closeId)] }))
      await working(owner, settle)
      await working(owner, settle, ports.elsewhere)
      const ids = await Promise.all(Array.from({ length: 20 }, () => recorded(owner, intended(), 0)))
      for (const id of ids) await expect.poll(async () => (await find(owner, id)).progress.step, patience).toBe('ended')
      expect(await toldOf(webhook)).toBe(20)
    })
  })
}
