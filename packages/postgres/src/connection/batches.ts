// Group commit: calls that arrive while a batch runs share the next statement. A call that arrives
// alone runs at once.
import { setImmediate } from 'node:timers/promises'
import * as O from 'fp-ts/lib/Option.js'
import pLimit from 'p-limit'

interface BatchOptions {
  /** How many batches run at once. */
  readonly concurrency: number
  readonly maxSize: number
}

interface Waiting<A, B> {
  readonly item: A
  readonly resolve: (result: B | Promise<B>) => void
  readonly reject: (error: unknown) => void
}

/**
 * @param run returns one result for each item, in their order; when it fails, every call of the
 * batch fails. A result may be a promise, which the next batch does not wait for.
 */
export const inBatches = <A, B>(
  { concurrency, maxSize }: BatchOptions,
  run: (items: readonly A[]) => Promise<readonly (B | Promise<B>)[]>,
): ((item: A) => Promise<B>) => {
  const waiting: Waiting<A, B>[] = []
  const limited = pLimit(concurrency)

  const runBatch = async () => {
    if (waiting.length === 0) return
    // The batch then also has the other calls of this turn, and those that the last results cause.
    await setImmediate()
    const batch = waiting.splice(0, maxSize)
    if (batch.length === 0) return
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as B)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (item) =>
    new Promise<B>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      void limited(runBatch)
    })
}

/**
 * Reads a record by its key; calls that arrive together share one statement.
 * @param rows reads the records of distinct keys, each with its `key`
 * @param read decodes a row; one that does not decode fails only the calls with its key
 */
export const batchLookups = <A>(
  rows: (keys: readonly string[]) => Promise<readonly unknown[]>,
  read: (row: unknown) => A,
  options: BatchOptions = { concurrency: 4, maxSize: 200 },
): ((key: string) => Promise<O.Option<A>>) => {
  const find = inBatches(options, async (keys: readonly string[]) => {
    const found = (await rows([...new Set(keys)])) as readonly { readonly key: string }[]
    const byKey = new Map(found.map((row) => [row.key, row]))
    return keys.map((key) => O.fromNullable(byKey.get(key)))
  })
  return async (key) => O.map(read)(await find(key))
}
