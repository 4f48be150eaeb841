// How far the provider's clock is ahead, from the Date headers of its answers.
import * as fc from 'fast-check'
import { startSandbox } from '@tradeport/sandbox-broker'
import { expect, it } from 'vitest'
import { createClockSkew } from '../src/clock-skew.ts'
import { account, apiWith, rightOf, token } from './support.ts'

const exchange = fc.record({
  afterMs: fc.nat({ max: 5_000 }),
  thereMs: fc.nat({ max: 3_000 }),
  backMs: fc.nat({ max: 3_000 }),
})
const exchanges = fc.array(exchange, { minLength: 1, maxLength: 30 })
const skews = fc.integer({ min: -100_000_000, max: 100_000_000 })
const start = Date.parse('2026-05-01T12:00:00.123Z')

it('the skew is known to half of the shortest round trip and half a second, and again after a clock was set', () => {
  fc.assert(
    fc.property(exchanges, exchanges, skews, skews, (before, after, first, second) => {
      const skew = createClockSkew()
      const observe = (all: typeof before, aheadMs: number, from: number) => {
        let now = from
        for (const { afterMs, thereMs, backMs } of all) {
          const askedAt = now + afterMs
          now = askedAt + thereMs + backMs
          skew.observe(new Date(askedAt + thereMs + aheadMs).toUTCString(), askedAt, now)
        }
        skew.observe('soon', now, now)
        return Math.abs((skew.ms() ?? Number.NaN) - aheadMs)
      }
      const shortestMs = Math.min(...before.map(({ thereMs, backMs }) => thereMs + backMs))
      expect(observe(before, first, start)).toBeLessThanOrEqual((shortestMs + 1_000) / 2 + 1)
      expect(observe(after, second, start + 1_000_000)).toBeLessThanOrEqual(7_000)
    }),
  )
})

it('the skew is measured from reads', async () => {
  const sandbox = await startSandbox({
    tokens: [token],
    now: () => Date.now() + 90_000,
    accounts: [{ id: account.providerAccountId, region: 'london' }],
  })
  const api = apiWith({ clientUrl: `${sandbox.url}/{region}`, clock: { now: Date.now } })
  expect(api.clockSkewMs()).toBeNull()
  rightOf(await api.broker.positions(account)())
  expect(Math.abs((api.clockSkewMs() ?? Number.NaN) - 90_000)).toBeLessThan(20_000)
  await sandbox.close()
})
