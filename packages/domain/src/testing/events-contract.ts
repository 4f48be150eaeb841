// What the log of events, the log of deliveries and the hands that send them do together, numbered (3.4, 4.6, 6; decisions 44 and 45).
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceEvent } from '../events/service-event.ts'
import type { WebhookDisabledNotice } from '../notices/owner-notice.ts'
import type { OrderStore } from '../ports/order-store.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { PlacementStep } from '../orders/placement.ts'
import { notFoundAtBrokerCode, settle } from '../orders/transitions.ts'
import type { DeliveryJobs, DueDelivery, WebhookDeliveries } from '../ports/webhook-deliveries.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { DeliveryId, Owner } from '../primitives/ids.ts'
import { minuteMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { AttemptAnswer, WebhookDelivery } from '../webhooks/event-delivery.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { newOrder, placementOf, toRecord } from './stored-orders.ts'
import { rightOf, storedOwner } from './stored-records.ts'
import { newWebhook } from './stored-webhooks.ts'

export interface EventPorts {
  readonly operator: OperatorStore
  readonly webhooks: WebhookStore
  /** Records what happens to orders. */
  readonly orders: OrderStore
  /**
   * Records events in their order, all or none, each with one delivery for every webhook of the owner that is enabled and asked for it. One whose key
   * is recorded already makes nothing.
   */
  readonly record: (owner: Owner, events: readonly ServiceEvent[]) => Promise<void>
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
  /** The same deliveries as another instance of the service sends them. */
  readonly elsewhere: DeliveryJobs
  readonly now: () => Instant
  /** Lets so much time pass for the deliveries. */
  readonly elapse: (ms: number) => void
  /** What the owner was told so far. */
  readonly toldTo: (owner: Owner) => Promise<readonly WebhookDisabledNotice[]>
}

/** Opens empty stores once per suite; `close` ends them. */
export type OpenEventPorts = () => Promise<{ readonly ports: EventPorts; readonly close: () => Promise<void> }>

const patience = { timeout: 60_000 }
const secret = 'a secret of some length'
const ok: AttemptAnswer = { responseCode: 200, responseTimeMs: 3 }
const bad: AttemptAnswer = { responseCode: 503, responseTimeMs: 4 }
const silent: AttemptAnswer = { responseCode: 0, responseTimeMs: 30_000, failureReason: 'timed_out' }

let lastKey = 0
const newEvent = (fields: Partial<ServiceEvent> = {}): ServiceEvent => ({
  type: 'order.created',
  key: `event ${(lastKey += 1)}`,
  data: { order_id: 'ord_1', volume: 0.1, client_id: 'Ünï \u0000 \ud800 "\\"', is_partial: false, exit_price: null },
  at: 1_000,
  ...fields,
})

type Answering = (due: DueDelivery) => AttemptAnswer | Promise<AttemptAnswer>

export const eventsContract = (title: string, open: OpenEventPorts): void => {
  describe(`events and deliveries, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenEventPorts>>
    let ports: EventPorts
    const stops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })
    afterAll(() => opened.close())

    const created = async (owner: Owner, fields: Partial<Webhook> = {}): Promise<Webhook> => {
      const webhook = newWebhook(owner, ports.now(), { eventTypes: ['order.created', 'order.filled'], ...fields })
      await rightOf(ports.webhooks.create(owner, { webhook, secret }))
      return webhook
    }
    const record = (owner: Owner, ...events: readonly ServiceEvent[]) => ports.record(owner, events)
    const page = (webhook: Webhook, query: object = {}, owner: Owner = webhook.owner) =>
      rightOf(ports.deliveries.list(owner, webhook.id, { page: 1, limit: 100, ...query }))
    const log = async (webhook: Webhook): Promise<readonly WebhookDelivery[]> => (await page(webhook)).items
    const find = async ({ owner, id }: Webhook): Promise<Webhook> =>
      O.getOrElse((): Webhook => expect.fail('is gone'))(await rightOf(ports.webhooks.find(owner, id)))
    /** Sends, and keeps what was sent to the webhook. */
    const working = async (answering: Answering, jobs: DeliveryJobs = ports.jobs) => {
      const sent: DueDelivery[] = []
      const { stop } = await jobs.work(async (due) => {
        sent.push(due)
        return answering(due)
      })
      stops.push(stop)
      return { to: ({ id }: Webhook) => sent.filter((due) => due.to.webhook.id === id), stop }
    }
    const statuses = async (webhook: Webhook) => (await log(webhook)).map(({ status }) => status)

    it('E1 makes one delivery for every webhook of the owner that is enabled and asked for it', async () => {
      const [owner, stranger] = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
      const [asked, also] = [await created(owner), await created(owner, { eventTypes: ['order.created'] })]
      const others = [
        await created(owner, { eventTypes: ['trade.closed'] }),
        await created(owner, { enabled: false }),
        await created(stranger),
        await created({ tenantId: owner.tenantId, userId: stranger.userId }).catch(() => undefined),
      ]
      await record(owner, newEvent())
      for (const webhook of [asked, also]) {
        const [delivery, ...more] = await log(webhook)
        expect(more).toStrictEqual([])
        expect(delivery).toStrictEqual({
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          webhookId: webhook.id,
          eventType: 'order.created',
          status: 'pending',
          attempts: 0,
          responseCode: null,
          responseTimeMs: null,
          failureReason: null,
          createdAt: ports.now(),
          lastAttemptAt: null,
          nextAttemptAt: ports.now(),
          replayOf: null,
        })
      }
      for (const webhook of others) if (webhook !== undefined) expect(await log(webhook)).toStrictEqual([])
    })

    it('E2 records an event once, however often it is told, and each owner’s by itself', async () => {
      const [owner, other] = [await storedOwner(ports.operator), await storedOwner(ports.operator)]
      const [webhook, theirs] = [await created(owner), await created(other)]
      const event = newEvent()
      await record(owner, event, event)
      await Promise.all([record(owner, event), record(owner, event, newEvent()), record(other, event)])
      await record(owner)
      expect(await log(webhook)).toHaveLength(2)
      expect(await log(theirs)).toHaveLength(1)
    })

    it('E3 tells of an order once it is recorded, and of its execution with what it was settled with', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const sender = await working(() => ok)
      const order = newOrder(owner, ports.now(), { clientId: 'mine' })
      await rightOf(ports.orders.record(owner, toRecord(order)))
      const settlement = { kind: 'filled', fill: { price: 1.25, volume: 0.1, at: ports.now() } } as const
      const settled = { placement: { step: 'settled' }, outcome: settlement, continueInMs: null } as const
      expect(await rightOf(ports.orders.advance(owner, placementOf(order), settled, ports.now()))).toBe(true)
      expect(await rightOf(ports.orders.advance(owner, placementOf(order), settled, ports.now()))).toBe(false)
      await expect.poll(() => sender.to(webhook).map(({ event }) => event.type), patience).toStrictEqual(['order.created', 'order.filled'])
      const [first, second] = sender.to(webhook)
      expect(first?.event.data).toMatchObject({ order_id: order.id, client_id: 'mine' })
      expect(second?.event.data).toMatchObject({ order_id: order.id, fill_price: 1.25, filled_volume: 0.1 })
    })

    it('E15 reports the execution of an order that was rejected as not found and is corrected', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const sender = await working(() => ok)
      const order = newOrder(owner, ports.now())
      await rightOf(ports.orders.record(owner, toRecord(order)))
      const reason = { code: notFoundAtBrokerCode, message: 'not found' }
      const placement = { step: 'rechecking', sentAt: ports.now(), orderId: null, rechecks: 0 } as const
      const rejected: PlacementStep = { placement, outcome: { kind: 'rejected', reason }, continueInMs: 60_000 }
      expect(await rightOf(ports.orders.advance(owner, placementOf(order), rejected, ports.now()))).toBe(true)
      const corrected: PlacementStep = {
        placement: { step: 'settled' },
        outcome: { kind: 'filled', fill: { price: 1.25 } },
        continueInMs: null,
      }
      const from = { ...placementOf(order, 2), order: settle(order, { kind: 'rejected', reason }, ports.now()), placement }
      expect(await rightOf(ports.orders.advance(owner, from, corrected, ports.now()))).toBe(true)
      await expect.poll(() => sender.to(webhook).map(({ event }) => event.type), patience).toStrictEqual(['order.created', 'order.filled'])
      expect(sender.to(webhook)[1]?.event.data).toMatchObject({ order_id: order.id, fill_price: 1.25 })
    })

    it('E4 tells nothing of orders that were refused, neither here nor by the broker', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const order = newOrder(owner, ports.now())
      await rightOf(ports.orders.record(owner, toRecord(order)))
      expect((await ports.orders.record(owner, toRecord(newOrder(owner, ports.now(), { volume: Number.NaN })))())._tag).toBe('Left')
      const settlement = { kind: 'rejected', reason: { code: 'X', message: 'x' } } as const
      await rightOf(
        ports.orders.advance(
          owner,
          placementOf(order),
          { placement: { step: 'settled' }, outcome: settlement, continueInMs: null },
          ports.now(),
        ),
      )
      expect((await log(webhook)).map(({ eventType }) => eventType)).toStrictEqual(['order.created'])
    })

    it('E5 sends in the order of recording, one at a time to one webhook, with everything that a delivery takes', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      let underWay = 0
      let most = 0
      const sender = await working(async ({ to }) => {
        if (to.webhook.id !== webhook.id) return ok
        most = Math.max(most, (underWay += 1))
        await Promise.resolve()
        underWay -= 1
        return ok
      })
      const events = Array.from({ length: 12 }, (_, index) => newEvent({ data: { ...newEvent().data, place: index } }))
      await record(owner, ...events.slice(0, 6))
      for (const event of events.slice(6)) await record(owner, event)
      await expect.poll(() => sender.to(webhook).map(({ event }) => event.data), patience).toStrictEqual(events.map(({ data }) => data))
      await expect.poll(() => statuses(webhook), patience).toStrictEqual(events.map(() => 'success'))
      expect(most).toBe(1)
      expect(sender.to(webhook)[0]?.to).toMatchObject({ webhook: { id: webhook.id, url: webhook.url }, secret })
      expect(await find(webhook)).toMatchObject({ failureCount: 0, lastSuccessAt: ports.now() })
    })

    it('E6 sends to others while one does not answer', async () => {
      const owner = await storedOwner(ports.operator)
      const [slow, fine] = [await created(owner), await created(owner)]
      const { promise: held, resolve: release } = Promise.withResolvers<undefined>()
      const sender = await working(async ({ to }) => {
        if (to.webhook.id === slow.id) await held
        return ok
      })
      for (let count = 0; count < 3; count++) await record(owner, newEvent())
      await expect.poll(() => statuses(fine), patience).toStrictEqual(['success', 'success', 'success'])
      expect(sender.to(slow)).toHaveLength(1)
      release(undefined)
      await expect.poll(() => statuses(slow), patience).toStrictEqual(['success', 'success', 'success'])
    })

    it('E7 tries again after 1, 5, 15 and 60 minutes with the same id, and lets others pass meanwhile', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const sick = newEvent({ type: 'order.filled' })
      const sender = await working(({ event }) => (event.type === 'order.filled' ? bad : ok))
      await record(owner, sick, newEvent())
      const start = ports.now()
      let passed = 0
      for (const [index, minutes] of [1, 5, 15, 60].entries()) {
        await expect.poll(async () => (await log(webhook)).at(-1)?.attempts, patience).toBe(index + 1)
        const first = (await log(webhook)).at(-1)
        expect(first).toMatchObject({ status: 'pending', responseCode: 503, failureReason: 'not_2xx', lastAttemptAt: start + passed })
        passed += minutes * minuteMs
        expect(first?.nextAttemptAt).toBe(start + passed)
        // A success in between keeps the webhook from being disabled.
        await record(owner, newEvent())
        await expect.poll(async () => (await find(webhook)).failureCount, patience).toBe(0)
        if (index < 3) {
          ports.elapse(minutes * minuteMs)
          continue
        }
        ports.elapse(minutes * minuteMs - 1)
        await record(owner, newEvent())
        await expect.poll(async () => (await log(webhook))[0]?.status, patience).toBe('success')
        expect((await page(webhook, { status: 'pending' })).items.map(({ attempts }) => attempts)).toStrictEqual([4])
        ports.elapse(1)
      }
      await expect.poll(async () => (await page(webhook, { status: 'failed' })).total, patience).toBe(1)
      const ids = new Set(sender.to(webhook).flatMap(({ event, delivery }) => (event.type === 'order.filled' ? [delivery.id] : [])))
      expect(ids.size).toBe(1)
      expect(sender.to(webhook).filter(({ event }) => event.type === 'order.filled')).toHaveLength(5)
      expect(await find(webhook)).toMatchObject({ enabled: true, failureCount: 1 })
      expect(await ports.toldTo(owner)).toStrictEqual([])
    })

    it('E8 disables a webhook after five failed attempts in a row, withdraws what waits for it, and tells its owner once', async () => {
      const owner = await storedOwner(ports.operator)
      const [webhook, fine] = [await created(owner), await created(owner)]
      const sender = await working(({ to }) => (to.webhook.id === fine.id ? ok : silent))
      await record(owner, ...Array.from({ length: 8 }, () => newEvent()))
      await expect.poll(() => statuses(webhook), patience).toStrictEqual(Array.from({ length: 8 }, () => 'failed'))
      expect(sender.to(webhook)).toHaveLength(5)
      const reasons = (await log(webhook)).map(({ failureReason, attempts }) => [failureReason, attempts])
      expect(reasons.slice(0, 3)).toStrictEqual(Array.from({ length: 3 }, () => ['webhook_disabled', 0]))
      expect(reasons[3]).toStrictEqual(['timed_out', 1])
      expect(await find(webhook)).toMatchObject({ enabled: false, failureCount: 5, lastFailureAt: ports.now(), lastSuccessAt: null })
      const notice = { kind: 'webhook_disabled', webhookId: webhook.id, url: webhook.url, at: ports.now(), because: 'failures' }
      await expect.poll(() => ports.toldTo(owner), patience).toStrictEqual([notice])
      await record(owner, newEvent())
      await expect.poll(() => statuses(fine), patience).toStrictEqual(Array.from({ length: 9 }, () => 'success'))
      expect(await log(webhook)).toHaveLength(8)
      await rightOf(ports.webhooks.change(owner, webhook.id, { enabled: true }, ports.now()))
      expect(await find(webhook)).toMatchObject({ enabled: true, failureCount: 0 })
    })

    it('E9 disables a webhook at once whose receiver says that it is gone', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const sender = await working(() => ({ responseCode: 410, responseTimeMs: 2 }))
      await record(owner, newEvent(), newEvent())
      await expect.poll(() => statuses(webhook), patience).toStrictEqual(['failed', 'failed'])
      expect(sender.to(webhook)).toHaveLength(1)
      expect((await log(webhook)).map(({ failureReason }) => failureReason)).toStrictEqual(['webhook_disabled', 'gone'])
      await expect.poll(() => ports.toldTo(owner), patience).toMatchObject([{ webhookId: webhook.id, because: 'gone' }])
    })

    it('E10 sends nothing to a webhook that its user switched off, and says so', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      await record(owner, newEvent())
      await rightOf(ports.webhooks.change(owner, webhook.id, { enabled: false }, ports.now()))
      const sender = await working(() => ok)
      await expect.poll(async () => (await log(webhook))[0]?.failureReason, patience).toBe('webhook_disabled')
      expect(sender.to(webhook)).toStrictEqual([])
      expect(await ports.toldTo(owner)).toStrictEqual([])
    })

    it('E11 sends a replay once, as a new delivery, also to a webhook that is disabled', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const sender = await working(() => bad)
      const event = newEvent()
      await record(owner, event)
      await expect.poll(async () => (await log(webhook))[0]?.attempts, patience).toBe(1)
      await rightOf(ports.webhooks.change(owner, webhook.id, { enabled: false }, ports.now()))
      const [logged] = await log(webhook)
      if (logged === undefined) return expect.fail('nothing was logged')
      const id = `0e000000-0000-4000-8000-${String((lastKey += 1)).padStart(12, '0')}` as DeliveryId
      const made = await rightOf(ports.deliveries.replay(owner, webhook.id, logged.id, { id, at: ports.now() }))
      expect(made).toMatchObject({ value: { id, status: 'pending', attempts: 0, replayOf: logged.id, eventType: 'order.created' } })
      await expect
        .poll(async () => (await log(webhook))[0], patience)
        .toMatchObject({ id, status: 'failed', attempts: 1, failureReason: 'not_2xx' })
      ports.elapse(100 * minuteMs)
      await record(owner, newEvent())
      expect(sender.to(webhook).filter(({ delivery }) => delivery.id === id)).toHaveLength(1)
      expect(sender.to(webhook).at(-1)?.event.data).toStrictEqual(event.data)
      expect(await find(webhook)).toMatchObject({ failureCount: 1, lastFailureAt: expect.any(Number) })
    })

    it('E12 pages the log, newest first, of one status where one is asked for, and shows it to nobody else', async () => {
      const owner = await storedOwner(ports.operator)
      const [webhook, other] = [await created(owner), await created(owner)]
      await record(owner, ...Array.from({ length: 5 }, () => newEvent()))
      const all = await log(webhook)
      expect((await page(webhook, { page: 2, limit: 2 })).items).toStrictEqual(all.slice(2, 4))
      expect(await page(webhook, { page: 2, limit: 2 })).toMatchObject({ page: 2, limit: 2, total: 5 })
      expect(await page(webhook, { status: 'success' })).toMatchObject({ items: [], total: 0 })
      const stranger = await storedOwner(ports.operator)
      expect(await page(webhook, {}, stranger)).toMatchObject({ items: [], total: 0 })
      const replay = { id: '0f000000-0000-4000-8000-000000000001' as DeliveryId, at: ports.now() }
      const id = all[0]?.id ?? replay.id
      expect(await rightOf(ports.deliveries.replay(stranger, webhook.id, id, replay))).toStrictEqual(O.none)
      expect(await rightOf(ports.deliveries.replay(owner, other.id, id, replay))).toStrictEqual(O.none)
      expect(await rightOf(ports.deliveries.replay(owner, webhook.id, replay.id, replay))).toStrictEqual(O.none)
    })

    it('E13 sends each delivery once though two instances send', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const [here, there] = [await working(() => ok), await working(() => ok, ports.elsewhere)]
      const places = Array.from({ length: 20 }, (_, place) => place)
      for (const place of places) await record(owner, newEvent({ data: { place } }))
      await expect.poll(async () => new Set(await statuses(webhook)), patience).toStrictEqual(new Set(['success']))
      const sent = [...here.to(webhook), ...there.to(webhook)].map(({ event }) => event.data as { readonly place: number })
      expect(sent.map(({ place }) => place).toSorted((a, b) => a - b)).toStrictEqual(places)
    })

    it('E14 forgets the deliveries of a webhook that was removed, also of one under way', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      const sender = await working(async () => {
        await rightOf(ports.webhooks.remove(owner, webhook.id))
        return ok
      })
      await record(owner, newEvent(), newEvent())
      await expect.poll(() => sender.to(webhook).length, patience).toBe(1)
      await expect.poll(async () => (await rightOf(ports.webhooks.find(owner, webhook.id)))._tag, patience).toBe('None')
      const next = await created(owner)
      await record(owner, newEvent())
      await expect.poll(() => sender.to(next).length, patience).toBe(1)
      expect(sender.to(webhook)).toHaveLength(1)
    })
  })
}
