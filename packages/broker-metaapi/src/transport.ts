// One read from the provider: within the token's limits, bounded in size, no redirect followed, at
// most one retry.
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@tradeport/domain/ports'
import type { AccountPauses, Attempt } from './account-pauses.ts'
import type { ClockSkew } from './clock-skew.ts'
import {
  CallFailure,
  errorCodeOf,
  failureOfResponse,
  pauseGroups,
  unavailable,
} from './failures.ts'
import { parseBytes } from './payloads.ts'
import { pauseKey, urlOf, type ReadRequest, type Target } from './requests.ts'
import type { TokenGate } from './token-gate.ts'

export interface ReadSignals {
  readonly signal: AbortSignal
  /** Aborted before `signal`: what is not sent by then is not sent. */
  readonly startSignal: AbortSignal
}

/** The body of a 200; rejects with a CallFailure for every other outcome. */
export type CallProvider = (
  request: ReadRequest,
  target: Target,
  signals: ReadSignals,
) => Promise<Uint8Array>

/** A page of a thousand deals has about 0.4 MiB. */
const maxResponseBytes = 16 * 1_024 * 1_024
const maxErrorBytes = 64 * 1_024
const retryPauseMs = 100

export const createTransport = (
  clock: Clock,
  gate: TokenGate,
  { readPauses, symbolPauses }: Readonly<Record<'readPauses' | 'symbolPauses', AccountPauses>>,
  skew: ClockSkew,
): CallProvider => {
  const sendOnce = async (
    { route, path, body }: ReadRequest,
    target: Target,
    signal: AbortSignal,
  ): Promise<Uint8Array> => {
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
      const bytes = await readAtMost(response.body ?? [], maxResponseBytes)
      if (bytes === undefined)
        throw unavailable(`${route}: answered with more than ${maxResponseBytes} bytes`)
      return bytes
    }
    // The status decides even if the body breaks off.
    const errorBytes = await readAtMost(response.body ?? [], maxErrorBytes).catch(() => undefined)
    throw failureOfResponse(
      route,
      {
        status,
        retryAfter: headers.get('retry-after'),
        date,
        body: errorBytes && parseBytes(errorBytes),
      },
      clock.now(),
    )
  }

  const sendInTurn = async (
    request: ReadRequest,
    target: Target,
    attempt: Attempt,
    { signal, startSignal }: ReadSignals,
  ): Promise<Uint8Array> => {
    const kind = attempt.isProbe ? 'probe' : 'read'
    const gated = { ...target, route: request.route, kind } as const
    const leave = await gate.enter(gated, startSignal)
    try {
      const failedMeanwhile = attempt.failedMeanwhile()
      if (failedMeanwhile !== undefined) throw failedMeanwhile
      const bytes = await sendOnce(request, target, signal)
      gate.recordAnswer(target)
      attempt.succeeded()
      return bytes
    } catch (cause) {
      const failure = failureOf(request, cause, signal)
      const { kind, retryAt, rateLimit, pausesAccount, isLate } = failure.fault
      if (kind === 'rate_limited' && rateLimit !== undefined)
        gate.recordRateLimit(gated, (retryAt ?? 0) - clock.now(), rateLimit)
      else if (kind === 'unknown_account' || pausesAccount || isLate) attempt.failed(failure)
      throw failure
    } finally {
      leave()
    }
  }

  const beginAttempts = async (
    request: ReadRequest,
    target: Target,
    signal: AbortSignal,
  ): Promise<Attempt> => {
    const pauses = request.symbol === undefined ? readPauses : symbolPauses
    const groupAttempt = await beginAttempt(pauses, pauseKey(request, target), signal)
    if (pauseGroups[request.route] !== 'figures') return groupAttempt
    try {
      return combineAttempts(
        await beginAttempt(readPauses, target.accountKey, signal),
        groupAttempt,
      )
    } catch (cause) {
      groupAttempt.release()
      throw cause
    }
  }

  return async (request, target, signals) => {
    const { signal, startSignal } = signals
    const failure = readPauses.failureOf(target.accountKey)
    if (failure?.fault.kind === 'unknown_account') throw failure
    const attempt = await beginAttempts(request, target, signal)
    try {
      return await sendInTurn(request, target, attempt, signals)
    } catch (cause) {
      if (
        startSignal.aborted ||
        !(cause instanceof CallFailure && cause.fault.isRetryable === true)
      )
        throw cause
      await delay(retryPauseMs, undefined, { signal })
      return await sendInTurn(request, target, attempt, signals)
    } finally {
      attempt.release()
    }
  }
}

/** Rejects with the last failure during a pause; waits for a probe under way. */
const beginAttempt = async (
  pauses: AccountPauses,
  key: string,
  signal: AbortSignal,
): Promise<Attempt> => {
  for (;;) {
    const admission = pauses.begin(key)
    if (admission.kind === 'attempt') return admission
    if (admission.probe === undefined) throw admission.failure
    await admission.probe
    signal.throwIfAborted()
  }
}

/** Figures that are late pause themselves alone; another failure that pauses pauses the account. */
const combineAttempts = (account: Attempt, figures: Attempt): Attempt => ({
  kind: 'attempt',
  isProbe: account.isProbe || figures.isProbe,
  failedMeanwhile: () => account.failedMeanwhile() ?? figures.failedMeanwhile(),
  succeeded: () => {
    account.succeeded()
    figures.succeeded()
  },
  failed: (failure) => {
    const attempt = failure.fault.isLate === true ? figures : account
    attempt.failed(failure)
  },
  release: () => {
    account.release()
    figures.release()
  },
})

/** The body; undefined if it is longer than the limit, and the rest of it is not read. */
export const readAtMost = async (
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  maxBytes: number,
): Promise<Buffer | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
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
  return unavailable(`${route}: no connection (${errorCodeOf(cause)})`, { isRetryable: true })
}
