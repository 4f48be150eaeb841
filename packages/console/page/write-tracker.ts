// Writes: each is sent with one Idempotency-Key, and stays in a list with its state. Where the
// answer is lost, the outcome is unknown until a read shows whether the write was done.
import { isTradeportError, newIdempotencyKey, sleep } from '@tradeport/client'
import { plural } from './format.ts'
import { limitConcurrency } from './one-at-a-time.ts'
import { sentenceOf } from './words.ts'

export interface Outcome {
  /** `partial`: the outcome differs from the request, for example only a part was closed. */
  readonly state: 'done' | 'partial' | 'not_done' | 'unknown'
  readonly text: string
}

/** What is kept of a write that is unresolved when the page is reloaded. */
export type UnresolvedWrite = Pick<Write, 'words' | 'positionToClose'>

/** A write as the list shows it. */
export interface SentWrite extends UnresolvedWrite {
  readonly id: number
  /** `waiting`: a close that is sent once fewer others are under way. */
  readonly state: 'waiting' | 'under_way' | Outcome['state']
  /** Describes the state. */
  readonly text: string
  /** Sends it again with the same key; only while its outcome is unknown and that is allowed. */
  readonly sendAgain?: (() => void) | undefined
}

export interface Write {
  /** Describes it where the user confirms it. */
  readonly words: string
  /** The id; absent where it closes no single position. */
  readonly positionToClose?: string | undefined
  readonly send: (idempotencyKey: string) => Promise<Outcome>
  /** Reads what it should have changed; undefined while that does not show its outcome. */
  readonly readOutcome?: (key: string, signal: AbortSignal) => Promise<Outcome | undefined>
  /** Whether the service carries it out at most once for each key. */
  readonly isIdempotent?: boolean
}

/** A write that is sent and followed until its outcome is known. */
interface TrackedWrite {
  readonly write: Write
  readonly key: string
  /**
   * Aborted once the write is dismissed or the user signs out. That ends reads, and closes that
   * wait for their turn. Requests already sent are not aborted: the service might still carry them
   * out.
   */
  readonly signal: AbortSignal
  readonly show: (changes: Partial<SentWrite>) => void
}

/** The result of one send. */
interface Attempt {
  readonly outcome: Outcome
  /** The time of `performance.now()` from which it may be sent again; infinite: never. */
  readonly mayResendAt: number
}

export const isUnresolved = ({ state }: SentWrite): boolean =>
  state === 'waiting' || state === 'under_way' || state === 'unknown'

/** What is left open when the user signs out, in sentences; empty where nothing is. */
export const unresolvedWords = (writes: readonly SentWrite[]): string => {
  const waiting = writes.filter(({ state }) => state === 'waiting').length
  const unknown = writes.filter(isUnresolved).length - waiting
  return [
    ...(waiting > 0
      ? [`${plural(waiting, 'close')} ${waiting === 1 ? 'was' : 'were'} not sent.`]
      : []),
    ...(unknown > 0
      ? [
          `The outcome of ${plural(unknown, 'write')} is not known: look at the orders and positions.`,
        ]
      : []),
  ].join(' ')
}

const [firstPauseMs, longestPauseMs] = [2_000, 30_000]
/** A browser has six connections to a host, and streams hold two. */
const maxCloses = 4

/** @param isRepeated an earlier send may have done it, so that a refusal proves nothing */
export const outcomeOfError = (error: unknown, isRepeated: boolean): Outcome => {
  const sentence = sentenceOf(error)
  if (!isTradeportError(error) || error.outcome === 'unknown')
    return { state: 'unknown', text: `It may have been done. ${sentence}` }
  return isRepeated
    ? { state: 'unknown', text: `It may have been done before. Sent again: ${sentence}` }
    : { state: 'not_done', text: sentence }
}

/** How long the service asks to wait before the next attempt. */
export const retryAfterMs = (error: unknown): number =>
  isTradeportError(error) && 'retryAfterSeconds' in error
    ? 1_000 * (error.retryAfterSeconds ?? 0)
    : 0

/** Undefined if the user sends it again, or `signal` is aborted, before the outcome is known. */
const readUntilKnown = async (
  { write: { readOutcome }, key, signal, show }: TrackedWrite,
  { outcome, mayResendAt }: Attempt,
): Promise<Outcome | undefined> => {
  const resend = new AbortController()
  const ends = AbortSignal.any([signal, resend.signal])
  for (let ms = firstPauseMs; outcome.state === 'unknown'; ms = Math.min(2 * ms, longestPauseMs)) {
    const untilResendMs = mayResendAt - performance.now()
    const mayResend = untilResendMs <= 0
    show({ ...outcome, sendAgain: mayResend ? () => resend.abort() : undefined })
    await sleep(mayResend ? ms : Math.min(ms, untilResendMs), ends)
    if (ends.aborted) return undefined
    try {
      const found = await readOutcome?.(key, ends)
      if (found === undefined) continue
      outcome = found
      mayResendAt = Infinity
    } catch (error) {
      // A failed read is tried again, unless the API key lacks the scope: every read would fail.
      if (!isTradeportError(error) || error.code !== 'INSUFFICIENT_SCOPE') continue
      readOutcome = undefined
      const text = `${outcome.text} The API key may not read whether it was done.`
      outcome = { ...outcome, text }
    }
  }
  return outcome
}

// Also of one that was waiting: a duplicated tab has this list too, and the other may have sent it.
const afterReload: Outcome = {
  state: 'unknown',
  text: 'The page was reloaded before its outcome was known: look at what you hold.',
}

/** @param unresolved shown until they are dismissed */
export const createWriteTracker = (unresolved: readonly UnresolvedWrite[] = []) => {
  let writes: readonly SentWrite[] = unresolved.map((write, at) => ({
    ...write,
    id: unresolved.length - at,
    ...afterReload,
  }))
  let lastId = unresolved.length
  const listeners = new Set<() => void>()
  const running = new Map<number, AbortController>()
  const limitCloses = limitConcurrency(maxCloses)
  const set = (next: readonly SentWrite[]): void => {
    writes = next
    for (const listener of listeners) listener()
  }

  const sendOnce = async (
    { write, key, signal, show }: TrackedWrite,
    isRepeated: boolean,
  ): Promise<Attempt> => {
    const send = (): Promise<Outcome> => {
      if (!isRepeated) show({ state: 'under_way', text: 'Under way.' })
      return write.send(key)
    }
    try {
      const isClose = write.positionToClose !== undefined
      const outcome = await (isClose ? limitCloses(send, signal) : send())
      return { outcome, mayResendAt: Infinity }
    } catch (error) {
      const outcome = outcomeOfError(error, isRepeated)
      // After BROKER_OUTCOME_UNKNOWN the same key only gets that answer again.
      const mayResend =
        write.isIdempotent === true &&
        isTradeportError(error) &&
        error.code !== 'BROKER_OUTCOME_UNKNOWN'
      const mayResendAt = mayResend ? performance.now() + retryAfterMs(error) : Infinity
      return { outcome, mayResendAt }
    }
  }

  /** Sends it, and again as often as the user wants, until the outcome is known. */
  const sendUntilKnown = async (tracked: TrackedWrite, onDone?: () => void): Promise<void> => {
    const { signal, show } = tracked
    for (let isRepeated = false; !signal.aborted; isRepeated = true) {
      const outcome = await readUntilKnown(tracked, await sendOnce(tracked, isRepeated))
      if (outcome === undefined) {
        show({ text: 'It may have been done. It is sent again.', sendAgain: undefined })
        continue
      }
      show({ ...outcome, sendAgain: undefined })
      if (outcome.state === 'done') onDone?.()
      return
    }
  }

  return {
    list: () => writes,
    run: (write: Write, onDone?: () => void): void => {
      const id = (lastId += 1)
      const controller = new AbortController()
      const { signal } = controller
      running.set(id, controller)
      const { words, positionToClose } = write
      set([
        { id, words, positionToClose, state: 'waiting', text: 'It was not sent yet.' },
        ...writes,
      ])
      const show: TrackedWrite['show'] = (changes) => {
        if (!signal.aborted)
          set(writes.map((one) => (one.id === id ? { ...one, ...changes } : one)))
      }
      const tracked = { write, key: newIdempotencyKey(), signal, show }
      void sendUntilKnown(tracked, onDone).finally(() => running.delete(id))
    },
    dismiss: (id: number): void => {
      running.get(id)?.abort()
      set(writes.filter((write) => write.id !== id))
    },
    /** Calls back after every change. Returns what ends that. */
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return (): void => void listeners.delete(listener)
    },
    stop: (): void => {
      for (const controller of running.values()) controller.abort()
    },
  }
}
