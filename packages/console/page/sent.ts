// Writes: each is sent with one Idempotency-Key, and stays in a list with what is known of its
// outcome. Where the answer is lost, the outcome is unknown until a read shows whether it was done.
import { isTradeportError } from '@tradeport/client'
import { useEffect, useState } from 'preact/hooks'

export interface Outcome {
  readonly state: 'done' | 'refused' | 'unknown'
  readonly text: string
}

export interface SentWrite {
  readonly id: number
  /** What it does, as it was confirmed. */
  readonly words: string
  readonly state: 'under_way' | Outcome['state']
  /** What is known of it. */
  readonly text: string
  /** Sends it again with the same key; only where its request may not have arrived. */
  readonly askAgain?: (() => void) | undefined
}

export interface Write {
  readonly words: string
  readonly send: (
    /** The Idempotency-Key. */
    key: string,
    signal: AbortSignal,
    /** Shows what is known before there is an outcome. */
    note: (state: 'under_way' | 'unknown', text: string) => void,
  ) => Promise<Outcome>
  /** Reads what it has changed; undefined while that does not show its outcome. */
  readonly find?: ((key: string, signal: AbortSignal) => Promise<Outcome | undefined>) | undefined
  /** Whether the service carries it out once for its key. */
  readonly isOnceForKey: boolean
}

export interface Sent {
  readonly list: () => readonly SentWrite[]
  readonly run: (write: Write) => void
  readonly dismiss: (id: number) => void
  /** Calls back after every change. Returns what ends that. */
  readonly subscribe: (listener: () => void) => () => void
  readonly stop: () => void
}

const [firstPauseMs, longestPauseMs] = [2_000, 30_000]

const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Resolves also when it is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** @param sentenceOf an error as a sentence for a person */
export const createSent = (sentenceOf: (error: unknown) => string): Sent => {
  let writes: readonly SentWrite[] = []
  let count = 0
  const listeners = new Set<() => void>()
  const running = new Map<number, AbortController>()
  const set = (next: readonly SentWrite[]): void => {
    writes = next
    for (const listener of listeners) listener()
  }
  const update = (id: number, changes: Partial<SentWrite>): void =>
    set(writes.map((write) => (write.id === id ? { ...write, ...changes } : write)))

  const outcomeOfError = (error: unknown): Outcome =>
    isTradeportError(error) && error.outcome === 'not_done'
      ? { state: 'refused', text: sentenceOf(error) }
      : { state: 'unknown', text: `It may have been done. ${sentenceOf(error)}` }

  /** Runs until the outcome is known, the write is dismissed, or the reader signs out. */
  const follow = async (id: number, key: string, write: Write): Promise<void> => {
    running.get(id)?.abort()
    const controller = new AbortController()
    const { signal } = controller
    running.set(id, controller)
    update(id, { state: 'under_way', text: 'Under way.', askAgain: undefined })
    const note: Parameters<Write['send']>[2] = (state, text) => {
      if (!signal.aborted) update(id, { state, text })
    }
    let outcome: Outcome
    try {
      outcome = await write.send(key, signal, note)
    } catch (error) {
      if (signal.aborted) return
      outcome = outcomeOfError(error)
      // Where the service knows the request, the same key has the same answer.
      const isLost = isTradeportError(error) && error.code !== 'BROKER_OUTCOME_UNKNOWN'
      if (outcome.state === 'unknown' && isLost && write.isOnceForKey)
        update(id, { askAgain: () => void follow(id, key, write) })
    }
    for (let ms = firstPauseMs; !signal.aborted; ms = Math.min(2 * ms, longestPauseMs)) {
      update(id, outcome)
      if (outcome.state !== 'unknown') {
        update(id, { askAgain: undefined })
        break
      }
      if (write.find === undefined) return
      await pause(ms, signal)
      // What cannot be read shows nothing of it.
      const found = await write.find(key, signal).catch(() => undefined)
      if (found !== undefined) outcome = found
    }
    running.delete(id)
  }

  return {
    list: () => writes,
    run: (write) => {
      count += 1
      const id = count
      set([{ id, words: write.words, state: 'under_way', text: '' }, ...writes])
      void follow(id, newKey(), write)
    },
    dismiss: (id) => {
      running.get(id)?.abort()
      running.delete(id)
      set(writes.filter((write) => write.id !== id))
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop: () => {
      for (const controller of running.values()) controller.abort()
    },
  }
}

export const useSent = (sent: Sent): readonly SentWrite[] => {
  const [list, setList] = useState(sent.list())
  useEffect(() => sent.subscribe(() => setList(sent.list())), [sent])
  return list
}
