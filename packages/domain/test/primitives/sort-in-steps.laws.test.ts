// Laws of the sort that lets others work: it orders as Array.prototype.sort does, stable, in steps of bounded size.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { sortInSteps } from '../../src/primitives/sort-in-steps.ts'

it('sorts as a stable sort does, with no more comparisons a step than asked', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat())), fc.integer({ min: 1, max: 20 }), (items, perStep) => {
      let comparisons = 0
      const compare = (a: readonly number[], b: readonly number[]): number => {
        comparisons += 1
        return (a[0] ?? 0) - (b[0] ?? 0)
      }
      const steps = sortInSteps(items, compare, perStep)
      let step = steps.next()
      while (!step.done) {
        expect(comparisons).toBeLessThanOrEqual(perStep)
        comparisons = 0
        step = steps.next()
      }
      expect(step.value).toEqual(items.toSorted((a, b) => a[0] - b[0]))
    }),
  )
})
