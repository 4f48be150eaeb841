// The further statistics and the curve of trades, compared with a plain replay of the trades and of
// what moved the balance.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sumExactly } from '../../src/primitives/exact-sum.ts'
import { tradeCurve, extendedStatistics } from '../../src/statistics/index.ts'
import { expectRelative } from './expect-relative.ts'

const cents = fc
  .oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -1e9, max: 1e9 }))
  .map((amount) => amount / 100)
const minutes = fc.nat(30).map((minute) => minute * 60_000)

/** An account: trades, each of which is also a movement of the balance, and deposits. */
const accounts = fc
  .record({
    trades: fc.array(fc.record({ at: minutes, net: cents, held: fc.nat(9e5) })),
    deposits: fc.array(fc.record({ at: minutes, net: fc.integer({ min: -50, max: 500 }) })),
    opening: fc.constantFrom(0, 0, 1_000),
  })
  .map(({ trades, deposits, opening }) => {
    const inOrder = trades.toSorted((a, b) => a.at - b.at)
    const moved = [...inOrder, ...deposits].toSorted((a, b) => a.at - b.at)
    return {
      opening,
      deposits: deposits.toSorted((a, b) => a.at - b.at),
      trades: inOrder,
      moved,
      results: {
        netProfits: Float64Array.from(inOrder, ({ net }) => net),
        closedAt: Float64Array.from(inOrder, ({ at }) => at),
        holdingTimes: Float64Array.from(inOrder, ({ held }) => held),
      },
      history: {
        opening,
        times: Float64Array.from(moved, ({ at }) => at),
        amounts: Float64Array.from(moved, ({ net }) => net),
      },
    }
  })

type Drawn = typeof accounts extends fc.Arbitrary<infer A> ? A : never

/** Point by point, each from the beginning. */
const replay = ({ opening, trades, moved }: Drawn) => {
  const sumTo = (count: number) => sumExactly(trades.slice(0, count).map(({ net }) => net))
  return trades.map(({ at }, index) => {
    const peaks = times(index + 2, (count) => sumExactly([sumTo(count), -sumTo(index + 1)]))
    // Of the movements within a millisecond, whose order is unknown, only the last counts.
    const balances = [-Infinity, ...moved.map((one) => one.at).filter((time) => time < at)].map(
      (time) =>
        sumExactly([opening, ...moved.filter((one) => one.at <= time).map(({ net }) => net)]),
    )
    const [drawdown, highest] = [Math.max(...peaks), Math.max(...balances)]
    const until = moved.filter((one) => one.at <= at).map(({ net }) => net)
    return {
      time: at,
      netProfit: sumTo(index + 1),
      balance: sumExactly([opening, ...until]),
      drawdown,
      drawdownPercent: drawdown === 0 ? 0 : highest > 0 ? (100 * drawdown) / highest : null,
    }
  })
}

describe('the curve', () => {
  it('has net profit, balance and drawdown after each trade, and the deepest drawdown with its dates', () => {
    fc.assert(
      fc.property(accounts, (drawn) => {
        const points = replay(drawn)
        const curve = tradeCurve(drawn.results, drawn.history, null, 2_000)
        expect(curve.points).toEqual(points)
        const amount = Math.max(0, ...points.map(({ drawdown }) => drawdown))
        const trough = points.findIndex(({ drawdown }) => drawdown === amount)
        const isFallen = amount > 0
        const peak = points.slice(0, Math.max(0, trough)).findLast(({ drawdown }) => drawdown === 0)
        const recovered = points.slice(trough + 1).find(({ drawdown }) => drawdown === 0)
        expect(curve.maxDrawdown).toEqual({
          amount,
          percent: isFallen ? points[trough]?.drawdownPercent : 0,
          peakAt: isFallen ? (peak?.time ?? null) : null,
          troughAt: isFallen ? points[trough]?.time : null,
          recoveredAt: isFallen ? (recovered?.time ?? null) : null,
        })
        const alone = tradeCurve(drawn.results, null, null, 2_000)
        expect(alone.maxDrawdown).toEqual({ ...curve.maxDrawdown, percent: null })
        expect(alone.points).toEqual(
          points.map((point) => ({ ...point, balance: null, drawdownPercent: null })),
        )
      }),
    )
  })

  it('keeps as many points as were asked for, the first, the last, the peak and the trough among them', () => {
    fc.assert(
      fc.property(accounts, fc.integer({ min: 4, max: 12 }), (drawn, count) => {
        const whole = tradeCurve(drawn.results, drawn.history, null, 2_000)
        const { points, maxDrawdown } = tradeCurve(drawn.results, drawn.history, null, count)
        expect(points).toHaveLength(Math.min(count, whole.points.length))
        expect(whole.points).toEqual(expect.arrayContaining([...points]))
        expect(maxDrawdown).toEqual(whole.maxDrawdown)
        if (points.length === 0) return
        expect([points[0], points.at(-1)]).toEqual([whole.points[0], whole.points.at(-1)])
        const { peakAt, troughAt } = maxDrawdown
        for (const at of [peakAt, troughAt].filter((time) => time !== null))
          expect(points.map(({ time }) => time)).toContain(at)
      }),
    )
  })

  it('has the balance after everything of the moment of a cash flow', () => {
    fc.assert(
      fc.property(accounts, (drawn) => {
        const largest = drawn.deposits.map(({ at, net }) => ({
          time: at,
          amount: net,
          reason: net > 0 ? ('deposit' as const) : ('withdrawal' as const),
        }))
        const sums = { count: 7, inflows: 5, outflows: 3 }
        const flows = { ...sums, largest }
        const { cashFlows } = tradeCurve(drawn.results, drawn.history, flows, 4)
        expect(cashFlows).toEqual({
          ...sums,
          points: largest.map(({ time, amount }) => ({
            time,
            amount,
            reason: amount > 0 ? 'deposit' : 'withdrawal',
            balance: sumExactly([
              drawn.opening,
              ...drawn.moved.filter(({ at }) => at <= time).map(({ net }) => net),
            ]),
          })),
        })
        expect(tradeCurve(drawn.results, null, null, 4).cashFlows).toBeNull()
      }),
    )
  })
})

describe('the further statistics', () => {
  it('are what a replay of the trades gives', () => {
    fc.assert(
      fc.property(accounts, (drawn) => {
        const { trades } = drawn
        const nets = trades.map(({ net }) => net)
        const runs = (isWin: boolean) =>
          nets
            .map((net) => (net > 0 === isWin ? 'x' : ' '))
            .join('')
            .split(' ')
            .reduce((longest, run) => Math.max(longest, run.length), 0)
        const n = Math.max(1, nets.length)
        const points = replay(drawn)
        const net = sumExactly(nets)
        const found = extendedStatistics(drawn.results, drawn.history)
        const ofNothing = net === 0 ? 0 : null
        expect(found).toMatchObject({
          longestWinStreak: runs(true),
          longestLossStreak: runs(false),
          averageHoldingTime: trades.reduce((sum, { held }) => sum + held, 0) / n,
          maxDrawdownPercent: tradeCurve(drawn.results, drawn.history, null, 4).maxDrawdown.percent,
          recoveryFactor:
            found.maxDrawdown === 0
              ? ofNothing
              : net / Math.max(...points.map(({ drawdown }) => drawdown)),
        })
        expectRelative(found.expectancy, net / n, 1e-15)
        const squares = nets.reduce((sum, one) => sum + Math.min(0, one) ** 2, 0)
        if (squares === 0) expect(found.sortinoRatio).toBe(ofNothing)
        else expectRelative(found.sortinoRatio ?? 0, net / n / Math.sqrt(squares / n), 1e-13)
        expect(extendedStatistics(drawn.results, null)).toEqual({
          ...found,
          maxDrawdownPercent: null,
        })
      }),
    )
  })
})
