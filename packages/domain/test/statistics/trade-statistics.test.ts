// Laws of the statistics over random money, and tables of their edges.
import { money, shuffled, times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { decimalOf, decimalToNumber, subtractDecimals } from '../../src/primitives/decimal.ts'
import { exactSumOf, sumExactly } from '../../src/primitives/exact-sum.ts'
import { meanInterval, wilsonInterval, tradeStatistics } from '../../src/statistics/index.ts'
import { maxDrawdown } from '../../src/statistics/drawdown.ts'
import { expectRelative } from './expect-relative.ts'

const plainSum = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one)
const cents = fc.integer({ min: -100_000, max: 100_000 })
const inOrder = (values: readonly number[]) =>
  values.map((netProfit, i) => ({ netProfit, closedAt: 1000 * Math.floor(i / 2) }))

it('are exact sums of the wins and of the losses, whatever the money', () => {
  fc.assert(
    fc.property(fc.array(money, { maxLength: 30 }), (values) => {
      const wins = values.filter((value) => value > 0)
      const losses = values.filter((value) => value <= 0).map((value) => -value)
      const [profit, loss] = [exactSumOf(wins), exactSumOf(losses)]
      const bounded = loss.value() === 0 ? (wins.length === 0 ? 0 : null) : profit.ratioTo(loss)
      const sums = values.map((_, i) => exactSumOf(values.slice(0, i + 1)).toDecimal())
      const falls = sums.flatMap((sum, i) =>
        [decimalOf(0), ...sums.slice(0, i)].map((peak) =>
          decimalToNumber(subtractDecimals(peak, sum)),
        ),
      )
      expect(tradeStatistics(inOrder(values))).toMatchObject({
        totalTrades: values.length,
        winningTrades: wins.length,
        losingTrades: losses.length,
        profitFactor: bounded,
        averageWin: wins.length === 0 ? 0 : profit.dividedBy(wins.length),
        averageLoss: losses.length === 0 ? 0 : loss.dividedBy(losses.length),
        largestWin: Math.max(0, ...wins),
        largestLoss: Math.max(0, ...losses),
        totalProfit: profit.value(),
        totalLoss: loss.value(),
        netProfit: sumExactly(values),
        maxDrawdown: Math.max(0, ...falls),
      })
    }),
    { numRuns: 200 },
  )
})

it('divide the mean trade by the deviation of the sample, and have the intervals of both averages', () => {
  fc.assert(
    fc.property(fc.array(cents, { minLength: 2, maxLength: 40 }), (drawn) => {
      fc.pre(new Set(drawn).size > 1)
      const values = drawn.map((amount) => amount / 100)
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
      const sum = plainSum(drawn)
      const squares = n * plainSum(drawn.map((amount) => amount * amount)) - sum * sum
      const ratio = sum / n / Math.sqrt(squares / n / (n - 1))
      // Values that are close beside their mean lose digits in their offsets from it.
      expectRelative(sharpeRatio, ratio, 1e-13 + 1e-15 * Math.abs(ratio))
    }),
  )
})

it('do not depend on the order given where close times differ', () => {
  const trades = fc
    .array(money, { maxLength: 40 })
    .map((values) => values.map((netProfit, closedAt) => ({ netProfit, closedAt })))
  fc.assert(
    fc.property(
      trades.chain((all) => fc.tuple(fc.constant(all), shuffled(all))),
      ([all, others]) => {
        expect(tradeStatistics(others)).toEqual(tradeStatistics(all))
      },
    ),
  )
})

it.each([
  [[], { totalTrades: 0, winRate: 0, profitFactor: 0, averageWin: 0, sharpeRatio: 0 }],
  [[], { confidenceIntervals: { level: 0.95, winRate: null, averageTrade: null } }],
  [[5], { profitFactor: null, sharpeRatio: 0, winRate: 100, maxDrawdown: 0 }],
  [[5, 5, 5], { sharpeRatio: 0, confidenceIntervals: { averageTrade: { lower: 5, upper: 5 } } }],
  [[0], { profitFactor: 0, losingTrades: 1, winRate: 0, totalLoss: 0 }],
  [[-5], { profitFactor: 0, averageLoss: 5, confidenceIntervals: { averageTrade: null } }],
  [[0.1, 0.2, -0.3], { netProfit: 0, totalProfit: 0.3, profitFactor: 1, sharpeRatio: 0 }],
])('of the net profits %j have %o', (values, expected) => {
  expect(tradeStatistics(inOrder(values))).toMatchObject(expected)
})

it.each([
  [0, 1e-15],
  [1_000_000, 1e-8],
])('keep digits of the Sharpe ratio of cents beside %d', (offset, tolerance) => {
  const values = [0.01, 0.02, 0.04].map((amount) => amount + offset)
  const ratio = (offset + 0.07 / 3) / Math.sqrt(7 / 30_000)
  expectRelative(tradeStatistics(inOrder(values)).sharpeRatio, ratio, tolerance)
})

const repeated = (count: number, value: number) => times(count, () => value)

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
