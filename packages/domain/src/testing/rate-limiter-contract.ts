// What every RateLimiter does, numbered: it decides as the pure rule does, exactly, however many ask at once (8.1; decisions 13 to 15).
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decideRate, rateVerdict, suspensionMs, unusedRateState } from '../access/rate-decision.ts'
import type { RateVerdict } from '../access/rate-decision.ts'
import type { EndpointLimit, RateSubject } from '../access/rate-limits.ts'
import { tiers } from '../access/rate-limits.ts'
import type { RateLimiter, SuspensionListener } from '../ports/rate-limiter.ts'
import { dayMs, minuteMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { exportLimit, newRateSubject, ordersLimit, rateSteps } from './rate-arbitraries.ts'

/** Opens a limiter that tells of suspensions and takes each request's time for now; once per suite. */
export type OpenRateLimiter = (
  onSuspension: SuspensionListener,
) => Promise<{ readonly limiter: RateLimiter; readonly close: () => Promise<void> }>

const noon = Date.parse('2026-03-07T12:00:00.000Z')
const midnight = Date.parse('2026-03-08T00:00:00.000Z')

const scopesOf = (verdicts: readonly RateVerdict[]): readonly (string | undefined)[] =>
  verdicts.map(({ refusal }) => (refusal === null ? undefined : refusal.exceeded.scope))

const countAdmitted = (verdicts: readonly RateVerdict[]): number => verdicts.filter(({ refusal }) => refusal === null).length

export const rateLimiterContract = (title: string, open: OpenRateLimiter): void => {
  describe(`rate limiter, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenRateLimiter>>
    const suspensions: { readonly id: string; readonly until: Instant }[] = []
    beforeAll(async () => {
      opened = await open(({ id }, until) => suspensions.push({ id, until }))
    })
    afterAll(() => opened?.close())

    const ask = async (subject: RateSubject, now: Instant, endpoint?: EndpointLimit): Promise<RateVerdict> =>
      opened.limiter.decide(subject, endpoint, now)
    const askOften = (count: number, subject: RateSubject, now: Instant, endpoint?: EndpointLimit): Promise<readonly RateVerdict[]> =>
      Promise.all(Array.from({ length: count }, () => ask(subject, now, endpoint)))

    it.each(['free', 'pro', 'enterprise'] as const)(
      'L1 admits the requests of a minute and the burst of an idle key at once, and no more: %s (8.1 rule 2)',
      async (plan) => {
        const subject = newRateSubject({ plan })
        const size = tiers[plan].requestsPerMinute + tiers[plan].burst
        let admitted = 0
        for (let asked = 0; asked < size; asked += 300) admitted += countAdmitted(await askOften(300, subject, noon))
        expect(admitted).toBe(size)
        expect(await ask(subject, noon)).toMatchObject({
          limit: size,
          remaining: 0,
          resetSeconds: (noon + 3 * minuteMs) / 1_000,
          refusal: { exceeded: { scope: 'tier', window: 'minute' }, retryAfterSeconds: 1 },
        })
      },
    )

    it('L2 refills at the per-minute rate, request by request (8.1 rule 2)', async () => {
      const subject = newRateSubject()
      await askOften(300, subject, noon)
      expect(scopesOf([await ask(subject, noon + 599), await ask(subject, noon + 600)])).toEqual(['tier', undefined])
      expect(scopesOf([await ask(subject, noon + 600), await ask(subject, noon + 1_200)])).toEqual(['tier', undefined])
      expect(countAdmitted(await askOften(105, subject, noon + minuteMs + 1_200))).toBe(100)
    })

    it('L3 counts the UTC day, and refuses until the next midnight (decision 13)', async () => {
      const subject = newRateSubject()
      const at = midnight - 7_500
      let admitted = 0
      // A full bucket every three minutes, the last of them now.
      for (let round = 33; round >= 0; round -= 1)
        admitted += countAdmitted(await askOften(round === 0 ? 100 : 300, subject, at - round * 3 * minuteMs))
      expect(admitted).toBe(10_000)
      expect(await ask(subject, at)).toMatchObject({
        limit: 10_000,
        remaining: 0,
        resetSeconds: midnight / 1_000,
        refusal: { exceeded: { scope: 'tier', window: 'day' }, retryAfterSeconds: 8 },
      })
      expect(await ask(subject, midnight - 1)).toMatchObject({ refusal: { retryAfterSeconds: 1 } })
      expect(await ask(subject, midnight)).toMatchObject({ refusal: null })
    })

    it('L4 holds each endpoint to its own bucket beside the tier’s (8.1 rule 3)', async () => {
      const subject = newRateSubject()
      expect(await ask(subject, noon, exportLimit)).toEqual({ limit: 10, remaining: 9, resetSeconds: noon / 1_000 + 360, refusal: null })
      expect(countAdmitted(await askOften(10, subject, noon, exportLimit))).toBe(9)
      expect(await ask(subject, noon + 359_999, exportLimit)).toMatchObject({
        limit: 10,
        remaining: 0,
        refusal: { exceeded: { scope: 'endpoint' }, retryAfterSeconds: 1 },
      })
      expect(await ask(subject, noon + 360_000, exportLimit)).toMatchObject({ refusal: null })
      expect(await ask(subject, noon + 360_000, ordersLimit)).toMatchObject({ limit: 100, remaining: 99, refusal: null })
      expect(await ask(subject, noon + 360_000)).toMatchObject({ limit: 300, refusal: null })
    })

    it('L5 takes nothing for a refused request, of the tier, the day or the endpoint', async () => {
      const subject = newRateSubject()
      await askOften(40, subject, noon - 3 * minuteMs)
      // Ten are admitted and five refused.
      await askOften(15, subject, noon, exportLimit)
      expect(await ask(subject, noon)).toMatchObject({ limit: 300, remaining: 289 })
      expect(await ask(subject, noon + 3 * minuteMs)).toMatchObject({ limit: 10_000, remaining: 10_000 - 52 })
      expect(await ask(subject, noon + 360_000, exportLimit)).toMatchObject({ refusal: null })
    })

    it('L6 suspends at the tenth refusal within five minutes, tells so once, and counts nothing meanwhile (8.1 rule 7; decision 15)', async () => {
      const subject = newRateSubject()
      await askOften(40, subject, noon - 3 * minuteMs)
      await askOften(10, subject, noon, exportLimit)
      expect(scopesOf(await askOften(9, subject, noon, exportLimit))).toEqual(Array.from({ length: 9 }, () => 'endpoint'))
      const began = noon + 5 * minuteMs - 1
      const suspended = { exceeded: { scope: 'suspension' }, retryAfterSeconds: 900 }
      expect(await ask(subject, began, exportLimit)).toMatchObject({ refusal: suspended })
      expect(scopesOf(await askOften(30, subject, began))).toEqual(Array.from({ length: 30 }, () => 'suspension'))
      expect(await ask(subject, began + suspensionMs - 1)).toMatchObject({ refusal: { retryAfterSeconds: 1 } })
      expect(suspensions.filter(({ id }) => id === subject.id)).toEqual([{ id: subject.id, until: began + suspensionMs }])
      expect(await ask(subject, began + suspensionMs)).toMatchObject({ refusal: null })
      expect(await ask(subject, began + suspensionMs + minuteMs)).toMatchObject({ limit: 10_000, remaining: 10_000 - 52 })
    })

    it('L7 forgets a refusal that is five minutes old', async () => {
      const subject = newRateSubject()
      await askOften(19, subject, noon, exportLimit)
      expect(await ask(subject, noon + 5 * minuteMs, exportLimit)).toMatchObject({ refusal: { exceeded: { scope: 'endpoint' } } })
      expect(suspensions.filter(({ id }) => id === subject.id)).toEqual([])
    })

    it('L8 counts each key by itself, and tokens by application and user (8.1 rule 1)', async () => {
      const key = newRateSubject()
      const token = { ...key, kind: 'access_token', applicationId: 'app-1' } as const
      const others: readonly RateSubject[] = [
        { ...key, id: `${key.id}-2` },
        { ...token, applicationId: 'app-2' },
        { ...token, owner: { ...token.owner, userId: `${token.owner.userId}-2` as typeof token.owner.userId } },
        { ...token, owner: { ...token.owner, tenantId: `${token.owner.tenantId}-2` as typeof token.owner.tenantId } },
      ]
      await askOften(10, key, noon)
      await askOften(20, token, noon)
      expect((await ask(key, noon)).remaining).toBe(289)
      expect((await ask({ ...token, id: 'another' }, noon)).remaining).toBe(279)
      for (const other of others) expect((await ask(other, noon)).remaining).toBe(299)
    })

    it('L9 tells of the limit with the least remaining as a share of its size (decision 14)', async () => {
      const subject = newRateSubject()
      expect(await ask(subject, noon)).toEqual({ limit: 300, remaining: 299, resetSeconds: noon / 1_000 + 1, refusal: null })
      expect(await ask(subject, noon, ordersLimit)).toMatchObject({ limit: 100, remaining: 99 })
      await askOften(28, subject, noon)
      // 29 of 300 are 9.7 %, 2 of 100 are 2 %.
      expect(await ask(subject, noon, ordersLimit)).toMatchObject({ limit: 300, remaining: 269 })
      expect(await ask(subject, noon + dayMs)).toMatchObject({ limit: 300, remaining: 299 })
    })

    it('L10 takes a clock that is set back for one that stands still', async () => {
      const subject = newRateSubject()
      await askOften(301, subject, noon)
      const earlier = noon - dayMs - 5_000
      expect(scopesOf([await ask(subject, earlier), await ask(subject, earlier + 599)])).toEqual(['tier', 'tier'])
      expect(countAdmitted(await askOften(4, subject, earlier + 1_800))).toBe(3)
    })

    it('L11 admits exactly what the bucket allows of 10,000 requests at once of one key', async () => {
      const subject = newRateSubject()
      const verdicts = await askOften(10_000, subject, noon)
      expect(countAdmitted(verdicts)).toBe(300)
      expect(scopesOf(verdicts).filter((scope) => scope === 'tier')).toHaveLength(9)
      expect(scopesOf(verdicts).filter((scope) => scope === 'suspension')).toHaveLength(9_691)
      expect(suspensions.filter(({ id }) => id === subject.id)).toHaveLength(1)
      const pro = newRateSubject({ plan: 'pro' })
      expect(countAdmitted(await askOften(10_000, pro, noon, { route: 'GET /quotes/:symbol', requests: 1_000, periodSeconds: 60 }))).toBe(
        1_000,
      )
    })

    it('L12 decides as the pure rule does, whatever is asked in whatever order', async () => {
      await fc.assert(
        fc.asyncProperty(rateSteps, fc.integer({ min: 0, max: dayMs }), async (steps, startMs) => {
          const subject = newRateSubject()
          let [state, now] = [unusedRateState, noon + startMs]
          for (const { afterMs, requests, endpoint, plan } of steps) {
            now += afterMs
            const verdicts = await askOften(requests, { ...subject, plan }, now, endpoint)
            const expected = verdicts.map(() => {
              const decision = decideRate(state, plan, endpoint, now)
              state = decision.state
              return rateVerdict(decision, plan, endpoint, now)
            })
            expect(verdicts).toEqual(expected)
          }
        }),
        { numRuns: 60 },
      )
    })
  })
}
