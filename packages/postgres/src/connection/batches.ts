// Group commit: calls that come while others are being written are written together with the next
// statement. There is no waiting for company: a call that comes alone is run at once, and nobody
// waits for longer than what is under way.
import { setImmediate } from 'node:timers/promises'

interface BatchOptions {
  /** How many batches run at once. */
  readonly lanes: number
  readonly maxSize: number
}

interface Waiting<A, B> {
  readonly item: A
  readonly resolve: (result: B) => void
  readonly reject: (error: unknown) => void
}

/**
 * @param run gives one result for each item, in their order; when it fails, every call of the batch
 * does
 */
export const inBatches = <A, B>(
  { lanes, maxSize }: BatchOptions,
  run: (items: readonly A[]) => Promise<readonly B[]>,
): ((item: A) => Promise<B>) => {
  const waiting: Waiting<A, B>[] = []
  let busy = 0

  const runNext = async (): Promise<void> => {
    const batch = waiting.splice(0, maxSize)
    if (batch.length === 0) return
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as B)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  const work = async (): Promise<void> => {
    busy += 1
    while (waiting.length > 0) {
      // Those who call in the same turn, or were answered just now and have more to say, come
      // along.
      await setImmediate()
      await runNext()
    }
    busy -= 1
  }

  return (item) =>
    new Promise<B>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (busy < lanes) void work()
    })
}

/**
 * A read by key, which one statement answers for many as quickly as for one.
 * @param read the rows of distinct keys; which row is whose is said by its `key` column, a key by
 * default
 */
export const readingTogether = <Row extends { readonly key: string }>(
  read: (keys: readonly string[]) => PromiseLike<readonly Row[]>,
  options: BatchOptions = { lanes: 4, maxSize: 200 },
): ((key: string) => Promise<Row | undefined>) =>
  inBatches(options, async (keys: readonly string[]) => {
    const rows = new Map((await read([...new Set(keys)])).map((row) => [row.key, row]))
    return keys.map((key) => rows.get(key))
  })
