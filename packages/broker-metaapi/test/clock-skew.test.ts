// How far the provider's clock is ahead, from what its answers say.
import * as fc from 'fast-check'
import { startSandbox } from '@tradeport/sandbox-broker'
import { describe, expect, it } from 'vitest'
import { createClockSkew } from '../src/clock-skew.ts'
import { account, apiWith, rightOf, token } from './support.ts'

const exchanges = fc.array(
  fc.record({
    afterMs: fc.nat({ max: 5_000 }),
    thereMs: fc.nat({ max: 3_000 }),
    backMs: fc.nat({ max: 3_000 }),
  }),
  { minLength: 1, maxLength: 30 },
)

/**
 * The answers of a provider whose clock is ahead by so much; gives back when the last was there.
 */
const observeAll = (
  skew: ReturnType<typeof createClockSkew>,
  all: readonly Record<'afterMs' | 'thereMs' | 'backMs', number>[],
  aheadMs: number,
  from: number,
) => {
  let now = from
  for (const { afterMs, thereMs, backMs } of all) {
    const askedAt = now + afterMs
    now = askedAt + thereMs + backMs
    skew.observe(new Date(askedAt + thereMs + aheadMs).toUTCString(), askedAt, now)
  }
  return now
}

const start = Date.parse('2026-05-01T12:00:00.123Z')
const skews = fc.integer({ min: -100_000_000, max: 100_000_000 })

describe('the skew of the clocks', () => {
  it('is known to half of the shortest round trip and half a second', () => {
    fc.assert(
      fc.property(exchanges, skews, (all, aheadMs) => {
        const skew = createClockSkew()
        observeAll(skew, all, aheadMs, start)
        const shortestMs = Math.min(...all.map(({ thereMs, backMs }) => thereMs + backMs))
        expect(Math.abs((skew.ms() ?? Number.NaN) - aheadMs)).toBeLessThanOrEqual(
          (shortestMs + 1_000) / 2 + 1,
        )
      }),
    )
  })

  it('is right again after a clock was set', () => {
    fc.assert(
      fc.property(exchanges, exchanges, skews, skews, (before, after, first, second) => {
        const skew = createClockSkew()
        observeAll(skew, before, first, start)
        observeAll(skew, after, second, start + 1_000_000)
        expect(Math.abs((skew.ms() ?? Number.NaN) - second)).toBeLessThanOrEqual(7_000)
      }),
    )
  })

  it.each([null, '', 'soon'])('is not changed by a Date header of %j', (date) => {
    const skew = createClockSkew()
    skew.observe(date, start, start)
    expect(skew.ms()).toBeNull()
  })

  it('is measured from the answers to reads', async () => {
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
})
