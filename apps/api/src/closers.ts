// What was opened and is to be ended, the last first.

export type Closers = (() => Promise<void>)[]

/** Ends everything, also where some of it fails; then throws the first failure. */
export const closeInReverse = async (closers: Closers): Promise<void> => {
  const failures: unknown[] = []
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
    try {
      await closer()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
