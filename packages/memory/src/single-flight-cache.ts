// Values kept for a short while, and one read at a time for each key: a hundred that ask at once
// wait for the same read.
import type { Clock } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { LRUCache } from 'lru-cache'
import { letsGoOfStale, staleStandsMs } from './stale-values.ts'

export interface SingleFlightCacheOptions<Key, A> {
  readonly clock: Clock
  /**
   * A value is given out while it is younger than this. A function is asked each time, since what a
   * value rests on may change meanwhile.
   */
  readonly ttlMs: number | ((value: A) => number)
  /**
   * What a value's age is counted from. `completion`, when left out: a slow read is kept as long as
   * a quick one. `start`: a value is then never older than the time to live against its source
   * either, which revocations need; a slower read is shared but not kept.
   */
  readonly ageFrom?: 'completion' | 'start'
  /** The most values kept; the least recently used go first. */
  readonly maxEntries: number
  /**
   * The most weight kept in all, where values differ much in size; a value that is heavier alone is
   * not kept.
   */
  readonly maxWeight?: number
  /** 1 when left out. */
  readonly weigh?: (value: A) => number
  /** Which values are kept; all when left out. */
  readonly isKept?: (value: A) => boolean
  /** Keys that `dropGroup` drops together. */
  readonly groupOf?: (key: Key) => string
  /** Counts what reads met. */
  readonly tally?: CacheTally | undefined
  /**
   * A read that has not settled for so long is given up for later readers, who start another; a
   * minute when left out.
   */
  readonly maxFlightMs?: number
}

/**
 * How many reads found a kept value, joined a read that was under way, or began one: numbers that
 * only grow.
 */
export interface CacheTally {
  hits: number
  joins: number
  misses: number
}

/** A tally for the cache of a name. */
export type Tallies = (cache: string) => CacheTally

export interface SingleFlightCache<Key, Failure, A> {
  /**
   * The kept value, or what the read that is under way for this key brings, or what `load` brings.
   * A left is given to all who waited and is not kept. A load that throws or rejects, which a
   * TaskEither should not, rejects for all who waited and is forgotten likewise.
   */
  readonly read: (key: Key, load: TE.TaskEither<Failure, A>) => TE.TaskEither<Failure, A>
  /**
   * Later readers start anew, also while a read is under way: what that one brings is for those who
   * already wait.
   */
  readonly drop: (key: Key) => void
  readonly dropGroup: (group: string) => void
  /** Drops the values that it finds, and every read under way, whose value is not known yet. */
  readonly dropWhere: (isFound: (value: A) => boolean) => void
  readonly dropAll: () => void
  /** How many values stand, stale ones among them, and reads are under way, together. */
  readonly size: () => number
}

interface Flight<Failure, A> {
  readonly result: Promise<E.Either<Failure, A>>
  readonly startedAt: Instant
}

interface Kept<A> {
  readonly value: A
  readonly bornAt: Instant
}

const defaultMaxFlightMs = 60_000

export const createSingleFlightCache = <Key extends string, Failure, A>(
  options: SingleFlightCacheOptions<Key, A>,
): SingleFlightCache<Key, Failure, A> => {
  const {
    clock,
    ttlMs,
    ageFrom = 'completion',
    weigh = () => 1,
    isKept = () => true,
    groupOf,
    maxFlightMs = defaultMaxFlightMs,
  } = options
  const tally = options.tally ?? { hits: 0, joins: 0, misses: 0 }
  const flights = new Map<Key, Flight<Failure, A>>()
  const groups = new Map<string, Set<Key>>()
  const kept = new LRUCache<Key, Kept<A>>({
    max: options.maxEntries,
    ...letsGoOfStale,
    ...(options.maxWeight === undefined
      ? {}
      : {
          maxSize: options.maxWeight,
          sizeCalculation: ({ value }: Kept<A>) => Math.max(1, Math.ceil(weigh(value))),
        }),
    disposeAfter: (_kept, key) => leaveGroup(key),
  })
  // Counted from its start, a value that joins a flight must be as young as one that is kept.
  const joinableMs =
    ageFrom === 'start' && typeof ttlMs === 'number' ? Math.min(ttlMs, maxFlightMs) : maxFlightMs
  const ttlOf = typeof ttlMs === 'number' ? () => ttlMs : ttlMs

  const enterGroup = (key: Key): void => {
    if (groupOf === undefined) return
    const group = groupOf(key)
    const keys = groups.get(group)
    if (keys === undefined) groups.set(group, new Set([key]))
    else keys.add(key)
  }
  const leaveGroup = (key: Key): void => {
    if (groupOf === undefined || kept.has(key) || flights.has(key)) return
    const group = groupOf(key)
    const keys = groups.get(group)
    keys?.delete(key)
    if (keys?.size === 0) groups.delete(group)
  }

  // A clock that was set back makes an age negative: such a value's age is not known, and it is
  // read anew.
  const isYounger = (since: Instant, limitMs: number): boolean => {
    const ageMs = clock.now() - since
    return ageMs >= 0 && ageMs < limitMs
  }

  const land = (
    key: Key,
    flight: Flight<Failure, A>,
    result: E.Either<Failure, A> | undefined,
  ): void => {
    // Dropped or given up meanwhile: the key is another flight's now, or nobody's.
    if (flights.get(key) !== flight) return
    flights.delete(key)
    if (result !== undefined && E.isRight(result) && isKept(result.right)) {
      const value = result.right
      kept.set(
        key,
        { value, bornAt: ageFrom === 'start' ? flight.startedAt : clock.now() },
        { ttl: ttlOf(value) + staleStandsMs },
      )
    }
    leaveGroup(key)
  }

  const takeOff = async (
    key: Key,
    load: TE.TaskEither<Failure, A>,
  ): Promise<E.Either<Failure, A>> => {
    const flight: Flight<Failure, A> = {
      result: Promise.resolve().then(load),
      startedAt: clock.now(),
    }
    flights.set(key, flight)
    enterGroup(key)
    try {
      const result = await flight.result
      land(key, flight, result)
      return result
    } catch (error) {
      land(key, flight, undefined)
      throw error
    }
  }

  const drop = (key: Key): void => {
    flights.delete(key)
    kept.delete(key)
    leaveGroup(key)
  }

  return {
    read: (key, load) => async () => {
      const found = kept.get(key)
      if (found !== undefined && isYounger(found.bornAt, ttlOf(found.value))) {
        tally.hits += 1
        return E.right(found.value)
      }
      if (found !== undefined) kept.delete(key)
      const flight = flights.get(key)
      if (flight !== undefined && isYounger(flight.startedAt, joinableMs)) {
        tally.joins += 1
        return flight.result
      }
      tally.misses += 1
      return takeOff(key, load)
    },
    drop,
    dropGroup: (group) => {
      for (const key of groups.get(group) ?? []) drop(key)
    },
    dropWhere: (isFound) => {
      for (const key of flights.keys()) drop(key)
      for (const [key, { value }] of kept.entries()) if (isFound(value)) drop(key)
    },
    dropAll: () => {
      flights.clear()
      groups.clear()
      kept.clear()
    },
    size: () => kept.size + flights.size,
  }
}
