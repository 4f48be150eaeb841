// Keys that were looked for in vain a moment ago, so that a hundred requests with the same bad one
// make one read.
import type { Clock } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { LRUCache } from 'lru-cache'

export interface RecentMissesOptions {
  readonly clock: Clock
  /** For how long a miss is believed, from the start of the read. */
  readonly ttlMs: number
  /** The most misses remembered; the least recently used go first. */
  readonly maxEntries: number
}

export interface RecentMisses {
  /** None without a read where the last one, not long ago, found none. */
  readonly through: <Failure, A>(
    key: string,
    load: TE.TaskEither<Failure, O.Option<A>>,
  ) => TE.TaskEither<Failure, O.Option<A>>
  /** Every key is looked for anew; what a read under way does not find is not remembered either. */
  readonly clear: () => void
}

const none = E.right(O.none)

export const createRecentMisses = ({
  clock,
  ttlMs,
  maxEntries,
}: RecentMissesOptions): RecentMisses => {
  const missedAt = new LRUCache<string, Instant>({ max: maxEntries })
  let clearings = 0
  const isRecent = (since: Instant | undefined): boolean => {
    const ageMs = since === undefined ? -1 : clock.now() - since
    return ageMs >= 0 && ageMs < ttlMs
  }
  return {
    through: (key, load) => async () => {
      if (isRecent(missedAt.get(key))) return none
      const [startedAt, clearingsBefore] = [clock.now(), clearings]
      const result = await load()
      if (E.isRight(result) && O.isNone(result.right) && clearings === clearingsBefore)
        missedAt.set(key, startedAt)
      return result
    },
    clear: () => {
      clearings += 1
      missedAt.clear()
    },
  }
}
