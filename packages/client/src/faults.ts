// What can become of one request that did not succeed, and what that proves of a write.
import type { Sending } from './routes.ts'

/** No answer came: the connection failed, the time ran out, or the caller called it off. */
export interface NoAnswer {
  readonly kind: 'no-answer'
  readonly code: 'NETWORK_FAILURE' | 'TIMED_OUT' | 'ABORTED'
  /** False where it is certain that nothing was sent. */
  readonly isSent: boolean
  readonly cause: unknown
}

/** An answer that the service did not write: that of a proxy, or of another server. */
export interface UnreadableAnswer {
  readonly kind: 'unreadable'
  readonly status: number
  /** How it begins. */
  readonly excerpt: string
  readonly retryAfterSeconds: number | undefined
}

/** The service's own refusal. */
export interface Refusal {
  readonly kind: 'refusal'
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details: unknown
  readonly requestId: string
  readonly retryAfterSeconds: number | undefined
}

export type Fault = NoAnswer | UnreadableAnswer | Refusal

// 503 that is answered before anything is done.
const provesNothingDone: ReadonlySet<string> = new Set([
  'BROKER_UNAVAILABLE',
  'CHALLENGE_CHECK_UNAVAILABLE',
  'LIMIT_CHECK_UNAVAILABLE',
])

/**
 * Whether the service may have done what the request asked for. Only its own reply proves that it
 * has not.
 */
export const mayBeDone = (sending: Sending, fault: Fault): boolean => {
  if (sending === 'read') return false
  if (fault.kind === 'no-answer') return fault.isSent
  if (fault.kind === 'unreadable') return true
  // The request that came first with this key may be doing it now.
  if (fault.code === 'IDEMPOTENCY_IN_PROGRESS') return true
  return fault.status >= 500 && fault.status !== 501 && !provesNothingDone.has(fault.code)
}
