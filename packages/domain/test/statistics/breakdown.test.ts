// Groups of trades, compared with Intl's own calendar, and tables of the days on which clocks
// change.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { sumExactly } from '../../src/primitives/exact-sum.ts'
import { groupsOf, statisticsOf } from '../../src/statistics/index.ts'
import {
  createLocalTime,
  parseTimeZone,
  utc,
  type TimeZone,
} from '../../src/statistics/time-zone.ts'

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Casablanca',
].map((name) => name as TimeZone)

const instants = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) })

it('tell the local time that Intl does', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.array(instants), (timeZone, drawn) => {
      const format = new Intl.DateTimeFormat('sv-SE', {
        timeZone,
        dateStyle: 'short',
        timeStyle: 'medium',
      })
      const localTime = createLocalTime(timeZone)
      for (const at of drawn)
        expect(localTime(at).toISOString().slice(0, 19).replace('T', ' ')).toBe(format.format(at))
    }),
  )
})

const trade = (time: string, held = 0) => ({ closedAt: Date.parse(time), held })
const resultsOf = (trades: readonly { closedAt: number; held: number }[]) => ({
  netProfits: trades.map((_, index) => index + 1),
  closedAt: trades.map(({ closedAt }) => closedAt),
  holdingTimes: trades.map(({ held }) => held),
})

it.each([
  // The clock goes from 2:00 to 3:00, and in autumn from 3:00 back to 2:00.
  ['hour', 'Europe/Berlin', ['2026-03-29T00:59:59.999Z', '2026-03-29T01:00:00Z'], ['1', '3']],
  ['hour', 'Europe/Berlin', ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'], ['2']],
  // By half an hour.
  ['hour', 'Australia/Lord_Howe', ['2026-10-03T15:29:00Z', '2026-10-03T15:30:00Z'], ['1', '2']],
  ['hour', 'Asia/Kathmandu', ['2026-01-01T18:14:00Z', '2026-01-01T18:15:00Z'], ['0', '23']],
  // The zone left out 30 December 2011, a Friday.
  ['weekday', 'Pacific/Apia', ['2011-12-30T09:59:00Z', '2011-12-30T10:00:00Z'], ['4', '6']],
  ['weekday', 'UTC', ['2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'], ['1', '7']],
  [
    'month',
    'Europe/Berlin',
    ['2026-10-31T22:59:00Z', '2026-10-31T23:00:00Z'],
    ['2026-10', '2026-11'],
  ],
  [
    'month',
    'America/New_York',
    ['2027-01-01T04:59:00Z', '2026-02-01T05:00:00Z'],
    ['2026-02', '2026-12'],
  ],
  [
    'weekday_hour',
    'Europe/Berlin',
    ['2026-01-05T08:00:00Z', '2026-01-04T23:00:00Z', '2026-01-04T22:59:59Z'],
    ['1_00', '1_09', '7_23'],
  ],
  ['hour', 'UTC', ['2026-01-01T10:00:00Z', '2026-01-01T09:00:00Z'], ['9', '10']],
] as const)('by %s in %s, of %j, have the keys %j', (by, timeZone, times, keys) => {
  const groups = groupsOf(resultsOf(times.map((time) => trade(time))), by, timeZone as TimeZone)
  expect(groups.map(({ key }) => key)).toEqual(keys)
})

it('by holding time are in order, with the statistics of each', () => {
  const held = [-5, 59, 60, 299, 300, 3_599, 3_600, 14_400, 86_399, 86_400, 604_799, 604_800]
  const results = resultsOf(held.map((seconds) => trade('2026-01-01T00:00:00Z', seconds)))
  const groups = groupsOf(results, 'holding', utc)
  expect(groups.map(({ key, totalTrades }) => [key, totalTrades])).toEqual([
    ['under_1m', 2],
    ['1m_5m', 2],
    ['5m_1h', 2],
    ['1h_4h', 1],
    ['4h_1d', 2],
    ['1d_1w', 2],
    ['over_1w', 1],
  ])
  expect(groups[0]).toEqual({ key: 'under_1m', ...statisticsOf([1, 2]), enough: false })
})

/** Of the key of a step. */
const edgesOf = (key: string): readonly [lower: number, upper: number] => {
  const [first = '', second = ''] = key.split('_')
  if (first === 'under') return [-Infinity, Number(second)]
  return first === 'over' ? [Number(second), Infinity] : [Number(first), Number(second)]
}

const groupsOfResults = (netProfits: readonly number[]) =>
  groupsOf(
    { netProfits, closedAt: netProfits.map(() => 0), holdingTimes: netProfits.map(() => 0) },
    'result',
    utc,
  )

describe('by result', () => {
  it.each([
    [[], []],
    [[0, 0], [['-1_0', 2]]],
    [[0.07, 0.07], [['0_0.1', 2]]],
    [
      [-5, 10],
      [
        ['-5.5_-5', 1],
        ['9.5_10', 1],
      ],
    ],
    [
      [...times(98, (at) => (at % 8) + 1), -70, 90],
      [
        ['under_0', 1],
        ['0_2', 26],
        ['2_4', 24],
        ['4_6', 24],
        ['6_8', 24],
        ['over_8', 1],
      ],
    ],
    [
      [...times(90, () => -0.2), -0.4, -0.4, -0.4, -0.29, 0, 0, 0],
      [
        ['-0.41_-0.4', 3],
        ['-0.3_-0.29', 1],
        ['-0.21_-0.2', 90],
        ['-0.01_0', 3],
      ],
    ],
  ])('%j has the steps %j', (results, steps) => {
    expect(groupsOfResults(results).map(({ key, totalTrades }) => [key, totalTrades])).toEqual(
      steps,
    )
  })

  it('is in the step whose edges enclose it, and the steps are few, equal and in order', () => {
    const cents = fc.integer({ min: -1e5, max: 1e5 }).map((amount) => amount / 100)
    const rare = fc.integer({ min: -1e9, max: 1e9 }).map((amount) => amount / 100)
    const results = fc.array(fc.oneof({ weight: 20, arbitrary: cents }, rare), { minLength: 1 })
    fc.assert(
      fc.property(results, (drawn) => {
        const groups = groupsOfResults(drawn)
        expect(groups.length).toBeLessThan(45)
        for (const { key, totalTrades, netProfit } of groups) {
          const [lower, upper] = edgesOf(key)
          const within = drawn.filter((result) => result > lower && result <= upper)
          expect([totalTrades, netProfit]).toEqual([within.length, sumExactly(within)])
          if (upper - lower === Infinity) expect(totalTrades / drawn.length).toBeLessThan(0.02)
        }
        expect(sumExactly(groups.map((one) => one.totalTrades))).toBe(drawn.length)
        const steps = groups.map(({ key }) => edgesOf(key)).filter((edges) => edges.every(isFinite))
        const widths = new Set(steps.map(([lower, upper]) => (upper - lower).toPrecision(8)))
        expect(widths.size).toBeLessThan(2)
        expect(steps).toEqual(steps.toSorted(([one], [other]) => one - other))
      }),
    )
  })
})

it.each([29, 30])('say of %i trades whether they are enough', (count) => {
  const trades = times(count, () => trade('2026-01-01T00:00:00Z'))
  expect(groupsOf(resultsOf(trades), 'month', utc)[0]?.enough).toBe(count === 30)
})

it.each(['America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'UTC'])('know the time zone %s', (text) => {
  expect(parseTimeZone(text)).toEqual(O.some(text))
})

it.each(['Europe/Nowhere', '+02:00', '', 'Europe/Berlin ', 'a'.repeat(200)])(
  'know no time zone %j',
  (text) => {
    expect(parseTimeZone(text)).toEqual(O.none)
  },
)
