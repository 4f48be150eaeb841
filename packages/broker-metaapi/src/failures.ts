// What can go wrong between us and the provider, and what a read may say of it (specification 4.3 rule 3, 7). Pure: everything is decided
// from what was answered. Nothing here holds a token, a body or a provider's own words, so that all of it may be logged.
import { brokerRateLimited, brokerUnavailable, notProvisioned } from '@tradeport/domain'
import type { BrokerAccount, BrokerReadError, Instant } from '@tradeport/domain'

/** The provider's endpoints, as they are named in logs and metrics. */
export type ProviderRoute =
  | 'account-region'
  | 'account-information'
  | 'positions'
  | 'orders'
  | 'history-orders'
  | 'history-deals'
  | 'calculate-margin'
  | 'trade'

/** Why a call brought nothing that can be used. */
export type CallFault =
  | { readonly _tag: 'Unavailable'; readonly reason: string; readonly isWorthRetry: boolean }
  | { readonly _tag: 'RateLimited'; readonly retryAt: Instant }
  | { readonly _tag: 'UnknownToProvider' }

/** Carries a fault through the adapter's promises; it ends at `toBrokerReadError`. */
export class CallFailure extends Error {
  readonly fault: CallFault

  constructor(fault: CallFault) {
    super(fault._tag === 'Unavailable' ? fault.reason : fault._tag)
    this.name = 'CallFailure'
    this.fault = fault
  }
}

/** An answer other than 200, as far as it decides anything. */
export interface ErrorAnswer {
  readonly status: number
  readonly retryAfter: string | null
  /** The body as JSON; undefined when it is none. */
  readonly body: unknown
}

/** The provider's answer says nothing that can be used, and asking again at once would not change that. */
export const unusable = (route: ProviderRoute, why: string): CallFailure =>
  new CallFailure({ _tag: 'Unavailable', reason: `${route}: ${why}`, isWorthRetry: false })

/** No request was made, for want of something that is ours. */
export const nothingSent = (why: string): CallFailure =>
  new CallFailure({ _tag: 'Unavailable', reason: `nothing was sent: ${why}`, isWorthRetry: false })

/** No answer, or not all of it, within the time that was given. */
export const tooSlow = (route: ProviderRoute, deadlineMs: number): CallFailure => unusable(route, `no whole answer within ${deadlineMs} ms`)

/** The connection failed. Of the cause only its code (ECONNRESET) is told: a message may hold what was sent. */
export const disconnected = (route: ProviderRoute, cause: unknown): CallFailure =>
  new CallFailure({ _tag: 'Unavailable', reason: `${route}: no connection (${codeOf(cause)})`, isWorthRetry: true })

/**
 * Reads the failure table of the provider's statuses.
 * A 404 without the provider's JSON comes from something in between, and says nothing about the account. A 504 is the usual answer for an
 * account that is not connected; asking again at once would only use up credits, as after a 429.
 */
export const failureOfAnswer = (route: ProviderRoute, { status, retryAfter, body }: ErrorAnswer, now: Instant): CallFailure => {
  if (status === 429) return new CallFailure({ _tag: 'RateLimited', retryAt: retryAtOf(retryAfter, body, now) })
  if (status === 404 && isRecord(body) && route !== 'calculate-margin') return new CallFailure({ _tag: 'UnknownToProvider' })
  const isWorthRetry = status >= 500 && status !== 504
  return new CallFailure({ _tag: 'Unavailable', reason: `${route}: answered ${status}${errorNameOf(body)}`, isWorthRetry })
}

/** What the port's caller is told. Anything unforeseen is told as a broker that cannot be read, by its kind alone. */
export const toBrokerReadError =
  ({ accountId }: BrokerAccount, now: () => Instant) =>
  (cause: unknown): BrokerReadError => {
    if (!(cause instanceof CallFailure))
      return brokerUnavailable(accountId, `unforeseen ${cause instanceof Error ? cause.name : 'failure'}`)
    const { fault } = cause
    if (fault._tag === 'RateLimited') return brokerRateLimited(accountId, fault.retryAt, now())
    if (fault._tag === 'UnknownToProvider') return notProvisioned(accountId)
    return brokerUnavailable(accountId, fault.reason)
  }

const retryAtOf = (header: string | null, body: unknown, now: Instant): Instant => toldRetryAt(header, body, now) ?? now + 1_000

/**
 * When the provider asks to be asked again; undefined where it does not say. The header counts before the body; both may hold a date in the
 * format of HTTP or of ISO 8601.
 */
export const toldRetryAt = (header: string | null, body: unknown, now: Instant): Instant | undefined => {
  const seconds = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(header ?? '')?.[1]
  if (seconds !== undefined) return now + Number(seconds) * 1_000
  const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {}
  const times = [header, metadata['recommendedRetryTime']].map((text) => (typeof text === 'string' ? Date.parse(text) : Number.NaN))
  return times.find(Number.isFinite)
}

// The provider's class name of an error is short and plain; whatever else stands in its place is left out.
const errorNameOf = (body: unknown): string => {
  const name = isRecord(body) ? body['error'] : undefined
  return typeof name === 'string' && /^[A-Za-z]{1,40}$/.test(name) ? ` ${name}` : ''
}

/** The code of what failed, or of what made it fail: never its words, which may hold what was sent. */
export const codeOf = (cause: unknown): string => {
  for (let error = cause, depth = 0; error instanceof Error && depth < 4; error = error.cause, depth += 1) {
    if ('code' in error && typeof error.code === 'string' && /^[A-Z0-9_]{1,40}$/.test(error.code)) return error.code
  }
  return 'cause not told'
}

/** Whether JSON holds an object there. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
