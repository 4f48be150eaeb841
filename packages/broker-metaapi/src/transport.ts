// One request to the provider: bounded in time and in size, no redirect followed, at most one retry. Only reads come through here, so that
// asking twice does no harm.
import type { Clock } from '@tradeport/domain'
import { wait } from './deadline.ts'
import { CallFailure, disconnected, failureOfAnswer, unusable } from './failures.ts'
import type { CallFault, ProviderRoute } from './failures.ts'

export interface ProviderRequest {
  readonly route: ProviderRoute
  readonly url: URL
  /** Goes into the header `auth-token` and nowhere else. */
  readonly token: string
  /** Sent as JSON by POST; a GET where it is absent. */
  readonly body?: unknown
}

/** One request as it went, for metrics and the log. It holds no secret and no account. */
export interface ProviderCall {
  readonly route: ProviderRoute
  readonly outcome: 'ok' | 'rate_limited' | 'unknown_account' | 'unavailable'
  readonly durationMs: number
}

export interface TransportOptions {
  readonly clock: Clock
  /** Told of every request, a retry included. It must not throw. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined
}

/** Gives the body of a 200; rejects with a CallFailure for everything else. */
export type CallProvider = (request: ProviderRequest, signal: AbortSignal) => Promise<Uint8Array>

/** The longest answer that is read: a page of a thousand deals takes about 0.4 MiB. */
export const maxAnswerBytes = 16 * 1_024 * 1_024

const maxErrorBytes = 64 * 1_024
const retryPauseMs = 100

export const createTransport = ({ clock, onCall }: TransportOptions): CallProvider => {
  const attempt: CallProvider = async (request, signal) => {
    const startedAt = performance.now()
    const told = (outcome: ProviderCall['outcome']): void =>
      onCall?.({ route: request.route, outcome, durationMs: performance.now() - startedAt })
    try {
      const bytes = await exchange(request, signal, clock)
      told('ok')
      return bytes
    } catch (cause) {
      const failure = failureOf(request.route, cause, signal)
      told(outcomes[failure.fault._tag])
      throw failure
    }
  }

  return async (request, signal) => {
    try {
      return await attempt(request, signal)
    } catch (cause) {
      if (signal.aborted || !isWorthRetry(cause)) throw cause
      await wait(retryPauseMs, signal)
      return await attempt(request, signal)
    }
  }
}

const exchange = async ({ route, url, token, body }: ProviderRequest, signal: AbortSignal, clock: Clock): Promise<Uint8Array> => {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      'auth-token': token,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    // A redirect would carry the token to wherever it points.
    redirect: 'manual',
    signal,
  })
  if (response.status === 200) {
    const bytes = await readAtMost(response, maxAnswerBytes)
    if (bytes === undefined) throw unusable(route, `answered with more than ${maxAnswerBytes} bytes`)
    return bytes
  }
  const errorBytes = (await readAtMost(response, maxErrorBytes)) ?? new Uint8Array()
  const answer = { status: response.status, retryAfter: response.headers.get('retry-after'), body: parseJson(errorBytes) }
  throw failureOfAnswer(route, answer, clock.now())
}

/** The body, or undefined once it is longer than the limit; the rest of it is then not read. */
const readAtMost = async (response: Response, maxBytes: number): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

/** Reads JSON; undefined, which JSON cannot say, where there is none. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown
  } catch {
    return undefined
  }
}

const failureOf = (route: ProviderRoute, cause: unknown, signal: AbortSignal): CallFailure => {
  if (cause instanceof CallFailure) return cause
  // The deadline ends a request by its own reason.
  if (signal.reason instanceof CallFailure) return signal.reason
  return disconnected(route, cause)
}

const isWorthRetry = (cause: unknown): boolean =>
  cause instanceof CallFailure && cause.fault._tag === 'Unavailable' && cause.fault.isWorthRetry

const outcomes: Readonly<Record<CallFault['_tag'], ProviderCall['outcome']>> = {
  Unavailable: 'unavailable',
  RateLimited: 'rate_limited',
  UnknownToProvider: 'unknown_account',
}
