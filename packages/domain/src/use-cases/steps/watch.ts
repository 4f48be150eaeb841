// Reads the broker again and again until a change shows, for at most two seconds.
import type * as T from 'fp-ts/lib/Task.js'
import type { Pauser } from '../../ports/clock.ts'
import { secondMs } from '../../primitives/instant.ts'

/** How long a read may take to show a change that was made. */
export const watchMs = 2 * secondMs
/** Between the end of one read and the next. */
const watchPauseMs = 250

/** Reads until a read returns true, or until the time is up, also where a read never returns. One that is still under way then may end later. */
export const watch =
  ({ pause }: Pauser) =>
  (read: T.Task<boolean>): T.Task<void> =>
  async () => {
    const watching = { isOver: false }
    const readOn = async (): Promise<void> => {
      while (!watching.isOver && !(await read())) await pause(watchPauseMs)()
    }
    await Promise.race([readOn(), pause(watchMs)()])
    watching.isOver = true
  }
