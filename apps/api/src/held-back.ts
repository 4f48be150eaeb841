// Reads that anybody may ask for, held back: no oftener than they may be made, never two at once, and never waited for longer than their deadline.
import { setTimeout } from 'node:timers/promises'

export interface HeldBack<A> {
  readonly everyMs: number
  readonly deadlineMs: number
  /** What is said of a read that rejects or takes too long. */
  readonly otherwise: A
}

/**
 * What was read last, read anew when so long has passed since the last read began. One that takes longer than its deadline is given up, and until it is
 * over there is no other: a server that hangs is not asked again and again.
 */
export const heldBack = <A>(read: () => Promise<A>, { everyMs, deadlineMs, otherwise }: HeldBack<A>): (() => Promise<A>) => {
  let answer = Promise.resolve(otherwise)
  let isUnderWay = false
  let begunAt = -Infinity

  const begin = async (): Promise<A> => {
    isUnderWay = true
    begunAt = performance.now()
    try {
      return await read()
    } catch {
      return otherwise
    } finally {
      isUnderWay = false
    }
  }

  return () => {
    if (!isUnderWay && performance.now() - begunAt >= everyMs)
      answer = Promise.race([begin(), setTimeout(deadlineMs, otherwise, { ref: false })])
    return answer
  }
}
