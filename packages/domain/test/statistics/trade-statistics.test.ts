// Laws of the statistics, among them that they equal a slow replay in fractions.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxDrawdown } from '../../src/statistics/max-drawdown.ts'
import { tradeStatistics } from '../../src/statistics/trade-statistics.ts'
import { money } from '../../src/testing/deal-arbitraries.ts'
import {
  compare,
  fraction,
  minus,
  nearest,
  over,
  total,
  type Fraction,
} from '../trades/slow-replay.ts'
import { expectRelative } from './expect-relative.ts'

const none: Fraction = [0n, 1n]
const netProfits = fc.array(money, { maxLength: 30 })
const ordinary = fc.array(
  fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100),
  { maxLength: 40 },
)
const inOrder = (values: readonly number[]): { netProfit: number; closedAt: number }[] =>
  values.map((netProfit, i) => ({ netProfit, closedAt: 1000 * Math.floor(i / 2) }))

const repeated = (count: number, value: number): readonly number[] =>
  Array.from({ length: count }, () => value)

const average = (sums: readonly Fraction[]): number =>
  sums.length === 0 ? 0 : nearest(over(total(sums), [BigInt(sums.length), 1n]))

const slowDrawdown = (values: readonly number[]): Fraction => {
  const sums = values.map((_, i) => total(values.slice(0, i + 1).map(fraction)))
  const falls = sums.flatMap((sum, i) =>
    [none, ...sums.slice(0, i + 1)].map((peak) => minus(peak, sum)),
  )
  return falls.reduce((deepest, fall) => (compare(fall, deepest) > 0 ? fall : deepest), none)
}

describe('the statistics of trades', () => {
  it('equal a slow replay in fractions, whatever the money', () => {
    fc.assert(
      fc.property(netProfits, (values) => {
        const statistics = tradeStatistics(inOrder(values))
        const wins = values.filter((value) => value > 0).map(fraction)
        const losses = values
          .filter((value) => value <= 0)
          .map((value) => minus(none, fraction(value)))
        const lost = total(losses)[0] !== 0n
        expect(statistics).toMatchObject({
          totalTrades: values.length,
          winningTrades: wins.length,
          losingTrades: losses.length,
          profitFactor: lost
            ? nearest(over(total(wins), total(losses)))
            : wins.length === 0
              ? 0
              : null,
          averageWin: average(wins),
          averageLoss: average(losses),
          largestWin: Math.max(0, ...values),
          largestLoss: Math.max(0, ...values.map((value) => -value)),
          totalProfit: nearest(total(wins)),
          totalLoss: nearest(total(losses)),
          netProfit: nearest(total(values.map(fraction))),
          maxDrawdown: nearest(slowDrawdown(values)),
        })
      }),
      { numRuns: 1_000 },
    )
  })

  it('divide the mean trade by the deviation of the sample, and put the intervals around both averages', () => {
    fc.assert(
      fc.property(ordinary, (values) => {
        fc.pre(new Set(values).size > 1)
        const { sharpeRatio, winRate, confidenceIntervals } = tradeStatistics(inOrder(values))
        const n = BigInt(values.length)
        const mean = over(total(values.map(fraction)), [n, 1n])
        const squares = total(
          values
            .map((value) => minus(fraction(value), mean))
            .map(([a, b]) => [a * a, b * b] as const),
        )
        const deviation = Math.sqrt(nearest(over(squares, [n - 1n, 1n])))
        expectRelative(sharpeRatio, nearest(mean) / deviation, 1e-13)
        const { averageTrade, winRate: rate } = confidenceIntervals
        expect(averageTrade?.lower).toBeLessThan(nearest(mean))
        expect(averageTrade?.upper).toBeGreaterThan(nearest(mean))
        expect(rate?.lower).toBeLessThanOrEqual(winRate)
        expect(rate?.upper).toBeGreaterThanOrEqual(winRate)
      }),
    )
  })

  it('do not depend on the order given where close times differ', () => {
    const shuffled = ordinary
      .map((values) => values.map((netProfit, closedAt) => ({ netProfit, closedAt })))
      .chain((trades) =>
        fc.tuple(
          fc.constant(trades),
          fc.shuffledSubarray(trades, { minLength: trades.length, maxLength: trades.length }),
        ),
      )
    fc.assert(
      fc.property(shuffled, ([trades, others]) => {
        expect(tradeStatistics(others)).toEqual(tradeStatistics(trades))
      }),
    )
  })

  it('are 0 without trades, with both intervals null', () => {
    expect(tradeStatistics([])).toEqual({
      totalTrades: 0,
      winningTrades: 0,
      losingTrades: 0,
      winRate: 0,
      profitFactor: 0,
      averageWin: 0,
      averageLoss: 0,
      largestWin: 0,
      largestLoss: 0,
      totalProfit: 0,
      totalLoss: 0,
      netProfit: 0,
      sharpeRatio: 0,
      maxDrawdown: 0,
      confidenceIntervals: { level: 0.95, winRate: null, averageTrade: null },
    })
  })

  it.each([
    [[5], { profitFactor: null, sharpeRatio: 0, winRate: 100, maxDrawdown: 0 }],
    [
      [5, 5, 5],
      {
        profitFactor: null,
        sharpeRatio: 0,
        confidenceIntervals: { averageTrade: { lower: 5, upper: 5 } },
      },
    ],
    [[0], { profitFactor: 0, losingTrades: 1, winRate: 0, totalLoss: 0 }],
    [
      [-5],
      {
        profitFactor: 0,
        averageLoss: 5,
        largestLoss: 5,
        maxDrawdown: 5,
        confidenceIntervals: { averageTrade: null },
      },
    ],
    [
      [0.1, 0.2, -0.3],
      { netProfit: 0, totalProfit: 0.3, profitFactor: 1, maxDrawdown: 0.3, sharpeRatio: 0 },
    ],
    [[-3, 5, -1, -1, 4], { maxDrawdown: 3 }],
    [
      [1, -2, 3],
      {
        winRate: 200 / 3,
        averageWin: 2,
        averageLoss: 2,
        largestWin: 3,
        largestLoss: 2,
        profitFactor: 2,
        maxDrawdown: 2,
      },
    ],
    [
      [Number.POSITIVE_INFINITY, -1],
      {
        winningTrades: 1,
        netProfit: Number.POSITIVE_INFINITY,
        totalLoss: 1,
        maxDrawdown: Number.NaN,
      },
    ],
    [
      [Number.NEGATIVE_INFINITY, 1],
      {
        losingTrades: 1,
        totalLoss: Number.POSITIVE_INFINITY,
        largestLoss: Number.POSITIVE_INFINITY,
        totalProfit: 1,
      },
    ],
    [
      [1, Number.NaN],
      {
        netProfit: Number.NaN,
        maxDrawdown: Number.NaN,
        winningTrades: 1,
        losingTrades: 1,
        totalProfit: 1,
      },
    ],
  ])('of the net profits %j', (values, expected) => {
    expect(tradeStatistics(inOrder(values))).toMatchObject(expected)
  })
})

describe('the intervals of the statistics', () => {
  it('are those of 95 percent: Wilson’s in percent, Student’s in money', () => {
    const { winRate, averageTrade, level } = tradeStatistics(
      inOrder([1, 2, 3, 4]),
    ).confidenceIntervals
    expect(level).toBe(0.95)
    expect(winRate?.upper).toBe(100)
    expectRelative(averageTrade?.lower ?? 0, 0.44573974323947796, 1e-13)
    expectRelative(averageTrade?.upper ?? 0, 4.554260256760522, 1e-13)
    const { winRate: oneOfTwo } = tradeStatistics(inOrder([-1, 1])).confidenceIntervals
    expectRelative(oneOfTwo?.lower ?? 0, 9.453120573423071, 1e-14)
    expectRelative(oneOfTwo?.upper ?? 0, 90.54687942657692, 1e-14)
  })
})

describe('the maximum drawdown', () => {
  it.each([
    [[], 0],
    [[2, -3, 1, -4, 6], 6],
    // Where whole hundred-millionths of money do not fit into a double any more.
    [[90_000_000, 90_000_000, -0.01, -0.02, 1], 0.03],
    [[-90_000_000, -90_000_000, 0.01, -0.03], 180_000_000.02],
    [[45_000_000, -90_000_000, 0.01, -90_000_000, 1], 179_999_999.99],
    [[...repeated(5, 9_000_000), ...repeated(13, -9_000_000), -0.00000001], 117_000_000.00000001],
    [[1e-12, -3e-12, 1e-12, -1e-12], 3e-12],
    [[1e300, -1e300, 1], 1e300],
  ])('of %j is %d', (values, drawdown) => {
    expect(maxDrawdown(values)).toBe(drawdown)
  })
})
