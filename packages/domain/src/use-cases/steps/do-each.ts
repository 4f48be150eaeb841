// Makes several changes for one request.

/** How many of them are under way at once. */
const atOnce = 4

/**
 * Does the work for each, some at a time; one that fails does not keep the others from being done.
 * @returns the results in the order of the items
 */
export const doEach = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const results: Result[] = []
  // All workers take from one iterator, so that the work is done once for each.
  const queue = items.entries()
  const doRest = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, doRest))
  return results
}
