// Values kept for a short while, and one read at a time for each key: a hundred that ask at once
// wait for the same read.
import type { Clock } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { createLruCache } from './lru-cache.ts'

interface SingleFlightCacheOptions<Failure, A> {
  /** A value is returned while it is younger than this. A function is called for each read. */
  readonly ttlMs: number | ((value: A) => number)
  /** How long a failure is returned to later readers too, counted from its end; 0 by default. */
  readonly failureTtlMs?: (failure: Failure) => number
  /**
   * Where a value's age begins: at the end of its read, which is the default, or at the start. With
   * `start` a value is never older at its source than the time to live, which revocations need; one
   * whose read took longer than that is shared but not kept.
   */
  readonly ageFrom?: 'completion' | 'start'
  /**
   * The most weight kept; the least recently used values are dropped first. A value that is heavier
   * alone is not kept.
   */
  readonly maxWeight: number
  /** The weight of a value, a positive whole number; 1 by default. */
  readonly weigh?: (value: A) => number
  /** Which values are kept; all by default. */
  readonly isKept?: (value: A) => boolean
  /** How long a read in progress may be joined; a minute by default. */
  readonly maxJoinMs?: number
}

/** How many reads found a kept result, joined a read in progress, or began one. */
interface CacheCounters {
  hits: number
  joins: number
  misses: number
}

/** The counters of the cache of a name. */
export type CountersOf = (cache: string) => CacheCounters

/** What every decorator with caches needs. */
export interface CacheParts {
  readonly clock: Clock
  readonly countersOf?: CountersOf | undefined
}

interface SingleFlightCache<Failure, A> {
  /**
   * What is kept, or the result of the read in progress for this key, or that of `load`. An
   * exception is thrown to all who wait for it and not kept.
   */
  readonly read: (key: string, load: TE.TaskEither<Failure, A>) => TE.TaskEither<Failure, A>
  /**
   * Drops the values for which the function is true, failures, and every read in progress: its
   * result goes only to those who already wait.
   */
  readonly dropWhere: (isDropped: (value: A) => boolean) => void
  /** How many results are kept, stale ones included. */
  readonly size: () => number
}

interface ReadInProgress<Failure, A> {
  readonly result: Promise<E.Either<Failure, A>>
  readonly startedAt: Instant
}

interface Kept<Failure, A> {
  readonly result: E.Either<Failure, A>
  readonly agesFrom: Instant
}

/**
 * How long a value that is too old stays in memory where nobody asks for it. Not freed at once: the
 * time for which it may be returned may become longer, and one of 0 would keep it for good.
 */
const staleMs = 30_000

/** @param name under which its reads are counted; those of a cache without one are not */
export const createSingleFlightCache = <Failure, A>(
  { clock, countersOf }: CacheParts,
  name: string | undefined,
  {
    ttlMs,
    failureTtlMs = () => 0,
    ageFrom = 'completion',
    maxWeight,
    weigh = () => 1,
    isKept = () => true,
    maxJoinMs = 60_000,
  }: SingleFlightCacheOptions<Failure, A>,
): SingleFlightCache<Failure, A> => {
  const counters = (name && countersOf?.(name)) || { hits: 0, joins: 0, misses: 0 }
  const reads = new Map<string, ReadInProgress<Failure, A>>()
  const weightOf = ({ result }: Kept<Failure, A>): number =>
    E.isRight(result) ? weigh(result.right) : 1
  const kept = createLruCache<string, Kept<Failure, A>>(maxWeight, weightOf, {
    // Frees the memory of values that nobody asks for.
    ttlAutopurge: true,
    // By default each millisecond with a read has a timer of its own.
    ttlResolution: 1_000,
    // Tests put another clock in its place.
    perf: { now: () => performance.now() },
  })
  const ttlOfValue = typeof ttlMs === 'number' ? () => ttlMs : ttlMs
  const ttlOf = (result: E.Either<Failure, A>): number =>
    E.isRight(result) ? ttlOfValue(result.right) : failureTtlMs(result.left)
  // With ages from the start, a read that is joined must be as young as a kept value.
  const joinForMs =
    ageFrom === 'start' && typeof ttlMs === 'number' ? Math.min(ttlMs, maxJoinMs) : maxJoinMs

  // A negative age, after the clock was set back, counts as too old.
  const isYounger = (since: Instant, limitMs: number): boolean => {
    const ageMs = clock.now() - since
    return ageMs >= 0 && ageMs < limitMs
  }

  const startRead = async (
    key: string,
    load: TE.TaskEither<Failure, A>,
  ): Promise<E.Either<Failure, A>> => {
    const startedAt = clock.now()
    const inProgress = { result: Promise.resolve().then(load), startedAt }
    reads.set(key, inProgress)
    const isCurrent = (): boolean => reads.get(key) === inProgress
    try {
      const result = await inProgress.result
      if (isCurrent() && (E.isLeft(result) ? ttlOf(result) > 0 : isKept(result.right))) {
        const agesFrom = ageFrom === 'start' && E.isRight(result) ? startedAt : clock.now()
        kept.set(key, { result, agesFrom }, { ttl: ttlOf(result) + staleMs })
      }
      return result
    } finally {
      if (isCurrent()) reads.delete(key)
    }
  }

  return {
    read: (key, load) => async () => {
      const found = kept.get(key)
      if (found !== undefined && isYounger(found.agesFrom, ttlOf(found.result))) {
        counters.hits += 1
        return found.result
      }
      kept.delete(key)
      const inProgress = reads.get(key)
      if (inProgress !== undefined && isYounger(inProgress.startedAt, joinForMs)) {
        counters.joins += 1
        return inProgress.result
      }
      counters.misses += 1
      return startRead(key, load)
    },
    dropWhere: (isDropped) => {
      reads.clear()
      for (const [key, { result }] of kept.entries())
        if (E.isLeft(result) || isDropped(result.right)) kept.delete(key)
    },
    size: () => kept.size,
  }
}
