// Whether a request is sent again, and after how long. A write is never sent again on a guess.
import type { Fault } from './faults.ts'
import type { Sending } from './routes.ts'

export interface RetryPolicy {
  /** How often a request is sent at most, the first time included. */
  readonly attempts: number
  /** No request is sent again later than this after the first. */
  readonly withinMs: number
}

export interface Tries {
  readonly made: number
  readonly elapsedMs: number
}

const firstWaitMs = 500
const longestWaitMs = 8_000

/**
 * How long to wait before the next request; undefined where there is to be none. `chance` is from 0
 * up to 1.
 */
export const waitBeforeNext = (
  sending: Sending,
  fault: Fault,
  { made, elapsedMs }: Tries,
  { attempts, withinMs }: RetryPolicy,
  chance: number,
): number | undefined => {
  if (made >= attempts || !mayBeSentAgain[sending](fault)) return undefined
  const waitMs = waitFor(fault, made, chance)
  return elapsedMs + waitMs > withinMs ? undefined : waitMs
}

const mayBeSentAgain: { readonly [S in Sending]: (fault: Fault) => boolean } = {
  read: (fault) => isPassing(fault),
  // With one key the service carries it out once, so that the next answer says what the last one
  // left open.
  keyed: (fault) =>
    isPassing(fault) ||
    (fault.kind === 'refusal' &&
      (fault.status === 500 || fault.code === 'IDEMPOTENCY_IN_PROGRESS')),
  // Both are answered before anything is done, and say for how long.
  once: (fault) =>
    fault.kind === 'refusal' &&
    fault.status === 429 &&
    (fault.code === 'RATE_LIMIT_EXCEEDED' || fault.code === 'BROKER_RATE_LIMITED') &&
    fault.retryAfterSeconds !== undefined,
}

// Waiting does not help these, whatever their status says of others.
const lasting: ReadonlySet<string> = new Set(['ACCOUNT_DISCONNECTED', 'BROKER_OUTCOME_UNKNOWN'])

const isPassing = (fault: Fault): boolean => {
  if (fault.kind === 'no-answer') return fault.code !== 'ABORTED'
  if (fault.kind === 'refusal' && lasting.has(fault.code)) return false
  // Asking again too early counts towards a suspension: without a Retry-After nobody knows what is
  // too early.
  if (fault.status === 429) return fault.retryAfterSeconds !== undefined
  return fault.status === 502 || fault.status === 503 || fault.status === 504
}

// Never earlier than Retry-After says; a little later, so that many callers do not come back in one
// instant.
const waitFor = (fault: Fault, made: number, chance: number): number => {
  const asked = fault.kind === 'no-answer' ? undefined : fault.retryAfterSeconds
  if (asked !== undefined) return asked * 1_000 + chance * 250
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (made - 1)) * (0.5 + chance / 2)
}
