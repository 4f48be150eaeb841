// Laws of the cache under any interleaving of reads, changes, drops, failures and passing time:
// never two reads of a key at once, never a value older than its time to live, never one from
// before a drop, never a failure twice, and never more than it may hold.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSingleFlightCache } from '../src/index.ts'
import { createMovableClock, settled } from './fake-source.ts'

const ttlMs = 100
const maxFlightMs = 1_000
const maxEntries = 2
const keys = ['a1', 'a2', 'b1'] as const
type Key = (typeof keys)[number]

type Action =
  | { readonly do: 'read'; readonly key: Key }
  | { readonly do: 'settle'; readonly nth: number; readonly as: 'right' | 'left' | 'rejection' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'drop'; readonly key: Key }
  | { readonly do: 'dropGroup' }
  | { readonly do: 'dropAll' }

const key = fc.constantFrom(...keys)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('read' as const), key }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      nth: fc.nat(5),
      as: fc.constantFrom(
        'right' as const,
        'right' as const,
        'left' as const,
        'rejection' as const,
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 50, 99, 100, 999, 1_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), key }) },
  { weight: 1, arbitrary: fc.constantFrom<Action>({ do: 'dropGroup' }, { do: 'dropAll' }) },
)

/** One read of the source. */
interface Load {
  readonly id: number
  readonly key: Key
  readonly startedAt: number
  /** How many drops of its key there had been when it began. */
  readonly drops: number
  settledAt: number | undefined
  outcome: 'right' | 'left' | 'rejection' | undefined
  readonly settle: (as: 'right' | 'left' | 'rejection') => void
}

const playThrough = async (
  ageFrom: 'start' | 'completion',
  actions: readonly Action[],
): Promise<void> => {
  const clock = createMovableClock()
  const cache = createSingleFlightCache<Key, number, number>({
    clock,
    ttlMs,
    ageFrom,
    maxEntries,
    maxFlightMs,
    groupOf: (name) => name.slice(0, 1),
  })
  const joinableMs = ageFrom === 'start' ? ttlMs : maxFlightMs
  const loads: Load[] = []
  const drops: Record<Key, number> = { a1: 0, a2: 0, b1: 0 }
  const dropped = (names: readonly Key[]): void => names.forEach((name) => (drops[name] += 1))

  const load = (name: Key) => () =>
    new Promise<E.Either<number, number>>((resolve, reject) => {
      const rivals = loads.filter(
        (other) =>
          other.key === name &&
          other.outcome === undefined &&
          other.drops === drops[name] &&
          clock.now() - other.startedAt < joinableMs,
      )
      expect(rivals).toStrictEqual([])
      const id = loads.length
      loads.push({
        id,
        key: name,
        startedAt: clock.now(),
        drops: drops[name],
        settledAt: undefined,
        outcome: undefined,
        settle: (as) =>
          as === 'rejection'
            ? reject(new Error('rejected'))
            : resolve(as === 'right' ? E.right(id) : E.left(id)),
      })
    })

  const readers: Promise<void>[] = []
  const read = async (name: Key): Promise<void> => {
    const askedAt = clock.now()
    const dropsBefore = drops[name]
    const given = await cache
      .read(name, load(name))()
      .catch(() => undefined)
    if (given === undefined) return
    const source = loads[E.isRight(given) ? given.right : given.left]
    expect(source?.key).toBe(name)
    expect(source?.drops).toBeGreaterThanOrEqual(dropsBefore)
    const settledAt = source?.settledAt ?? Number.NaN
    const startedAt = source?.startedAt ?? Number.NaN
    // A failure reaches only those who waited for it.
    if (E.isLeft(given)) expect(settledAt).toBeGreaterThanOrEqual(askedAt)
    if (ageFrom === 'start') expect(askedAt - startedAt).toBeLessThan(ttlMs)
    else expect(askedAt - settledAt).toBeLessThan(ttlMs)
  }

  for (const step of actions) {
    if (step.do === 'read') readers.push(read(step.key))
    if (step.do === 'wait') clock.advance(step.ms)
    if (step.do === 'settle') {
      const open = loads.filter(({ outcome }) => outcome === undefined)
      const chosen = open[step.nth % Math.max(1, open.length)]
      if (chosen !== undefined) {
        chosen.outcome = step.as
        chosen.settledAt = clock.now()
        chosen.settle(step.as)
      }
    }
    if (step.do === 'drop') {
      cache.drop(step.key)
      dropped([step.key])
    }
    if (step.do === 'dropGroup') {
      cache.dropGroup('a')
      dropped(['a1', 'a2'])
    }
    if (step.do === 'dropAll') {
      cache.dropAll()
      dropped(keys)
    }
    await settled()
    expect(cache.size()).toBeLessThanOrEqual(maxEntries + keys.length)
  }
  for (const { outcome, settle } of loads) if (outcome === undefined) settle('rejection')
  await Promise.all(readers)
}

describe('any use of the cache', () => {
  it.each(['completion', 'start'] as const)(
    'keeps its laws with ages counted from the %s of the read',
    async (ageFrom) => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), (actions) =>
          playThrough(ageFrom, actions),
        ),
        { numRuns: 300 },
      )
    },
  )
})
