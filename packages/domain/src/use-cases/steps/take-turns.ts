// Does long pure work step by step and lets others have their turn in between: no request holds another for longer than a step.
import type * as T from 'fp-ts/lib/Task.js'
import type { Breather } from '../../ports/clock.ts'
import type { Steps } from '../../primitives/run-steps.ts'

export const takeTurns =
  ({ breathe }: Breather) =>
  <A>(steps: Steps<A>): T.Task<A> =>
  async () => {
    let step = steps.next()
    while (step.done !== true) {
      await breathe()
      step = steps.next()
    }
    return step.value
  }
