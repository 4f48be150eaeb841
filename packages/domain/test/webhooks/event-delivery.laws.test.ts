// Laws of a delivery and its webhook over any answers, and their moves as literal rows.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DeliveryId, TenantId, UserId } from '../../src/primitives/ids.ts'
import { minuteMs } from '../../src/primitives/instant.ts'
import { newWebhook } from '../../src/testing/stored-webhooks.ts'
import { eventDelivery, isDelivered } from '../../src/webhooks/delivery.ts'
import {
  afterAttempt,
  failuresToDisable,
  interrupted,
  isInterrupted,
  newDelivery,
  replayOf,
  retrySchedule,
  withReplayBegun,
  withdrawn,
} from '../../src/webhooks/event-delivery.ts'
import type { AttemptAnswer, WebhookDelivery } from '../../src/webhooks/event-delivery.ts'
import { verifyWebhookSignature } from '../../src/webhooks/signature.ts'

const owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }
const id = '0d000000-0000-4000-8000-000000000001' as DeliveryId
const otherId = '0d000000-0000-4000-8000-000000000002' as DeliveryId
const webhook = newWebhook(owner, 0)
const fresh = newDelivery(webhook.id, 'order.created', id, 100)
const replay = replayOf(fresh, otherId, 100)

const ok: AttemptAnswer = { responseCode: 204, responseTimeMs: 5 }
const refused: AttemptAnswer = { responseCode: 500, responseTimeMs: 7 }
const gone: AttemptAnswer = { responseCode: 410, responseTimeMs: 7 }
const silent: AttemptAnswer = {
  responseCode: 0,
  responseTimeMs: 30_000,
  failureReason: 'timed_out',
}

const answers = fc.constantFrom(ok, refused, gone, silent, { responseCode: 302, responseTimeMs: 1 })
const at = (startedAt: number, answer: AttemptAnswer) => ({
  answer,
  startedAt,
  endedAt: startedAt + 10,
})

describe('the deliveries of a webhook', () => {
  it('end after five attempts at the most, and have a next attempt just as long as they are pending', () => {
    fc.assert(
      fc.property(fc.array(answers, { minLength: 5, maxLength: 8 }), (given) => {
        let delivery: WebhookDelivery = fresh
        let attempts = 0
        for (const answer of given) {
          if (delivery.status !== 'pending') break
          attempts += 1
          delivery = afterAttempt(delivery, webhook, at(attempts, answer)).delivery
          expect(delivery.attempts).toBe(attempts)
          expect(delivery.nextAttemptAt !== null).toBe(delivery.status === 'pending')
          expect(delivery.failureReason === null).toBe(delivery.status === 'success')
        }
        expect(delivery.status).not.toBe('pending')
        expect(attempts).toBeLessThanOrEqual(retrySchedule.length + 1)
      }),
    )
  })

  it('disable it just when the fifth failure in a row comes, or a 410, whichever deliveries they are of', () => {
    fc.assert(
      fc.property(fc.array(answers, { maxLength: 20 }), (given) => {
        let now = webhook
        let inRow = 0
        for (const [index, answer] of given.entries()) {
          inRow = isDelivered(answer.responseCode) ? 0 : inRow + 1
          const { webhook: next, disabledFor } = afterAttempt(fresh, now, at(index, answer))
          expect(next.failureCount).toBe(inRow)
          const expected =
            answer.responseCode === 410 ? 'gone' : inRow === failuresToDisable ? 'failures' : null
          expect(disabledFor).toBe(expected)
          expect(next.enabled).toBe(expected === null)
          if (!next.enabled) break
          now = next
        }
      }),
    )
  })
})

describe('a delivery after an attempt', () => {
  const after = (attempts: number) => ({ ...fresh, attempts })
  it.each<
    [what: string, before: WebhookDelivery, answer: AttemptAnswer, after: Partial<WebhookDelivery>]
  >([
    [
      'is done',
      fresh,
      ok,
      {
        status: 'success',
        attempts: 1,
        responseCode: 204,
        failureReason: null,
        nextAttemptAt: null,
      },
    ],
    ['is done late', after(4), ok, { status: 'success', attempts: 5, nextAttemptAt: null }],
    [
      'waits a minute',
      fresh,
      refused,
      { status: 'pending', attempts: 1, failureReason: 'not_2xx', nextAttemptAt: 1_010 + minuteMs },
    ],
    [
      'waits five',
      after(1),
      silent,
      {
        status: 'pending',
        responseCode: 0,
        failureReason: 'timed_out',
        nextAttemptAt: 1_010 + 5 * minuteMs,
      },
    ],
    [
      'waits fifteen',
      after(2),
      refused,
      { status: 'pending', nextAttemptAt: 1_010 + 15 * minuteMs },
    ],
    ['waits sixty', after(3), refused, { status: 'pending', nextAttemptAt: 1_010 + 60 * minuteMs }],
    [
      'is given up',
      after(4),
      refused,
      { status: 'failed', attempts: 5, failureReason: 'not_2xx', nextAttemptAt: null },
    ],
    [
      'is given up at once where nobody is there',
      fresh,
      gone,
      { status: 'failed', attempts: 1, failureReason: 'gone', nextAttemptAt: null },
    ],
    ['is done as a replay', replay, ok, { status: 'success', attempts: 1, replayOf: id }],
    [
      'is given up at once as a replay',
      replay,
      refused,
      { status: 'failed', attempts: 1, nextAttemptAt: null },
    ],
    [
      'counts the attempt of a replay once',
      withReplayBegun(replay, 900),
      ok,
      { status: 'success', attempts: 1 },
    ],
  ])('%s', (_, before, answer, expected) => {
    const { delivery } = afterAttempt(before, webhook, at(1_000, answer))
    expect(delivery).toMatchObject({
      ...expected,
      lastAttemptAt: 1_000,
      responseTimeMs: answer.responseTimeMs,
      createdAt: 100,
    })
  })

  it('follows another schedule where there is one', () => {
    const { delivery } = afterAttempt(fresh, webhook, at(1_000, refused), [7])
    expect(delivery.nextAttemptAt).toBe(1_017)
    expect(afterAttempt(delivery, webhook, at(2_000, refused), [7]).delivery.status).toBe('failed')
  })

  it('is given up when its webhook was disabled meanwhile', () => {
    expect(
      afterAttempt(fresh, { ...webhook, enabled: false }, at(1_000, refused)).delivery.status,
    ).toBe('failed')
  })
})

describe('a webhook after an attempt', () => {
  const bad = { ...webhook, failureCount: 4, lastSuccessAt: 50, lastFailureAt: 60 }
  it.each([
    [
      'counts from anew after a success',
      fresh,
      bad,
      ok,
      { failureCount: 0, lastSuccessAt: 1_010, lastFailureAt: 60, enabled: true },
      null,
    ],
    [
      'counts one more failure',
      fresh,
      webhook,
      refused,
      { failureCount: 1, lastFailureAt: 1_010, lastSuccessAt: null, enabled: true },
      null,
    ],
    [
      'is disabled by the fifth',
      fresh,
      bad,
      silent,
      { failureCount: 5, enabled: false },
      'failures',
    ],
    ['is disabled by a 410', fresh, webhook, gone, { failureCount: 1, enabled: false }, 'gone'],
    [
      'is disabled by a 410 to a replay',
      replay,
      webhook,
      gone,
      { failureCount: 0, enabled: false },
      'gone',
    ],
    [
      'does not count a replay that failed',
      replay,
      bad,
      refused,
      { failureCount: 4, lastFailureAt: 1_010, enabled: true },
      null,
    ],
    [
      'counts from anew after a replay that did not',
      replay,
      bad,
      ok,
      { failureCount: 0, enabled: true },
      null,
    ],
    [
      'is disabled once',
      fresh,
      { ...bad, enabled: false },
      gone,
      { failureCount: 5, enabled: false },
      null,
    ],
    [
      'stays disabled after a success',
      replay,
      { ...bad, enabled: false },
      ok,
      { failureCount: 0, enabled: false },
      null,
    ],
  ] as const)('%s', (_, delivery, before, answer, expected, disabledFor) => {
    const result = afterAttempt(delivery, before, at(1_000, answer))
    expect(result.webhook).toMatchObject(expected)
    expect(result.disabledFor).toBe(disabledFor)
    expect(result.webhook.updatedAt).toBe(before.updatedAt)
  })
})

describe('attempts of several deliveries', () => {
  it('may end in another order than they began: the latest success and the latest failure are told', () => {
    const later = { ...webhook, lastSuccessAt: 5_000, lastFailureAt: 6_000 }
    expect(afterAttempt(fresh, later, at(1_000, ok)).webhook).toMatchObject({
      lastSuccessAt: 5_000,
      lastFailureAt: 6_000,
    })
    expect(afterAttempt(fresh, later, at(1_000, refused)).webhook).toMatchObject({
      lastSuccessAt: 5_000,
      lastFailureAt: 6_000,
    })
    expect(afterAttempt(fresh, later, at(7_000, refused)).webhook).toMatchObject({
      lastSuccessAt: 5_000,
      lastFailureAt: 7_010,
    })
  })
})

describe('a delivery that nobody tried yet', () => {
  const untried = {
    status: 'pending',
    attempts: 0,
    responseCode: null,
    responseTimeMs: null,
    failureReason: null,
    lastAttemptAt: null,
  }

  it('is due at once, whether an event or a user asked for it', () => {
    const { id: webhookId } = webhook
    const due = {
      ...untried,
      webhookId,
      eventType: 'order.created',
      createdAt: 100,
      nextAttemptAt: 100,
    }
    expect(fresh).toStrictEqual({ ...due, id, replayOf: null })
    expect(replay).toStrictEqual({ ...due, id: otherId, replayOf: id })
  })
})

describe('what is not sent', () => {
  it('is told apart', () => {
    expect(withdrawn(fresh)).toStrictEqual({
      ...fresh,
      status: 'failed',
      failureReason: 'webhook_disabled',
      nextAttemptAt: null,
    })
    const tried = { ...fresh, attempts: 1, failureReason: 'timed_out' as const }
    expect(withdrawn(tried)).toStrictEqual({ ...tried, status: 'failed', nextAttemptAt: null })
    const begun = withReplayBegun(replay, 200)
    expect([fresh, replay, begun].map(isInterrupted)).toStrictEqual([false, false, true])
    expect(interrupted(begun)).toMatchObject({
      status: 'failed',
      failureReason: 'interrupted',
      attempts: 1,
      lastAttemptAt: 200,
      nextAttemptAt: null,
    })
  })
})

describe('the request of an event delivery (6)', () => {
  it('has every header, and one time in all places', () => {
    const secret = 'a secret of some length'
    const { url, headers, body } = eventDelivery(
      { webhook, secret },
      id,
      { type: 'order.created', data: { a: 1 } },
      120,
    )
    const timestamp = '1970-01-01T00:00:00.120Z'
    expect(url).toBe(webhook.url)
    expect(headers).toStrictEqual({
      'Content-Type': 'application/json',
      'X-Webhook-Signature': expect.any(String),
      'X-Webhook-Id': webhook.id,
      'X-Webhook-Event': 'order.created',
      'User-Agent': 'TradingPlatform-Webhook/1.0',
      'X-Webhook-Timestamp': timestamp,
      'X-Webhook-Delivery-Id': id,
    })
    expect(JSON.parse(new TextDecoder().decode(body))).toStrictEqual({
      event: 'order.created',
      data: { a: 1 },
      timestamp,
      webhook_id: webhook.id,
    })
    expect(verifyWebhookSignature(secret, body, headers['X-Webhook-Signature'])).toBe(true)
  })
})
