// What every RateLimiter does: it decides as the pure rule does, exactly, however many ask at once.
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  decideRate,
  rateVerdict,
  unusedRateState,
  type EndpointLimit,
  type RateSubject,
} from '@tradeport/domain/access'
import type { RateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import { dayMs, type Instant } from '@tradeport/domain/primitives'
import { newRateSubject, rateSteps } from './rate-arbitraries.ts'

/**
 * Opens a limiter that tells of suspensions and takes each request's time for now; once per suite.
 */
type OpenRateLimiter = (
  onSuspension: SuspensionListener,
) => Promise<{ readonly limiter: RateLimiter; readonly close: () => Promise<void> }>

const noon = Date.parse('2026-03-07T12:00:00.000Z')

export const rateLimiterContract = (title: string, open: OpenRateLimiter): void => {
  describe(`rate limiter, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenRateLimiter>>
    const suspensions: { readonly id: string; readonly until: Instant }[] = []
    beforeAll(async () => {
      opened = await open(({ id }, until) => suspensions.push({ id, until }))
    })
    afterAll(() => opened?.close())
    const ask = (count: number, subject: RateSubject, now: Instant, endpoint?: EndpointLimit) =>
      Promise.all(
        Array.from({ length: count }, async () => opened.limiter.decide(subject, endpoint, now)),
      )

    it('decides as the rule does, whatever is asked in whatever order, and tells of each suspension once', async () => {
      await fc.assert(
        fc.asyncProperty(rateSteps, fc.integer({ min: 0, max: dayMs }), async (steps, startMs) => {
          const subject = newRateSubject()
          const told: object[] = []
          let [state, now] = [unusedRateState, noon + startMs]
          for (const { afterMs, requests, endpoint, plan } of steps) {
            now += afterMs
            const verdicts = await ask(requests, { ...subject, plan }, now, endpoint)
            const expected = verdicts.map(() => {
              const decision = decideRate(state, plan, endpoint, now)
              state = decision.state
              if (decision.outcome === 'suspension_began')
                told.push({ id: subject.id, until: state.suspendedUntil })
              return rateVerdict(decision, plan, endpoint, now)
            })
            expect(verdicts).toEqual(expected)
          }
          expect(suspensions.filter(({ id }) => id === subject.id)).toEqual(told)
        }),
        { numRuns: 60 },
      )
    })

    it('counts each key by itself, and tokens by application and user', async () => {
      const key = newRateSubject()
      const token = { ...key, kind: 'access_token', applicationId: 'app-1' } as const
      const { owner } = token
      await ask(10, key, noon)
      await ask(20, token, noon)
      const others: readonly RateSubject[] = [
        { ...key, id: `${key.id}-2` },
        { ...token, applicationId: 'app-2' },
        { ...token, owner: { ...owner, userId: `${owner.userId}-2` as typeof owner.userId } },
        { ...token, owner: { ...owner, tenantId: `${owner.tenantId}-2` as typeof owner.tenantId } },
      ]
      const remaining = []
      for (const subject of [key, { ...token, id: 'another' }, ...others])
        remaining.push((await ask(1, subject, noon))[0]?.remaining)
      expect(remaining).toEqual([289, 279, 299, 299, 299, 299])
    })

    it('admits exactly what the bucket allows of 10,000 requests at once of one key', async () => {
      const verdicts = await ask(10_000, newRateSubject(), noon)
      expect(verdicts.filter(({ refusal }) => refusal === null)).toHaveLength(300)
    })
  })
}
