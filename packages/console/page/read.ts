// Reading from the service. When a read fails, the data of the last one that succeeded stay, with
// their time.
import { sleep, type ArgsOf, type Operation, type ReplyOf } from '@tradeport/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Area } from './access.ts'
import { serviceNow } from './format.ts'
import { listen } from './listen.ts'
import { limitConcurrency, oneAtATime } from './one-at-a-time.ts'
import { useSession, type Session } from './session.ts'
import { sentenceOf, withDistinctNames } from './words.ts'

export interface Read<A> {
  /** Why the key may not read it. */
  readonly whyHidden?: string | undefined
  /** What was read last. */
  readonly data?: A | undefined
  /** When, as ISO 8601. */
  readonly readAt?: string | undefined
  /** Why the latest read failed; undefined when it succeeded. */
  readonly failure?: string | undefined
  /** Reads again now; absent where it is read again by itself. */
  readonly retry?: (() => void) | undefined
}

/** When to read again. */
export interface RefreshWhen<A = unknown> {
  /** While the page is visible. */
  readonly everyMs?: number
  /** Whether what was read can change no more. */
  readonly isFinal?: (data: A) => boolean
  /** Whenever this changes. */
  readonly changes?: string | number
}

/** Calls the client of the session. */
export type ClientCall<A> = (client: Session['client'], signal: AbortSignal) => Promise<A>

/**
 * Reads when the key changes, when `refresh` is called, and as `when` says.
 * @param area what the key must be able to see; otherwise nothing is read
 * @param key names what is read. When it changes, nothing of the earlier read is shown
 * @param read undefined: not yet
 */
export const useRead = <A>(
  area: Area,
  key: string,
  read: ClientCall<A> | undefined,
  { everyMs, isFinal, changes }: RefreshWhen<NoInfer<A>> = {},
): Read<A> & { readonly refresh: () => void } => {
  const { client, whyHidden } = useSession()
  const hidden = whyHidden(area)
  const [{ key: readKey, ...state }, setState] = useState<Read<A> & { readonly key: string }>({
    key,
  })
  const latest = useRef(read)
  latest.current = hidden === undefined ? read : undefined
  const reading = useMemo(
    () =>
      oneAtATime(async (signal) => {
        if (latest.current === undefined) return
        let outcome: Read<A>
        try {
          const data = await latest.current(client, signal)
          outcome = { data, readAt: new Date(serviceNow()).toISOString(), failure: undefined }
        } catch (error) {
          outcome = { failure: sentenceOf(error) }
        }
        if (!signal.aborted)
          setState((last) => ({ ...(last.key === key && last), ...outcome, key }))
      }),
    [key],
  )
  useEffect(() => {
    reading.restart()
    return reading.stop
  }, [reading])
  // Neither a change nor the timer aborts a read: frequent changes would never let one finish.
  const seen = useRef(changes)
  useEffect(() => {
    if (seen.current !== changes) reading.runAgain()
    seen.current = changes
  }, [reading, changes])
  const shown: Read<A> = readKey === key ? state : {}
  const isOver = shown.data !== undefined && isFinal?.(shown.data) === true
  useInterval(
    () => {
      setState((last) => (isOutdated(last, everyMs) ? { ...last, failure: readingAgain } : last))
      reading.runUnlessRunning()
    },
    isOver ? undefined : everyMs,
  )
  const retry = (): void => {
    setState((last) => ({ ...last, failure: readingAgain }))
    reading.runUnlessRunning()
  }
  return {
    ...shown,
    whyHidden: hidden,
    retry: everyMs === undefined ? retry : undefined,
    refresh: reading.restart,
  }
}

const readingAgain = 'Reading again…'

/** Whether what is shown is old: the tab was hidden, or a read takes long. */
const isOutdated = ({ readAt, failure }: Read<unknown>, everyMs = Infinity): boolean =>
  failure === undefined && readAt !== undefined && serviceNow() - Date.parse(readAt) > 2 * everyMs

/** How many calculations over long histories the service runs at a time for one user. */
const limitCalculations = limitConcurrency(2)

/** Makes a calculation wait while that many are running. */
export const withCalculationLimit =
  <A>(calculate: ClientCall<A>): ClientCall<A> =>
  (client, signal) =>
    limitCalculations(() => calculate(client, signal), signal)

type ReadOperation = Extract<Operation, `get${string}` | `list${string}`>

const isCalculation = /^get(Trade(Curve|Breakdown|Statistics)|Reconciliation)$/

/** Reads one route. What it is called with is its key; undefined: not yet. */
export const useReply = <Op extends ReadOperation>(
  area: Area,
  operation: Op,
  args: ArgsOf<Op> | undefined,
  when?: RefreshWhen<ReplyOf<Op>>,
) => {
  const call: ClientCall<ReplyOf<Op>> = (client, signal) => {
    const method = client[operation] as unknown as (
      ...args: readonly unknown[]
    ) => Promise<ReplyOf<Op>>
    return method(...(args ?? []), { signal })
  }
  const read = isCalculation.test(operation) ? withCalculationLimit(call) : call
  return useRead(area, JSON.stringify([operation, args]), args && read, when)
}

/** Reads the data of one route. */
export const useData = <Op extends ReadOperation>(
  area: Area,
  operation: Op,
  args: ArgsOf<Op> | undefined,
  when?: Omit<RefreshWhen, 'isFinal'>,
) => {
  const { data, ...read } = useReply(area, operation, args, when)
  return { ...read, data: data?.data }
}

/** The linked accounts, with names that tell them apart. */
export const useAccounts = (when?: RefreshWhen) => {
  const { data, ...read } = useData('accounts', 'listAccounts', [], when)
  return { ...read, data: useMemo(() => data && withDistinctNames(data), [data]) }
}

/**
 * Calls every so many milliseconds while the page is visible, and when it becomes visible again.
 * @param everyMs undefined: never
 */
export const useInterval = (act: () => void, everyMs: number | undefined): void => {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (everyMs === undefined) return undefined
    const tick = (): void => {
      if (isVisible()) latest.current()
    }
    const timer = setInterval(tick, everyMs)
    // What was not kept current while nobody saw it is old.
    const stopListening = listen(document, ['visibilitychange'], tick)
    return () => {
      clearInterval(timer)
      stopListening()
    }
  }, [everyMs])
}

const streamRetryMs = 10_000

/** Whether the user sees the tab. */
const isVisible = (): boolean => document.visibilityState === 'visible'

const useIsVisible = (): boolean => {
  const [isShown, setIsShown] = useState(isVisible)
  useEffect(() => listen(document, ['visibilitychange'], () => setIsShown(isVisible())), [])
  return isShown
}

/**
 * Follows a stream of what its key names, and again some seconds after it failed or ended. Not while
 * the tab is hidden: a browser has six connections to a host, and a key five streams, for all tabs.
 */
export const useStream = (area: Area, key: string, follow: ClientCall<void>): void => {
  const { client, whyHidden } = useSession()
  const hidden = whyHidden(area)
  const isShown = useIsVisible()
  useEffect(() => {
    if (hidden !== undefined || !isShown) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const followAgain = async (): Promise<void> => {
      while (!signal.aborted) {
        await follow(client, signal).catch(() => undefined)
        await sleep(streamRetryMs, signal)
      }
    }
    void followAgain()
    return () => controller.abort()
  }, [hidden, key, isShown])
}
