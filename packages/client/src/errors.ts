// What a method throws: one union, told apart by `code`. The service's refusals have its codes; the
// rest is what can become of a request on its way.
import { isKnownCode } from './error-details.ts'
import type { ErrorDetails, ServiceErrorCode } from './error-details.ts'
import type { Fault, NoAnswer, Refusal } from './faults.ts'
import { routes } from './routes.ts'
import type { Operation, RouteRow } from './routes.ts'

interface ErrorBase extends Error {
  readonly name: 'TradeportError'
  /** The method that was called. */
  readonly operation: Operation
  /** How often the request was sent. */
  readonly attempts: number
  /**
   * `unknown` where this call may have done its write although no reply says so: look before you
   * try again. Of a read always `not_done`.
   */
  readonly outcome: 'not_done' | 'unknown'
  /**
   * Of a POST: with the same key the same request is carried out once, however often it is sent.
   */
  readonly idempotencyKey: string | undefined
}

interface Refused extends ErrorBase {
  readonly status: number
  /** Tell support. */
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

/**
 * A refusal with a code that this version of the client does not know; `serviceCode` is that code.
 */
export interface UnknownCodeError extends Refused {
  readonly code: 'UNKNOWN_CODE'
  readonly serviceCode: string
  readonly details: unknown
}

/**
 * An answer that the service did not write: that of a proxy, of another server, or a redirect,
 * which is not followed.
 */
export interface UnreadableAnswerError extends ErrorBase {
  readonly code: 'UNREADABLE_ANSWER'
  readonly status: number
  /** How the answer begins. */
  readonly excerpt: string
}

/**
 * No answer: the connection failed, the time ran out (`timeoutMs`), or the caller's signal was
 * aborted. `cause` says more.
 */
export type NoAnswerError = {
  [Code in NoAnswer['code']]: ErrorBase & { readonly code: Code }
}[NoAnswer['code']]

export type TradeportError = ServiceError | UnknownCodeError | UnreadableAnswerError | NoAnswerError

const brand = Symbol.for('tradeport.error')

/** Whether what was caught was thrown by a method of the client. */
export const isTradeportError = (error: unknown): error is TradeportError =>
  error instanceof Error && brand in error

export interface Circumstances {
  readonly operation: Operation
  readonly idempotencyKey: string | undefined
  readonly timeoutMs: number
  readonly attempts: number
  readonly isUnknown: boolean
}

export const toError = (fault: Fault, circumstances: Circumstances): TradeportError => {
  const { operation, idempotencyKey, attempts, isUnknown } = circumstances
  const error = new Error(
    messageOf(fault, circumstances),
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
  // What is told of each code is what the fault of that code holds, which the compiler cannot
  // follow through the union.
  return Object.defineProperty(Object.assign(error, fields), brand, {
    value: true,
  }) as unknown as TradeportError
}

const fieldsOf = (fault: Fault): object => {
  switch (fault.kind) {
    case 'no-answer':
      return { code: fault.code }
    case 'unreadable':
      return { code: 'UNREADABLE_ANSWER', status: fault.status, excerpt: fault.excerpt }
    case 'refusal':
      return refusalFields(fault)
  }
}

const refusalFields = ({
  code,
  status,
  details,
  requestId,
  retryAfterSeconds,
}: Refusal): object => ({
  ...(isKnownCode(code) ? { code } : { code: 'UNKNOWN_CODE', serviceCode: code }),
  status,
  details,
  requestId,
  retryAfterSeconds,
})

const messageOf = (fault: Fault, circumstances: Circumstances): string => {
  // This refusal itself says what to do.
  const needsAdvice =
    circumstances.isUnknown &&
    !(fault.kind === 'refusal' && fault.code === 'BROKER_OUTCOME_UNKNOWN')
  return `${whatHappened(fault, circumstances)}${needsAdvice ? ` ${adviceFor(circumstances.operation)}` : ''}`
}

const adviceFor = (operation: Operation): string => {
  const { whenUnknown }: RouteRow = routes[operation]
  return (
    whenUnknown ??
    `It may have been done: call ${operation} again with the same arguments and the idempotencyKey of this error, which does it once at most.`
  )
}

const whatHappened = (fault: Fault, { operation, timeoutMs, attempts }: Circumstances): string => {
  const tries = `after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  if (fault.kind === 'refusal') return fault.message
  if (fault.kind === 'unreadable') {
    return `${operation} was answered with status ${fault.status} by something that is not the service (${tries}). Check baseUrl, and what stands between.`
  }
  if (fault.code === 'TIMED_OUT')
    return `${operation} got no answer within ${timeoutMs} ms (${tries}).`
  if (fault.code === 'ABORTED') return `${operation} was called off.`
  return `${operation} got no answer (${tries}): ${reasonOf(fault.cause)}. Check baseUrl and the network.`
}

// Node says "fetch failed" and keeps the reason beneath.
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? reasonOf(cause.cause) : cause.message || cause.name
}
