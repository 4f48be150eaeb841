// The rule of limits over random requests: it agrees with a count of all that ever happened, and what it tells the caller is true.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  caughtUp,
  decideRate,
  movedTo,
  rateStateEnds,
  rateVerdict,
  stricterRateState,
  unusedRateState,
} from '../../src/access/rate-decision.ts'
import type { RateState, RateVerdict } from '../../src/access/rate-decision.ts'
import { endpointBucket, minuteBucket } from '../../src/access/rate-limits.ts'
import type { EndpointLimit } from '../../src/access/rate-limits.ts'
import { dayMs } from '../../src/primitives/instant.ts'
import { exportLimit, ordersLimit, rateSteps } from '../../src/testing/rate-arbitraries.ts'
import type { RateStep } from '../../src/testing/rate-arbitraries.ts'
import { createSlowRateLimiter } from './slow-rate-limiter.ts'

const start = Date.parse('2026-03-07T00:00:00.000Z')
const startMs = fc.integer({ min: 0, max: dayMs })
const endpoints = [undefined, ordersLimit, exportLimit] as const

/** All of a run's requests, one by one. */
const requestsOf = (steps: readonly RateStep[]): readonly Omit<RateStep, 'requests'>[] =>
  steps.flatMap(({ requests, ...step }) => Array.from({ length: requests }, (_, index) => (index === 0 ? step : { ...step, afterMs: 0 })))

/** What the rule keeps after a run, and the moment at which that ends. */
const after = (steps: readonly RateStep[], from: number): { readonly state: RateState; readonly now: number } => {
  let [state, now] = [unusedRateState, from]
  for (const { afterMs, plan, endpoint } of requestsOf(steps)) {
    now += afterMs
    state = decideRate(state, plan, endpoint, now).state
  }
  return { state, now }
}

const someState = fc.tuple(rateSteps, startMs).map(([steps, ms]) => after(steps, start + ms))

const ask = (state: RateState, endpoint: EndpointLimit | undefined, now: number): RateVerdict & { readonly state: RateState } => {
  const decision = decideRate(state, 'free', endpoint, now)
  return { ...rateVerdict(decision, 'free', endpoint, now), state: decision.state }
}

describe('the rule of limits', () => {
  it('agrees with a count of all that ever happened, also where the clock is set back (8.1; decisions 13 and 15)', () => {
    fc.assert(
      fc.property(rateSteps, startMs, (steps, ms) => {
        const slow = createSlowRateLimiter('free')
        let [state, now] = [unusedRateState, start + ms]
        for (const { afterMs, endpoint } of requestsOf(steps.map((step) => ({ ...step, requests: Math.min(step.requests, 110) })))) {
          now += afterMs
          const decision = decideRate(state, 'free', endpoint, now)
          state = decision.state
          expect(decision.outcome).toBe(slow.decide(endpoint, now))
        }
      }),
    )
  })

  it('admits no more in any stretch of time than the bucket holds and what flows into it meanwhile', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 310, maxLength: 900 }), (pauses) => {
        let [state, now] = [unusedRateState, start]
        const admitted: number[] = []
        for (const pause of pauses) {
          now += pause
          const decision = decideRate(state, 'free', undefined, now)
          state = decision.state
          if (decision.outcome === 'admitted') admitted.push(now)
        }
        for (const [first, from] of admitted.entries())
          for (let last = first + 300; last < admitted.length; last += 1)
            expect(last - first + 1).toBeLessThanOrEqual(300 + Math.floor(((admitted[last] ?? 0) - from) / 600))
      }),
      { numRuns: 20 },
    )
  })

  it('tells when a request would pass: then it does, and a second earlier it does not (8.1 rule 6; decision 7)', () => {
    fc.assert(
      fc.property(someState, fc.constantFrom(...endpoints), ({ state, now }, endpoint) => {
        const { refusal, state: next } = ask(state, endpoint, now)
        fc.pre(refusal !== null)
        // A limit is asked as it was before, since being refused once more may suspend; a suspension, as it then is.
        const asked = refusal?.exceeded.scope === 'suspension' ? next : state
        const passesAt = now + (refusal?.retryAfterSeconds ?? 0) * 1_000
        expect(ask(asked, endpoint, passesAt).refusal).toBeNull()
        if (passesAt - 1_000 > now) expect(ask(asked, endpoint, passesAt - 1_000).refusal).not.toBeNull()
      }),
      { numRuns: 500 },
    )
  })

  it('tells of no fewer than would still pass at this moment, and of none where none would (decision 14)', () => {
    fc.assert(
      fc.property(someState, fc.constantFrom(...endpoints), ({ state, now }, endpoint) => {
        const first = ask(state, endpoint, now)
        fc.pre(first.remaining < 50)
        let [kept, passed] = [first.state, 0]
        for (let next = ask(kept, endpoint, now); next.refusal === null; next = ask(kept, endpoint, now)) {
          kept = next.state
          passed += 1
        }
        expect(passed).toBeLessThanOrEqual(first.remaining)
        const { refusal } = ask(kept, endpoint, now)
        if (refusal?.exceeded.scope === 'tier' || refusal?.exceeded.scope === 'endpoint') expect(ask(kept, endpoint, now).remaining).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  it('tells when the limit that it names is full again: then, and not a second earlier', () => {
    fc.assert(
      fc.property(someState, fc.constantFrom(...endpoints), ({ state, now }, endpoint) => {
        const { limit, resetSeconds, remaining, state: next } = ask(state, endpoint, now)
        const remainingAt = (at: number): number => {
          const { minuteFullAt, endpoints: kept, dayCount, day } = caughtUp(next, at)
          if (limit === 10_000) return limit - (day === Math.floor(at / dayMs) ? dayCount : 0)
          const isMinute = limit === 300
          const fullAt = isMinute ? minuteFullAt : (kept[endpoint?.route ?? ''] ?? 0)
          const { size, intervalMs } = isMinute ? minuteBucket('free') : endpointBucket(endpoint ?? ordersLimit)
          return size - Math.ceil(Math.max(0, fullAt - at) / intervalMs)
        }
        expect(remainingAt(resetSeconds * 1_000)).toBe(limit)
        if (remaining < limit && (resetSeconds - 1) * 1_000 > now) expect(remainingAt((resetSeconds - 1) * 1_000 - 1)).toBeLessThan(limit)
      }),
      { numRuns: 300 },
    )
  })

  it('names no limit that another is tighter than, as a share of its size', () => {
    fc.assert(
      fc.property(someState, fc.constantFrom(...endpoints), ({ state, now }, endpoint) => {
        const { limit, remaining, state: next } = ask(state, endpoint, now)
        const { minuteFullAt, dayCount } = caughtUp(next, now)
        const share = remaining / limit
        expect(share).toBeLessThanOrEqual((300 - Math.ceil(Math.max(0, minuteFullAt - now) / 600)) / 300)
        expect(share).toBeLessThanOrEqual((10_000 - dayCount) / 10_000)
      }),
      { numRuns: 300 },
    )
  })

  it('decides the same whatever the clock’s distance from another, but for the day', () => {
    fc.assert(
      fc.property(someState, fc.integer({ min: -dayMs, max: dayMs }), fc.constantFrom(...endpoints), ({ state, now }, by, endpoint) => {
        const there = { ...movedTo(state, state.at + by), day: Math.floor((now + by) / dayMs) }
        const here = { ...state, day: Math.floor(now / dayMs) }
        expect(decideRate(there, 'free', endpoint, now + by).outcome).toBe(decideRate(here, 'free', endpoint, now).outcome)
      }),
    )
  })

  it('needs nothing kept once it says so', () => {
    fc.assert(
      fc.property(someState, fc.constantFrom(...endpoints), ({ state, now }, endpoint) => {
        const ends = Math.max(rateStateEnds(state), now)
        const [kept, forgotten] = [ask(state, endpoint, ends), ask(unusedRateState, endpoint, ends)]
        expect({ ...kept, state: undefined }).toEqual({ ...forgotten, state: undefined })
      }),
    )
  })
})

describe('the stricter of two accounts', () => {
  it('refuses what either would refuse, and says no more when told again', () => {
    fc.assert(
      fc.property(someState, someState, fc.constantFrom(...endpoints), (one, other, endpoint) => {
        const now = Math.max(one.now, other.now)
        const [mine, theirs] = [caughtUp(one.state, now), caughtUp(other.state, now)]
        const both = stricterRateState(mine, theirs, now)
        const outcomes = [mine, theirs].map((state) => decideRate(state, 'free', endpoint, now).outcome)
        if (outcomes.includes('refused')) expect(decideRate(both, 'free', endpoint, now).outcome).not.toBe('admitted')
        if (outcomes.includes('suspension_began')) expect(decideRate(both, 'free', endpoint, now).outcome).toMatch('suspen')
        if (outcomes.includes('suspended')) expect(decideRate(both, 'free', endpoint, now).outcome).toBe('suspended')
        const reversed = stricterRateState(theirs, mine, now)
        expect({ ...both, refusals: both.refusals.length }).toEqual({ ...reversed, refusals: reversed.refusals.length })
        expect(stricterRateState(both, mine, now)).toEqual(both)
      }),
      { numRuns: 300 },
    )
  })
})
