// The transitions of a delivery and its webhook as literal rows, and the requests that are sent.
import { someOwner as owner, newWebhook } from '@tradeport/testkit'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { startOfLog } from '../../src/events/event-log.ts'
import { type DeliveryId, minuteMs } from '../../src/primitives/index.ts'
import {
  afterAttempt,
  beginReplay,
  eventDelivery,
  isDelivered,
  retrySchedule,
  testDelivery,
  type AttemptAnswer,
  type WebhookDelivery,
} from '../../src/webhooks/delivery.ts'
import { verifyWebhookSignature, type WebhookUrl, type Webhook } from '../../src/webhooks/index.ts'

const id = '0d000000-0000-4000-8000-000000000001' as DeliveryId
const otherId = '0d000000-0000-4000-8000-000000000002' as DeliveryId
const webhook = newWebhook(owner, 0)
const event = { eventId: startOfLog, eventType: 'order.created' } as const
const fresh: WebhookDelivery = {
  id,
  webhookId: webhook.id,
  ...event,
  status: 'pending',
  attempts: 0,
  responseCode: null,
  responseTimeMs: null,
  failureReason: null,
  createdAt: 100,
  lastAttemptAt: null,
  nextAttemptAt: 100,
  replayOf: null,
}
const replay: WebhookDelivery = { ...fresh, id: otherId, replayOf: id }

const ok = { responseCode: 204, responseTimeMs: 5 }
// 410 is a failure like any other.
const refused = { responseCode: 410, responseTimeMs: 7 }
const silent: AttemptAnswer = {
  responseCode: 0,
  responseTimeMs: 30_000,
  failureReason: 'timed_out',
}
/** After an attempt that began at 1,000 and took 10. */
const after = (
  delivery: WebhookDelivery,
  stored: Webhook,
  answer: AttemptAnswer,
  schedule = retrySchedule,
) => {
  const due = { to: { webhook, secret: '' }, delivery, data: {}, startedAt: 1_000 }
  return afterAttempt(due, stored, { answer, durationMs: 10 }, schedule)
}

const failed = (attempts: number) => ({ ...fresh, attempts })
const retryIn = (minutes: number) => 1_010 + minutes * minuteMs

it.each<[string, WebhookDelivery, AttemptAnswer, Partial<WebhookDelivery>]>([
  [
    'succeeds late',
    { ...failed(4), failureReason: 'not_2xx' },
    ok,
    { status: 'success', attempts: 5, failureReason: null, nextAttemptAt: null },
  ],
  [
    'waits a minute',
    fresh,
    refused,
    { status: 'pending', attempts: 1, failureReason: 'not_2xx', nextAttemptAt: retryIn(1) },
  ],
  [
    'waits five',
    failed(1),
    silent,
    { status: 'pending', responseCode: 0, failureReason: 'timed_out', nextAttemptAt: retryIn(5) },
  ],
  ['waits fifteen', failed(2), refused, { status: 'pending', nextAttemptAt: retryIn(15) }],
  ['waits sixty', failed(3), refused, { status: 'pending', nextAttemptAt: retryIn(60) }],
  [
    'fails with the fifth attempt',
    failed(4),
    refused,
    { status: 'failed', attempts: 5, failureReason: 'not_2xx', nextAttemptAt: null },
  ],
  [
    'fails at once as a replay',
    replay,
    refused,
    { status: 'failed', attempts: 1, nextAttemptAt: null },
  ],
  ['counts the attempt of a replay once', beginReplay(replay, 900), ok, { attempts: 1 }],
])('a delivery %s', (_, before, answer, expected) => {
  const { delivery } = after(before, webhook, answer)
  expect(delivery).toMatchObject({
    ...expected,
    lastAttemptAt: 1_000,
    responseTimeMs: answer.responseTimeMs,
    createdAt: 100,
  })
})

it('follows another schedule where there is one', () => {
  const { delivery } = after(fresh, webhook, refused, [7])
  expect(delivery.nextAttemptAt).toBe(1_017)
  expect(after(delivery, webhook, refused, [7]).delivery.status).toBe('failed')
})

it('fails at once when its webhook was disabled meanwhile', () => {
  const disabled = { ...webhook, enabled: false }
  expect(after(fresh, disabled, refused).delivery.status).toBe('failed')
})

const bad = { ...webhook, failureCount: 4, lastSuccessAt: 50, lastFailureAt: 60 }
const off = { ...bad, enabled: false }
const moved = { ...bad, url: 'https://new.example.com/' as WebhookUrl }
const later = { ...webhook, lastSuccessAt: 5_000 }

it.each<[string, WebhookDelivery, Webhook, AttemptAnswer, Partial<Webhook>]>([
  [
    'starts to count anew after a success',
    fresh,
    bad,
    ok,
    { failureCount: 0, lastSuccessAt: 1_010 },
  ],
  [
    'stays enabled where no name could be looked up, however often it had failed before',
    fresh,
    bad,
    { responseCode: 0, responseTimeMs: 0, failureReason: 'lookup_failed' },
    { lastFailureAt: 1_010 },
  ],
  [
    'is disabled by the fifth',
    fresh,
    bad,
    silent,
    { failureCount: 5, lastFailureAt: 1_010, enabled: false },
  ],
  ['does not count a replay that failed', replay, bad, refused, { lastFailureAt: 1_010 }],
  [
    'stays disabled after a failure',
    fresh,
    off,
    refused,
    { failureCount: 5, lastFailureAt: 1_010 },
  ],
  ['stays disabled after a success', replay, off, ok, { failureCount: 0, lastSuccessAt: 1_010 }],
  ['keeps the latest success of several deliveries', fresh, later, ok, {}],
  [
    'is not disabled by what its previous URL answered',
    fresh,
    moved,
    silent,
    { lastFailureAt: 1_010 },
  ],
  ['counts on after a success at its previous URL', fresh, moved, ok, { lastSuccessAt: 1_010 }],
])('a webhook %s', (_, delivery, before, answer, changes) => {
  expect(after(delivery, before, answer).webhook).toStrictEqual({ ...before, ...changes })
})

it('fails as a replay without being sent again where that was interrupted', () => {
  const begun = beginReplay(replay, 200)
  expect(begun).toStrictEqual({ ...replay, attempts: 1, lastAttemptAt: 200 })
  const unsent = { status: 'failed', failureReason: 'interrupted', nextAttemptAt: null }
  expect(beginReplay(begun, 300)).toStrictEqual({ ...begun, ...unsent })
})

const standardHeaders = (messageId: string) => ({
  'webhook-id': messageId,
  'webhook-timestamp': '0',
  'webhook-signature': expect.any(String),
})

describe('the request', () => {
  const to = {
    webhook,
    secret: 'sécret of some length',
    previous: { secret: 'the one before', until: 1_500 },
  }
  const timestamp = '1970-01-01T00:00:00.120Z'
  it.each([
    [
      'an event',
      eventDelivery({ to, delivery: fresh, data: { a: 1 }, startedAt: 120 }),
      'order.created',
      { a: 1 },
      {
        'X-Webhook-Timestamp': timestamp,
        'X-Webhook-Delivery-Id': id,
        ...standardHeaders(event.eventId),
      },
    ],
    [
      'a test',
      testDelivery(to, 'msg_1', 120),
      'webhook.test',
      { message: 'This is a test of your webhook.', timestamp },
      standardHeaders('msg_1'),
    ],
    [
      'a test of a service without events',
      testDelivery(to, undefined, 120),
      'webhook.test',
      { message: 'This is a test of your webhook.', timestamp },
      {},
    ],
  ])(
    'of %s has every header, one time in all places, and a signature',
    (_, request, event, data, more) => {
      const { url, headers, body } = request
      expect(url).toBe(webhook.url)
      expect(headers).toStrictEqual({
        'Content-Type': 'application/json',
        'X-Webhook-Signature': expect.any(String),
        'X-Webhook-Id': webhook.id,
        'X-Webhook-Event': event,
        'User-Agent': 'TradingPlatform-Webhook/1.0',
        ...more,
      })
      expect(JSON.parse(new TextDecoder().decode(body))).toStrictEqual({
        event,
        data,
        timestamp,
        webhook_id: webhook.id,
      })
      expect(verifyWebhookSignature(to.secret, body, headers['X-Webhook-Signature'])).toBe(true)
    },
  )

  it.each([
    [1_499, [to.secret, to.previous.secret]],
    [1_500, [to.secret]],
  ])('at %i has the signatures of the secrets that are valid then, newest first', (now, valid) => {
    const { headers, body } = testDelivery(to, 'msg_1', now)
    const signatures = valid.map((secret) =>
      new StandardWebhook(Buffer.from(secret).toString('base64')).sign(
        'msg_1',
        new Date(now),
        Buffer.from(body),
      ),
    )
    expect(headers['webhook-signature']).toBe(signatures.join(' '))
  })

  it.each([
    [0, false],
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('that is answered with %i is delivered: %s', (code, expected) => {
    expect(isDelivered(code)).toBe(expected)
  })
})
