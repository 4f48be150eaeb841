import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { DeliveryId } from '../../src/primitives/ids.ts'
import { serviceUnavailable } from '../../src/errors.ts'
import { withoutKey } from '../../src/ports/idempotency.ts'
import { createFakeEvents } from '../../src/testing/fake-events.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { createFakeWebhookSender } from '../../src/testing/fake-webhook-sender.ts'
import { createFakeWebhookStore } from '../../src/testing/fake-webhook-store.ts'
import { newWebhookId } from '../../src/testing/stored-webhooks.ts'
import { changeWebhook } from '../../src/use-cases/change-webhook.ts'
import { createWebhook } from '../../src/use-cases/create-webhook.ts'
import { deliverEvent } from '../../src/use-cases/deliver-event.ts'
import { deleteWebhook } from '../../src/use-cases/delete-webhook.ts'
import { getWebhook } from '../../src/use-cases/get-webhook.ts'
import { listWebhookDeliveries } from '../../src/use-cases/list-webhook-deliveries.ts'
import { listWebhooks } from '../../src/use-cases/list-webhooks.ts'
import { replayWebhookDelivery } from '../../src/use-cases/replay-webhook-delivery.ts'
import { noDeliveries } from '../../src/use-cases/steps/without-events.ts'
import { testWebhook } from '../../src/use-cases/test-webhook.ts'
import { verifyWebhookSignature } from '../../src/webhooks/signature.ts'
import type { WebhookUrl } from '../../src/webhooks/webhook-url.ts'
import type { NewWebhook } from '../../src/webhooks/webhook.ts'
import { owner, rightOf, stranger, tagOf } from './desk.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const url = 'https://hooks.example.com/' as WebhookUrl
const inside = 'https://10.0.0.1/' as WebhookUrl
const wanted: NewWebhook = { url, eventTypes: ['trade.closed', 'order.filled'] }
const made = 'f'.repeat(64)
const [caller, other] = [{ owner }, { owner: stranger }]

const deliveryId = '0e000000-0000-4000-8000-000000000001' as DeliveryId

const createDesk = () => {
  let now = noon
  const records = createFakeRecords()
  const webhooks = createFakeWebhookStore(records)
  const events = createFakeEvents(records, { now: () => now })
  const ports = {
    webhooks,
    webhookSender: createFakeWebhookSender(),
    webhookIds: { newWebhookId, newDeliveryId: () => deliveryId, newWebhookSecret: () => made },
    webhookDeliveries: events.deliveries,
    events,
    webhookReach: { allowsAddress: () => false, allowsLocalNames: false },
    clock: { now: () => now },
  }
  return {
    ...ports,
    wait: (ms: number) => {
      now += ms
    },
    create: (fields: Partial<NewWebhook> = {}) => rightOf(createWebhook(ports)(caller, { ...wanted, ...fields }, withoutKey)),
  }
}

const fails = () => TE.left(serviceUnavailable('away'))
const page = { page: 1, limit: 20 }
const event = { type: 'order.filled', key: 'one', data: { a: 1 }, at: noon } as const
const noDelivery = E.left({ _tag: 'NotFound', what: 'delivery' })

describe('POST /webhooks', () => {
  it('registers a webhook that is on, tells its secret, and sends nothing', async () => {
    const desk = createDesk()
    const { webhook, secret } = await desk.create()
    expect(secret).toBe(made)
    expect(webhook).toStrictEqual({
      id: webhook.id,
      owner,
      ...wanted,
      enabled: true,
      failureCount: 0,
      lastSuccessAt: null,
      lastFailureAt: null,
      createdAt: noon,
      updatedAt: noon,
    })
    expect(await rightOf(listWebhooks(desk)(caller))).toStrictEqual([webhook])
    expect(desk.webhookSender.sent).toStrictEqual([])
  })

  it('keeps a secret that was brought along', async () => {
    expect((await createDesk().create({ secret: 'a secret of my own' })).secret).toBe('a secret of my own')
  })

  it('refuses a host that its URL shows to be inside, and then counts nothing', async () => {
    const desk = createDesk()
    expect(await tagOf(createWebhook(desk)(caller, { ...wanted, url: inside }, withoutKey))).toBe('ValidationError')
    expect(await rightOf(listWebhooks(desk)(caller))).toStrictEqual([])
  })

  it('refuses the eleventh of one user, and not the first of another', async () => {
    const desk = createDesk()
    for (let made = 0; made < 10; made += 1) await desk.create()
    expect(await tagOf(createWebhook(desk)(caller, wanted, withoutKey))).toBe('WebhookLimitReached')
    expect(E.isRight(await createWebhook(desk)(other, wanted, withoutKey)())).toBe(true)
  })
})

describe('PUT /webhooks/:id', () => {
  it('changes what is named, now', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    desk.wait(5)
    const changed = await rightOf(changeWebhook(desk)(caller, webhook.id, { enabled: false }))
    expect(changed).toStrictEqual({ ...webhook, enabled: false, updatedAt: noon + 5 })
    expect(await rightOf(getWebhook(desk)(caller, webhook.id.toUpperCase()))).toStrictEqual(changed)
  })

  it('refuses a host that its URL shows to be inside, and then changes nothing', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    expect(await tagOf(changeWebhook(desk)(caller, webhook.id, { url: inside, enabled: false }))).toBe('ValidationError')
    expect(await rightOf(getWebhook(desk)(caller, webhook.id))).toStrictEqual(webhook)
  })
})

describe('DELETE /webhooks/:id', () => {
  it('removes it, once', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    expect(await rightOf(deleteWebhook(desk)(caller, webhook.id))).toBe(webhook.id)
    expect(await tagOf(deleteWebhook(desk)(caller, webhook.id))).toBe('NotFound')
  })
})

describe('POST /webhooks/:id/test (3.4; decision 43)', () => {
  it('posts a signed test and remembers that it was answered', async () => {
    const desk = createDesk()
    const { webhook, secret } = await desk.create()
    desk.webhookSender.answer({ responseCode: 204, responseTimeMs: 31 }, async () => desk.wait(31))
    expect(await rightOf(testWebhook(desk)(caller, webhook.id, withoutKey))).toStrictEqual({
      isSuccess: true,
      responseCode: 204,
      responseTimeMs: 31,
      failureReason: null,
    })
    const [sent, ...more] = desk.webhookSender.sent
    expect(more).toStrictEqual([])
    expect(verifyWebhookSignature(secret, sent?.body ?? '', sent?.headers['X-Webhook-Signature'])).toBe(true)
    expect(await rightOf(getWebhook(desk)(caller, webhook.id))).toStrictEqual({ ...webhook, lastSuccessAt: noon + 31 })
  })

  it.each([
    [{ responseCode: 301, responseTimeMs: 1 }, 'not_2xx'],
    [{ responseCode: 410, responseTimeMs: 1 }, 'gone'],
    [{ responseCode: 500, responseTimeMs: 1 }, 'not_2xx'],
    [{ responseCode: 0, responseTimeMs: 30_000, failureReason: 'timed_out' }, 'timed_out'],
  ] as const)('changes nothing when it is answered with %j, and names the reason %s', async (answer, failureReason) => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    desk.webhookSender.answer(answer)
    expect(await rightOf(testWebhook(desk)(caller, webhook.id, withoutKey))).toStrictEqual({ ...answer, isSuccess: false, failureReason })
    expect(await rightOf(getWebhook(desk)(caller, webhook.id))).toStrictEqual(webhook)
  })

  it('posts to a webhook that is off, and leaves it off', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    await rightOf(changeWebhook(desk)(caller, webhook.id, { enabled: false }))
    expect(await rightOf(testWebhook(desk)(caller, webhook.id, withoutKey))).toMatchObject({ isSuccess: true })
    expect(await rightOf(getWebhook(desk)(caller, webhook.id))).toMatchObject({ enabled: false, lastSuccessAt: noon })
  })

  it('tells of a success also where the webhook was deleted meanwhile', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    desk.webhookSender.answer({ responseCode: 200, responseTimeMs: 1 }, () => rightOf(deleteWebhook(desk)(caller, webhook.id)))
    expect(await rightOf(testWebhook(desk)(caller, webhook.id, withoutKey))).toMatchObject({ isSuccess: true })
    expect(await rightOf(listWebhooks(desk)(caller))).toStrictEqual([])
  })

  it('posts nothing where the secret cannot be read, and tells of no success that could not be remembered', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    const unreadable = { ...desk, webhooks: { ...desk.webhooks, findWithSecret: fails } }
    expect(await tagOf(testWebhook(unreadable)(caller, webhook.id, withoutKey))).toBe('ServiceUnavailable')
    expect(desk.webhookSender.sent).toStrictEqual([])
    const forgetful = { ...desk, webhooks: { ...desk.webhooks, recordTestSuccess: fails } }
    expect(await tagOf(testWebhook(forgetful)(caller, webhook.id, withoutKey))).toBe('ServiceUnavailable')
  })
})

describe('the deliveries of a webhook', () => {
  const query = { page: 3, limit: 7, status: 'failed' } as const
  it('are none, and none is replayed, without the capability events (decision 45)', async () => {
    const desk = { ...createDesk(), webhookDeliveries: noDeliveries }
    const { webhook } = await desk.create()
    expect(await rightOf(listWebhookDeliveries(desk)(caller, webhook.id, query))).toStrictEqual({ items: [], page: 3, limit: 7, total: 0 })
    for (const id of ['any', deliveryId])
      expect(await replayWebhookDelivery(desk)(caller, webhook.id, id, withoutKey)()).toStrictEqual(noDelivery)
  })

  it('are posted, logged and replayed with it', async () => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    const deliver = deliverEvent(desk)
    const worker = await desk.events.jobs.work((due) => deliver(due)())
    desk.events.happened(owner, [event])
    const log = () => rightOf(listWebhookDeliveries(desk)(caller, webhook.id, page))
    await expect.poll(async () => (await log()).items[0]?.status).toBe('success')
    const [logged] = (await log()).items
    const replayed = await rightOf(replayWebhookDelivery(desk)(caller, webhook.id, logged?.id.toUpperCase() ?? '', withoutKey))
    expect(replayed).toMatchObject({ id: deliveryId, status: 'pending', replayOf: logged?.id, createdAt: noon })
    await expect
      .poll(() => desk.webhookSender.sent.map(({ headers }) => headers['X-Webhook-Delivery-Id']))
      .toStrictEqual([logged?.id, deliveryId])
    expect(desk.webhookSender.sent[0]?.headers).toMatchObject({
      'X-Webhook-Event': 'order.filled',
      'X-Webhook-Timestamp': new Date(noon).toISOString(),
    })
    expect(await replayWebhookDelivery(desk)(caller, webhook.id, webhook.id, withoutKey)()).toStrictEqual(noDelivery)
    await worker.stop()
  })
})

describe('a webhook that is not there, or not the caller’s (decision 41)', () => {
  it.each([
    ['get', (desk: ReturnType<typeof createDesk>, who: typeof caller, id: string) => getWebhook(desk)(who, id)],
    ['change', (desk, who, id) => changeWebhook(desk)(who, id, { enabled: false })],
    ['delete', (desk, who, id) => deleteWebhook(desk)(who, id)],
    ['test', (desk, who, id) => testWebhook(desk)(who, id, withoutKey)],
    ['list the deliveries of', (desk, who, id) => listWebhookDeliveries(desk)(who, id, page)],
    ['replay a delivery of', (desk, who, id) => replayWebhookDelivery(desk)(who, id, 'any', withoutKey)],
  ] satisfies readonly (readonly [
    string,
    (desk: ReturnType<typeof createDesk>, who: typeof caller, id: string) => TE.TaskEither<unknown, unknown>,
  ])[])('is not found to %s', async (_, act) => {
    const desk = createDesk()
    const { webhook } = await desk.create()
    const gone = E.left({ _tag: 'NotFound', what: 'webhook' })
    expect(await act(desk, other, webhook.id)()).toStrictEqual(gone)
    for (const id of [newWebhookId(), '', 'x', `${webhook.id}0`, '\0']) expect(await act(desk, caller, id)()).toStrictEqual(gone)
    expect(await rightOf(getWebhook(desk)(caller, webhook.id))).toStrictEqual(webhook)
    expect(desk.webhookSender.sent).toStrictEqual([])
  })
})
