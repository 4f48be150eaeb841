// How often a key or token may send requests (docs/behaviour.md#rate-limits): the tiers, endpoint
// limits, and who shares them.
import { dayMs, minuteMs, secondMs, wholeSeconds, type Instant } from '../primitives/instant.ts'
import type { Credential, Plan } from './credential.ts'
import { refuse, type LimiterScope, type Refusal } from '../errors.ts'

/** What a plan allows. */
export interface Tier {
  readonly requestsPerMinute: number
  /** On top of a minute's requests, for whoever was idle. */
  readonly burst: number
  /** Of the UTC day. */
  readonly requestsPerDay: number
}

/** What one endpoint allows in addition to the tier. */
export interface EndpointLimit {
  /**
   * Method and path as the route is written, `GET /trades/export`: what the limit is counted under.
   */
  readonly route: string
  readonly requests: number
  readonly periodSeconds: number
}

/** The part of a credential that rate limits depend on. They are counted by program. */
export type RateSubject = Pick<Credential, 'kind' | 'id' | 'owner' | 'applicationId' | 'plan'>

/** A bucket admits `size` requests when full, and regains one every `intervalMs`. */
export interface Bucket {
  readonly size: number
  /** Whole milliseconds. */
  readonly intervalMs: number
}

export const tiers: { readonly [P in Plan]: Tier } = {
  free: { requestsPerMinute: 100, burst: 200, requestsPerDay: 10_000 },
  pro: { requestsPerMinute: 1_000, burst: 2_000, requestsPerDay: 100_000 },
  enterprise: { requestsPerMinute: 10_000, burst: 20_000, requestsPerDay: 1_000_000 },
}

// A figure that does not divide its period regains its requests a little later, never earlier.
const bucketOf = (size: number, requests: number, periodMs: number): Bucket => ({
  size,
  intervalMs: Math.ceil(periodMs / requests),
})

/**
 * The bucket of a tier: the requests of a minute and the burst, refilled at the per-minute rate.
 */
export const minuteBucket = (plan: Plan): Bucket => {
  const { requestsPerMinute, burst } = tiers[plan]
  return bucketOf(requestsPerMinute + burst, requestsPerMinute, minuteMs)
}

/** The bucket of an endpoint: its figure, refilled over its period. */
export const endpointBucket = ({ requests, periodSeconds }: EndpointLimit): Bucket =>
  bucketOf(requests, requests, periodSeconds * secondMs)

// Whether a request may pass (docs/behaviour.md#rate-limits), as one pure step from what was kept
// of its subject to what is kept next. A bucket is kept as the instant at which it is full again:
// each request moves that on by one interval, and time passing does the rest.

/** So many refusals within so long suspend for so long. */
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

/**
 * What the caller learns: of all limits the one with the least remaining as a share of its size.
 */
export interface RateVerdict {
  /** What it holds when full. */
  readonly limit: number
  readonly remaining: number
  /** When it is full again, in Unix seconds, rounded up; for the day the next UTC midnight. */
  readonly resetSeconds: number
  /** Every limit that applied to the request: the minute and the day, then the endpoint. */
  readonly standings: readonly LimitStanding[]
  /** null where the request may pass. */
  readonly refusal: (Refusal<'RateLimitExceeded'> & { readonly exceeded: LimiterScope }) | null
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

/** How one limit stands at a moment. */
export interface LimitStanding {
  readonly exceeded: Exclude<LimiterScope, { readonly scope: 'suspension' }>
  /** What it holds when full. */
  readonly limit: number
  readonly remaining: number
  /** When it is full again; for the day the next UTC midnight. */
  readonly fullAt: Instant
  /** Until one request fits; 0 where it does now. */
  readonly waitMs: number
}

const standingsOf = (
  state: RateState,
  plan: Plan,
  endpoint: EndpointLimit | undefined,
  now: Instant,
): readonly [minute: LimitStanding, day: LimitStanding, ...endpoint: LimitStanding[]] => {
  const { requestsPerDay } = tiers[plan]
  const midnight = (utcDay(now) + 1) * dayMs
  const remaining = Math.max(0, requestsPerDay - state.dayCount)
  return [
    standingOf({ scope: 'tier', window: 'minute' }, minuteBucket(plan), state.minuteFullAt, now),
    {
      exceeded: { scope: 'tier', window: 'day' },
      limit: requestsPerDay,
      remaining,
      fullAt: midnight,
      waitMs: remaining > 0 ? 0 : midnight - now,
    },
    ...(endpoint === undefined
      ? []
      : [
          standingOf(
            { scope: 'endpoint' },
            endpointBucket(endpoint),
            state.endpoints[endpoint.route] ?? now,
            now,
          ),
        ]),
  ]
}

const standingOf = (
  exceeded: LimitStanding['exceeded'],
  { size, intervalMs }: Bucket,
  keptFullAt: Instant,
  now: Instant,
): LimitStanding => {
  const fullAt = Math.max(keptFullAt, now)
  return {
    exceeded,
    limit: size,
    remaining: Math.max(0, size - Math.ceil((fullAt - now) / intervalMs)),
    fullAt,
    waitMs: Math.max(0, fullAt - now - (size - 1) * intervalMs),
  }
}

/**
 * Counts one request. A refused one leaves every bucket as it is; while a suspension lasts,
 * nothing is counted at all. A clock that was set back counts as one that stood still: nobody waits
 * longer for it, and no bucket refills.
 */
export const decideRate = (
  kept: RateState,
  plan: Plan,
  endpoint: EndpointLimit | undefined,
  now: Instant,
): RateDecision => {
  const state = { ...caughtUp(kept, now), at: now }
  if (now < state.suspendedUntil) return { state, outcome: 'suspended' }
  const standings = standingsOf(state, plan, endpoint, now)
  if (standings.some(({ waitMs }) => waitMs > 0)) return refused(state, now)
  const [minute, , own] = standings
  return {
    state: {
      ...state,
      minuteFullAt: minute.fullAt + minuteBucket(plan).intervalMs,
      dayCount: state.dayCount + 1,
      endpoints: {
        ...state.endpoints,
        ...(endpoint && {
          [endpoint.route]: (own?.fullAt ?? now) + endpointBucket(endpoint).intervalMs,
        }),
      },
    },
    outcome: 'admitted',
  }
}

const refused = (state: RateState, now: Instant): RateDecision => {
  const refusals = [...recent(state.refusals, now), now]
  if (refusals.length < suspendingRefusals)
    return { state: { ...state, refusals }, outcome: 'refused' }
  return {
    state: { ...state, refusals: [], suspendedUntil: now + suspensionMs },
    outcome: 'suspension_began',
  }
}

/** What the caller learns of a decision; `state` is the one after it. */
export const rateVerdict = (
  { state, outcome }: RateDecision,
  plan: Plan,
  endpoint: EndpointLimit | undefined,
  now: Instant,
): RateVerdict => {
  const standings = standingsOf(state, plan, endpoint, now)
  const [minute, day, ...own] = standings
  const { limit, remaining, fullAt } = standings.reduce(tighterOf)
  // A request would pass once the longest wait is over.
  const { exceeded, waitMs } =
    outcome === 'refused'
      ? [day, minute, ...own].reduce((longest, one) =>
          one.waitMs > longest.waitMs ? one : longest,
        )
      : { exceeded: { scope: 'suspension' } as const, waitMs: state.suspendedUntil - now }
  return {
    limit,
    remaining,
    resetSeconds: Math.ceil(fullAt / secondMs),
    standings,
    refusal:
      outcome === 'admitted'
        ? null
        : {
            ...refuse('RateLimitExceeded', { exceeded, retryAfterSeconds: wholeSeconds(waitMs) }),
            exceeded,
          },
  }
}

/** The one with the smaller share left; of equal shares, the one that is full again last. */
const tighterOf = (one: LimitStanding, other: LimitStanding): LimitStanding => {
  const difference = other.remaining * one.limit - one.remaining * other.limit
  return difference < 0 || (difference === 0 && other.fullAt > one.fullAt) ? other : one
}

/**
 * What is kept, brought up to the clock: the day's count begins anew at UTC midnight, and where the
 * clock was set back everything moves along with it, but for the day's count, which is not given
 * back.
 */
export const caughtUp = (kept: RateState, now: Instant): RateState => {
  const state = now < kept.at ? movedTo(kept, now) : kept
  const today = utcDay(now)
  return { ...state, day: today, dayCount: today > state.day ? 0 : state.dayCount }
}

/**
 * The same state by another clock, of which it is `at` now.
 */
export const movedTo = (state: RateState, at: Instant): RateState => {
  const by = at - state.at
  return {
    ...state,
    at,
    minuteFullAt: state.minuteFullAt + by,
    endpoints: Object.fromEntries(
      Object.entries(state.endpoints).map(([route, fullAt]) => [route, fullAt + by]),
    ),
    refusals: state.refusals.map((refusedAt) => refusedAt + by),
    suspendedUntil: state.suspendedUntil + by,
  }
}

/**
 * Of two states of one subject by the same clock, what is stricter in each: for two that each saw
 * a part of its requests, and may both have seen some of them.
 */
export const stricterRateState = (one: RateState, other: RateState, now: Instant): RateState => {
  const endpoints: Record<string, Instant> = { ...one.endpoints }
  for (const [route, fullAt] of Object.entries(other.endpoints))
    endpoints[route] = Math.max(fullAt, endpoints[route] ?? 0)
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
