// Reading from the service. When a read fails, the data of the last one that succeeded stay, with
// their time.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Area } from './access.ts'
import { useSession, type Session } from './session.ts'
import { sentenceOf } from './words.ts'

export interface Read<A> {
  /** Why the key may not read it. */
  readonly hidden?: string | undefined
  /** What was read last. */
  readonly data?: A
  /** When, as ISO 8601. */
  readonly readAt?: string
  /** Why the latest read failed; undefined when it succeeded. */
  readonly failure?: string | undefined
}

/** When to read again. */
export interface Again {
  /** While the page is visible. */
  readonly everyMs?: number
  /** Whenever this changes. */
  readonly on?: string | number
}

/** Reads something with the client of the session. */
export type Request<A> = (client: Session['client'], signal: AbortSignal) => Promise<A>

/** The outcome of a read. Merged over an earlier one, it keeps the old data if the read failed. */
export const settled = <A>(read: Promise<A>): Promise<Read<A>> =>
  read.then(
    (data) => ({ data, readAt: new Date().toISOString(), failure: undefined }),
    (error: unknown) => ({ failure: sentenceOf(error) }),
  )

/**
 * Reads when the key changes, when `refresh` is called, and as `again` says.
 * @param areas what the key must be able to see; otherwise nothing is read
 * @param key names what is read. When it changes, nothing of the earlier read is shown
 * @param read undefined: not yet
 */
export const useRead = <A>(
  areas: Area | readonly Area[],
  key: string,
  read: Request<A> | undefined,
  { everyMs, on }: Again = {},
): Read<A> & { readonly refresh: () => void } => {
  const { client, whyHidden } = useSession()
  const hidden = whyHidden(...[areas].flat())
  const [{ key: readKey, ...state }, setState] = useState<Read<A> & { readonly key: string }>({
    key,
  })
  const latest = useRef(read)
  latest.current = hidden === undefined ? read : undefined
  const running = useRef<AbortController | undefined>(undefined)
  const refresh = useCallback((): void => {
    if (latest.current === undefined) return
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    void settled(latest.current(client, controller.signal)).then((outcome) => {
      if (running.current === controller) running.current = undefined
      return (
        controller.signal.aborted ||
        setState((last) => ({ ...(last.key === key && last), ...outcome, key }))
      )
    })
  }, [key])
  useEffect(() => {
    refresh()
    return () => running.current?.abort()
  }, [refresh, on])
  // A read that takes longer than that is not begun again, as it would never end.
  useInterval(() => running.current ?? refresh(), everyMs)
  return { ...(readKey === key && state), hidden, refresh }
}

/** The data of a reply, without its meta fields. */
export const dataOf = <A>({ data }: { readonly data: A }): A => data

/** How many computations over long histories the service runs at a time for one user. */
const mostComputing = 2
let computing = 0
const waiting: (() => void)[] = []

/** Makes a read wait until fewer than that many are running. */
export const inTurn =
  <A>(read: Request<A>): Request<A> =>
  async (client, signal) => {
    if (computing >= mostComputing) await new Promise<void>((resolve) => waiting.push(resolve))
    else computing += 1
    try {
      signal.throwIfAborted()
      return await read(client, signal)
    } finally {
      // The read that has waited longest takes its place.
      const next = waiting.shift()
      if (next === undefined) computing -= 1
      else next()
    }
  }

/** The linked accounts. */
export const useAccounts = (again?: Again) =>
  useRead(
    'accounts',
    'accounts',
    (client, signal) => client.listAccounts({ signal }).then(dataOf),
    again,
  )

/** Calls again and again while the page is visible; never without a time. */
export const useInterval = (act: () => void, everyMs: number | undefined): void => {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (everyMs === undefined) return undefined
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
