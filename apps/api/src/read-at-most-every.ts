// At most one read per interval, with a deadline: for what anybody may ask for.
import { setTimeout } from 'node:timers/promises'

export interface Throttle<A> {
  readonly everyMs: number
  readonly deadlineMs: number
  /** The result of a read that rejects or exceeds its deadline. */
  readonly fallback: A
}

/**
 * Returns the last result until `everyMs` have passed since its read began, then reads again.
 * Callers share the read that is under way. One that exceeds its deadline is abandoned, and the
 * next call starts another: a read that never ends must not be the last.
 */
export const readAtMostEvery = <A>(
  read: () => Promise<A>,
  { everyMs, deadlineMs, fallback }: Throttle<A>,
): (() => Promise<A>) => {
  let result: Promise<A> = Promise.resolve(fallback)
  let isUnderWay = false
  let begunAt = -Infinity

  const begin = async (): Promise<A> => {
    isUnderWay = true
    begunAt = performance.now()
    try {
      return await Promise.race([read(), setTimeout(deadlineMs, fallback, { ref: false })])
    } catch {
      return fallback
    } finally {
      isUnderWay = false
    }
  }

  return () => {
    if (!isUnderWay && performance.now() - begunAt >= everyMs) result = begin()
    return result
  }
}
