// How often a key or token may ask (docs/behaviour.md#rate-limits): the tiers, endpoint limits, and
// who shares them.
import { minuteMs, secondMs } from '../primitives/instant.ts'
import type { Credential, Plan } from './credential.ts'

/** What a plan allows. */
export interface Tier {
  readonly requestsPerMinute: number
  /** On top of a minute's requests, for whoever was idle. */
  readonly burst: number
  /** Of the UTC day. */
  readonly requestsPerDay: number
}

/** What one endpoint allows beside the tier. */
export interface EndpointLimit {
  /**
   * Method and path as the route is written, `GET /trades/export`: what the limit is counted under.
   */
  readonly route: string
  readonly requests: number
  readonly periodSeconds: number
}

/** Who asks, as far as limits go. */
export type RateSubject = Pick<Credential, 'kind' | 'id' | 'owner' | 'applicationId' | 'plan'>

/** A bucket that takes `size` requests when full, and gets one back every `intervalMs`. */
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

// A figure that does not divide its period gets its requests back a little later, never earlier.
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

/**
 * What a subject's limits are counted under: a key has its own, an application's tokens for one
 * user share. No two subjects have one text: the ids hold no space, and an application's name,
 * which may, comes last.
 */
export const rateSubjectKey = ({ kind, id, owner, applicationId }: RateSubject): string =>
  kind === 'api_key' ? `key ${id}` : `app ${owner.tenantId} ${owner.userId} ${applicationId}`
