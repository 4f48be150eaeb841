// The contract of limiters, and the script compared with the domain's rule.
import { Redis } from 'ioredis'
import * as fc from 'fast-check'
import {
  caughtUp,
  decideRate,
  stricterRateState,
  unusedRateState,
  type RateState,
} from '@tradeport/domain/access'
import {
  exportLimit,
  newRateSubject,
  ordersLimit,
  rateSteps,
  type RateStep,
} from '@tradeport/testkit'
import { rateLimiterContract } from '@tradeport/testkit/contracts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineDecision, type DecideInRedis } from '../src/decide-script.ts'
import { openRedisRateLimiter } from '../src/index.ts'
import { createFakeRateLimiter } from './fake-rate-limiter.ts'
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
      timeoutMs: 60_000,
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

    it('decides by the rule of the domain, from the stricter of both states', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              steps: rateSteps,
              afterMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
              dayCount: fc.constantFrom(0, 0, 9_998, 9_999, 10_000),
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
            for (const { steps, afterMs, dayCount } of tellings) {
              now += afterMs
              const carried = { ...caughtUp(after(steps, now), now), dayCount }
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

    it('uses the time of the server', async () => {
      const ours = defineDecision(redis, { prefix, clock: 'redis' })
      const subject = newRateSubject()
      const [seconds] = await redis.time()
      const { now, state, outcome } = await ours(subject, exportLimit, 0)
      expect(Math.abs(now - Number(seconds) * 1_000)).toBeLessThan(60_000)
      expect([state.at, outcome]).toEqual([now, 'admitted'])
    })

    it('keeps one key for a subject until every limit is full again', async () => {
      const subject = newRateSubject()
      await ask(subject, exportLimit, noon)
      const [key, ...others] = (await redis.keys(`${prefix}*${subject.id}`)).toSorted()
      expect([key, others]).toEqual([`${prefix}key ${subject.id}`, []])
      const ttlMs = await redis.pttl(key ?? '')
      // Until midnight, which is when the day is full again.
      expect(ttlMs).toBeGreaterThan(11 * 3_600_000)
      expect(ttlMs).toBeLessThanOrEqual(12 * 3_600_000)
    })
  })
})
