// Reading from the service. When a read fails, the data of the last one that succeeded stay, with
// their time.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Area } from './access.ts'
import { serviceNow } from './format.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { useSession, type Session } from './session.ts'
import { sentenceOf } from './words.ts'

export interface Read<A> {
  /** Why the key may not read it. */
  readonly hidden?: string | undefined
  /** What was read last. */
  readonly data?: A | undefined
  /** When, as ISO 8601. */
  readonly readAt?: string | undefined
  /** Why the latest read failed; undefined when it succeeded. */
  readonly failure?: string | undefined
}

/** When to read again. */
export interface Again<A = unknown> {
  /** While the page is visible. */
  readonly everyMs?: number
  /** What was read is final: time changes it no more. */
  readonly until?: (data: A) => boolean
  /** Whenever this changes. */
  readonly on?: string | number
}

/** Reads something with the client of the session. */
export type Request<A> = (client: Session['client'], signal: AbortSignal) => Promise<A>

/** The outcome of a read. Merged over an earlier one, it keeps the old data if the read failed. */
export const settled = <A>(read: Promise<A>): Promise<Read<A>> =>
  read.then(
    (data) => ({ data, readAt: new Date(serviceNow()).toISOString(), failure: undefined }),
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
  { everyMs, until, on }: Again<NoInfer<A>> = {},
): Read<A> & { readonly refresh: () => void } => {
  const { client, whyHidden } = useSession()
  const hidden = whyHidden(...[areas].flat())
  const [{ key: readKey, ...state }, setState] = useState<Read<A> & { readonly key: string }>({
    key,
  })
  const latest = useRef(read)
  latest.current = hidden === undefined ? read : undefined
  const reading = useMemo(
    () =>
      oneAtATime(async (signal) => {
        const outcome = latest.current && (await settled(latest.current(client, signal)))
        if (outcome !== undefined && !signal.aborted)
          setState((last) => ({ ...(last.key === key && last), ...outcome, key }))
      }),
    [key],
  )
  useEffect(() => {
    reading.start()
    return reading.stop
  }, [reading])
  // A read is not ended by a change or by time: while they come faster, it would never be done.
  const seen = useRef(on)
  useEffect(() => {
    if (seen.current !== on) reading.startAfter()
    seen.current = on
  }, [reading, on])
  const shown: Read<A> = readKey === key ? state : {}
  const isFinal = shown.data !== undefined && until?.(shown.data) === true
  useInterval(reading.startUnlessRunning, isFinal ? undefined : everyMs)
  return { ...shown, hidden, refresh: reading.start }
}

/** The data of a reply, without its meta fields. */
export const dataOf = <A>({ data }: { readonly data: A }): A => data

/** How many computations over long histories the service runs at a time for one user. */
const maxComputing = 2
let computing = 0
const waiting: (() => void)[] = []

/** Makes a read wait until fewer than that many are running. */
export const inTurn =
  <A>(read: Request<A>): Request<A> =>
  async (client, signal) => {
    if (computing >= maxComputing) await new Promise<void>((resolve) => waiting.push(resolve))
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
const useIsVisible = (): boolean => {
  const [isVisible, setIsVisible] = useState(document.visibilityState === 'visible')
  useEffect(() => {
    const update = (): void => setIsVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}

/**
 * Follows a stream of what its key names, until it fails. It ends while the tab is hidden: a browser
 * has six connections to a host, and a key five streams, for all tabs.
 */
export const useStream = (area: Area, key: string, follow: Request<void>): void => {
  const { client, whyHidden } = useSession()
  const hidden = whyHidden(area)
  const isVisible = useIsVisible()
  useEffect(() => {
    if (hidden !== undefined || !isVisible) return undefined
    const controller = new AbortController()
    follow(client, controller.signal).catch(() => undefined)
    return () => controller.abort()
  }, [hidden, key, isVisible])
}
