// Bounds on time: whatever runs inside ends when its deadline passes, and nothing that it started goes on after it.
import { setTimeout as pause } from 'node:timers/promises'

/** A piece of work with the signal that ends it. */
export type Bounded<A> = (signal: AbortSignal) => Promise<A>

/**
 * Runs the work for at most `ms`, then gives it up with `tooLate`. The signal is aborted when the work is over, however it ended, so that a
 * request that nobody waits for any more is cancelled.
 * @param outer ends the work early
 */
export const withDeadline = async <A>(ms: number, tooLate: () => Error, work: Bounded<A>, outer?: AbortSignal): Promise<A> => {
  const controller = new AbortController()
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const end = (reason: unknown): void => {
    controller.abort(reason)
    reject(reason)
  }
  const endWithOuter = (): void => end(outer?.reason)
  const timer = setTimeout(() => end(tooLate()), ms)
  outer?.addEventListener('abort', endWithOuter)
  try {
    if (outer?.aborted === true) throw outer.reason
    return await Promise.race([work(controller.signal), expiry])
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', endWithOuter)
    controller.abort()
  }
}

/** Waits, unless the signal comes first. */
export const wait = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, undefined, { signal })
