// Sorting of lists that are in order almost always, as brokers send them.

/** The items in order, by a stable sort; the given list itself where it is in order already. */
export const sortedBy = <T>(items: readonly T[], compare: (a: T, b: T) => number): readonly T[] => {
  for (let i = 1; i < items.length; i++)
    if (compare(items[i - 1] as T, items[i] as T) > 0) return items.toSorted(compare)
  return items
}
