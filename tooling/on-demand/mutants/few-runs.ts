// fast-check as the tests see it while mutants are run: the same chance every time, fewer cases a
// law, and no search for the smallest one. A law that needs more cases to fail lets a mutant
// through, never the other way round.
import {
  assert as assertInFull,
  configureGlobal,
  type IRawProperty,
  type Parameters,
} from 'fast-check'

export * from 'fast-check'

export const mostRuns = 100

configureGlobal({ seed: 20_260_105, endOnFailure: true })

/** The same as fast-check's, with at most `mostRuns` cases. */
export const assert = ((property: IRawProperty<unknown>, parameters: Parameters<unknown> = {}) =>
  assertInFull(property, {
    ...parameters,
    numRuns: Math.min(parameters.numRuns ?? mostRuns, mostRuns),
  })) as typeof assertInFull
