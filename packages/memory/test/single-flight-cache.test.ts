// What the cache keeps and lets go; which reads it makes is in its laws.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSingleFlightCache } from '../src/index.ts'
import type { SingleFlightCacheOptions } from '../src/index.ts'
import { createMovableClock } from './fake-source.ts'

const cacheWith = (options: Partial<SingleFlightCacheOptions<string, number>> = {}) => {
  const clock = createMovableClock()
  const cache = createSingleFlightCache<string, string, number>({
    clock,
    ttlMs: 100,
    maxEntries: 10,
    ...options,
  })
  return { clock, cache, read: (key: string, value: number) => cache.read(key, TE.right(value))() }
}

describe('the single-flight cache', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('gives a kept value for its time to live and not after it, nor by a clock that was set back, and counts what reads met', async () => {
    const tally = { hits: 0, joins: 0, misses: 0 }
    const { read, clock } = cacheWith({ tally })
    await Promise.all(Array.from({ length: 5 }, () => read('a', 1)))
    clock.advance(99)
    expect(await read('a', 2)).toStrictEqual(E.right(1))
    expect(tally).toEqual({ hits: 1, joins: 4, misses: 1 })
    for (const [ms, value] of [
      [1, 3],
      [-1, 4],
    ] as const) {
      clock.advance(ms)
      expect(await read('a', value)).toStrictEqual(E.right(value))
    }
    expect(tally.misses).toBe(3)
  })

  it('is not poisoned by a read that throws', async () => {
    const { cache, read } = cacheWith()
    const throwing = cache.read('a', () => {
      throw new Error('thrown')
    })
    await expect(throwing()).rejects.toThrow('thrown')
    expect(await read('a', 1)).toStrictEqual(E.right(1))
  })

  it.each([
    [
      'so many values, the least recently used gone first',
      { maxEntries: 2 },
      ['a4', 'b5', 'a4', 'c3'],
      ['a', 'c'],
    ],
    [
      'so much weight, and nothing that is heavier alone',
      { maxWeight: 10, weigh: Number },
      ['a4', 'b5', 'd11', 'c3'],
      ['b', 'c'],
    ],
    [
      'only the values that it is told to',
      { isKept: (value: number) => value > 4 },
      ['a4', 'b5'],
      ['b'],
    ],
  ])('keeps at most %s', async (_, options, reads, kept) => {
    const { cache, read } = cacheWith(options)
    for (const one of reads) await read(one.slice(0, 1), Number(one.slice(1)))
    const left = []
    for (const key of ['a', 'b', 'c', 'd'])
      if (E.isRight(await cache.read(key, TE.left('read anew'))())) left.push(key)
    expect(left).toStrictEqual(kept)
  })

  it('lets go of what nobody asked for again, half a minute after it was stale, and holds on to what is asked for', async () => {
    vi.useFakeTimers()
    // What the library keeps from the moment 0 it keeps for good.
    vi.advanceTimersByTime(1)
    const { cache, clock, read } = cacheWith({ ttlMs: (value) => value })
    await read('short', 100)
    await read('long', 60_000)
    const sizes = []
    for (const ms of [30_000, 2_000, 60_000]) {
      clock.advance(ms)
      await vi.advanceTimersByTimeAsync(ms)
      await read('asked for', 100)
      sizes.push(cache.size())
    }
    expect(sizes).toStrictEqual([3, 2, 1])
  })
})
