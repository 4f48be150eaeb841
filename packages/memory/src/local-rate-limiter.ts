// The rate limiter of one instance, in this process. It has no timer.
import {
  decideRate,
  programOf,
  rateVerdict,
  unusedRateState,
  type RateState,
} from '@tradeport/domain/access'
import type { LocalRateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import { createLruCache } from './lru-cache.ts'

interface LocalRateLimiterOptions {
  readonly onSuspension: SuspensionListener
  /**
   * The most subjects kept; 500,000 by default, some 120 MB. Beyond that the oldest are dropped,
   * which resets their limits.
   */
  readonly maxSubjects?: number
}

export const createLocalRateLimiter = ({
  onSuspension,
  maxSubjects = 500_000,
}: LocalRateLimiterOptions): LocalRateLimiter => {
  const states = createLruCache<string, RateState>(maxSubjects)
  return {
    decide: (subject, endpoint, now) => {
      const key = programOf(subject)
      const state = states.get(key) ?? unusedRateState
      const decision = decideRate(state, subject.plan, endpoint, now)
      states.set(key, decision.state)
      if (decision.outcome === 'suspension_began')
        onSuspension(subject, decision.state.suspendedUntil)
      return rateVerdict(decision, subject.plan, endpoint, now)
    },
    stateOf: (subject) => states.get(programOf(subject)),
    adopt: (subject, state) => void states.set(programOf(subject), state),
  }
}
