// Subjects, and what they may ask in which order at which moments, for the laws of limits and for
// the contract of limiters.
import * as fc from 'fast-check'
import { type Plan, plans, type EndpointLimit, type RateSubject } from '@tradeport/domain/access'
import { dayMs, minuteMs, type TenantId, type UserId } from '@tradeport/domain/primitives'

export const ordersLimit: EndpointLimit = {
  route: 'POST /orders',
  requests: 100,
  periodSeconds: 60,
}
export const exportLimit: EndpointLimit = {
  route: 'GET /trades/export',
  requests: 10,
  periodSeconds: 3_600,
}

/** So many requests at one moment. */
export interface RateStep {
  /** How far the clock goes before them; negative where it is set back. */
  readonly afterMs: number
  readonly requests: number
  readonly endpoint: EndpointLimit | undefined
  readonly plan: Plan
}

/**
 * Whole milliseconds of a clock that mostly goes on, sometimes leaps, and sometimes is set back.
 */
const elapsedMs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 2_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 20 * minuteMs }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 * dayMs }) },
  { weight: 1, arbitrary: fc.integer({ min: -2 * dayMs, max: -1 }) },
)

// Most often the plan whose limits are soonest reached; a change of plan on the way is rare.
const plan = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Plan>('free') },
  { weight: 1, arbitrary: fc.constantFrom(...plans) },
)

const requests = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 320 }))

export const rateSteps: fc.Arbitrary<readonly RateStep[]> = fc.array(
  fc.record({
    afterMs: elapsedMs,
    requests,
    endpoint: fc.constantFrom(undefined, undefined, ordersLimit, exportLimit),
    plan,
  }),
  { minLength: 1, maxLength: 15 },
)

let lastNumber = 0

/** A key that no other test of this process asks with. */
export const newRateSubject = (fields: Partial<RateSubject> = {}): RateSubject => {
  const number = (lastNumber += 1)
  const owner = { tenantId: `limits-${number}` as TenantId, userId: `user-${number}` as UserId }
  return {
    kind: 'api_key',
    id: `limited-${number}`,
    owner,
    applicationId: null,
    plan: 'free',
    ...fields,
  }
}
