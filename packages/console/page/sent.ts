// Writes: each is sent with one Idempotency-Key, and stays in a list with what is known of its
// outcome. Where the answer is lost, the outcome is unknown until a read shows whether it was done.
import { isTradeportError, newIdempotencyKey, sleep } from '@tradeport/client'
import { atMost } from './one-at-a-time.ts'
import { sentenceOf } from './words.ts'

export interface Outcome {
  /** `partial`: the outcome differs from the request, for example only a part was closed. */
  readonly state: 'done' | 'partial' | 'not_done' | 'unknown'
  readonly text: string
}

export interface SentWrite extends Pick<Write, 'words' | 'positionToClose'> {
  readonly id: number
  readonly state: 'under_way' | Outcome['state']
  /** What is known of it. */
  readonly text: string
  /** Sends it again with the same key; only while its outcome is unknown and that could help. */
  readonly sendAgain?: (() => void) | undefined
}

export interface Write {
  /** What it does, as it is confirmed. */
  readonly words: string
  /** The id; absent where it closes no single position. */
  readonly positionToClose?: string | undefined
  readonly send: (idempotencyKey: string) => Promise<Outcome>
  /**
   * Reads what it should have changed; undefined while that does not show its outcome.
   * @param isOnlyClose whether no other close of the position could explain what is read
   */
  readonly readOutcome?: (
    key: string,
    signal: AbortSignal,
    isOnlyClose: boolean,
  ) => Promise<Outcome | undefined>
  /** Whether the service carries it out once at most for its key. */
  readonly isIdempotent?: boolean
}

/** A write that is sent and followed until its outcome is known. */
interface Following {
  readonly id: number
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

/** What is known once a write was sent. */
interface Attempt {
  readonly outcome: Outcome
  /** The time of `performance.now()` from which it may be sent again; infinite: never. */
  readonly mayResendAt: number
}

export type Sent = ReturnType<typeof createSent>

export const isOpen = ({ state }: SentWrite): boolean =>
  state === 'under_way' || state === 'unknown'

const [firstPauseMs, longestPauseMs] = [2_000, 30_000]
/** A browser has six connections to a host, and streams hold two. */
const maxCloses = 4

/** @param isRepeated an earlier attempt may have done it: a refusal of this one proves nothing */
export const outcomeOfError = (error: unknown, isRepeated: boolean): Outcome => {
  const sentence = sentenceOf(error)
  if (!isTradeportError(error) || error.outcome === 'unknown')
    return { state: 'unknown', text: `It may have been done. ${sentence}` }
  return isRepeated
    ? { state: 'unknown', text: `It may have been done before. Sent again: ${sentence}` }
    : { state: 'not_done', text: sentence }
}

export const createSent = () => {
  let writes: readonly SentWrite[] = []
  let count = 0
  const listeners = new Set<() => void>()
  const running = new Map<number, AbortController>()
  const closeInTurn = atMost(maxCloses)
  /**
   * Every close that was not refused, also after it was dismissed. `lastWhenKnown` is the id of the
   * newest write when its outcome became known; infinite until then.
   */
  const closes = new Map<number, { readonly position: string; readonly lastWhenKnown: number }>()
  const set = (next: readonly SentWrite[]): void => {
    writes = next
    for (const listener of listeners) listener()
  }

  const sendOnce = async (
    { write, key, signal }: Following,
    isRepeated: boolean,
  ): Promise<Attempt> => {
    try {
      const outcome = await (write.positionToClose === undefined
        ? write.send(key)
        : closeInTurn(() => write.send(key), signal))
      return { outcome, mayResendAt: Infinity }
    } catch (error) {
      const outcome = outcomeOfError(error, isRepeated)
      // The service keeps BROKER_OUTCOME_UNKNOWN as the answer for this key, and would repeat it.
      if (
        write.isIdempotent !== true ||
        !isTradeportError(error) ||
        error.code === 'BROKER_OUTCOME_UNKNOWN'
      )
        return { outcome, mayResendAt: Infinity }
      const seconds = 'retryAfterSeconds' in error ? (error.retryAfterSeconds ?? 0) : 0
      return { outcome, mayResendAt: performance.now() + 1_000 * seconds }
    }
  }

  /** Undefined where the user sends it again, or `signal` is aborted, before it is known. */
  const readUntilKnown = async (
    { id, write: { positionToClose, readOutcome }, key, signal, show }: Following,
    { outcome, mayResendAt }: Attempt,
  ): Promise<Outcome | undefined> => {
    const resend = new AbortController()
    const ends = AbortSignal.any([signal, resend.signal])
    for (
      let ms = firstPauseMs;
      outcome.state === 'unknown';
      ms = Math.min(2 * ms, longestPauseMs)
    ) {
      const mayResend = performance.now() >= mayResendAt
      show({ ...outcome, sendAgain: mayResend ? () => resend.abort() : undefined })
      await sleep(ms, ends)
      if (ends.aborted) return undefined
      const isOnlyClose = [...closes].every(
        ([other, { position, lastWhenKnown }]) =>
          other === id || position !== positionToClose || lastWhenKnown < id,
      )
      try {
        const found = await readOutcome?.(key, ends, isOnlyClose)
        if (found === undefined) continue
        outcome = found
        mayResendAt = Infinity
      } catch (error) {
        // A read that failed is tried again, except without the scope: every one would fail.
        if (!isTradeportError(error) || error.code !== 'INSUFFICIENT_SCOPE') continue
        readOutcome = undefined
        const text = `${outcome.text} This key may not read whether it was done.`
        outcome = { ...outcome, text }
      }
    }
    return ends.aborted ? undefined : outcome
  }

  /** Sends it, and again as often as the user wants, until the outcome is known. */
  const sendUntilKnown = async (following: Following, onDone?: () => void): Promise<void> => {
    const { id, write, signal, show } = following
    const { positionToClose: position } = write
    if (position !== undefined) closes.set(id, { position, lastWhenKnown: Infinity })
    for (let isRepeated = false; !signal.aborted; isRepeated = true) {
      const outcome = await readUntilKnown(following, await sendOnce(following, isRepeated))
      if (outcome === undefined) {
        show({ text: 'It may have been done. It is sent again.', sendAgain: undefined })
        continue
      }
      show({ ...outcome, sendAgain: undefined })
      if (outcome.state === 'done') onDone?.()
      if (outcome.state === 'not_done') closes.delete(id)
      else if (position !== undefined) closes.set(id, { position, lastWhenKnown: count })
      return
    }
  }

  return {
    list: () => writes,
    run: (write: Write, onDone?: () => void): void => {
      const id = (count += 1)
      const controller = new AbortController()
      const { signal } = controller
      running.set(id, controller)
      const { words, positionToClose } = write
      set([{ id, words, positionToClose, state: 'under_way', text: 'Under way.' }, ...writes])
      const show: Following['show'] = (changes) => {
        if (!signal.aborted)
          set(writes.map((one) => (one.id === id ? { ...one, ...changes } : one)))
      }
      const following = { id, write, key: newIdempotencyKey(), signal, show }
      void sendUntilKnown(following, onDone).finally(() => running.delete(id))
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
