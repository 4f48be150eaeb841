// Sorting that lets other work in between, so that ordering a long history does not hold the event loop. A merge sort that starts from the
// stretches already in order: a list in order costs one comparison an entry.

import type { Steps } from './run-steps.ts'

/**
 * Sorts into a new array, stable, yielding after every `comparisonsPerStep` comparisons. `compare` is below 0, 0 or above 0 as in
 * Array.prototype.sort. The generator returns the sorted array; the given one is left as it is.
 */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number, comparisonsPerStep: number): Steps<readonly T[]> {
  let bounds = [0]
  let left = comparisonsPerStep
  for (let i = 1; i < items.length; i++) {
    if (compare(items[i - 1] as T, items[i] as T) > 0) bounds.push(i)
    if (--left === 0) {
      left = comparisonsPerStep
      yield
    }
  }
  let from = items
  while (bounds.length > 1) {
    const to: T[] = []
    const merged: number[] = []
    for (let run = 0; run < bounds.length; run += 2) {
      let a = bounds[run] as number
      const middle = bounds[run + 1] ?? from.length
      const end = bounds[run + 2] ?? from.length
      let b = middle
      merged.push(a)
      while (a < middle || b < end) {
        to.push((b >= end || (a < middle && compare(from[a] as T, from[b] as T) <= 0) ? from[a++] : from[b++]) as T)
        if (--left === 0) {
          left = comparisonsPerStep
          yield
        }
      }
    }
    from = to
    bounds = merged
  }
  return from
}
