// The rate limiter with its decisions counted, by which limit refused. Every request comes by here: counting is an addition.
import type { RateLimiter, RateVerdict } from '@tradeport/domain'

export interface DecisionTally {
  admitted: number
  readonly refused: { minute: number; day: number; endpoint: number; suspension: number }
}

export const newDecisionTally = (): DecisionTally => ({ admitted: 0, refused: { minute: 0, day: 0, endpoint: 0, suspension: 0 } })

export const meteredLimiter = (limiter: RateLimiter, tally: DecisionTally): RateLimiter => {
  const counted = (verdict: RateVerdict): RateVerdict => {
    if (verdict.refusal === null) tally.admitted += 1
    else tally.refused[limitOf(verdict.refusal)] += 1
    return verdict
  }
  return {
    decide: (subject, endpoint, now) => {
      const decided = limiter.decide(subject, endpoint, now)
      return decided instanceof Promise ? decided.then(counted) : counted(decided)
    },
  }
}

const limitOf = ({ exceeded }: NonNullable<RateVerdict['refusal']>): keyof DecisionTally['refused'] =>
  exceeded.scope === 'tier' ? exceeded.window : exceeded.scope
