// The cache: what it keeps and drops, and its laws under any interleaving of reads, failures, drops
// and passing time.
import { times } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSingleFlightCache } from '../src/single-flight-cache.ts'
import { createMovableClock, ended } from './clock.ts'

type Options = Parameters<typeof createSingleFlightCache<string, number>>[2]

const cacheWith = (options: Partial<Options> = {}) => {
  const clock = createMovableClock()
  const counters = { hits: 0, joins: 0, misses: 0 }
  const parts = { clock, countersOf: () => counters }
  const cache = createSingleFlightCache(parts, 'numbers', {
    ttlMs: 100,
    maxWeight: 10,
    ...options,
  })
  return {
    clock,
    counters,
    cache,
    read: (key: string, value: number) => cache.read(key, TE.right(value))(),
  }
}

describe('the single-flight cache', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('counts hits, joined reads and misses, and reads again after the clock was set back', async () => {
    const { read, clock, counters } = cacheWith()
    await Promise.all(times(5, () => read('a', 1)))
    await read('a', 2)
    expect(counters).toEqual({ hits: 1, joins: 4, misses: 1 })
    clock.advance(-1)
    expect(await read('a', 3)).toStrictEqual(E.right(3))
  })

  it('keeps a failure for its own time', async () => {
    const { cache, clock, read } = cacheWith({ failureTtlMs: () => 10, ageFrom: 'start' })
    await cache.read('a', async () => (clock.advance(10), E.left('down')))()
    expect(await read('a', 1)).toStrictEqual(E.left('down'))
    clock.advance(10)
    expect(await read('a', 1)).toStrictEqual(E.right(1))
  })

  it.each([
    ['the most recently used values', { maxWeight: 2 }, ['a4', 'b5', 'a4', 'c3'], ['a', 'c']],
    [
      'values up to its weight',
      { maxWeight: 10, weigh: Number },
      ['a4', 'b5', 'd11', 'c3'],
      ['b', 'c'],
    ],
    ['the values it is for', { isKept: (value: number) => value > 4 }, ['a4', 'b5'], ['b']],
  ])('keeps only %s', async (_, options, reads, kept) => {
    const { cache, read } = cacheWith(options)
    for (const one of reads) await read(one.slice(0, 1), Number(one.slice(1)))
    const left = []
    for (const key of ['a', 'b', 'c', 'd'])
      if (E.isRight(await cache.read(key, TE.left('not kept'))())) left.push(key)
    expect(left).toStrictEqual(kept)
  })

  it('frees the memory of a value half a minute after it became stale', async () => {
    vi.useFakeTimers()
    // The library never purges entries of time 0.
    vi.advanceTimersByTime(1)
    let ttlMs = 100
    const { cache, clock, read } = cacheWith({ ttlMs: () => ttlMs })
    await read('short', 1)
    ttlMs = 60_000
    await read('long', 1)
    ttlMs = 100
    const sizes = []
    for (const ms of [30_000, 2_000, 60_000]) {
      clock.advance(ms)
      await vi.advanceTimersByTimeAsync(ms)
      await read('used', 1)
      sizes.push(cache.size())
    }
    expect(sizes).toStrictEqual([3, 2, 1])
  })
})

const ttlMs = 100
const maxJoinMs = 1_000
const maxWeight = 2
const keys = ['a', 'b', 'c'] as const
type Key = (typeof keys)[number]
type Outcome = 'right' | 'left' | 'rejection'

type Action =
  | { readonly do: 'read' | 'drop'; readonly key: Key }
  | { readonly do: 'withOutcome'; readonly nth: number; readonly as: Outcome }
  | { readonly do: 'wait'; readonly ms: number }

const keyed = (action: 'read' | 'drop') =>
  fc.record({ do: fc.constant(action), key: fc.constantFrom(...keys) })
const outcomes = fc.constantFrom('right', 'right', 'left', 'rejection')
const waits = fc.constantFrom(1, 50, 99, 100, 999, 1_000)
const actions = fc.oneof(
  { weight: 6, arbitrary: keyed('read') },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('withOutcome'), nth: fc.nat(5), as: outcomes }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: waits }) },
  { weight: 2, arbitrary: keyed('drop') },
)

/** A read of the source. */
interface Load {
  readonly key: Key
  readonly startedAt: number
  /** How many drops there had been when it began: of all keys, and of its key. */
  readonly drops: number
  readonly keyDrops: number
  endedAt: number | undefined
  readonly withOutcome: (as: Outcome) => void
}

const play = async (ageFrom: 'start' | 'completion', run: readonly Action[]) => {
  const clock = createMovableClock()
  const options = { ttlMs, ageFrom, maxWeight, maxJoinMs }
  const cache = createSingleFlightCache<number, number>({ clock }, undefined, options)
  const joinForMs = ageFrom === 'start' ? ttlMs : maxJoinMs
  const loads: Load[] = []
  const tooMany: Load[] = []
  const keyDrops = { a: 0, b: 0, c: 0 }
  const allDrops = () => keyDrops.a + keyDrops.b + keyDrops.c

  const load = (key: Key) => () =>
    new Promise<E.Either<number, number>>((resolve, reject) => {
      // Not expected here: to the cache it would be a read that fails.
      tooMany.push(
        ...loads.filter(
          (other) =>
            other.key === key &&
            other.endedAt === undefined &&
            other.drops === allDrops() &&
            clock.now() - other.startedAt < joinForMs,
        ),
      )
      const id = loads.length
      loads.push({
        key,
        startedAt: clock.now(),
        drops: allDrops(),
        keyDrops: keyDrops[key],
        endedAt: undefined,
        withOutcome: (as) => {
          if (as === 'rejection') reject(new Error('rejected'))
          else resolve(as === 'right' ? E.right(id) : E.left(id))
        },
      })
    })

  const readers = []
  const read = async (key: Key) => {
    const askedAt = clock.now()
    const dropsBefore = keyDrops[key]
    const result = await cache
      .read(key, load(key))()
      .catch(() => undefined)
    if (result === undefined) return
    const source = loads[E.isRight(result) ? result.right : result.left]
    const { startedAt = Number.NaN, endedAt = Number.NaN } = source ?? {}
    expect(source?.key).toBe(key)
    expect(source?.keyDrops).toBeGreaterThanOrEqual(dropsBefore)
    // Only those who waited receive a failure.
    if (E.isLeft(result)) expect(endedAt).toBeGreaterThanOrEqual(askedAt)
    expect(askedAt - (ageFrom === 'start' ? startedAt : endedAt)).toBeLessThan(ttlMs)
  }

  for (const action of run) {
    if (action.do === 'read') readers.push(read(action.key))
    if (action.do === 'wait') clock.advance(action.ms)
    if (action.do === 'withOutcome') {
      const open = loads.filter(({ endedAt }) => endedAt === undefined)
      const chosen = open[action.nth % Math.max(1, open.length)]
      if (chosen !== undefined) chosen.endedAt = clock.now()
      chosen?.withOutcome(action.as)
    }
    if (action.do === 'drop') {
      cache.dropWhere((id) => loads[id]?.key === action.key)
      keyDrops[action.key] += 1
    }
    await ended()
    expect(cache.size()).toBeLessThanOrEqual(maxWeight)
  }
  for (const { endedAt, withOutcome } of loads) if (endedAt === undefined) withOutcome('rejection')
  await Promise.all(readers)
  expect(tooMany).toStrictEqual([])
}

it.each(['completion', 'start'] as const)(
  'the cache reads a key once at a time, and returns nothing stale, dropped or failed, with ages from the %s',
  async (ageFrom) => {
    await fc.assert(
      fc.asyncProperty(fc.array(actions, { minLength: 5, maxLength: 60 }), (run) =>
        play(ageFrom, run),
      ),
      { numRuns: 300 },
    )
  },
)
