// The limiter of one instance: what is kept of each subject, in this process. It answers at once
// and sets no timer.
import {
  decideRate,
  rateStateEnds,
  rateSubjectKey,
  rateVerdict,
  unusedRateState,
} from '@tradeport/domain/access'
import type { RateState } from '@tradeport/domain/access'
import type { LocalRateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'

export interface LocalRateLimiterOptions {
  readonly onSuspension: SuspensionListener
  /**
   * The most subjects kept; 500,000 when left out, some 200 MB. Only subjects that asked today are
   * kept at all: beyond the bound those that have been kept longest are forgotten, which gives
   * their limits back.
   */
  readonly maxSubjects?: number
}

const defaultMaxSubjects = 500_000

// Each new subject looks at two old ones, so that what is over goes faster than what comes.
const looksPerNewcomer = 2

export const createLocalRateLimiter = ({
  onSuspension,
  maxSubjects = defaultMaxSubjects,
}: LocalRateLimiterOptions): LocalRateLimiter & { readonly size: () => number } => {
  const states = new Map<string, RateState>()
  let sweep = states.entries()

  const forgetSomeThatAreOver = (now: Instant): void => {
    for (let looks = 0; looks < looksPerNewcomer; looks += 1) {
      const next = sweep.next()
      if (next.done === true) {
        sweep = states.entries()
        return
      }
      const [key, state] = next.value
      if (now >= rateStateEnds(state)) states.delete(key)
    }
  }

  const keep = (key: string, state: RateState, isNew: boolean): void => {
    states.set(key, state)
    if (!isNew) return
    forgetSomeThatAreOver(state.at)
    for (const oldest of states.keys()) {
      if (states.size <= maxSubjects) return
      states.delete(oldest)
    }
  }

  return {
    decide: (subject, endpoint, now) => {
      const key = rateSubjectKey(subject)
      const kept = states.get(key)
      const decision = decideRate(kept ?? unusedRateState, subject.plan, endpoint, now)
      keep(key, decision.state, kept === undefined)
      if (decision.outcome === 'suspension_began')
        onSuspension(subject, decision.state.suspendedUntil)
      return rateVerdict(decision, subject.plan, endpoint, now)
    },
    stateOf: (subject) => states.get(rateSubjectKey(subject)),
    adopt: (subject, state) => {
      const key = rateSubjectKey(subject)
      keep(key, state, !states.has(key))
    },
    size: () => states.size,
  }
}
