// Pure work that can be done in steps, so that a service answers others in between, or all at once.

/** Work that yields between steps of bounded size and returns its result. */
export type Steps<T> = Generator<undefined, T, void>

/** Does all steps at once. */
export const runSteps = <T>(steps: Steps<T>): T => {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
