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
  /** Sends it again with the same key; only where its request may not have arrived. */
  readonly sendAgain?: (() => void) | undefined
}

export interface Write {
  /** What it does, as it is confirmed. */
  readonly words: string
  /** The id; absent where it closes no single position. */
  readonly positionToClose?: string | undefined
  readonly send: (idempotencyKey: string) => Promise<Outcome>
  /**
   * Reads what it has changed; undefined while that does not show its outcome.
   * @param isOnlyClose whether no other close of the position could explain what is read
   */
  readonly readOutcome?: (
    key: string,
    signal: AbortSignal,
    isOnlyClose: boolean,
  ) => Promise<Outcome | undefined>
  /** Whether the service carries it out once for its key. */
  readonly isIdempotent?: boolean
}

export type Sent = ReturnType<typeof createSent>

export const isOpen = ({ state }: SentWrite): boolean =>
  state === 'under_way' || state === 'unknown'

const [firstPauseMs, longestPauseMs] = [2_000, 30_000]
/** A browser has six connections to a host, and streams hold two. */
const maxCloses = 4

/** @param isRepeated an earlier attempt may have succeeded; a refusal of this one does not tell */
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

  /**
   * Runs until the outcome is known, the write is dismissed, or the reader signs out. That ends the
   * reads alone: the service might carry out a request of the write that was aborted.
   */
  const sendAndTrack = async (
    id: number,
    write: Write,
    signal: AbortSignal,
    onDone: (() => void) | undefined,
  ): Promise<void> => {
    const key = newIdempotencyKey()
    const { positionToClose } = write
    if (positionToClose !== undefined)
      closes.set(id, { position: positionToClose, lastWhenKnown: Infinity })
    const show = (changes: Partial<SentWrite>): void => {
      if (!signal.aborted) set(writes.map((one) => (one.id === id ? { ...one, ...changes } : one)))
    }
    for (let isRepeated = false; !signal.aborted; isRepeated = true) {
      const resend = new AbortController()
      const ends = AbortSignal.any([signal, resend.signal])
      let { readOutcome } = write
      let sendAgain: SentWrite['sendAgain']
      let outcome: Outcome
      try {
        outcome = await (positionToClose === undefined
          ? write.send(key)
          : closeInTurn(() => write.send(key)))
      } catch (error) {
        outcome = outcomeOfError(error, isRepeated)
        // That code the service has recorded, and would only repeat for the same key.
        const mayBeSentAgain = isTradeportError(error) && error.code !== 'BROKER_OUTCOME_UNKNOWN'
        if (mayBeSentAgain && write.isIdempotent === true) sendAgain = () => resend.abort()
      }
      for (let ms = firstPauseMs; !ends.aborted; ms = Math.min(2 * ms, longestPauseMs)) {
        const isKnown = outcome.state !== 'unknown'
        show({ ...outcome, sendAgain: isKnown ? undefined : sendAgain })
        if (outcome.state === 'done') onDone?.()
        if (outcome.state === 'not_done') closes.delete(id)
        else if (isKnown && positionToClose !== undefined)
          closes.set(id, { position: positionToClose, lastWhenKnown: count })
        if (isKnown) return
        await sleep(ms, ends)
        try {
          const isOnlyClose = [...closes].every(
            ([other, { position, lastWhenKnown }]) =>
              other === id || position !== positionToClose || lastWhenKnown < id,
          )
          const found = ends.aborted ? undefined : await readOutcome?.(key, ends, isOnlyClose)
          if (found === undefined) continue
          outcome = found
          sendAgain = undefined
        } catch (error) {
          // A read that failed is tried again later; without the scope every one would fail.
          if (!isTradeportError(error) || error.code !== 'INSUFFICIENT_SCOPE') continue
          readOutcome = undefined
          const text = `${outcome.text} This key may not read whether it was done.`
          outcome = { ...outcome, text }
        }
      }
      show({ text: 'It may have been done. It is sent again.', sendAgain: undefined })
    }
  }

  return {
    list: () => writes,
    run: (write: Write, onDone?: () => void): void => {
      count += 1
      const controller = new AbortController()
      running.set(count, controller)
      const { words, positionToClose } = write
      set([
        { id: count, words, positionToClose, state: 'under_way', text: 'Under way.' },
        ...writes,
      ])
      void sendAndTrack(count, write, controller.signal, onDone)
    },
    dismiss: (id: number): void => {
      running.get(id)?.abort()
      running.delete(id)
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
