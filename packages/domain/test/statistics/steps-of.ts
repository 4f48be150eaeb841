// How a test counts the times at which work lets others in between.
import type { Steps } from '../../src/primitives/run-steps.ts'

export const stepsOf = (steps: Steps<unknown>): number => {
  let count = 0
  for (let step = steps.next(); !step.done; step = steps.next()) count += 1
  return count
}
