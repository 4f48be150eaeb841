// A caller's webhooks: records, tests, and the log of deliveries. Idempotency is in
// idempotent-effects.test.ts.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { startOfLog, type LoggedEvent } from '../../src/events/index.ts'
import { withoutKey } from '../../src/ports/index.ts'
import {
  type AttemptAnswer,
  verifyWebhookSignature,
  type DeliveryRequest,
  type WebhookUrl,
} from '../../src/webhooks/index.ts'
import type { AccountId, DeliveryId } from '../../src/primitives/ids.ts'
import { createFakeRecords, createFakeWebhookStore, newWebhookId, times } from '@tradeport/testkit'
import { createFakeEventLog, eventIdOf } from './fake-event-log.ts'
import { createWebhooks, noDeliveries } from '../../src/use-cases/webhooks.ts'
import type { NewWebhook } from '../../src/webhooks/webhook.ts'
import { owner, rightOf, stranger, tagOf, unavailable } from './desk.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const wanted: NewWebhook = {
  url: 'https://hooks.example.com/' as WebhookUrl,
  eventTypes: ['trade.closed', 'order.filled'],
}
const [caller, other] = [{ owner }, { owner: stranger }]
const deliveryId = '0e000000-0000-4000-8000-000000000001' as DeliveryId
const page = { page: 3, limit: 7 }

const nothing = async (): Promise<unknown> => undefined

/** Posts nothing, and answers 200 after 12 ms unless told otherwise. */
const createFakeWebhookSender = () => {
  const sent: DeliveryRequest[] = []
  let next = { responseCode: 200, responseTimeMs: 12 }
  let between = nothing
  return {
    /** What was sent, in order. */
    sent,
    send: (delivery: DeliveryRequest) => async () => {
      sent.push(delivery)
      const answer = next
      await between()
      return answer
    },
    /** How everything from now on is answered; `meanwhile` is done before each answer. */
    answer: (answer: AttemptAnswer, meanwhile = nothing) => {
      ;[next, between] = [answer, meanwhile]
    },
  }
}

const createDesk = async () => {
  let now = noon
  let secrets = 0
  const records = createFakeRecords()
  const ports = {
    webhooks: createFakeWebhookStore(records),
    webhookSender: createFakeWebhookSender(),
    webhookIds: {
      newWebhookId,
      newDeliveryId: () => deliveryId,
      newWebhookSecret: () => `generated secret ${++secrets}`,
    },
    webhookDeliveries: noDeliveries,
    eventLog: createFakeEventLog(),
    recordsEvents: false,
    clock: { now: () => now },
  }
  const use = createWebhooks(ports)
  const { webhook, secret } = await rightOf(
    use.createWebhook(caller, { body: wanted, ...withoutKey }),
  )
  const one = { id: webhook.id, ...withoutKey }
  type Rotation = Parameters<typeof use.rotateWebhookSecret>[1]['body']
  type Since = Parameters<typeof use.recoverWebhook>[1]['body']['since']
  return {
    ports,
    use,
    webhook,
    secret,
    test: () => rightOf(use.testWebhook(caller, one)),
    disable: () => rightOf(use.changeWebhook(caller, { id: one.id, body: { enabled: false } })),
    rotate: (body: Rotation) => rightOf(use.rotateWebhookSecret(caller, { ...one, body })),
    recover: (since: Since) => use.recoverWebhook(caller, { ...one, body: { since } })(),
    wait: (ms: number) => void (now += ms),
    stored: () => rightOf(use.listWebhooks(caller)),
  }
}

describe('the records of webhooks', () => {
  it('are changed in the named fields, found by ids in capitals too, and removed once', async () => {
    const { use, webhook, disable, wait } = await createDesk()
    wait(5)
    const changed = await disable()
    expect(changed).toStrictEqual({ ...webhook, enabled: false, updatedAt: noon + 5 })
    expect(await rightOf(use.getWebhook(caller, { id: webhook.id.toUpperCase() }))).toStrictEqual(
      changed,
    )
    expect(await rightOf(use.deleteWebhook(caller, { id: webhook.id }))).toEqual({
      id: webhook.id,
      deleted: true,
    })
    expect(await tagOf(use.deleteWebhook(caller, { id: webhook.id }))).toBe('NotFound')
  })

  it.each([
    [undefined, 'generated secret 2'],
    ['a secret of their own', 'a secret of their own'],
  ])(
    'get the secret %j when it is rotated, beside the one before for a while',
    async (sent, secret) => {
      const { ports, webhook, secret: first, test, rotate, wait } = await createDesk()
      wait(5)
      const rotated = await rotate({
        overlapHours: 0.5,
        ...(sent !== undefined && { secret: sent }),
      })
      expect(rotated).toStrictEqual({
        webhook: { ...webhook, updatedAt: noon + 5 },
        secret,
        previous: { secret: first, until: noon + 5 + 30 * 60_000 },
      })
      wait(5)
      const repeated = { secret, overlapHours: 24 }
      expect(await rotate(repeated)).toStrictEqual({
        ...rotated,
        webhook: { ...webhook, updatedAt: noon + 10 },
      })
      await test()
      const [{ body, headers } = expect.fail('nothing was sent')] = ports.webhookSender.sent
      expect(verifyWebhookSignature(secret, body, headers['X-Webhook-Signature'])).toBe(true)
      for (const last of [{ secret, overlapHours: 0 }, repeated, { overlapHours: 0 }])
        expect(await rotate(last)).not.toHaveProperty('previous')
    },
  )

  type Act = (
    desk: Awaited<ReturnType<typeof createDesk>>['use'],
    who: typeof caller,
    id: string,
  ) => TE.TaskEither<unknown, unknown>
  it.each<[string, Act]>([
    ['get', (use, who, id) => use.getWebhook(who, { id })],
    ['change', (use, who, id) => use.changeWebhook(who, { id, body: { enabled: false } })],
    ['delete', (use, who, id) => use.deleteWebhook(who, { id })],
    ['test', (use, who, id) => use.testWebhook(who, { id, ...withoutKey })],
    [
      'list the deliveries of',
      (use, who, id) => use.listWebhookDeliveries(who, { id, query: page }),
    ],
    [
      'rotate the secret of',
      (use, who, id) =>
        use.rotateWebhookSecret(who, { id, body: { overlapHours: 1 }, ...withoutKey }),
    ],
    [
      'recover',
      (use, who, id) => use.recoverWebhook(who, { id, body: { since: noon }, ...withoutKey }),
    ],
    [
      'replay a delivery of',
      (use, who, id) => use.replayWebhookDelivery(who, { id, deliveryId: 'any', ...withoutKey }),
    ],
  ])('are not found to %s where they are malformed, unknown or another’s', async (_, act) => {
    const { ports, use, webhook, stored } = await createDesk()
    for (const [who, id] of [
      [other, webhook.id],
      ...[newWebhookId(), '', 'x', `${webhook.id}0`, '\0'].map((id) => [caller, id] as const),
    ] as const)
      expect(await act(use, who, id)()).toStrictEqual(E.left({ _tag: 'NotFound', what: 'webhook' }))
    expect([await stored(), ports.webhookSender.sent]).toStrictEqual([[webhook], []])
  })
})

describe('a test of a webhook', () => {
  it('is posted with a signature, also to a disabled one, and its success is stored', async () => {
    const { ports, secret, test, disable, wait, stored } = await createDesk()
    const disabled = await disable()
    ports.webhookSender.answer({ responseCode: 204, responseTimeMs: 31 }, async () => wait(31))
    expect(await test()).toStrictEqual({
      success: true,
      responseCode: 204,
      responseTimeMs: 31,
    })
    const signed = ports.webhookSender.sent.map(({ body, headers }) =>
      verifyWebhookSignature(secret, body, headers['X-Webhook-Signature']),
    )
    expect([signed, await stored()]).toStrictEqual([
      [true],
      [{ ...disabled, lastSuccessAt: noon + 31 }],
    ])
  })

  it.each([
    [{ responseCode: 301, responseTimeMs: 1 }, 'not_2xx'],
    [{ responseCode: 0, responseTimeMs: 30_000, failureReason: 'timed_out' }, 'timed_out'],
  ] as const)(
    'changes nothing when the answer is %j, and returns the reason %s',
    async (answer, failureReason) => {
      const { ports, webhook, test, stored } = await createDesk()
      ports.webhookSender.answer(answer)
      expect(await test()).toStrictEqual({ ...answer, success: false, failureReason })
      expect(await stored()).toStrictEqual([webhook])
    },
  )

  it('is one of two of a user at a time, of which eight more wait', async () => {
    const { ports, use, webhook, test } = await createDesk()
    const held = Promise.withResolvers<void>()
    ports.webhookSender.answer({ responseCode: 200, responseTimeMs: 1 }, () => held.promise)
    const tests = times(10, () => test())
    expect(await tagOf(use.testWebhook(caller, { id: webhook.id, ...withoutKey }))).toBe(
      'ServiceUnavailable',
    )
    await expect.poll(() => ports.webhookSender.sent).toHaveLength(2)
    held.resolve()
    expect(await Promise.all(tests)).toMatchObject(tests.map(() => ({ success: true })))
  })

  it('succeeds also where the webhook was deleted meanwhile', async () => {
    const { ports, use, webhook, test } = await createDesk()
    ports.webhookSender.answer({ responseCode: 200, responseTimeMs: 1 }, () =>
      rightOf(use.deleteWebhook(caller, { id: webhook.id })),
    )
    expect(await test()).toMatchObject({ success: true })
  })

  // Once it is sent, an error would have it sent again.
  it.each([
    ['findWithSecret', 'ServiceUnavailable', 0],
    ['recordTestSuccess', 'none', 1],
  ])('where %s fails, is refused with %s after %d posts', async (method, tag, posts) => {
    const { ports, webhook } = await createDesk()
    ports.webhookSender.answer({ responseCode: 200, responseTimeMs: 1 })
    const { testWebhook } = createWebhooks({
      ...ports,
      webhooks: { ...ports.webhooks, [method]: unavailable },
    })
    expect(await tagOf(testWebhook(caller, { id: webhook.id, ...withoutKey }))).toBe(tag)
    expect(ports.webhookSender.sent).toHaveLength(posts)
  })
})

describe('the deliveries of a webhook', () => {
  const noDelivery = E.left({ _tag: 'NotFound', what: 'delivery' })

  it('are an empty list, and none is replayed, in a service without events', async () => {
    const { use, webhook, recover } = await createDesk()
    expect(
      await rightOf(use.listWebhookDeliveries(caller, { id: webhook.id, query: page })),
    ).toStrictEqual({
      data: [],
      pagination: { ...page, total: 0 },
    })
    expect(await recover(0)).toEqual(E.right({ scheduled: 0 }))
    expect(await recover(eventIdOf(7))).toStrictEqual(
      E.left({ _tag: 'EventGone', resumeAfter: startOfLog, oldest: null }),
    )
    for (const id of ['any', deliveryId])
      expect(
        await use.replayWebhookDelivery(caller, {
          id: webhook.id,
          deliveryId: id,
          ...withoutKey,
        })(),
      ).toStrictEqual(noDelivery)
  })

  it('are not recovered from a time after which events were cleared away', async () => {
    const { ports, recover } = await createDesk()
    const event = { type: 'order.created', accountId: 'a' as AccountId } as const
    const [cleared] = ports.eventLog.record(owner, [event])
    const { id, recordedAt } = cleared as LoggedEvent
    ports.eventLog.clear(owner, id)
    expect(await recover(recordedAt - 1)).toStrictEqual(
      E.left({ _tag: 'EventGone', resumeAfter: id, oldest: null }),
    )
    expect(await recover(recordedAt)).toEqual(E.right({ scheduled: 0 }))
  })

  it('are not recovered while it is disabled', async () => {
    const { disable, recover } = await createDesk()
    await disable()
    const message = expect.stringContaining('Enable it first: PUT /webhooks/:id')
    expect(await recover(0)).toStrictEqual(
      E.left({ _tag: 'ValidationError', issues: [{ path: 'id', message }] }),
    )
  })
})
