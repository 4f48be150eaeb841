// Laws of the statistics, among them that they equal a slow replay in fractions.
import { money } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { meanInterval, wilsonInterval } from '../../src/statistics/intervals.ts'
import { maxDrawdown, tradeStatistics } from '../../src/statistics/trade-statistics.ts'
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
const cents = fc.integer({ min: -100_000, max: 100_000 }).map((amount) => amount / 100)
const inOrder = (values: readonly number[]) =>
  values.map((netProfit, i) => ({ netProfit, closedAt: 1000 * Math.floor(i / 2) }))

const average = (sums: readonly Fraction[]): number =>
  sums.length === 0 ? 0 : nearest(over(total(sums), [BigInt(sums.length), 1n]))

const slowDrawdown = (values: readonly number[]): Fraction => {
  const sums = values.map((_, i) => total(values.slice(0, i + 1).map(fraction)))
  const falls = sums.flatMap((sum, i) =>
    [none, ...sums.slice(0, i + 1)].map((peak) => minus(peak, sum)),
  )
  return falls.reduce((deepest, fall) => (compare(fall, deepest) > 0 ? fall : deepest), none)
}

it('equal a slow replay in fractions, whatever the money', () => {
  fc.assert(
    fc.property(fc.array(money, { maxLength: 30 }), (values) => {
      const wins = values.filter((value) => value > 0).map(fraction)
      const losses = values.filter((value) => value <= 0).map((value) => fraction(-value))
      const isLoss = total(losses)[0] !== 0n
      expect(tradeStatistics(inOrder(values))).toMatchObject({
        totalTrades: values.length,
        winningTrades: wins.length,
        losingTrades: losses.length,
        profitFactor: isLoss
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

it('divide the mean trade by the deviation of the sample, and have the intervals of both averages', () => {
  fc.assert(
    fc.property(fc.array(cents, { minLength: 2, maxLength: 40 }), (values) => {
      fc.pre(new Set(values).size > 1)
      const wins = values.filter((value) => value > 0).length
      const n = values.length
      const share = wilsonInterval(wins, n)
      const { sharpeRatio, winRate, confidenceIntervals } = tradeStatistics(inOrder(values))
      expect(winRate).toBe((100 * wins) / n)
      expect(confidenceIntervals).toEqual({
        level: 0.95,
        winRate: share && { lower: share.lower * 100, upper: share.upper * 100 },
        averageTrade: meanInterval(values),
      })
      const mean = over(total(values.map(fraction)), [BigInt(n), 1n])
      const squares = values
        .map((value) => minus(fraction(value), mean))
        .map(([a, b]) => [a * a, b * b] as const)
      const deviation = Math.sqrt(nearest(over(total(squares), [BigInt(n - 1), 1n])))
      expectRelative(sharpeRatio, nearest(mean) / deviation, 1e-13)
    }),
  )
})

it('do not depend on the order given where close times differ', () => {
  const shuffled = fc
    .array(cents, { maxLength: 40 })
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

const { NaN: nan, POSITIVE_INFINITY: infinity } = Number

it.each([
  [[], { totalTrades: 0, winRate: 0, profitFactor: 0, averageWin: 0, sharpeRatio: 0 }],
  [[], { confidenceIntervals: { level: 0.95, winRate: null, averageTrade: null } }],
  [[5], { profitFactor: null, sharpeRatio: 0, winRate: 100, maxDrawdown: 0 }],
  [[5, 5, 5], { sharpeRatio: 0, confidenceIntervals: { averageTrade: { lower: 5, upper: 5 } } }],
  [[0], { profitFactor: 0, losingTrades: 1, winRate: 0, totalLoss: 0 }],
  [[-5], { profitFactor: 0, averageLoss: 5, confidenceIntervals: { averageTrade: null } }],
  [[0.1, 0.2, -0.3], { netProfit: 0, totalProfit: 0.3, profitFactor: 1, sharpeRatio: 0 }],
  [[infinity, -1], { winningTrades: 1, netProfit: infinity, totalLoss: 1, maxDrawdown: nan }],
  [[-infinity, 1], { losingTrades: 1, totalLoss: infinity, largestLoss: infinity, totalProfit: 1 }],
  [[1, nan], { netProfit: nan, maxDrawdown: nan, winningTrades: 1, losingTrades: 1 }],
])('of the net profits %j have %o', (values, expected) => {
  expect(tradeStatistics(inOrder(values))).toMatchObject(expected)
})

const repeated = (count: number, value: number): readonly number[] =>
  Array.from({ length: count }, () => value)

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
])('have for %j a maximum drawdown of %d', (values, drawdown) => {
  expect(maxDrawdown(values)).toBe(drawdown)
})
