// Reading from the service: what was read last stays shown, with its time, while a newer read fails.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { sentenceOf, whyHidden, type Session } from './session.ts'

export interface Read<A> {
  /** What was read last. */
  readonly data?: A
  /** When, in epoch milliseconds. */
  readonly readAt?: number
  /** Why the latest read failed; undefined when it succeeded. */
  readonly failure?: string | undefined
  readonly isReading: boolean
}

/**
 * Reads when the key changes and when `refresh` is called; undefined reads nothing.
 * @param key names what is read: with another key nothing of the last one is shown
 */
export const useRead = <A>(
  key: string,
  read: ((signal: AbortSignal) => Promise<A>) | undefined,
): Read<A> & { readonly refresh: () => void } => {
  const [state, setState] = useState<Read<A> & { readonly key: string }>({ key, isReading: true })
  const latest = useRef(read)
  latest.current = read
  const running = useRef<AbortController | undefined>(undefined)
  const refresh = useCallback((): void => {
    const readNow = latest.current
    if (readNow === undefined) return
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setState((last) => ({ ...(last.key === key ? last : { key }), isReading: true }))
    const run = async (): Promise<void> => {
      try {
        const data = await readNow(controller.signal)
        if (!controller.signal.aborted)
          setState({ key, data, readAt: Date.now(), isReading: false })
      } catch (error) {
        if (!controller.signal.aborted)
          setState((last) => ({
            ...(last.key === key ? last : { key }),
            failure: sentenceOf(error),
            isReading: false,
          }))
      }
    }
    void run()
  }, [key])
  useEffect(() => {
    refresh()
    return () => running.current?.abort()
  }, [refresh])
  return { ...(state.key === key ? state : { isReading: true }), refresh }
}

/** The service computes as many things of long histories at a time for a user, and refuses more. */
const mostComputing = 2
let computing = 0
const waiting: (() => void)[] = []

/** A read that waits until few others of its kind are under way. */
export const inTurn =
  <A>(read: (signal: AbortSignal) => Promise<A>) =>
  async (signal: AbortSignal): Promise<A> => {
    if (computing >= mostComputing) await new Promise<void>((resolve) => waiting.push(resolve))
    else computing += 1
    try {
      signal.throwIfAborted()
      return await read(signal)
    } finally {
      // Whoever waits longest goes on in its place.
      const next = waiting.shift()
      if (next === undefined) computing -= 1
      else next()
    }
  }

/**
 * The linked accounts; nothing is read where the key may not.
 * @param isWanted whether the page needs them
 */
export const useAccounts = ({ client, me }: Session, isWanted = true) =>
  useRead(
    'accounts',
    isWanted && whyHidden(me, 'accounts') === undefined
      ? async (signal) => (await client.listAccounts({ signal })).data
      : undefined,
  )

/** Calls again and again while the page is visible. */
export const useInterval = (act: () => void, everyMs: number): void => {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}

/** Whether the reader sees the tab. */
export const useIsVisible = (): boolean => {
  const [isVisible, setIsVisible] = useState(document.visibilityState === 'visible')
  useEffect(() => {
    const update = (): void => setIsVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}
