// One read from the provider: within the token's limits, bounded in time and in size, no redirect followed, at most one retry.
import type { Clock } from '@tradeport/domain'
import type { AccountPauses, Attempt } from './account-pauses.ts'
import type { ClockSkew } from './clock-skew.ts'
import { wait } from './deadline.ts'
import { CallFailure, disconnected, failureOfAnswer, unusable } from './failures.ts'
import type { CallFault, ProviderRoute } from './failures.ts'
import type { TokenGate } from './token-gate.ts'

/** Where an account is asked about, and with whose token. */
export interface Target {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly providerAccountId: string
  /** Goes into the header `auth-token` and nowhere else. */
  readonly token: string
  /** The tenant and its account at the provider, as the key of what is remembered of the account. */
  readonly account: string
}

export interface ProviderRequest {
  readonly route: ProviderRoute
  readonly url: URL
  readonly target: Target
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
  readonly gate: TokenGate
  /** Reads that failed because of their account. */
  readonly pauses: AccountPauses<CallFailure>
  readonly skew: ClockSkew
  /** Receives every request, a retry included. It must not throw. */
  readonly onCall?: ((call: ProviderCall) => void) | undefined
}

/** Gives the body of a 200; rejects with a CallFailure for everything else. */
export type CallProvider = (request: ProviderRequest, signal: AbortSignal) => Promise<Uint8Array>

/** The longest answer that is read: a page of a thousand deals takes about 0.4 MiB. */
export const maxAnswerBytes = 16 * 1_024 * 1_024

const maxErrorBytes = 64 * 1_024
const retryPauseMs = 100

export const createTransport = ({ clock, gate, pauses, skew, onCall }: TransportOptions): CallProvider => {
  const exchange = async ({ route, url, target, body }: ProviderRequest, signal: AbortSignal): Promise<Uint8Array> => {
    const askedAt = clock.now()
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'auth-token': target.token,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      // A redirect would carry the token to wherever it points.
      redirect: 'manual',
      signal,
    })
    const { status, headers } = response
    const date = headers.get('date')
    skew.observe(date, askedAt, clock.now())
    if (status === 200) {
      const bytes = await readAtMost(response, maxAnswerBytes)
      if (bytes === undefined) throw unusable(route, `answered with more than ${maxAnswerBytes} bytes`)
      return bytes
    }
    const errorBytes = (await readAtMost(response, maxErrorBytes)) ?? new Uint8Array()
    throw failureOfAnswer(route, { status, retryAfter: headers.get('retry-after'), date, body: parseJson(errorBytes) }, clock.now())
  }

  const attempt: CallProvider = async (request, signal) => {
    const startedAt = performance.now()
    const report = (outcome: ProviderCall['outcome']): void =>
      onCall?.({ route: request.route, outcome, durationMs: performance.now() - startedAt })
    try {
      const bytes = await exchange(request, signal)
      report('ok')
      gate.answered(request.target)
      return bytes
    } catch (cause) {
      const failure = failureOf(request.route, cause, signal)
      const { fault } = failure
      report(outcomes[fault._tag])
      if (fault._tag === 'RateLimited') gate.limit(request.target.token, fault.retryAt - clock.now())
      throw failure
    }
  }

  type AskInTurn = (request: ProviderRequest, account: Attempt<CallFailure>, signal: AbortSignal) => Promise<Uint8Array>

  const askInTurn: AskInTurn = async (request, account, signal) => {
    const leave = await gate.enter(request.target, 'read', signal)
    try {
      const failure = account.failedMeanwhile()
      if (failure !== undefined) throw failure
      const bytes = await attempt(request, signal)
      account.succeeded()
      return bytes
    } catch (cause) {
      if (cause instanceof CallFailure && isOfAccount(cause.fault)) account.failed(cause)
      throw cause
    } finally {
      leave()
    }
  }

  const askTwice: AskInTurn = async (request, account, signal) => {
    try {
      return await askInTurn(request, account, signal)
    } catch (cause) {
      if (signal.aborted || !isWorthRetry(cause)) throw cause
      await wait(retryPauseMs, signal)
      return await askInTurn(request, account, signal)
    }
  }

  /** Throws what the account's last read failed with, while the account is left alone. */
  const begin = async ({ account }: Target, signal: AbortSignal): Promise<Attempt<CallFailure>> => {
    for (;;) {
      const admission = pauses.begin(account)
      if (admission.kind === 'go') return admission.attempt
      if (admission.trial === undefined) throw admission.failure
      await admission.trial
      if (signal.aborted) throw signal.reason
    }
  }

  return async (request, signal) => {
    const account = await begin(request.target, signal)
    try {
      return await askTwice(request, account, signal)
    } finally {
      account.over()
    }
  }
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

const isOfAccount = (fault: CallFault): boolean =>
  fault._tag === 'UnknownToProvider' || (fault._tag === 'Unavailable' && fault.isOfAccount === true)

const isWorthRetry = (cause: unknown): boolean =>
  cause instanceof CallFailure && cause.fault._tag === 'Unavailable' && cause.fault.isWorthRetry

const outcomes: Readonly<Record<CallFault['_tag'], ProviderCall['outcome']>> = {
  Unavailable: 'unavailable',
  RateLimited: 'rate_limited',
  UnknownToProvider: 'unknown_account',
}
