// What was opened and is to be ended, the last first.

export type Closers = (() => Promise<void>)[]

export const closeInReverse = async (closers: Closers): Promise<void> => {
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer()
}
