// Reads after a change, for a short while: brokers show a change a moment after they have made it.
import type { Pauser } from '../../ports/index.ts'
import { secondMs } from '../../primitives/instant.ts'

/** How long a read may take to show a change that was made. */
const repeatForMs = 2 * secondMs
/** Between the end of one read and the next. */
const repeatPauseMs = 250

/**
 * Reads until a read returns true, or until two seconds have passed, also where a read never
 * returns. One that is still under way then may end later.
 */
export const repeatUntil = async (
  { pause }: Pauser,
  read: () => Promise<boolean>,
): Promise<void> => {
  const repeating = { isOver: false }
  const readOn = async (): Promise<void> => {
    while (!repeating.isOver && !(await read())) await pause(repeatPauseMs)()
  }
  await Promise.race([readOn(), pause(repeatForMs)()])
  repeating.isOver = true
}
