// Random deal histories for property tests: small alphabets of times, ids and prices, so that ties,
// partial closes, scale-ins and faults of every kind often come together.
import * as fc from 'fast-check'
import type { Deal } from '@tradeport/domain/trades'

/**
 * Money as brokers write it, and now and then with many decimals, or so large or small that
 * ordinary sums would lose it.
 */
export const money: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100) },
  { weight: 2, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      1e300,
      -1e300,
      1e-300,
      5e-324,
      1e22,
      -1e8,
      99_999_999.99999999,
      9_007_199_254_740_992,
    ),
  },
)

const price = fc.oneof(
  fc.integer({ min: 100_000, max: 130_000 }).map((points) => points / 100_000),
  fc.constantFrom(0.00000001, 64_123.123_456_78, -37.63, 1e200, 3e-200),
)

const execution = fc.record({
  id: fc.oneof(fc.integer({ min: 1, max: 30 }).map(String), fc.constantFrom('007', '__proto__')),
  time: fc.integer({ min: 0, max: 12 }).map((step) => 1_767_600_000_000 + step * 400),
  price,
  profit: money,
  commission: money,
  swap: money,
})

/** What may be wrong with one deal, or with all of a position. */
const fault = fc.constantFrom<{ [K in keyof Deal]?: Deal[K] | undefined }>(
  ...([undefined, 'inout', 'out_by', 'in', 'out'] as const).map((entry) => ({ entry })),
  ...[undefined, Number.NaN, Number.POSITIVE_INFINITY, 8.65e15].map((time) => ({ time })),
  ...[undefined, ''].map((symbol) => ({ symbol })),
  ...[undefined, 0, Number.NaN].map((wrong) => ({ price: wrong })),
  ...[undefined, 0, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 99].map((volume) => ({ volume })),
  // Of no position.
  ...[undefined, '', '0'].map((positionId) => ({ positionId })),
  { side: undefined },
)

/**
 * The deals of a position that is opened in up to three parts and closed in parts, at once, not
 * wholly or not at all, with up to two faults.
 */
const positionDeals = (positionId: string): fc.Arbitrary<readonly Deal[]> =>
  fc
    .record({
      symbol: fc.constantFrom('EURUSD', 'XAUUSD', 'US30.cash'),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      parts: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
      closing: fc.constantFrom('at once', 'in parts', 'not wholly', 'without volumes'),
      executions: fc.array(execution, { minLength: 6, maxLength: 6 }),
      faults: fc.array(fc.tuple(fc.nat(6), fault), { maxLength: 2 }),
    })
    .map(({ symbol, side, parts, closing, executions, faults }) => {
      const whole = parts.reduce((sum, part) => sum + part)
      const closed =
        closing === 'at once' ? [whole] : closing === 'not wholly' ? parts.slice(1) : parts
      const all = [
        ...parts.map((part) => ({ entry: 'in', side, volume: part / 100 })),
        ...closed.map((part) => ({
          entry: 'out',
          side: side === 'buy' ? 'sell' : 'buy',
          volume: closing === 'without volumes' ? undefined : part / 100,
        })),
      ]
      return all.map((deal, index) => {
        // A fault at 6 is one of every deal.
        const wrong = faults.flatMap(([at, fields]) =>
          at === 6 || at % all.length === index ? [fields] : [],
        )
        const fields = Object.assign(
          { ...executions[index], ...deal, symbol, positionId },
          ...wrong,
        )
        const present = Object.entries(fields).filter(([, value]) => value !== undefined)
        return Object.fromEntries(present) as unknown as Deal
      })
    })

/**
 * Histories of a few positions in any order. Money is finite; ids of positions are among them that
 * a careless map would trip over.
 */
export const dealHistory: fc.Arbitrary<readonly Deal[]> = fc
  .uniqueArray(
    fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 9_999_999 }).map(String) },
      { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', '00', '-1', '1e3', 'x') },
    ),
    { maxLength: 6 },
  )
  .chain((ids) => fc.tuple(...ids.map(positionDeals)))
  .chain((positions) => shuffled(positions.flat()))

/** All of the items, in any order. */
export const shuffled = <A>(items: readonly A[]): fc.Arbitrary<A[]> =>
  fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length })
