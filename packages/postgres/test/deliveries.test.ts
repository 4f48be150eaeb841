// Events are recorded once, and delivered in order to each webhook that asked for them, until it
// answers or is given up.
import { notFoundAtBrokerCode, settle } from '@tradeport/domain/orders'
import { minuteMs } from '@tradeport/domain/primitives'
import type { ServiceEvent } from '@tradeport/domain/events'
import type { PlacementStep } from '@tradeport/domain/orders'
import type { DueDelivery } from '@tradeport/domain/ports'
import type { DeliveryId, Owner } from '@tradeport/domain/primitives'
import type { AttemptAnswer, Webhook, WebhookDelivery } from '@tradeport/domain/webhooks'
import {
  newOrder,
  newWebhook,
  placementOf,
  rightOf,
  storedOwner,
  toRecord,
} from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTestClock, eventPortsOf, startEvents } from './event-ports.ts'
import type { EventPorts } from './event-ports.ts'
import { onEachDatabase } from './open-stores.ts'

const ok: AttemptAnswer = { responseCode: 200, responseTimeMs: 3 }
const bad: AttemptAnswer = { responseCode: 503, responseTimeMs: 4 }
const silent: AttemptAnswer = {
  responseCode: 0,
  responseTimeMs: 30_000,
  failureReason: 'timed_out',
}
const reason = { code: notFoundAtBrokerCode, message: 'not found' }

let lastKey = 0
const newEvent = (fields: Partial<ServiceEvent> = {}): ServiceEvent => ({
  type: 'order.created',
  key: `event ${(lastKey += 1)}`,
  data: {
    order_id: 'ord_1',
    volume: 0.1,
    client_id: 'Ünï \u0000 \ud800 "\\"',
    is_partial: false,
    exit_price: null,
    place: lastKey,
  },
  at: 1_000,
  ...fields,
})
const newEvents = (count: number) => Array.from({ length: count }, () => newEvent())
const newDeliveryId = () =>
  `0e000000-0000-4000-8000-${String((lastKey += 1)).padStart(12, '0')}` as DeliveryId

onEachDatabase((open, title) =>
  describe(`events and deliveries, ${title}`, () => {
    let ports: EventPorts
    let close: () => Promise<void>
    const stops: (() => Promise<void>)[] = []
    beforeAll(async () => {
      const opened = await open()
      const clock = createTestClock()
      const [here, there] = [
        await startEvents(opened.database, clock),
        await startEvents(opened.elsewhere, clock),
      ]
      ports = eventPortsOf(here, there, clock)
      close = async () => {
        await Promise.all([here.jobs.stop(), there.jobs.stop()])
        await opened.close()
      }
    })
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })
    afterAll(() => close())

    const created = async (owner: Owner, fields: Partial<Webhook> = {}): Promise<Webhook> => {
      const webhook = newWebhook(owner, ports.now(), {
        eventTypes: ['order.created', 'order.filled'],
        ...fields,
      })
      await rightOf(ports.webhooks.create(owner, { webhook, secret: 'a secret of some length' }))
      return webhook
    }
    const newOwned = async () => created(await storedOwner(ports.operator))
    const page = (webhook: Webhook, query: object = {}, owner: Owner = webhook.owner) =>
      rightOf(ports.deliveries.list(owner, webhook.id, { page: 1, limit: 100, ...query }))
    const log = async (webhook: Webhook): Promise<readonly WebhookDelivery[]> =>
      (await page(webhook)).items
    const statuses = async (webhook: Webhook) => (await log(webhook)).map(({ status }) => status)
    const find = async ({ owner, id }: Webhook) =>
      O.toUndefined(await rightOf(ports.webhooks.find(owner, id)))
    /** Sends on both instances; what was sent to a webhook. */
    const working = async (
      answer: (due: DueDelivery) => AttemptAnswer | Promise<AttemptAnswer>,
    ) => {
      const sent: DueDelivery[] = []
      for (const jobs of [ports.jobs, ports.elsewhere]) {
        const { stop } = await jobs.work(async (due) => {
          sent.push(due)
          return answer(due)
        })
        stops.push(stop)
      }
      return ({ id }: Webhook) => sent.filter(({ to }) => to.webhook.id === id)
    }

    it('make one delivery of an event, however often it is told, for each webhook of the owner that is enabled and asked for it', async () => {
      const [webhook, theirs] = [await newOwned(), await newOwned()]
      const { owner } = webhook
      const others = [
        await created(owner, { eventTypes: ['trade.closed'] }),
        await created(owner, { enabled: false }),
      ]
      const event = newEvent()
      await ports.record(owner, [event, event])
      await Promise.all([
        ports.record(owner, [event]),
        ports.record(owner, [event, newEvent()]),
        ports.record(theirs.owner, [event]),
      ])
      expect(await log(webhook)).toHaveLength(2)
      expect(await log(theirs)).toStrictEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          webhookId: theirs.id,
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
        },
      ])
      for (const other of others) expect(await log(other)).toStrictEqual([])
    })

    const settled: PlacementStep['placement'] = { step: 'settled' }
    const rechecking: PlacementStep['placement'] = {
      step: 'rechecking',
      sentAt: 0,
      orderId: null,
      rechecks: 0,
    }
    const fill = { kind: 'filled', fill: { price: 1.25, volume: 0.1 } } as const
    it.each<[string, readonly PlacementStep[], readonly string[]]>([
      [
        'filled',
        [{ placement: settled, outcome: fill, continueInMs: null }],
        ['order.created', 'order.filled'],
      ],
      [
        'rejected',
        [{ placement: settled, outcome: { kind: 'rejected', reason }, continueInMs: null }],
        ['order.created'],
      ],
      [
        'rejected as not found and corrected',
        [
          { placement: rechecking, outcome: { kind: 'rejected', reason }, continueInMs: 1 },
          { placement: settled, outcome: fill, continueInMs: null },
        ],
        ['order.created', 'order.filled'],
      ],
    ])('tell of an order that is %s', async (_, steps, types) => {
      const webhook = await newOwned()
      const sentTo = await working(() => ok)
      const order = newOrder(webhook.owner, ports.now(), { clientId: 'mine' })
      await rightOf(ports.orders.record(webhook.owner, toRecord(order)))
      let from = placementOf(order)
      for (const step of steps) {
        expect(await rightOf(ports.orders.advance(webhook.owner, from, step, ports.now()))).toBe(
          true,
        )
        expect(await rightOf(ports.orders.advance(webhook.owner, from, step, ports.now()))).toBe(
          false,
        )
        const after =
          step.outcome === undefined ? from.order : settle(from.order, step.outcome, ports.now())
        from = { ...from, order: after, placement: step.placement, version: from.version + 1 }
      }
      await expect.poll(() => sentTo(webhook).map(({ event }) => event.type)).toStrictEqual(types)
      expect(sentTo(webhook)[0]?.event.data).toMatchObject({
        order_id: order.id,
        client_id: 'mine',
      })
      if (types.length > 1)
        expect(sentTo(webhook)[1]?.event.data).toMatchObject({
          fill_price: 1.25,
          filled_volume: 0.1,
        })
    })

    it('are sent in the order of recording, one at a time to one webhook and each once, by two instances', async () => {
      const webhook = await newOwned()
      let [underWay, most] = [0, 0]
      const sentTo = await working(async ({ to }) => {
        if (to.webhook.id !== webhook.id) return ok
        most = Math.max(most, (underWay += 1))
        await Promise.resolve()
        underWay -= 1
        return ok
      })
      const events = newEvents(20)
      await ports.record(webhook.owner, events.slice(0, 6))
      for (const event of events.slice(6)) await ports.record(webhook.owner, [event])
      await expect.poll(() => statuses(webhook)).toStrictEqual(events.map(() => 'success'))
      expect(sentTo(webhook).map(({ event }) => event.data)).toStrictEqual(
        events.map(({ data }) => data),
      )
      expect(most).toBe(1)
      expect(sentTo(webhook)[0]?.to).toMatchObject({
        webhook: { id: webhook.id, url: webhook.url },
        secret: 'a secret of some length',
      })
      expect(await find(webhook)).toMatchObject({ failureCount: 0, lastSuccessAt: ports.now() })
    })

    it('are tried again after 1, 5, 15 and 60 minutes with the same id, while others pass', async () => {
      const webhook = await newOwned()
      const sentTo = await working(({ event }) => (event.type === 'order.filled' ? bad : ok))
      await ports.record(webhook.owner, [newEvent({ type: 'order.filled' })])
      for (const [index, minutes] of [1, 5, 15, 60].entries()) {
        await expect.poll(async () => (await log(webhook)).at(-1)?.attempts).toBe(index + 1)
        const nextAttemptAt = ports.now() + minutes * minuteMs
        expect((await log(webhook)).at(-1)).toMatchObject({
          status: 'pending',
          responseCode: 503,
          failureReason: 'not_2xx',
          nextAttemptAt,
        })
        ports.elapse(minutes * minuteMs - 1)
        // A success in between keeps the webhook from being disabled.
        await ports.record(webhook.owner, [newEvent()])
        await expect.poll(async () => (await log(webhook))[0]?.status).toBe('success')
        expect(
          (await page(webhook, { status: 'pending' })).items.map(({ attempts }) => attempts),
        ).toStrictEqual([index + 1])
        ports.elapse(1)
      }
      await expect.poll(async () => (await page(webhook, { status: 'failed' })).total).toBe(1)
      const tries = sentTo(webhook).filter(({ event }) => event.type === 'order.filled')
      expect([tries.length, new Set(tries.map(({ delivery }) => delivery.id)).size]).toStrictEqual([
        5, 1,
      ])
      expect(await find(webhook)).toMatchObject({ enabled: true, failureCount: 1 })
      expect(await ports.toldTo(webhook.owner)).toStrictEqual([])
    })

    it.each([
      [
        'five failed attempts in a row',
        silent,
        5,
        { failureReason: 'timed_out', attempts: 1 },
        'failures',
      ],
      [
        'an answer that the receiver is gone',
        { responseCode: 410, responseTimeMs: 2 },
        1,
        { failureReason: 'gone', attempts: 1 },
        'gone',
      ],
    ])(
      'disable a webhook after %s, withdraw what waits for it, and tell its owner once',
      async (_, answer, attempts, last, because) => {
        const webhook = await newOwned()
        const fine = await created(webhook.owner)
        const sentTo = await working(({ to }) => (to.webhook.id === fine.id ? ok : answer))
        await ports.record(webhook.owner, newEvents(attempts + 2))
        await expect
          .poll(() => statuses(webhook))
          .toStrictEqual(Array.from({ length: attempts + 2 }, () => 'failed'))
        expect(sentTo(webhook)).toHaveLength(attempts)
        const withdrawn = { failureReason: 'webhook_disabled', attempts: 0 }
        expect((await log(webhook)).slice(0, 3)).toMatchObject([withdrawn, withdrawn, last])
        expect(await find(webhook)).toMatchObject({
          enabled: false,
          failureCount: attempts,
          lastSuccessAt: null,
        })
        const notice = {
          kind: 'webhook_disabled',
          webhookId: webhook.id,
          url: webhook.url,
          at: ports.now(),
          because,
        }
        await expect.poll(() => ports.toldTo(webhook.owner)).toStrictEqual([notice])
        await ports.record(webhook.owner, [newEvent()])
        await expect
          .poll(() => statuses(fine))
          .toStrictEqual(Array.from({ length: attempts + 3 }, () => 'success'))
        expect(await log(webhook)).toHaveLength(attempts + 2)
      },
    )

    it('are not sent to a webhook that its user switched off or removed, nor told of', async () => {
      const [off, removed] = [await newOwned(), await newOwned()]
      for (const { owner } of [off, removed]) await ports.record(owner, newEvents(2))
      await rightOf(ports.webhooks.change(off.owner, off.id, { enabled: false }, ports.now()))
      const sentTo = await working(async ({ to: { webhook } }) => {
        await rightOf(ports.webhooks.remove(webhook.owner, webhook.id))
        return ok
      })
      await expect
        .poll(async () => (await log(off)).map(({ failureReason }) => failureReason))
        .toStrictEqual(Array(2).fill('webhook_disabled'))
      await expect.poll(() => find(removed)).toBeUndefined()
      expect([
        sentTo(off).length,
        sentTo(removed).length,
        await ports.toldTo(off.owner),
      ]).toStrictEqual([0, 1, []])
      const next = await created(removed.owner)
      await ports.record(removed.owner, [newEvent()])
      await expect.poll(() => sentTo(next)).toHaveLength(1)
      expect(sentTo(removed)).toHaveLength(1)
    })

    it('are replayed once, as a new delivery, also to a webhook that is disabled, for its owner alone', async () => {
      const [webhook, other] = [await newOwned(), await newOwned()]
      const sentTo = await working(() => bad)
      const event = newEvent()
      await ports.record(webhook.owner, [event])
      await expect.poll(async () => (await log(webhook))[0]?.attempts).toBe(1)
      await rightOf(
        ports.webhooks.change(webhook.owner, webhook.id, { enabled: false }, ports.now()),
      )
      const [logged] = (await log(webhook)) as [WebhookDelivery]
      const replay = (owner: Owner, { id }: Webhook, of: DeliveryId, as = newDeliveryId()) =>
        rightOf(ports.deliveries.replay(owner, id, of, { id: as, at: ports.now() }))
      for (const refused of [
        replay(other.owner, webhook, logged.id),
        replay(other.owner, other, logged.id),
        replay(webhook.owner, webhook, newDeliveryId()),
      ])
        expect(await refused).toStrictEqual(O.none)
      const id = newDeliveryId()
      const made = {
        id,
        status: 'pending',
        attempts: 0,
        replayOf: logged.id,
        eventType: 'order.created',
      }
      expect(await replay(webhook.owner, webhook, logged.id, id)).toMatchObject({ value: made })
      await expect
        .poll(async () => (await log(webhook))[0])
        .toMatchObject({ id, status: 'failed', attempts: 1, failureReason: 'not_2xx' })
      ports.elapse(100 * minuteMs)
      expect(sentTo(webhook).filter(({ delivery }) => delivery.id === id)).toMatchObject([
        { event: { data: event.data } },
      ])
      expect(await find(webhook)).toMatchObject({ failureCount: 1 })
    })

    it('are listed page by page, newest first, to their owner alone', async () => {
      const [webhook, stranger] = [await newOwned(), await newOwned()]
      await ports.record(webhook.owner, newEvents(5))
      const all = await log(webhook)
      expect(await page(webhook, { page: 2, limit: 2 })).toStrictEqual({
        items: all.slice(2, 4),
        page: 2,
        limit: 2,
        total: 5,
      })
      expect(await page(webhook, { status: 'success' })).toMatchObject({ items: [], total: 0 })
      expect(await page(webhook, {}, stranger.owner)).toMatchObject({ items: [], total: 0 })
    })
  }),
)
