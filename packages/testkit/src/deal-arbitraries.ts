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
      99_999_999.99999999,
      9_007_199_254_740_992,
      1e22,
      -1e8,
      0.1,
      0.2,
      -0,
    ),
  },
)

/** Lots above 0. */
export const lots: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 12 }).map((hundredths) => hundredths / 100) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 30 }).map((tenths) => tenths / 10) },
  { weight: 1, arbitrary: fc.constantFrom(0.0001, 0.00012345, 1e-9, 123_456_789, 0.1 + 0.2) },
)

export const price: fc.Arbitrary<number> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.integer({ min: 100_000, max: 130_000 }).map((points) => points / 100_000),
  },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 9_000_000 }).map((points) => points / 100) },
  { weight: 1, arbitrary: fc.constantFrom(0.00000001, 64_123.123_456_78, -37.63, 1e200, 3e-200) },
)

const time = fc.integer({ min: 0, max: 12 }).map((step) => 1_767_600_000_000 + step * 400)
const dealId = fc.oneof(
  fc.integer({ min: 1, max: 30 }).map(String),
  fc.constantFrom('007', 'a-1', 'A-1', '__proto__', '33000001', '33000010'),
)
const symbol = fc.constantFrom('EURUSD', 'XAUUSD', 'US30.cash')
const side = fc.constantFrom('buy' as const, 'sell' as const)

/** Ids of positions: brokers' numbers, and the names that a careless map would trip over. */
export const positionId: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 9_999_999 }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '00',
      '-1',
      '1e3',
      '9007199254740993',
      'x',
    ),
  },
)

type Fields = { [K in keyof Deal]?: Deal[K] | undefined }

const toDeal = (fields: Fields): Deal => {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return { id: '1', profit: 0, commission: 0, swap: 0, ...Object.fromEntries(present) }
}

const fault: fc.Arbitrary<Fields> = fc.constantFrom<Fields>(
  { entry: undefined },
  { entry: 'inout' },
  { entry: 'out_by' },
  { entry: 'in' },
  { time: undefined },
  { time: Number.NaN },
  { time: Number.POSITIVE_INFINITY },
  { time: 8.65e15 },
  { symbol: undefined },
  { symbol: '' },
  { price: undefined },
  { price: 0 },
  { price: Number.NaN },
  { volume: undefined },
  { volume: 0 },
  { volume: -0.5 },
  { volume: Number.NaN },
  { volume: Number.POSITIVE_INFINITY },
  { volume: 99 },
)

/** Cuts a volume, in hundredths of a lot, into the given number of parts or fewer. */
const cut = (hundredths: number, shares: readonly number[]): readonly number[] => {
  let left = hundredths
  const parts: number[] = []
  for (const share of shares) {
    const part = Math.min(left, Math.max(1, Math.floor(hundredths * share)))
    if (part > 0) parts.push(part)
    left -= part
  }
  return left > 0 ? [...parts, left] : parts
}

const execution = fc.record({
  id: dealId,
  time,
  price,
  profit: money,
  commission: money,
  swap: money,
})

/**
 * The deals of one position that opens in up to three parts and closes them, in parts or wholly.
 */
const closedPosition = (id: string): fc.Arbitrary<readonly Deal[]> =>
  fc
    .record({
      symbol,
      side,
      opened: fc.integer({ min: 1, max: 60 }),
      scaleIns: fc.array(fc.double({ min: 0.1, max: 0.6, noNaN: true }), { maxLength: 2 }),
      partials: fc.array(fc.double({ min: 0.1, max: 0.6, noNaN: true }), { maxLength: 3 }),
      executions: fc.array(execution, { minLength: 8, maxLength: 8 }),
    })
    .map(({ symbol, side, opened, scaleIns, partials, executions }) => {
      const other = side === 'buy' ? ('sell' as const) : ('buy' as const)
      const entries = cut(opened, scaleIns).map((part) => ({
        entry: 'in' as const,
        side,
        volume: part / 100,
      }))
      const exits = cut(opened, partials).map((part) => ({
        entry: 'out' as const,
        side: other,
        volume: part / 100,
      }))
      return [...entries, ...exits].map((deal, i) => ({
        ...(executions[i] as Deal),
        ...deal,
        symbol,
        positionId: id,
      }))
    })

/**
 * A closed position with up to two faults put into it: a field lost or senseless, or a deal left
 * out.
 */
const faultyPosition = (id: string): fc.Arbitrary<readonly Deal[]> =>
  fc
    .record({
      deals: closedPosition(id),
      faults: fc.array(fc.tuple(fc.nat(7), fault), { maxLength: 2 }),
      lost: fc.option(fc.nat(7)),
    })
    .map(({ deals, faults, lost }) => {
      const kept =
        deals.length > 1 && lost !== null ? deals.toSpliced(lost % deals.length, 1) : deals
      return faults.reduce(
        (list, [at, fields]) =>
          list.with(at % list.length, toDeal({ ...(list[at % list.length] as Deal), ...fields })),
        kept,
      )
    })

/**
 * A closed position of which every deal lacks the same field, or whose closing deals reported no
 * volume.
 */
const barePosition = (id: string): fc.Arbitrary<readonly Deal[]> =>
  fc.tuple(closedPosition(id), fault).chain(([deals, fields]) =>
    fc.constantFrom(
      deals.map((deal) => toDeal({ ...deal, ...fields })),
      deals.map((deal) => (deal.entry === 'out' ? toDeal({ ...deal, volume: undefined }) : deal)),
      deals.map((deal) => (deal.entry === 'in' ? toDeal({ ...deal, volume: 0 }) : deal)),
    ),
  )

/** Buys and sells in which no field agrees with any other. */
const wildPosition = (id: string): fc.Arbitrary<readonly Deal[]> =>
  fc.array(
    fc
      .record({
        execution,
        side,
        symbol: fc.option(symbol, { nil: undefined }),
        volume: fc.option(lots, { nil: undefined }),
        entry: fc.constantFrom('in' as const, 'out' as const),
        fault: fc.option(fault, { nil: undefined, freq: 6 }),
      })
      .map(({ execution, fault, ...fields }) =>
        toDeal({ ...execution, ...fields, ...fault, positionId: id }),
      ),
    { minLength: 1, maxLength: 4 },
  )

/** All deals of one position, in any state and with any fault. */
export const positionDeals = (id: string): fc.Arbitrary<readonly Deal[]> =>
  fc.oneof(
    { weight: 4, arbitrary: closedPosition(id) },
    { weight: 4, arbitrary: faultyPosition(id) },
    { weight: 2, arbitrary: barePosition(id) },
    { weight: 2, arbitrary: wildPosition(id) },
  )

/**
 * Deals that belong to no position: balance and credit bookings, and trades whose position the
 * broker did not name.
 */
export const positionlessDeal: fc.Arbitrary<Deal> = fc.oneof(
  fc.record({
    id: dealId,
    time,
    profit: money,
    commission: money,
    swap: money,
    positionId: fc.constantFrom('', '0', '7'),
  }),
  fc
    .record({
      execution,
      side,
      symbol,
      entry: fc.constantFrom('in' as const, 'out' as const),
      positionId: fc.constantFrom(undefined, '', '0'),
    })
    .map(({ execution, ...fields }) => toDeal({ ...execution, ...fields })),
)

/**
 * Histories of a few positions, shuffled or in time order, with bookings among them. Money is
 * finite.
 */
export const dealHistory: fc.Arbitrary<readonly Deal[]> = fc
  .uniqueArray(positionId, { maxLength: 6 })
  .chain((ids) =>
    fc.tuple(
      fc.tuple(...ids.map(positionDeals)),
      fc.array(positionlessDeal, { maxLength: 2 }),
      fc.boolean(),
    ),
  )
  .chain(([positions, others, isInTimeOrder]) => {
    const deals = [...positions.flat(), ...others]
    if (isInTimeOrder) return fc.constant(deals.toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0)))
    return fc.shuffledSubarray(deals, { minLength: deals.length, maxLength: deals.length })
  })
