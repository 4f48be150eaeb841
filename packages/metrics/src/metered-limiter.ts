// The limits with their decisions counted, by which limit refused. Every request is counted, so
// counting is one addition.
import type { RateVerdict } from '@tradeport/domain/access'
import type { AddressLimits, RateLimiter } from '@tradeport/domain/ports'

export interface DecisionTally {
  admitted: number
  readonly refused: {
    minute: number
    day: number
    endpoint: number
    suspension: number
    address: number
  }
}

export const newDecisionTally = (): DecisionTally => ({
  admitted: 0,
  refused: { minute: 0, day: 0, endpoint: 0, suspension: 0, address: 0 },
})

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

export const meteredAddressLimits = (
  limits: AddressLimits,
  tally: DecisionTally,
): AddressLimits => ({
  ...limits,
  waitMs: (address, now) => {
    const waitMs = limits.waitMs(address, now)
    if (waitMs > 0) tally.refused.address += 1
    return waitMs
  },
})

const limitOf = ({
  exceeded,
}: NonNullable<RateVerdict['refusal']>): keyof DecisionTally['refused'] =>
  exceeded.scope === 'tier' ? exceeded.window : exceeded.scope
