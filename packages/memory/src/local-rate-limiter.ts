// The rate limiter of one instance, in this process. It has no timer.
import {
  decideRate,
  rateStateEnds,
  programOf,
  rateVerdict,
  unusedRateState,
  type RateState,
} from '@tradeport/domain/access'
import type { LocalRateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'

interface LocalRateLimiterOptions {
  readonly onSuspension: SuspensionListener
  /**
   * The most subjects kept; 500,000 by default, some 120 MB. Beyond that the oldest are dropped,
   * which resets their limits.
   */
  readonly maxSubjects?: number
}

// Each new subject checks two old ones, so that expired ones are dropped faster than new ones come.
const checksPerNewSubject = 2

export const createLocalRateLimiter = ({
  onSuspension,
  maxSubjects = 500_000,
}: LocalRateLimiterOptions): LocalRateLimiter & { readonly size: () => number } => {
  const states = new Map<string, RateState>()
  let sweep = states.entries()

  const dropExpired = (now: Instant): void => {
    for (let checks = 0; checks < checksPerNewSubject; checks += 1) {
      const { value: next } = sweep.next()
      if (next === undefined) {
        sweep = states.entries()
        return
      }
      const [key, state] = next
      if (now >= rateStateEnds(state)) states.delete(key)
    }
  }

  const keep = (key: string, state: RateState): void => {
    const isNew = !states.has(key)
    states.set(key, state)
    if (!isNew) return
    dropExpired(state.at)
    const [oldest] = states.keys()
    if (oldest !== undefined && states.size > maxSubjects) states.delete(oldest)
  }

  return {
    decide: (subject, endpoint, now) => {
      const key = programOf(subject)
      const state = states.get(key) ?? unusedRateState
      const decision = decideRate(state, subject.plan, endpoint, now)
      keep(key, decision.state)
      if (decision.outcome === 'suspension_began')
        onSuspension(subject, decision.state.suspendedUntil)
      return rateVerdict(decision, subject.plan, endpoint, now)
    },
    stateOf: (subject) => states.get(programOf(subject)),
    adopt: (subject, state) => keep(programOf(subject), state),
    size: () => states.size,
  }
}
