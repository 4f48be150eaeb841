// What can go wrong between us and the provider, and what a read may say of it. Pure: everything is
// decided from what was answered. Nothing here holds a token, a body or a provider's own words, so
// that all of it may be logged.
import { brokerRateLimited, brokerUnavailable, notProvisioned } from '@tradeport/domain/errors'
import { isRecord } from './payloads.ts'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerReadError, UnavailableCause } from '@tradeport/domain/errors'
import type { Instant } from '@tradeport/domain/primitives'

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
  | {
      readonly _tag: 'Unavailable'
      readonly reason: string
      readonly isWorthRetry?: boolean
      /**
       * The provider was reached and the account was not: other reads of it would fail in the same
       * way.
       */
      readonly isOfAccount?: boolean
      readonly cause?: UnavailableCause
    }
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
  /** Its Date header. */
  readonly date: string | null
  /** The body as JSON; undefined when it is none. */
  readonly body: unknown
}

/**
 * What is ours, or the account's, or the connection's is said by `more`; without it, asking again
 * at once would not change the answer.
 */
export const unavailable = (
  reason: string,
  more: Omit<Extract<CallFault, { _tag: 'Unavailable' }>, '_tag' | 'reason'> = {},
): CallFailure => new CallFailure({ _tag: 'Unavailable', reason, ...more })

/** No request was made, for want of something that is ours. */
export const nothingSent = (why: string): CallFailure => unavailable(`nothing was sent: ${why}`)

/**
 * Reads the failure table of the provider's statuses. A 404 without the provider's JSON comes from
 * something in between, and says nothing about the account. A 504 is the usual answer for an
 * account that is not connected; asking again at once would only use up credits, as after a 429.
 */
export const failureOfAnswer = (
  route: ProviderRoute,
  answer: ErrorAnswer,
  now: Instant,
): CallFailure => {
  const { status, body } = answer
  if (status === 429)
    return new CallFailure({ _tag: 'RateLimited', retryAt: now + limitedMsOf(answer, now) })
  if (status === 404 && isRecord(body) && route !== 'calculate-margin')
    return new CallFailure({ _tag: 'UnknownToProvider' })
  const isWorthRetry = status >= 500 && status !== 504
  return unavailable(`${route}: answered ${status}${errorNameOf(body)}`, {
    isWorthRetry,
    isOfAccount: status === 504,
    ...causeOf(answer),
  })
}

/**
 * A 401 in the provider's JSON refuses the token. Without it, it comes from something in between.
 */
export const causeOf = ({ status, body }: ErrorAnswer): { readonly cause?: UnavailableCause } =>
  status === 401 && isRecord(body) ? { cause: 'token_refused' } : {}

/**
 * The error of the port. Anything unforeseen becomes a broker that cannot be read, by its kind
 * alone.
 */
export const toBrokerReadError =
  ({ accountId }: BrokerAccount, now: () => Instant) =>
  (cause: unknown): BrokerReadError => {
    if (!(cause instanceof CallFailure))
      return brokerUnavailable(
        accountId,
        `unforeseen ${cause instanceof Error ? cause.name : 'failure'}`,
      )
    const { fault } = cause
    if (fault._tag === 'RateLimited') return brokerRateLimited(accountId, fault.retryAt, now())
    if (fault._tag === 'UnknownToProvider') return notProvisioned(accountId)
    return brokerUnavailable(accountId, fault.reason, fault.cause)
  }

/** How long to send nothing after a 429, a second where the provider does not say. */
export const limitedMsOf = (answer: ErrorAnswer, now: Instant): number =>
  retryAfterMsOf(answer, now) ?? 1_000

const timeOf = (text: unknown): number => (typeof text === 'string' ? Date.parse(text) : Number.NaN)

/**
 * How long the provider asks to wait, at least 0; undefined where it does not say. The header
 * counts before the body; both may hold a date in the format of HTTP or of ISO 8601, which is the
 * provider's clock's and is compared with the answer's own Date.
 */
export const retryAfterMsOf = (
  { retryAfter, date, body }: ErrorAnswer,
  now: Instant,
): number | undefined => {
  const seconds = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(retryAfter ?? '')?.[1]
  if (seconds !== undefined) return Math.ceil(Number(seconds) * 1_000)
  const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {}
  const retryAt = [retryAfter, metadata['recommendedRetryTime']].map(timeOf).find(Number.isFinite)
  const answeredAt = timeOf(date)
  return retryAt === undefined
    ? undefined
    : Math.max(0, Math.ceil(retryAt - (Number.isFinite(answeredAt) ? answeredAt : now)))
}

// The provider's class name of an error is short and plain; whatever else stands in its place is
// left out.
const errorNameOf = (body: unknown): string => {
  const name = isRecord(body) ? body['error'] : undefined
  return typeof name === 'string' && /^[A-Za-z]{1,40}$/.test(name) ? ` ${name}` : ''
}

/**
 * The code of what failed, or of what made it fail: never its words, which may hold what was sent.
 */
export const errorCodeOf = (cause: unknown): string => {
  for (
    let error = cause, depth = 0;
    error instanceof Error && depth < 4;
    error = error.cause, depth += 1
  ) {
    if ('code' in error && typeof error.code === 'string' && /^[A-Z0-9_]{1,40}$/.test(error.code))
      return error.code
  }
  return 'cause not told'
}
