// What a method throws: one union by `code`, the service's codes and those of the client.
import type { Operation } from './contract-types.ts'

interface OfAccount {
  readonly accountId: string
}
interface BrokenLimit {
  readonly limit: string
  readonly allowed: number | readonly string[]
  readonly current: number | string
}
interface OfStatus {
  readonly status: string
}

// The values are only types; the keys are the codes that this version knows.
const detailsByCode = {
  VALIDATION_ERROR: {} as {
    readonly issues: readonly { readonly path: string; readonly message: string }[]
  },
  UNAUTHORIZED: undefined,
  INSUFFICIENT_SCOPE: {} as { readonly required_any_of: readonly string[] },
  NOT_FOUND: undefined,
  ACCOUNT_NOT_FOUND: undefined,
  ACCOUNT_PURPOSE_RESTRICTED: undefined,
  LIVE_ACCOUNT_RESTRICTED: undefined,
  ACCOUNT_HALTED: {} as OfAccount & {
    readonly by: 'owner' | 'operator'
    readonly since: string
  },
  ORDER_TYPE_NOT_SUPPORTED: {} as { readonly orderType: string },
  ORDER_TYPE_NOT_SUPPORTED_BY_PLATFORM: {} as {
    readonly orderType: string
    readonly timeInForce: string
    readonly platform: string
  },
  UNSUPPORTED_BROKER: {} as OfAccount,
  NOT_PROVISIONED: {} as OfAccount,
  BROKER_UNAVAILABLE: {} as OfAccount,
  BROKER_RATE_LIMITED: {} as OfAccount,
  CHALLENGE_LOCKED: undefined,
  CHALLENGE_CHECK_UNAVAILABLE: undefined,
  TRADER_LIMIT_BREACHED: {} as BrokenLimit,
  DESK_LIMIT_BREACHED: {} as BrokenLimit,
  APPROVAL_REQUIRED: {} as { readonly approvalAboveLots: number },
  LIMIT_CHECK_UNAVAILABLE: undefined,
  RISK_LIMIT_EXCEEDED: {} as {
    readonly limit: 'volume_per_order' | 'orders_per_day' | 'open_orders'
    readonly allowed: number
    readonly current: number
    /** Only with `orders_per_day`. */
    readonly resetsAt?: string
  },
  ORDER_IN_FLIGHT: undefined,
  ORDER_NOT_MODIFIABLE: {} as OfStatus,
  ORDER_NOT_CANCELLABLE: {} as OfStatus,
  ACCOUNT_DISCONNECTED: {} as OfAccount & OfStatus,
  POSITION_NOT_FOUND: undefined,
  INVALID_PRICE: {} as {
    /** Of a position. */
    readonly currentPrice?: number
    /** Of a pending order. */
    readonly price?: number
  },
  INVALID_VOLUME: {} as { readonly volume: number; readonly openVolume: number },
  TRADE_REJECTED: {} as { readonly brokerCode: string; readonly brokerMessage: string },
  BROKER_OUTCOME_UNKNOWN: {} as OfAccount,
  NOT_IMPLEMENTED: {} as { readonly feature: string },
  SYMBOL_AMBIGUOUS: {} as { readonly symbol: string; readonly candidates: readonly string[] },
  NOT_AVAILABLE_ON_PLATFORM: {} as { readonly feature: string; readonly platform: string },
  TRADE_NOT_FOUND: undefined,
  HISTORY_TOO_LARGE: {} as OfAccount & { readonly limit: number },
  INVALID_CURSOR: undefined,
  EVENT_GONE: {} as { readonly resumeAfter: string; readonly oldest: string | null },
  STREAM_LIMIT_REACHED: {} as { readonly limit: number },
  RATE_LIMIT_EXCEEDED: {} as
    | { readonly scope: 'tier'; readonly window: 'minute' | 'day' }
    | { readonly scope: 'endpoint' | 'suspension' | 'address' | 'bodies' | 'calculations' },
  WEBHOOK_LIMIT_REACHED: {} as { readonly allowed: number },
  IDEMPOTENCY_KEY_REUSED: undefined,
  IDEMPOTENCY_IN_PROGRESS: undefined,
  PAYLOAD_TOO_LARGE: {} as { readonly limitBytes: number },
  INTERNAL_ERROR: undefined,
  /** With details where what was sent may have been recorded, such as an order. */
  SERVICE_UNAVAILABLE: {} as { readonly outcome: 'unknown' } | undefined,
  INTERNAL_TIMEOUT: undefined,
  HEADERS_TOO_LARGE: {} as { readonly limitBytes: number; readonly limitHeaders: number },
  REQUEST_TIMEOUT: undefined,
}

/** The details of each code of the service. */
export type ErrorDetails = typeof detailsByCode
export type ServiceErrorCode = keyof ErrorDetails

interface ErrorBase extends Error {
  readonly name: 'TradeportError'
  /** The method that was called; `streamEvents` and `streamQuotes` for `events` and `quotes`. */
  readonly operation: Operation
  /** How often the request was sent. */
  readonly attempts: number
  /**
   * `unknown` if this call may have done its write although no reply says so: check before you try
   * again. `not_done` for a read and a preview; `unknown` for what `settled` throws.
   */
  readonly outcome: 'not_done' | 'unknown'
  /** Of a POST: the service carries out the request once for this key. */
  readonly idempotencyKey: string | undefined
}

interface Refused extends ErrorBase {
  readonly status: number
  /** For support. */
  readonly requestId: string
  readonly retryAfterSeconds: number | undefined
}

/** A refusal of the service. */
export type ServiceError = {
  [Code in ServiceErrorCode]: Refused & {
    readonly code: Code
    readonly details: ErrorDetails[Code]
  }
}[ServiceErrorCode]

/** A refusal with a code that this version of the client does not know: `serviceCode`. */
export interface UnknownCodeError extends Refused {
  readonly code: 'UNKNOWN_CODE'
  readonly serviceCode: string
  readonly details: unknown
}

/** An answer of a proxy or another server, or a redirect, which is not followed. */
export interface UnreadableAnswerError extends ErrorBase {
  readonly code: 'UNREADABLE_ANSWER'
  readonly status: number
  /** The beginning of the answer. */
  readonly excerpt: string
  readonly retryAfterSeconds: number | undefined
}

/** The connection failed, `timeoutMs` passed, or the caller's signal was aborted; see `cause`. */
export type NoAnswerError = {
  [Code in NoAnswer['code']]: ErrorBase & { readonly code: Code }
}[NoAnswer['code']]

export type TradeportError = ServiceError | UnknownCodeError | UnreadableAnswerError | NoAnswerError

const brand = Symbol.for('tradeport.error')

/** Whether a method of the client threw this error. */
export const isTradeportError = (error: unknown): error is TradeportError =>
  error instanceof Error && brand in error

interface NoAnswer {
  readonly kind: 'no-answer'
  readonly code: 'NETWORK_FAILURE' | 'TIMED_OUT' | 'ABORTED'
  /** Replaces the sentence that belongs to the code. */
  readonly message?: string
  readonly cause: unknown
}

/** A request that failed. */
export type Fault =
  | NoAnswer
  | {
      readonly kind: 'unreadable'
      readonly status: number
      readonly excerpt: string
      readonly retryAfterSeconds: number | undefined
    }
  | {
      readonly kind: 'refusal'
      readonly status: number
      readonly code: string
      readonly message: string
      readonly details: unknown
      readonly requestId: string
      readonly retryAfterSeconds: number | undefined
      /** The answer to an earlier request with the same Idempotency-Key. */
      readonly isReplayed: boolean
    }

export interface Circumstances {
  readonly operation: Operation
  readonly attempts: number
  readonly timeoutMs: number
  readonly isUnknown?: boolean
  readonly idempotencyKey?: string | undefined
  /** What to do if the outcome is unknown. */
  readonly ifUnknown?: string | undefined
}

export const toError = (fault: Fault, circumstances: Circumstances): TradeportError => {
  const { operation, attempts, isUnknown = false, idempotencyKey, ifUnknown } = circumstances
  const advice =
    ifUnknown ??
    `It may have been done: call ${operation} again with the same arguments and the idempotencyKey of this error, which does it at most once.`
  // This refusal says itself what to do.
  const needsAdvice =
    isUnknown && !(fault.kind === 'refusal' && fault.code === 'BROKER_OUTCOME_UNKNOWN')
  const error = new Error(
    `${messageOf(fault, circumstances)}${needsAdvice ? ` ${advice}` : ''}`,
    fault.kind === 'no-answer' ? { cause: fault.cause } : undefined,
  )
  const fields = {
    name: 'TradeportError',
    ...fieldsOf(fault),
    operation,
    attempts,
    outcome: isUnknown ? 'unknown' : 'not_done',
    idempotencyKey,
  }
  Object.defineProperty(Object.assign(error, fields), brand, { value: true })
  return error as unknown as TradeportError
}

const fieldsOf = (fault: Fault): object => {
  if (fault.kind === 'no-answer') return { code: fault.code }
  const { status, retryAfterSeconds } = fault
  if (fault.kind === 'unreadable')
    return { code: 'UNREADABLE_ANSWER', status, excerpt: fault.excerpt, retryAfterSeconds }
  const { code, details: ofCode, requestId } = fault
  const codes = Object.hasOwn(detailsByCode, code)
    ? { code }
    : { code: 'UNKNOWN_CODE', serviceCode: code }
  return { ...codes, status, details: ofCode, requestId, retryAfterSeconds }
}

const messageOf = (fault: Fault, { operation, timeoutMs, attempts }: Circumstances): string => {
  const after = `after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  if (fault.kind === 'refusal') return fault.message
  if (fault.kind === 'unreadable')
    return `${operation} was answered with status ${fault.status} by something that is not the service (${after}). Check baseUrl and the proxies.`
  if (fault.message !== undefined) return fault.message
  if (fault.code === 'ABORTED') return `${operation} was aborted.`
  return fault.code === 'TIMED_OUT'
    ? `${operation} got no answer within ${timeoutMs} ms (${after}).`
    : `${operation} got no answer (${after}): ${reasonOf(fault.cause)}. Check baseUrl and the network.`
}

// Node's error says "fetch failed"; its cause has the reason.
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message || cause.name
}
