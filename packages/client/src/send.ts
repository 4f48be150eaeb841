// Sends one call: once, or again where that is safe, until there is an answer or an end of trying.
import { readAnswer } from './answer.ts'
import type { Answer } from './answer.ts'
import { toError } from './errors.ts'
import type { TradeportError } from './errors.ts'
import { mayBeDone } from './faults.ts'
import type { Fault, NoAnswer } from './faults.ts'
import { waitBeforeNext } from './retry.ts'
import type { RetryPolicy } from './retry.ts'
import { routes } from './routes.ts'
import type { Operation, RouteRow } from './routes.ts'
import type { Runtime } from './runtime.ts'

export interface Call {
  readonly operation: Operation
  readonly url: string
  /** The same bytes and the same Idempotency-Key at every try. */
  readonly body: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly retry: RetryPolicy
}

/** Throws a TradeportError. */
export const send = async (runtime: Runtime, call: Call): Promise<Answer> => {
  const { sending }: RouteRow = routes[call.operation]
  const startedAt = runtime.now()
  let isUnknown = false
  for (let made = 1; ; made++) {
    const answer = await sendOnce(runtime, call)
    if (!isFault(answer)) return answer
    // What an earlier try left open stays so: a refusal of this one says nothing of that.
    isUnknown ||= mayBeDone(sending, answer)
    const tries = { made, elapsedMs: runtime.now() - startedAt }
    const waitMs = waitBeforeNext(sending, answer, tries, call.retry, runtime.random())
    if (waitMs === undefined) throw errorOf(call, answer, made, isUnknown)
    await runtime.sleep(waitMs, call.signal)
    const calledOff = calledOffBy(call.signal, false)
    if (calledOff !== undefined) throw errorOf(call, calledOff, made, isUnknown)
  }
}

const sendOnce = async (runtime: Runtime, call: Call): Promise<Answer | Fault> => {
  const { method, answers }: RouteRow = routes[call.operation]
  const { signal, timeoutMs } = call
  const calledOff = calledOffBy(signal, false)
  if (calledOff !== undefined) return calledOff
  const tooLong = new AbortController()
  const timer = setTimeout(() => tooLong.abort(), timeoutMs)
  try {
    const response = await runtime.fetch(call.url, {
      method,
      headers: call.headers,
      ...(call.body === undefined ? {} : { body: call.body }),
      // A redirect would take the API key to wherever it leads.
      redirect: 'manual',
      signal: signal === undefined ? tooLong.signal : AbortSignal.any([signal, tooLong.signal]),
    })
    return await readAnswer(response, answers)
  } catch (cause) {
    const noAnswer = calledOffBy(signal, true)
    return (
      noAnswer ?? {
        kind: 'no-answer',
        code: tooLong.signal.aborted ? 'TIMED_OUT' : 'NETWORK_FAILURE',
        isSent: true,
        cause,
      }
    )
  } finally {
    clearTimeout(timer)
  }
}

const isFault = (answer: Answer | Fault): answer is Fault =>
  answer.kind === 'refusal' || answer.kind === 'unreadable' || answer.kind === 'no-answer'

const calledOffBy = (signal: AbortSignal | undefined, isSent: boolean): NoAnswer | undefined =>
  signal?.aborted === true
    ? { kind: 'no-answer', code: 'ABORTED', isSent, cause: signal.reason }
    : undefined

const errorOf = (
  { operation, idempotencyKey, timeoutMs }: Call,
  fault: Fault,
  attempts: number,
  isUnknown: boolean,
): TradeportError => toError(fault, { operation, idempotencyKey, timeoutMs, attempts, isUnknown })
