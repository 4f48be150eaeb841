// Sends one call: once, or again where that is safe. A write is never sent again on a guess.
import type { Operation, Reply } from './contract-types.ts'
import { toError, type Fault } from './errors.ts'
import { longestTimerMs, type Limits } from './options.ts'

export interface Call extends Limits {
  readonly operation: Operation
  readonly fetch: typeof globalThis.fetch
  readonly method: string
  /** Whether the request changes nothing. */
  readonly isRead: boolean
  readonly url: string
  /** The same bytes and the same Idempotency-Key in every attempt. */
  readonly body: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly signal: AbortSignal | undefined
  /** The response itself is returned, with its body unread. */
  readonly wantsResponse: boolean
  readonly ifUnknown: string | undefined
}

/** Throws a TradeportError. */
export const send = async (call: Call): Promise<Reply<unknown, unknown> | Response> => {
  const { signal, retry } = call
  const startedAt = performance.now()
  const startedOn = Date.now()
  // performance.now stands still while the machine is suspended.
  const wouldExceedDeadline = (ms: number): boolean =>
    Math.max(performance.now() - startedAt, Date.now() - startedOn) + ms > retry.withinMs
  let isUnknown = false
  let countedAttempts = 0
  for (let attempts = 0; ;) {
    if (signal?.aborted === true) {
      const fault = { kind: 'no-answer', code: 'ABORTED', cause: signal.reason } as const
      throw toError(fault, { ...call, attempts, isUnknown })
    }
    attempts++
    const answer = await sendOnce(call)
    if (!('kind' in answer)) return answer
    // Later answers that the first attempt is still in progress use up no attempt.
    if (attempts === 1 || !isInProgress(answer)) countedAttempts++
    // A refusal of a repetition says nothing about earlier attempts, unless it is the kept answer
    // to one of them.
    const isReplayed = answer.kind === 'refusal' && answer.isReplayed
    isUnknown = mayHaveTakenEffect(call, answer) || (isUnknown && !isReplayed)
    const waitMs = waitBeforeNext(answer, attempts)
    const isLast =
      countedAttempts >= retry.attempts ||
      !mayBeSentAgain(call, answer) ||
      wouldExceedDeadline(waitMs)
    if (!isLast) await sleep(waitMs, signal)
    if (isLast || wouldExceedDeadline(0)) throw toError(answer, { ...call, attempts, isUnknown })
  }
}

const sendOnce = async ({
  fetch,
  method,
  url,
  headers,
  body,
  signal,
  timeoutMs,
  wantsResponse,
}: Call): Promise<Reply<unknown, unknown> | Response | Fault> => {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // A redirect would send the API key elsewhere.
      redirect: 'manual',
      signal: anySignal(signal, timeout.signal),
    })
    if (!wantsResponse || !response.ok) return await readAnswer(response)
    return isFileOrStream(response) ? response : unreadable(response, await response.text())
  } catch (cause) {
    if (signal?.aborted === true)
      return { kind: 'no-answer', code: 'ABORTED', cause: signal.reason }
    const code = timeout.signal.aborted ? 'TIMED_OUT' : 'NETWORK_FAILURE'
    return { kind: 'no-answer', code, cause }
  } finally {
    clearTimeout(timer)
  }
}

/** Anything else is taken to come from a proxy, not from the service. */
const isFileOrStream = ({ headers, body }: Response): boolean =>
  body !== null &&
  (headers.has('Content-Disposition') ||
    headers.get('Content-Type')?.startsWith('text/event-stream') === true)

const unreadable = ({ status, headers }: Response, text: string): Fault => ({
  kind: 'unreadable',
  status,
  excerpt: text.slice(0, 200),
  retryAfterSeconds: retryAfter(headers),
})

const readAnswer = async (response: Response): Promise<Reply<unknown, unknown> | Fault> => {
  const { ok, status, headers } = response
  const text = await response.text()
  const { success, data, meta, error } = parseFields(text)
  if (ok && success === true && data !== undefined && isObject(meta)) return { data, meta, headers }
  const retryAfterSeconds = retryAfter(headers)
  if (!ok && isObject(error)) {
    const { code, message, details, request_id: id } = error
    const isReplayed = headers.get('Idempotent-Replayed') === 'true'
    const requestId = typeof id === 'string' ? id : (headers.get('X-Request-ID') ?? '')
    if (typeof code === 'string' && typeof message === 'string')
      return {
        kind: 'refusal',
        status,
        code,
        message,
        details,
        requestId,
        retryAfterSeconds,
        isReplayed,
      }
  }
  return unreadable(response, text)
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

const parseFields = (text: string): Fields => {
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

// Whole seconds, or a date of a proxy, which is compared with the answer's own date. JavaScript also
// takes texts such as `1.5` for a date.
const retryAfter = (headers: Headers): number | undefined => {
  const text = headers.get('Retry-After') ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  if (!text.endsWith('GMT')) return undefined
  const answeredAt = Date.parse(headers.get('Date') ?? '') || Date.now()
  const seconds = Math.ceil((Date.parse(text) - answeredAt) / 1_000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

// Refusals with status 503 and 504 that come before anything is done, unless their details say that
// the outcome is unknown.
const codesBeforeAnyEffect: readonly string[] = [
  'BROKER_UNAVAILABLE',
  'CHALLENGE_CHECK_UNAVAILABLE',
  'INTERNAL_TIMEOUT',
  'LIMIT_CHECK_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
]

const isInProgress = (fault: Fault): boolean =>
  fault.kind === 'refusal' && fault.code === 'IDEMPOTENCY_IN_PROGRESS'

/**
 * Whether the service may have done what the request asked for, unless its reply proves otherwise.
 */
const mayHaveTakenEffect = ({ isRead, operation }: Call, fault: Fault): boolean => {
  if (isRead) return false
  if (fault.kind !== 'refusal') return true
  // An earlier request with this key may be doing it now.
  if (isInProgress(fault)) return true
  const details = fault.details as Fields | null | undefined
  if (details?.['outcome'] === 'unknown') return true
  // Browsers and some proxies send a DELETE again by themselves where its answer is lost.
  if (fault.code === 'ORDER_NOT_CANCELLABLE')
    return details?.['status'] === 'cancelled' || details?.['status'] === 'partially_filled'
  if (fault.code === 'NOT_FOUND' && operation === 'deleteWebhook') return true
  return fault.status >= 500 && fault.status !== 501 && !codesBeforeAnyEffect.includes(fault.code)
}

// Waiting does not help with these, whatever their status.
const nonRetryableCodes: readonly string[] = ['ACCOUNT_DISCONNECTED', 'BROKER_OUTCOME_UNKNOWN']

const mayBeSentAgain = ({ isRead, method }: Call, fault: Fault): boolean => {
  if (fault.kind === 'refusal' && nonRetryableCodes.includes(fault.code)) return false
  if (isRead) return isTemporary(fault)
  // The service carries out a POST once for its key, so that the next answer shows the outcome.
  if (method === 'POST')
    return (
      isTemporary(fault) ||
      isInProgress(fault) ||
      (fault.kind === 'refusal' && fault.status === 500)
    )
  // Other writes: only after these two refusals, which come before anything is done.
  return (
    fault.kind === 'refusal' &&
    fault.status === 429 &&
    ['RATE_LIMIT_EXCEEDED', 'BROKER_RATE_LIMITED'].includes(fault.code) &&
    fault.retryAfterSeconds !== undefined
  )
}

const isTemporary = (fault: Fault): boolean => {
  if (fault.kind === 'no-answer') return fault.code !== 'ABORTED'
  // A request before the end of a limit counts towards a suspension.
  if (fault.status === 429) return fault.retryAfterSeconds !== undefined
  return [408, 502, 503, 504].includes(fault.status)
}

// Never earlier than Retry-After, and at random, so that many callers do not return at once.
const waitBeforeNext = (fault: Fault, attempts: number): number => {
  const retryAfterSeconds = fault.kind === 'no-answer' ? undefined : fault.retryAfterSeconds
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000 + Math.random() * 250
  return Math.min(8_000, 500 * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
}

/** What the caller's `accessToken` gives, within the time of one request. Throws a TradeportError. */
export const requestAccessToken = async (
  accessToken: () => string | Promise<string>,
  {
    operation,
    idempotencyKey,
    timeoutMs,
    signal,
  }: Pick<Call, 'operation' | 'idempotencyKey' | 'timeoutMs' | 'signal'>,
): Promise<string> => {
  const over = new AbortController()
  let isLate = false
  const untilLate = async (): Promise<never> => {
    await sleep(timeoutMs, anySignal(signal, over.signal))
    isLate = true
    throw signal?.reason ?? new Error(`no token within ${timeoutMs} ms`)
  }
  try {
    signal?.throwIfAborted()
    // Also one that throws at once ends here, so that nothing is left unhandled.
    return await Promise.race([untilLate(), (async () => accessToken())()])
  } catch (cause) {
    const isAborted = signal?.aborted === true
    const code = isAborted ? 'ABORTED' : isLate ? 'TIMED_OUT' : 'NETWORK_FAILURE'
    const message = `${operation} was not sent: accessToken() gave no token.`
    throw toError(
      { kind: 'no-answer', code, message, cause },
      { operation, idempotencyKey, timeoutMs, attempts: 0 },
    )
  } finally {
    over.abort()
  }
}

/** Aborted as soon as one of both is. */
export const anySignal = (signal: AbortSignal | undefined, other: AbortSignal): AbortSignal =>
  signal === undefined ? other : AbortSignal.any([signal, other])

/** Resolves also when it is aborted, and then at once. */
export const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(ms, longestTimerMs))
    signal?.addEventListener('abort', end)
    if (signal?.aborted === true) end()
  })
