// One read from the provider: within the token's limits, bounded in size, no redirect followed, at
// most one retry.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '@tradeport/domain/ports'
import type { AccountPauses, Attempt } from './account-pauses.ts'
import type { ClockSkew } from './clock-skew.ts'
import { CallFailure, errorCodeOf, failureOfAnswer, unavailable } from './failures.ts'
import { parseJson } from './payloads.ts'
import { urlOf } from './requests.ts'
import type { ReadRequest, Target } from './requests.ts'
import type { TokenGate } from './token-gate.ts'

export interface TransportOptions {
  readonly clock: Clock
  readonly gate: TokenGate
  /** Reads that failed because of their account. */
  readonly pauses: AccountPauses<CallFailure>
  readonly skew: ClockSkew
}

/** Gives the body of a 200; rejects with a CallFailure for everything else. */
export type CallProvider = (
  request: ReadRequest,
  target: Target,
  signal: AbortSignal,
) => Promise<Uint8Array>

/** The longest answer that is read: a page of a thousand deals takes about 0.4 MiB. */
const maxAnswerBytes = 16 * 1_024 * 1_024
const maxErrorBytes = 64 * 1_024
const retryPauseMs = 100

export const createTransport = ({ clock, gate, pauses, skew }: TransportOptions): CallProvider => {
  const exchange: CallProvider = async ({ route, path, body }, target, signal) => {
    const url = urlOf(target, path)
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
      if (bytes === undefined)
        throw unavailable(`${route}: answered with more than ${maxAnswerBytes} bytes`)
      return bytes
    }
    const errorBytes = (await readAtMost(response, maxErrorBytes)) ?? new Uint8Array()
    throw failureOfAnswer(
      route,
      { status, retryAfter: headers.get('retry-after'), date, body: parseJson(errorBytes) },
      clock.now(),
    )
  }

  const askInTurn = async (
    request: ReadRequest,
    target: Target,
    account: Attempt<CallFailure>,
    signal: AbortSignal,
  ): Promise<Uint8Array> => {
    const leave = await gate.enter(target, 'read', signal)
    try {
      const failure = account.failedMeanwhile()
      if (failure !== undefined) throw failure
      const bytes = await exchange(request, target, signal)
      gate.answered(target)
      account.succeeded()
      return bytes
    } catch (cause) {
      const failure = failureOf(request, cause, signal)
      const { fault } = failure
      if (fault._tag === 'RateLimited') gate.limit(target.token, fault.retryAt - clock.now())
      else if (fault._tag === 'UnknownToProvider' || fault.isOfAccount === true)
        account.failed(failure)
      throw failure
    } finally {
      leave()
    }
  }

  /** Throws what the account's last read failed with, while the account is left alone. */
  const begin = async ({ account }: Target, signal: AbortSignal): Promise<Attempt<CallFailure>> => {
    for (;;) {
      const admission = pauses.begin(account)
      if (admission.kind === 'go') return admission.attempt
      if (admission.trial === undefined) throw admission.failure
      await admission.trial
      signal.throwIfAborted()
    }
  }

  return async (request, target, signal) => {
    const account = await begin(target, signal)
    try {
      return await askInTurn(request, target, account, signal)
    } catch (cause) {
      if (signal.aborted || !isWorthRetry(cause)) throw cause
      await pause(retryPauseMs, undefined, { signal })
      return await askInTurn(request, target, account, signal)
    } finally {
      account.over()
    }
  }
}

/** The body, or undefined once it is longer than the limit; the rest of it is then not read. */
const readAtMost = async (
  response: Response,
  maxBytes: number,
): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

const failureOf = ({ route }: ReadRequest, cause: unknown, signal: AbortSignal): CallFailure => {
  if (cause instanceof CallFailure) return cause
  // The deadline ends a request by its own reason.
  if (signal.reason instanceof CallFailure) return signal.reason
  // Of the cause only its code (ECONNRESET) is kept: a message may hold what was sent.
  return unavailable(`${route}: no connection (${errorCodeOf(cause)})`, { isWorthRetry: true })
}

const isWorthRetry = (cause: unknown): boolean =>
  cause instanceof CallFailure &&
  cause.fault._tag === 'Unavailable' &&
  cause.fault.isWorthRetry === true
