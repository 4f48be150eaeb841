// What a method throws: one union by `code`, the service's codes and those of the client.
import { errorCodes, type DocumentedDetails } from './contract-tables.ts'
import type { Operation } from './contract-types.ts'

interface BrokenLimit {
  readonly limit: string
  readonly allowed: number | readonly string[]
  readonly current: number | string
}

/** Details of which the API's document says less. */
interface NarrowerDetails {
  readonly TRADER_LIMIT_BREACHED: BrokenLimit
  readonly DESK_LIMIT_BREACHED: BrokenLimit
  readonly RATE_LIMIT_EXCEEDED:
    | { readonly scope: 'tier'; readonly window: 'minute' | 'day' }
    | { readonly scope: 'endpoint' | 'suspension' | 'address' | 'bodies' | 'calculations' }
  /** Where what was sent may have been recorded, such as an order. */
  readonly SERVICE_UNAVAILABLE: { readonly outcome: 'unknown' } | undefined
  readonly HEADERS_TOO_LARGE: { readonly limitBytes: number; readonly limitHeaders: number }
}

/** The codes that this version knows. */
export type ServiceErrorCode = (typeof errorCodes)[number]
/** The details of each code of the service. */
export type ErrorDetails = {
  readonly [Code in ServiceErrorCode]: Code extends keyof NarrowerDetails
    ? NarrowerDetails[Code]
    : Code extends keyof DocumentedDetails
      ? DocumentedDetails[Code]
      : undefined
}

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

/** What every method throws: narrow it by `code`. */
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

export interface ErrorContext {
  readonly operation: Operation
  readonly attempts: number
  readonly timeoutMs: number
  readonly isUnknown?: boolean
  readonly idempotencyKey?: string | undefined
  /** What to do if the outcome is unknown. */
  readonly ifUnknown?: string | undefined
}

export const toError = (fault: Fault, context: ErrorContext): TradeportError => {
  const { operation, attempts, isUnknown = false, idempotencyKey, ifUnknown } = context
  const advice =
    ifUnknown ??
    `It may have been done: call ${operation} again within 24 hours with the same arguments and the idempotencyKey of this error, which does it at most once.`
  // This refusal says itself what to do.
  const needsAdvice =
    isUnknown && !(fault.kind === 'refusal' && fault.code === 'BROKER_OUTCOME_UNKNOWN')
  const error = new Error(
    `${messageOf(fault, context)}${needsAdvice ? ` ${advice}` : ''}`,
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
  const codes = (errorCodes as readonly string[]).includes(code)
    ? { code }
    : { code: 'UNKNOWN_CODE', serviceCode: code }
  return { ...codes, status, details: ofCode, requestId, retryAfterSeconds }
}

const messageOf = (fault: Fault, { operation, timeoutMs, attempts }: ErrorContext): string => {
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
