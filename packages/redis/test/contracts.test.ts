// The contract on a real server, and the law that the script decides as the pure rule does whatever
// it is told.
import { Redis } from 'ioredis'
import * as fc from 'fast-check'
import {
  caughtUp,
  decideRate,
  movedTo,
  stricterRateState,
  unusedRateState,
} from '@tradeport/domain/access'
import type { RateState } from '@tradeport/domain/access'
import {
  createFakeRateLimiter,
  exportLimit,
  newRateSubject,
  ordersLimit,
  rateLimiterContract,
  rateSteps,
} from '@tradeport/domain/testing'
import type { RateStep } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineDecision } from '../src/decide-script.ts'
import type { DecideInRedis } from '../src/decide-script.ts'
import { openRedisRateLimiter } from '../src/index.ts'
import { newPrefix, removeKeys, serverTitle, serverUrl } from './servers.ts'

const noon = Date.parse('2026-03-07T12:00:00.000Z')
const quietLog = { info: () => undefined, warn: () => undefined }

/** What the rule keeps after these requests. */
const after = (steps: readonly RateStep[], from: number): RateState => {
  let [state, now] = [unusedRateState, from]
  for (const { afterMs, requests, endpoint, plan } of steps) {
    now += afterMs
    for (let asked = 0; asked < requests; asked += 1)
      state = decideRate(state, plan, endpoint, now).state
  }
  return state
}

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  rateLimiterContract('in Redis', async (onSuspension) => {
    const prefix = newPrefix()
    const limiter = await openRedisRateLimiter({
      url: serverUrl ?? '',
      // The contract is of what Redis decides.
      local: {
        ...createFakeRateLimiter(),
        decide: () => {
          throw new Error('Redis did not decide')
        },
      },
      onSuspension,
      log: quietLog,
      // However busy the machine is.
      boundMs: 60_000,
      silenceMs: 60_000,
      prefix,
      clock: 'caller',
    })
    return {
      limiter,
      close: async () => {
        limiter.close()
        await removeKeys(prefix)
      },
    }
  })

  describe('the script', () => {
    const prefix = newPrefix()
    let redis: Redis
    let ask: DecideInRedis
    beforeAll(() => {
      redis = new Redis(serverUrl ?? '')
      ask = defineDecision(redis, { prefix, clock: 'caller' })
    })
    afterAll(async () => {
      redis.disconnect()
      await removeKeys(prefix)
    })

    it('takes the stricter of what it holds and what it is told, and decides as the rule does', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              steps: rateSteps,
              afterMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
            }),
            {
              minLength: 1,
              maxLength: 4,
            },
          ),
          fc.constantFrom(undefined, ordersLimit, exportLimit),
          async (tellings, endpoint) => {
            const subject = newRateSubject()
            let [state, now] = [unusedRateState, noon]
            for (const { steps, afterMs } of tellings) {
              now += afterMs
              const carried = caughtUp(after(steps, now), now)
              const both = stricterRateState(caughtUp(state, now), carried, now)
              const expected = decideRate(both, 'free', endpoint, now)
              const decided = await ask(subject, endpoint, now, carried)
              expect(decided.outcome).toBe(expected.outcome)
              expect(decided.state).toEqual({
                ...expected.state,
                endpoints:
                  endpoint !== undefined && endpoint.route in expected.state.endpoints
                    ? { [endpoint.route]: expected.state.endpoints[endpoint.route] }
                    : {},
              })
              state = expected.state
            }
          },
        ),
      )
    })

    it('takes the time of the server, and what it is told by another clock as of now', async () => {
      const ours = defineDecision(redis, { prefix, clock: 'redis' })
      const subject = newRateSubject()
      const [seconds] = await redis.time()
      const { now, state, outcome } = await ours(subject, exportLimit, 0)
      expect(Math.abs(now - Number(seconds) * 1_000)).toBeLessThan(60_000)
      expect([state.at, outcome]).toEqual([now, 'admitted'])
      // Suspended for ten minutes yet, by a clock that is a year behind.
      const then = noon - 365 * 86_400_000
      const suspended = { ...unusedRateState, at: then, suspendedUntil: then + 600_000 }
      const told = await ours(subject, exportLimit, then, suspended)
      expect([told.outcome, told.state.suspendedUntil - told.now]).toEqual(['suspended', 600_000])
      expect(movedTo(told.state, then).suspendedUntil).toBe(then + 600_000)
    })

    it('keeps one key for a subject, and nothing once every limit is full again', async () => {
      const subject = newRateSubject()
      await ask(subject, exportLimit, noon)
      const [key, ...others] = (await redis.keys(`${prefix}*${subject.id}`)).toSorted()
      expect([key, others]).toEqual([`${prefix}key ${subject.id}`, []])
      const ttlMs = await redis.pttl(key ?? '')
      // Until midnight, which is when the day is full again.
      expect(ttlMs).toBeGreaterThan(11 * 3_600_000)
      expect(ttlMs).toBeLessThanOrEqual(12 * 3_600_000)
    })

    it('goes on where the server has forgotten it', async () => {
      const subject = newRateSubject()
      await ask(subject, undefined, noon)
      await redis.script('FLUSH')
      expect((await ask(subject, undefined, noon)).state.dayCount).toBe(2)
    })
  })
})
