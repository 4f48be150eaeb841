// A limiter that keeps all it ever saw, by the rule alone; it passes the same contract as the real
// ones.
import {
  decideRate,
  rateVerdict,
  unusedRateState,
  type RateState,
  programOf,
} from '@tradeport/domain/access'
import type { LocalRateLimiter, SuspensionListener } from '@tradeport/domain/ports'

export const createFakeRateLimiter = (
  onSuspension: SuspensionListener = () => undefined,
): LocalRateLimiter => {
  const states = new Map<string, RateState>()
  return {
    decide: (subject, endpoint, now) => {
      const decision = decideRate(
        states.get(programOf(subject)) ?? unusedRateState,
        subject.plan,
        endpoint,
        now,
      )
      states.set(programOf(subject), decision.state)
      if (decision.outcome === 'suspension_began')
        onSuspension(subject, decision.state.suspendedUntil)
      return rateVerdict(decision, subject.plan, endpoint, now)
    },
    stateOf: (subject) => states.get(programOf(subject)),
    adopt: (subject, state) => {
      states.set(programOf(subject), state)
    },
  }
}
