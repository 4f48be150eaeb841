// Webhooks as tables: how many there may be, and what a change and a test make of them.
import { someOwner as owner, newWebhook } from '@tradeport/testkit'
import { expect, it } from 'vitest'
import type { WebhookUrl } from '../../src/webhooks/webhook-url.ts'
import {
  changedWebhook,
  eventTypesOf,
  requireRoomForWebhook,
  signingSecrets,
  withRotatedSecret,
  withSuccess,
  type Webhook,
  type WebhookChange,
} from '../../src/webhooks/webhook.ts'

const on: Webhook = { ...newWebhook(owner, 0), failureCount: 3, lastFailureAt: 50, updatedAt: 60 }
const off = { ...on, enabled: false }
const again = { enabled: true, failureCount: 0 }
const url = 'https://example.org/other' as WebhookUrl

it('is one of ten at most', () => {
  expect(requireRoomForWebhook(9)).toMatchObject({ _tag: 'Right' })
  expect(requireRoomForWebhook(10)).toMatchObject({
    left: { _tag: 'WebhookLimitReached', allowed: 10 },
  })
})

it.each<[string, Webhook, WebhookChange, Partial<Webhook>]>([
  ['its URL alone', on, { url }, { url }],
  ['its event types alone', on, { eventTypes: ['trade.closed'] }, { eventTypes: ['trade.closed'] }],
  ['enabled to false', on, { enabled: false }, { enabled: false }],
  ['enabled to true, and counts failures anew', off, { enabled: true }, again],
  ['its count of failures alone where it was enabled', on, { enabled: true }, again],
  ['nothing where it was disabled, and keeps its count', off, { enabled: false }, {}],
  ['its URL, and stays disabled', off, { url }, { url }],
])('changes %s', (_, before, change, after) => {
  expect(changedWebhook(before, change, 99)).toStrictEqual({ ...before, ...after, updatedAt: 99 })
})

it.each([
  ['the first', null, 90],
  ['a later one', 80, 90],
  ['one that ended before another', 100, 100],
])('starts to count failures anew after a success at its URL, %s', (_, before, after) => {
  const stored = { ...on, lastSuccessAt: before }
  const lastSuccessAt = after
  expect(withSuccess(stored, on.url, 90)).toStrictEqual({ ...on, failureCount: 0, lastSuccessAt })
  expect(withSuccess(stored, url, 90)).toStrictEqual({ ...on, lastSuccessAt })
})

const stored = { webhook: on, secret: 'one' }
const overlapping = { ...stored, previous: { secret: 'none', until: 500 } }
const hourMs = 3_600_000
it.each([
  ['an hour', stored, { secret: 'two', overlapHours: 1 }, { secret: 'one', until: 99 + hourMs }],
  ['no time', stored, { secret: 'two', overlapHours: 0 }, undefined],
  [
    'the last secret alone',
    overlapping,
    { secret: 'two', overlapHours: 0.5 },
    { secret: 'one', until: 99 + hourMs / 2 },
  ],
  ['as before', overlapping, { secret: 'one', overlapHours: 1 }, overlapping.previous],
  ['no time by another request', overlapping, { secret: 'one', overlapHours: 0 }, undefined],
  ['nothing', stored, { secret: 'one', overlapHours: 1 }, undefined],
])('a rotation of its secret overlaps for %s', (_, before, rotation, previous) => {
  const after = withRotatedSecret(before, rotation, 99)
  const { secret } = rotation
  expect(after).toStrictEqual({
    webhook: { ...on, updatedAt: 99 },
    secret,
    ...(previous && { previous }),
  })
  if (previous === undefined) return expect(signingSecrets(after, 99)).toEqual([secret])
  expect(signingSecrets(after, previous.until - 1)).toEqual([secret, previous.secret])
  expect(signingSecrets(after, previous.until)).toEqual([secret])
})

it('has two more types of events where events are recorded', () => {
  expect(eventTypesOf(true)).toEqual([...eventTypesOf(false), 'order.rejected', 'order.expired'])
})
