// Webhooks as tables: their secrets, how many there may be, what a change and a test make of them,
// and the test itself.
import { describe, expect, it } from 'vitest'
import type { TenantId, UserId } from '../../src/primitives/ids.ts'
import { newWebhook } from '../../src/testing/stored-webhooks.ts'
import { deliveryTimeoutMs, isDelivered, testDelivery } from '../../src/webhooks/delivery.ts'
import { verifyWebhookSignature } from '../../src/webhooks/signature.ts'
import type { WebhookUrl } from '../../src/webhooks/webhook-url.ts'
import {
  changedWebhook,
  isWebhookSecret,
  requireRoomForWebhook,
  withTestSuccess,
} from '../../src/webhooks/webhook.ts'
import type { Webhook, WebhookChange } from '../../src/webhooks/webhook.ts'

const owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }

describe('a secret of one’s own', () => {
  it.each([
    'x'.repeat(16),
    'x'.repeat(64),
    '𝄞'.repeat(16),
    '𝄞'.repeat(64),
    ' '.repeat(16),
    '\0'.repeat(20),
  ])('is taken: %j', (text) => {
    expect(isWebhookSecret(text)).toBe(true)
  })

  it.each([
    '',
    'x'.repeat(15),
    'x'.repeat(65),
    '𝄞'.repeat(15),
    '𝄞'.repeat(65),
    `${'x'.repeat(20)}\ud800`,
  ])('is refused: %j', (text) => {
    expect(isWebhookSecret(text)).toBe(false)
  })
})

describe('the limit of webhooks', () => {
  it('has room for the tenth and none for the eleventh', () => {
    expect(requireRoomForWebhook(9)).toMatchObject({ _tag: 'Right' })
    expect(requireRoomForWebhook(10)).toMatchObject({
      left: { _tag: 'WebhookLimitReached', allowed: 10 },
    })
  })
})

describe('a webhook that its user changes', () => {
  const on: Webhook = { ...newWebhook(owner, 0), failureCount: 3, lastFailureAt: 50, updatedAt: 60 }
  const off: Webhook = { ...on, enabled: false }
  const url = 'https://example.org/other' as WebhookUrl

  it.each<[what: string, before: Webhook, change: WebhookChange, after: Partial<Webhook>]>([
    ['its URL alone', on, { url }, { url }],
    [
      'its event types alone',
      on,
      { eventTypes: ['trade.closed'] },
      { eventTypes: ['trade.closed'] },
    ],
    ['off', on, { enabled: false }, { enabled: false }],
    [
      'on, and begins to count its failures anew',
      off,
      { enabled: true },
      { enabled: true, failureCount: 0 },
    ],
    ['on where it is on, and goes on counting', on, { enabled: true }, {}],
    ['off where it is off, and keeps its count', off, { enabled: false }, {}],
    [
      'all at once',
      off,
      { url, eventTypes: [], enabled: true },
      { url, eventTypes: [], enabled: true, failureCount: 0 },
    ],
    ['its URL, and stays off', off, { url }, { url }],
  ])('has %s', (_, before, change, after) => {
    expect(changedWebhook(before, change, 99)).toStrictEqual({ ...before, ...after, updatedAt: 99 })
  })
})

describe('a webhook after a test that went well', () => {
  const before: Webhook = { ...newWebhook(owner, 0), failureCount: 3, lastFailureAt: 50 }
  it.each([
    ['the first', null, 90],
    ['a later one', 80, 90],
    ['one that ended before another', 100, 100],
  ])('tells of %s, and counts its failures anew', (_, lastSuccessAt, after) => {
    expect(withTestSuccess({ ...before, lastSuccessAt }, 90)).toStrictEqual({
      ...before,
      failureCount: 0,
      lastSuccessAt: after,
    })
  })
})

describe('a test delivery (6)', () => {
  const webhook = newWebhook(owner, 0)
  const { url, headers, body } = testDelivery(
    { webhook, secret: 'sécret' },
    Date.parse('2026-11-02T12:00:00.120Z'),
  )

  it('has the envelope, with the same time in it twice', () => {
    expect(url).toBe(webhook.url)
    expect(JSON.parse(new TextDecoder().decode(body))).toStrictEqual({
      event: 'webhook.test',
      data: { message: expect.stringMatching(/\w/), timestamp: '2026-11-02T12:00:00.120Z' },
      timestamp: '2026-11-02T12:00:00.120Z',
      webhook_id: webhook.id,
    })
  })

  it('has the headers of a test, and those of an event not', () => {
    expect(headers).toStrictEqual({
      'Content-Type': 'application/json',
      'X-Webhook-Signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'X-Webhook-Id': webhook.id,
      'X-Webhook-Event': 'webhook.test',
      'User-Agent': 'TradingPlatform-Webhook/1.0',
    })
  })

  it('is waited for as long as any: 30 seconds', () => {
    expect(deliveryTimeoutMs).toBe(30_000)
  })

  it('is signed over its very bytes', () => {
    expect(verifyWebhookSignature('sécret', body, headers['X-Webhook-Signature'])).toBe(true)
    expect(verifyWebhookSignature('another', body, headers['X-Webhook-Signature'])).toBe(false)
  })

  it.each([
    [0, false],
    [199, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [500, false],
  ])('answered with %i is delivered: %s', (code, expected) => {
    expect(isDelivered(code)).toBe(expected)
  })
})
