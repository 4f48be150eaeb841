// Whether a request may pass (specification 8.1; decisions 13 to 15), as one pure step from what was kept of its subject to what is kept next.
// A bucket is kept as the instant at which it is full again: each request moves that on by one interval, and time passing does the rest.
import { rateLimitExceeded } from '../errors.ts'
import type { LimiterScope, RateLimitExceeded } from '../errors.ts'
import type { Instant } from '../primitives/instant.ts'
import { dayMs, minuteMs, secondMs, wholeSeconds } from '../primitives/instant.ts'
import type { Plan } from './credential.ts'
import { endpointBucket, minuteBucket, tiers } from './rate-limits.ts'
import type { Bucket, EndpointLimit } from './rate-limits.ts'

/** So many refusals within so long suspend for so long (8.1 rule 7; decision 15). */
export const suspendingRefusals = 10
export const refusalWindowMs = 5 * minuteMs
export const suspensionMs = 15 * minuteMs

/** What is kept of a subject. All instants are whole milliseconds of the clock that `at` is of. */
export interface RateState {
  /** When the subject was last seen. */
  readonly at: Instant
  /** When the tier's bucket is full again. */
  readonly minuteFullAt: Instant
  /** The UTC day that is counted, in days since 1970. */
  readonly day: number
  readonly dayCount: number
  /** When the buckets of endpoints are full again, by route. */
  readonly endpoints: Readonly<Record<string, Instant>>
  /** Refusals that may still count towards a suspension, oldest first; fewer than ten. */
  readonly refusals: readonly Instant[]
  readonly suspendedUntil: Instant
}

export type RateOutcome = 'admitted' | 'refused' | 'suspension_began' | 'suspended'

/** What the caller is told (8.1 rules 5 and 6; decision 14): of all limits the one with the least remaining as a share of its size. */
export interface RateVerdict {
  /** What it holds when full. */
  readonly limit: number
  readonly remaining: number
  /** When it is full again, in Unix seconds, rounded up; for the day the next UTC midnight. */
  readonly resetSeconds: number
  /** null where the request may pass. */
  readonly refusal: RateLimitExceeded<LimiterScope> | null
}

export interface RateDecision {
  readonly state: RateState
  readonly outcome: RateOutcome
}

/** A subject that was never seen, or not for long: every bucket is full. */
export const unusedRateState: RateState = {
  at: 0,
  minuteFullAt: 0,
  day: 0,
  dayCount: 0,
  endpoints: {},
  refusals: [],
  suspendedUntil: 0,
}

const utcDay = (now: Instant): number => Math.floor(now / dayMs)

/**
 * Counts one request. A refused one takes nothing from any bucket; while a suspension lasts, nothing is counted at all.
 * A clock that was set back counts as one that stood still: nobody waits longer for it, and no bucket refills.
 */
export const decideRate = (kept: RateState, plan: Plan, endpoint: EndpointLimit | undefined, now: Instant): RateDecision => {
  const state = caughtUp(kept, now)
  if (now < state.suspendedUntil) return { state: { ...state, at: now }, outcome: 'suspended' }
  if (minuteWait(state, plan, now) > 0 || dayWait(state, plan, now) > 0 || endpointWait(state, endpoint, now) > 0) return refuse(state, now)
  return {
    state: {
      at: now,
      minuteFullAt: Math.max(state.minuteFullAt, now) + minuteBucket(plan).intervalMs,
      day: state.day,
      dayCount: state.dayCount + 1,
      endpoints: endpoint === undefined ? state.endpoints : withEndpoint(state.endpoints, endpoint, now),
      refusals: state.refusals,
      suspendedUntil: state.suspendedUntil,
    },
    outcome: 'admitted',
  }
}

/** What the caller is told of a decision; `state` is the one after it. */
export const rateVerdict = (
  { state, outcome }: RateDecision,
  plan: Plan,
  endpoint: EndpointLimit | undefined,
  now: Instant,
): RateVerdict => {
  const bucket = minuteBucket(plan)
  const { requestsPerDay } = tiers[plan]
  let limit = bucket.size
  let remaining = remainingIn(bucket, state.minuteFullAt, now)
  let fullAt = Math.max(state.minuteFullAt, now)
  // Of two with the same share left, the one that is full again last is the tighter.
  const consider = (otherLimit: number, otherRemaining: number, otherFullAt: Instant): void => {
    const difference = otherRemaining * limit - remaining * otherLimit
    if (difference > 0 || (difference === 0 && otherFullAt <= fullAt)) return
    limit = otherLimit
    remaining = otherRemaining
    fullAt = otherFullAt
  }
  consider(requestsPerDay, Math.max(0, requestsPerDay - state.dayCount), nextUtcMidnight(now))
  if (endpoint !== undefined) {
    const endpointFullAt = state.endpoints[endpoint.route] ?? now
    consider(endpoint.requests, remainingIn(endpointBucket(endpoint), endpointFullAt, now), Math.max(endpointFullAt, now))
  }
  const refusal = outcome === 'admitted' ? null : refusalOf(state, outcome, plan, endpoint, now)
  return { limit, remaining, resetSeconds: Math.ceil(fullAt / secondMs), refusal }
}

/** From when on the subject is like one that was never seen, so that nothing need be kept of it. */
export const rateStateEnds = (state: RateState): Instant =>
  Math.max(
    state.minuteFullAt,
    state.suspendedUntil,
    state.dayCount > 0 ? (state.day + 1) * dayMs : 0,
    (state.refusals.at(-1) ?? -refusalWindowMs) + refusalWindowMs,
    ...Object.values(state.endpoints),
  )

/**
 * What is kept, brought up to the clock: the day's count begins anew at UTC midnight, and where the clock was set back everything moves along
 * with it, but for the day's count, which is not given back.
 */
export const caughtUp = (kept: RateState, now: Instant): RateState => {
  const state = now < kept.at ? movedTo(kept, now) : kept
  const today = utcDay(now)
  return { ...state, day: today, dayCount: today > state.day ? 0 : state.dayCount }
}

/** The same state by another clock, of which it is `at` now: what is told from one clock to another. */
export const movedTo = (state: RateState, at: Instant): RateState => {
  const by = at - state.at
  return {
    at,
    minuteFullAt: state.minuteFullAt + by,
    day: state.day,
    dayCount: state.dayCount,
    endpoints: Object.fromEntries(Object.entries(state.endpoints).map(([route, fullAt]) => [route, fullAt + by])),
    refusals: state.refusals.map((refusedAt) => refusedAt + by),
    suspendedUntil: state.suspendedUntil + by,
  }
}

/**
 * Of two accounts of one subject by the same clock, what is stricter in each: for two that each saw a part of its requests, and may both have
 * seen some of them.
 */
export const stricterRateState = (one: RateState, other: RateState, now: Instant): RateState => {
  const endpoints: Record<string, Instant> = { ...one.endpoints }
  for (const [route, fullAt] of Object.entries(other.endpoints)) endpoints[route] = Math.max(fullAt, endpoints[route] ?? 0)
  const day = Math.max(one.day, other.day)
  const [refusals, others] = [recent(one.refusals, now), recent(other.refusals, now)]
  return {
    at: now,
    minuteFullAt: Math.max(one.minuteFullAt, other.minuteFullAt),
    day,
    dayCount: Math.max(one.day === day ? one.dayCount : 0, other.day === day ? other.dayCount : 0),
    endpoints,
    refusals: others.length > refusals.length ? others : refusals,
    suspendedUntil: Math.max(one.suspendedUntil, other.suspendedUntil),
  }
}

const recent = (refusals: RateState['refusals'], now: Instant): RateState['refusals'] =>
  refusals.filter((refusedAt) => refusedAt > now - refusalWindowMs)

const refuse = (state: RateState, now: Instant): RateDecision => {
  const refusals = [...recent(state.refusals, now), now]
  if (refusals.length < suspendingRefusals) return { state: { ...state, at: now, refusals }, outcome: 'refused' }
  return { state: { ...state, at: now, refusals: [], suspendedUntil: now + suspensionMs }, outcome: 'suspension_began' }
}

const withEndpoint = (endpoints: RateState['endpoints'], endpoint: EndpointLimit, now: Instant): RateState['endpoints'] => ({
  ...endpoints,
  [endpoint.route]: Math.max(endpoints[endpoint.route] ?? now, now) + endpointBucket(endpoint).intervalMs,
})

// How long until one request fits, in milliseconds; 0 where it does now.
const waitFor = ({ size, intervalMs }: Bucket, fullAt: Instant, now: Instant): number =>
  Math.max(0, Math.max(fullAt, now) - now - (size - 1) * intervalMs)

const minuteWait = ({ minuteFullAt }: RateState, plan: Plan, now: Instant): number => waitFor(minuteBucket(plan), minuteFullAt, now)

const dayWait = ({ dayCount }: RateState, plan: Plan, now: Instant): number =>
  dayCount < tiers[plan].requestsPerDay ? 0 : nextUtcMidnight(now) - now

const endpointWait = ({ endpoints }: RateState, endpoint: EndpointLimit | undefined, now: Instant): number =>
  endpoint === undefined ? 0 : waitFor(endpointBucket(endpoint), endpoints[endpoint.route] ?? now, now)

const remainingIn = ({ size, intervalMs }: Bucket, fullAt: Instant, now: Instant): number =>
  Math.max(0, size - Math.ceil(Math.max(0, fullAt - now) / intervalMs))

const nextUtcMidnight = (now: Instant): Instant => (utcDay(now) + 1) * dayMs

// The limit that makes the caller wait longest is the one that is named; a request would pass when it does.
const refusalOf = (
  state: RateState,
  outcome: Exclude<RateOutcome, 'admitted'>,
  plan: Plan,
  endpoint: EndpointLimit | undefined,
  now: Instant,
): RateLimitExceeded<LimiterScope> => {
  if (outcome !== 'refused') return rateLimitExceeded({ scope: 'suspension' }, wholeSeconds(state.suspendedUntil - now))
  const [minute, day, own] = [minuteWait(state, plan, now), dayWait(state, plan, now), endpointWait(state, endpoint, now)]
  if (day >= Math.max(minute, own)) return rateLimitExceeded({ scope: 'tier', window: 'day' }, wholeSeconds(day))
  if (minute >= own) return rateLimitExceeded({ scope: 'tier', window: 'minute' }, wholeSeconds(minute))
  return rateLimitExceeded({ scope: 'endpoint' }, wholeSeconds(own))
}
