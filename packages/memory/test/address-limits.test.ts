import type { AddressLimits } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import { newHash, times } from '@tradeport/testkit'
import { describe, expect, it } from 'vitest'
import { createAddressLimits } from '../src/index.ts'

const start = Date.parse('2026-03-06T12:00:00.000Z')
const minuteMs = 60_000
const hash = newHash()
const address = '203.0.113.9'

const fail = (limits: AddressLimits, from: string | undefined, times: number, now: Instant) => {
  for (let failure = 0; failure < times; failure += 1) limits.recordFailed(hash, from, now)
}

describe('failed credentials of one address', () => {
  it('may be sixty in the minute since the first; then the next attempt waits for its end', () => {
    const limits = createAddressLimits()
    for (let failure = 0; failure < 60; failure += 1) {
      expect(limits.waitMs(address, start + failure * 100)).toBe(0)
      limits.recordFailed(hash, address, start + failure * 100)
    }
    expect(limits.waitMs(address, start + 5_900)).toBe(54_100)
    expect(limits.waitMs(address, start + minuteMs - 1)).toBe(1)
    expect(limits.waitMs(address, start + minuteMs)).toBe(0)
  })

  it('count again after the clock was set back', () => {
    const limits = createAddressLimits()
    fail(limits, address, 60, start)
    expect(limits.waitMs(address, start - 1)).toBe(0)
  })
})

it.each([
  ['203.0.113.9', '203.0.113.10', false],
  ['203.0.113.9', '::ffff:203.0.113.9', true],
  ['::ffff:203.0.113.9', '::ffff:203.0.113.10', false],
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
  ['2001:db8:1:2::1', '2001:0DB8:0001:0002:0000::9', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['fe80::1%eth0', 'fe80::2', true],
  [undefined, '203.0.113.9', false],
])('addresses that count as one: %s and %s: %s', (one, other, areOne) => {
  const limits = createAddressLimits()
  fail(limits, one, 60, start)
  expect(limits.waitMs(other, start) > 0).toBe(areOne)
})

it('an accepted credential is known for a minute after it was last accepted from there, unless it failed there', () => {
  const limits = createAddressLimits()
  expect(limits.wasAccepted(hash, address, start)).toBe(false)
  limits.recordAccepted(hash, address, start)
  expect(
    [0, minuteMs - 1, minuteMs, -1].map((ms) => limits.wasAccepted(hash, address, start + ms)),
  ).toStrictEqual([true, true, false, false])
  limits.recordAccepted(hash, address, start + minuteMs)
  expect(limits.wasAccepted(hash, address, start + minuteMs)).toBe(true)
  expect(limits.wasAccepted(newHash(), address, start + minuteMs)).toBe(false)
  fail(limits, '203.0.113.10', 1, start + minuteMs)
  expect(limits.wasAccepted(hash, address, start + minuteMs)).toBe(true)
  expect(limits.wasAccepted(hash, '203.0.113.10', start + minuteMs)).toBe(false)
  fail(limits, address, 1, start + minuteMs)
  expect(limits.wasAccepted(hash, address, start + minuteMs)).toBe(false)
})

it('the limits keep the most recently used addresses and credentials', () => {
  const limits = createAddressLimits(100)
  const entries = times(1_000, (index) => ({
    from: `10.0.${index >> 8}.${index & 255}`,
    accepted: newHash(),
  }))
  for (const { from, accepted } of entries) {
    limits.recordAccepted(accepted, from, start)
    fail(limits, from, 60, start)
  }
  const isLast = entries.map((_, index) => index >= 900)
  expect(entries.map(({ from }) => limits.waitMs(from, start) > 0)).toStrictEqual(isLast)
  expect(
    entries.map(({ from, accepted }) => limits.wasAccepted(accepted, from, start)),
  ).toStrictEqual(isLast)
})
