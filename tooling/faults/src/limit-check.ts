// What a key of the free plan may get through before it is refused.

/** How many requests of one key passed until the first was refused. */
export interface Passed {
  readonly count: number
  readonly elapsedMs: number
}

export const freeBucketSize = 300
const freeIntervalMs = 600

/**
 * Whether no fewer passed than the bucket held, and no more than it held and got back meanwhile.
 * @param atLeast what a bucket held that was not touched by anybody else
 * @param atMost what it can have held
 */
export const checkPassed = (where: string, { count, elapsedMs }: Passed, atLeast: number, atMost: number): readonly string[] => {
  if (count < atLeast) return [`${where}: refused after ${count} requests, of ${atLeast} that were there to be had`]
  const refilled = Math.ceil(elapsedMs / freeIntervalMs) + 1
  return count <= atMost + refilled ? [] : [`${where}: ${count} requests passed, and no more than ${atMost + refilled} may`]
}
