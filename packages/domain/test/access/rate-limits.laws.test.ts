// The rule of limits over random requests: what it reports to callers is true.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  caughtUp,
  decideRate,
  rateVerdict,
  unusedRateState,
  type EndpointLimit,
  type RateState,
  type RateVerdict,
} from '../../src/access/rate-limits.ts'
import { dayMs } from '../../src/primitives/instant.ts'
import { exportLimit, ordersLimit, rateSteps, type RateStep, times } from '@tradeport/testkit'

const start = Date.parse('2026-03-07T00:00:00.000Z')
const startMs = fc.integer({ min: 0, max: dayMs })
const endpoints = fc.constantFrom(undefined, ordersLimit, exportLimit)

/** All of a run's requests, one by one. */
const requestsOf = (steps: readonly RateStep[]): readonly Omit<RateStep, 'requests'>[] =>
  steps.flatMap(({ requests, ...step }) =>
    times(requests, (index) => (index === 0 ? step : { ...step, afterMs: 0 })),
  )

/** What the rule keeps after a run, and the moment at which that ends. */
const someState = fc.tuple(rateSteps, startMs).map(([steps, ms]) => {
  let [state, now] = [unusedRateState, start + ms]
  for (const { afterMs, plan, endpoint } of requestsOf(steps)) {
    now += afterMs
    state = decideRate(state, plan, endpoint, now).state
  }
  return { state, now }
})

const ask = (
  state: RateState,
  endpoint: EndpointLimit | undefined,
  now: number,
): RateVerdict & { readonly state: RateState } => {
  const decision = decideRate(state, 'free', endpoint, now)
  return { ...rateVerdict(decision, 'free', endpoint, now), state: decision.state }
}

it('lets a request pass when it said so, and not a second earlier', () => {
  fc.assert(
    fc.property(someState, endpoints, ({ state, now }, endpoint) => {
      const { refusal, state: next } = ask(state, endpoint, now)
      fc.pre(refusal !== null)
      // A limit is asked as it was before, since being refused once more may suspend; a suspension,
      // as it then is.
      const asked = refusal?.exceeded.scope === 'suspension' ? next : state
      const passesAt = now + (refusal?.retryAfterSeconds ?? 0) * 1_000
      expect(ask(asked, endpoint, passesAt).refusal).toBeNull()
      if (passesAt - 1_000 > now)
        expect(ask(asked, endpoint, passesAt - 1_000).refusal).not.toBeNull()
    }),
    { numRuns: 200 },
  )
})

it('has no fewer requests remaining than pass at that moment, and names a limit that is full when it says so', () => {
  fc.assert(
    fc.property(someState, endpoints, ({ state, now }, endpoint) => {
      const first = ask(state, endpoint, now)
      if (first.remaining < 50) {
        let [next, passed] = [ask(first.state, endpoint, now), 0]
        for (; next.refusal === null; passed += 1) next = ask(next.state, endpoint, now)
        expect(passed).toBeLessThanOrEqual(first.remaining)
      }
      const resetAt = first.resetSeconds * 1_000
      const { day, minuteFullAt, endpoints: kept } = caughtUp(first.state, resetAt)
      if (first.limit === 10_000) expect(resetAt).toBe(day * dayMs)
      else
        expect(
          first.limit === 300 ? minuteFullAt : (kept[endpoint?.route ?? ''] ?? 0),
        ).toBeLessThanOrEqual(resetAt)
    }),
  )
})
