// What can go wrong between us and the provider. A `CallFault` holds no token, no body and none of
// the provider's own words, so that it may be logged.
import {
  brokerRateLimited,
  refuse,
  type BrokerReadError,
  type UnavailableCause,
} from '@tradeport/domain/errors'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { Instant } from '@tradeport/domain/primitives'
import { isRecord, readText, type Row } from './payloads.ts'

/**
 * What is paused after failures, by the provider's endpoint under the name that logs and metrics
 * use: the account, or its figures, its records or the list of symbols, or of one symbol its
 * margins, prices or past prices, because figures that are late, long records, a margin that takes
 * long or a symbol without a price do not mean that positions, or other symbols, cannot be read. Of
 * the last three a 404 may mean the account or the symbol.
 */
export const pauseGroups = {
  'account-region': 'account',
  'account-information': 'figures',
  positions: 'account',
  orders: 'account',
  trade: 'account',
  'history-orders': 'records',
  'history-deals': 'records',
  'calculate-margin': 'margins',
  symbols: 'prices',
  specification: 'prices',
  price: 'prices',
  candles: 'past prices',
  ticks: 'past prices',
} as const

export type ProviderRoute = keyof typeof pauseGroups

/** Why a call gave no usable response. Of a trade: why it was certainly not executed. */
export interface CallFault {
  /** `not_found`: the account, or what the request names. */
  readonly kind: 'unavailable' | 'rate_limited' | 'unknown_account' | 'not_found'
  readonly reason: string
  /** When to try again; always known of a rate limit. */
  readonly retryAt?: Instant | undefined
  readonly rateLimit?: RateLimit | undefined
  /** Whether the same request may succeed at once. */
  readonly isRetryable?: boolean
  /** The provider was reached and the account was not: its other reads would fail as well. */
  readonly pausesAccount?: boolean
  /** No complete response came in time. */
  readonly isLate?: boolean
  readonly cause?: UnavailableCause
  /** The provider never answers this request for the account. */
  readonly isUnsupported?: boolean
}

/** What a 429 limits of all that is sent with the token. */
export interface RateLimit {
  /** The account's requests alone. */
  readonly isOfAccount: boolean
  /** Requests of this kind alone: the provider named its method. */
  readonly isOfMethod: boolean
}

/** Carries a fault through the adapter's promises. */
export class CallFailure extends Error {
  readonly fault: CallFault

  constructor(fault: CallFault) {
    super(fault.reason)
    this.name = 'CallFailure'
    this.fault = fault
  }
}

export const unavailable = (
  reason: string,
  more: Omit<CallFault, 'kind' | 'reason'> = {},
): CallFailure => new CallFailure({ kind: 'unavailable', reason, ...more })

/** No request was made, because something of ours is missing. */
export const notSent = (why: string, cause?: UnavailableCause): CallFailure =>
  unavailable(`nothing was sent: ${why}`, cause && { cause })

export const rateLimited = (retryAt: Instant, rateLimit?: RateLimit): CallFailure =>
  new CallFailure({ kind: 'rate_limited', reason: 'rate limited', retryAt, rateLimit })

/** A response other than a read's 200, as far as it decides anything. */
export interface ErrorResponse {
  readonly status: number
  readonly retryAfter: string | null
  /** Its Date header. */
  readonly date: string | null
  /** The body as JSON; undefined if it is not JSON. */
  readonly body: unknown
}

/** Whether the provider itself wrote the error, which it names by a class, and not a proxy. */
export const isProviderError = (body: unknown): body is Row =>
  isRecord(body) && /^[A-Z][A-Za-z]*Error$/.test(readText(body['error']) ?? '')

/**
 * A 404 without the provider's JSON comes from a proxy, and says nothing about the account. A 504
 * is usual for an account that is not connected; an immediate retry would only use up credits, as
 * after a 429.
 */
export const failureOfResponse = (
  route: ProviderRoute,
  response: ErrorResponse,
  now: Instant,
): CallFailure => {
  const { status, body } = response
  if (status === 429) return rateLimited(retryAtOf(response, now), rateLimitOf(response))
  const reason = `${route}: answered ${status}${errorNameOf(body)}`
  if (status === 404 && isProviderError(body)) {
    const namesNoSymbol = ['account', 'figures', 'records'].includes(pauseGroups[route])
    const kind = namesNoSymbol ? 'unknown_account' : 'not_found'
    return new CallFailure({ kind, reason })
  }
  return unavailable(reason, {
    isRetryable: status >= 500 && status !== 504,
    pausesAccount: status === 504,
    ...(status === 401 && isProviderError(body) && { cause: 'token_refused' }),
    isUnsupported:
      status === 400 &&
      pauseGroups[route] === 'past prices' &&
      isProviderError(body) &&
      /not supported/i.test(String(body['message'])),
  })
}

/** The error of the port. Of an unexpected failure only the kind is kept. */
export const toBrokerReadError =
  ({ accountId }: Pick<BrokerAccount, 'accountId'>, now: () => Instant) =>
  (failure: unknown): BrokerReadError => {
    if (!(failure instanceof CallFailure))
      return refuse('BrokerUnavailable', {
        accountId,
        reason: `unexpected ${failure instanceof Error ? failure.name : 'failure'}`,
      })
    const { kind, reason, retryAt, cause, isUnsupported } = failure.fault
    if (kind === 'rate_limited') return brokerRateLimited(accountId, retryAt ?? now(), now())
    if (kind === 'unknown_account') return refuse('NotProvisioned', { accountId })
    return refuse('BrokerUnavailable', {
      accountId,
      reason,
      cause,
      ...(isUnsupported === true && { isUnsupported }),
    })
  }

const metadataOf = ({ body }: ErrorResponse): Row =>
  isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {}

/** Where a 429 does not say, everything of the token is limited. */
export const rateLimitOf = (response: ErrorResponse): RateLimit => {
  const { exceededConfig, method } = metadataOf(response)
  return { isOfAccount: exceededConfig === 'perAccount', isOfMethod: typeof method === 'string' }
}

/** When the provider accepts requests again after a 429: in a second or later. */
export const retryAtOf = (response: ErrorResponse, now: Instant): Instant =>
  Math.max(namedRetryAtOf(response, now) ?? now, now + 1_000)

/** The longest period of a published limit; a longer wait must be a mistake, and is ignored. */
const longestWaitMs = 6 * 3_600_000
/** Of what a proxy asks for, which knows nothing of the provider's limits. */
const longestProxyWaitMs = 60_000

/** In UTC where a time names no zone. */
const timeOf = (text: unknown): number =>
  typeof text === 'string' ? Date.parse(text.replace(/T[\d:.]+$/, '$&Z')) : Number.NaN

/**
 * When the provider asks to be asked again, never before `now`; undefined if it does not say. The
 * header has precedence over the body; both may hold a date in the format of HTTP or of ISO 8601,
 * which is by the provider's clock and is compared with the response's own Date.
 */
export const namedRetryAtOf = (response: ErrorResponse, now: Instant): Instant | undefined => {
  const { retryAfter, date } = response
  const seconds = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(retryAfter ?? '')?.[1]
  const answeredAt = timeOf(date) || now
  const waitMs = [
    Number(seconds) * 1_000,
    timeOf(retryAfter) - answeredAt,
    timeOf(metadataOf(response)['recommendedRetryTime']) - answeredAt,
  ].find((ms) => ms <= longestWaitMs)
  if (waitMs === undefined) return undefined
  const longestMs = isProviderError(response.body) ? longestWaitMs : longestProxyWaitMs
  return now + Math.min(Math.max(0, Math.ceil(waitMs)), longestMs)
}

// The provider's class name of an error is short and plain; anything else is left out.
const errorNameOf = (body: unknown): string => {
  const name = isRecord(body) ? body['error'] : undefined
  return typeof name === 'string' && /^[A-Za-z]{1,40}$/.test(name) ? ` ${name}` : ''
}

/** The code of an error or of its causes: never the message, which may hold what was sent. */
export const errorCodeOf = (cause: unknown): string => {
  for (let error = cause; error instanceof Error; error = error.cause)
    if ('code' in error && typeof error.code === 'string' && /^[A-Z0-9_]{1,40}$/.test(error.code))
      return error.code
  return 'unknown cause'
}
