// The cache's named cases; its laws stand beside.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSingleFlightCache } from '../src/index.ts'
import type { SingleFlightCacheOptions } from '../src/index.ts'
import { createMovableClock, createPendingRead, settled } from './fake-source.ts'

const cacheWith = (options: Partial<SingleFlightCacheOptions<string, number>> = {}) => {
  const clock = createMovableClock()
  return { clock, cache: createSingleFlightCache<string, string, number>({ clock, ttlMs: 100, maxEntries: 10, ...options }) }
}

/** Its timers run too. */
const cacheInTime = (options: Partial<SingleFlightCacheOptions<string, number>> = {}) => {
  vi.useFakeTimers()
  // What the library keeps from the moment 0 it keeps for good.
  vi.advanceTimersByTime(1)
  const { clock, cache } = cacheWith(options)
  const elapse = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }
  return { cache, elapse }
}

const throwing = () => {
  throw new Error('thrown')
}

describe('the single-flight cache', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('makes one read of a hundred that ask at once', async () => {
    const { cache } = cacheWith()
    const { read, calls } = createPendingRead<number>()
    const readers = Array.from({ length: 100 }, () => cache.read('a', read)())
    await settled()
    expect(calls).toHaveLength(1)
    calls[0]?.resolve(7)
    expect(await Promise.all(readers)).toStrictEqual(Array.from({ length: 100 }, () => E.right(7)))
  })

  it('tells what reads met: a kept value, a read under way, or nothing', async () => {
    const tally = { hits: 0, joins: 0, misses: 0 }
    const { cache, clock } = cacheWith({ tally })
    const { read, calls } = createPendingRead<number>()
    const readers = Array.from({ length: 5 }, () => cache.read('a', read)())
    await settled()
    calls[0]?.resolve(7)
    await Promise.all(readers)
    expect(tally).toEqual({ hits: 0, joins: 4, misses: 1 })
    for (let count = 0; count < 3; count += 1) await cache.read('a', read)()
    expect(tally).toEqual({ hits: 3, joins: 4, misses: 1 })
    clock.advance(100)
    await cache.read('a', TE.left('failed'))()
    await cache.read('b', TE.right(1))()
    expect(tally).toEqual({ hits: 3, joins: 4, misses: 3 })
  })

  it('reads other keys meanwhile', async () => {
    const { cache } = cacheWith()
    const { read } = createPendingRead<number>()
    void cache.read('a', read)()
    expect(await cache.read('b', TE.right(2))()).toStrictEqual(E.right(2))
  })

  it('gives a kept value until its time to live has passed since the read ended, and not at that moment', async () => {
    const { cache, clock } = cacheWith()
    const { read, calls } = createPendingRead<number>()
    const first = cache.read('a', read)()
    await settled()
    clock.advance(500)
    calls[0]?.resolve(1)
    await first
    clock.advance(99)
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(1))
    clock.advance(1)
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(2))
  })

  it('counts from the start of the read where it is asked to, and lets nobody join a read that is older', async () => {
    const { cache, clock } = cacheWith({ ageFrom: 'start' })
    const { read, calls } = createPendingRead<number>()
    const first = cache.read('a', read)()
    await settled()
    clock.advance(60)
    calls[0]?.resolve(1)
    await first
    clock.advance(39)
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(1))
    clock.advance(1)
    const slow = cache.read('a', read)()
    clock.advance(100)
    expect(await cache.read('a', TE.right(3))()).toStrictEqual(E.right(3))
    await settled()
    calls[1]?.resolve(2)
    expect(await slow).toStrictEqual(E.right(2))
    expect(await cache.read('a', TE.right(4))()).toStrictEqual(E.right(3))
  })

  it('gives a failure to all who waited and keeps none', async () => {
    const { cache } = cacheWith()
    const { read, calls } = createPendingRead<number>()
    const readers = [cache.read('a', read)(), cache.read('a', read)()]
    await settled()
    calls[0]?.fail('down')
    expect(await Promise.all(readers)).toStrictEqual([E.left('down'), E.left('down')])
    expect(await cache.read('a', TE.right(1))()).toStrictEqual(E.right(1))
    expect(calls).toHaveLength(1)
  })

  it('is not poisoned by a read that rejects or throws', async () => {
    const { cache } = cacheWith()
    const { read, calls } = createPendingRead<number>()
    const readers = [cache.read('a', read)(), cache.read('a', read)()]
    await settled()
    calls[0]?.reject()
    expect((await Promise.allSettled(readers)).map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
    await expect(cache.read('a', throwing)()).rejects.toThrow('thrown')
    expect(await cache.read('a', TE.right(1))()).toStrictEqual(E.right(1))
  })

  it('is not poisoned by a read that never settles', async () => {
    const { cache, clock } = cacheWith({ maxFlightMs: 1_000 })
    const { read } = createPendingRead<number>()
    void cache.read('a', read)()
    clock.advance(1_000)
    expect(await cache.read('a', TE.right(1))()).toStrictEqual(E.right(1))
  })

  it('starts anew after a drop, and keeps nothing of the read that was under way', async () => {
    const { cache } = cacheWith()
    const { read, calls } = createPendingRead<number>()
    const before = cache.read('a', read)()
    await settled()
    cache.drop('a')
    const after = cache.read('a', read)()
    await settled()
    calls[1]?.resolve(2)
    expect(await after).toStrictEqual(E.right(2))
    calls[0]?.resolve(1)
    expect(await before).toStrictEqual(E.right(1))
    expect(await cache.read('a', TE.right(3))()).toStrictEqual(E.right(2))
  })

  it('drops a group, kept values and reads under way, and nothing of another', async () => {
    const { cache } = cacheWith({ groupOf: (key) => key.slice(0, 1) })
    const { read, calls } = createPendingRead<number>()
    await cache.read('a1', TE.right(1))()
    await cache.read('b1', TE.right(1))()
    const underWay = cache.read('a2', read)()
    await settled()
    cache.dropGroup('a')
    calls[0]?.resolve(1)
    await underWay
    expect(cache.size()).toBe(1)
    expect(await cache.read('a1', TE.right(2))()).toStrictEqual(E.right(2))
    expect(await cache.read('a2', TE.right(2))()).toStrictEqual(E.right(2))
    expect(await cache.read('b1', TE.right(2))()).toStrictEqual(E.right(1))
  })

  it('drops everything', async () => {
    const { cache } = cacheWith()
    await cache.read('a', TE.right(1))()
    cache.dropAll()
    expect(cache.size()).toBe(0)
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(2))
  })

  it('keeps at most so many values, the least recently used gone first', async () => {
    const { cache } = cacheWith({ maxEntries: 2 })
    for (const key of ['a', 'b', 'a', 'c']) await cache.read(key, TE.right(1))()
    expect(cache.size()).toBe(2)
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(1))
    expect(await cache.read('b', TE.right(2))()).toStrictEqual(E.right(2))
  })

  it('keeps at most so much weight, and nothing that is heavier alone', async () => {
    const { cache } = cacheWith({ maxWeight: 10, weigh: (value) => value })
    for (const weight of [4, 5, 11, 3]) await cache.read(`w${weight}`, TE.right(weight))()
    const again = await Promise.all([4, 5, 11, 3].map((weight) => cache.read(`w${weight}`, TE.left('read anew'))()))
    expect(again).toStrictEqual([E.left('read anew'), E.right(5), E.left('read anew'), E.right(3)])
  })

  it('lets go of what nobody asked for again, half a minute after it was stale', async () => {
    const { cache, elapse } = cacheInTime({ ttlMs: (value) => value })
    await cache.read('short', TE.right(100))()
    await cache.read('long', TE.right(60_000))()
    await elapse(30_000)
    expect(cache.size()).toBe(2)
    await elapse(2_000)
    expect(cache.size()).toBe(1)
    await elapse(60_000)
    expect(cache.size()).toBe(0)
  })

  it('holds on to what is asked for again and again', async () => {
    const { cache, elapse } = cacheInTime()
    for (let round = 0; round < 10; round += 1) {
      expect(await cache.read('a', TE.right(round))()).toStrictEqual(E.right(round))
      expect(await cache.read('a', TE.right(-1))()).toStrictEqual(E.right(round))
      await elapse(20_000)
      expect(cache.size()).toBe(1)
    }
  })

  it('keeps only the values that it is told to', async () => {
    const { cache } = cacheWith({ isKept: (value) => value > 0 })
    await cache.read('a', TE.right(0))()
    expect(await cache.read('a', TE.right(1))()).toStrictEqual(E.right(1))
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(1))
  })

  it('takes a value from a clock that was set back for stale', async () => {
    const { cache, clock } = cacheWith()
    await cache.read('a', TE.right(1))()
    clock.advance(-1)
    expect(await cache.read('a', TE.right(2))()).toStrictEqual(E.right(2))
  })
})
