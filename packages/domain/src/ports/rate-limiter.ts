// Counts requests against their limits, in this process or over several instances.
import type { RateState, RateVerdict } from '../access/rate-decision.ts'
import type { EndpointLimit, RateSubject } from '../access/rate-limits.ts'
import type { Instant } from '../primitives/instant.ts'

export interface RateLimiter {
  /**
   * Counts one request and says whether it may pass. Never rejects, and answers at once where it
   * can, so that a request need not wait for a promise.
   * @param endpoint the limit of the route that is asked for; undefined where it has none of its
   * own
   */
  readonly decide: (
    subject: RateSubject,
    endpoint: EndpointLimit | undefined,
    now: Instant,
  ) => RateVerdict | Promise<RateVerdict>
}

/**
 * A limiter in this process, which another can tell what it has learnt, and ask what is known here.
 */
export interface LocalRateLimiter extends RateLimiter {
  readonly decide: (
    subject: RateSubject,
    endpoint: EndpointLimit | undefined,
    now: Instant,
  ) => RateVerdict
  /** undefined where nothing is kept of the subject. */
  readonly stateOf: (subject: RateSubject) => RateState | undefined
  readonly adopt: (subject: RateSubject, state: RateState) => void
}

/**
 * Is told of each suspension as it begins, once, by the instance that made it begin. It holds
 * nobody up.
 */
export type SuspensionListener = (subject: RateSubject, until: Instant) => void
