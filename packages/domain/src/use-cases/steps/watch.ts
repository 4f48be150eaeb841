// Looks at the broker again and again until something shows, for two seconds at the most (decision 32).
import type * as T from 'fp-ts/lib/Task.js'
import type { Pauser } from '../../ports/clock.ts'
import { secondMs } from '../../primitives/instant.ts'

/** How long a change that was made is waited for to show. */
export const watchMs = 2 * secondMs
/** Between the end of one look and the next. */
const watchPauseMs = 250

/**
 * Looks until a look is content, or until the time is up, also where a look never comes back. What the looks have seen by then is theirs to keep:
 * one that is still under way may see more later.
 */
export const watch =
  ({ pause }: Pauser) =>
  (look: T.Task<boolean>): T.Task<void> =>
  async () => {
    const watching = { isOver: false }
    const lookOn = async (): Promise<void> => {
      while (!watching.isOver && !(await look())) await pause(watchPauseMs)()
    }
    await Promise.race([lookOn(), pause(watchMs)()])
    watching.isOver = true
  }
