// The curve of summed net profit, with its drawdown in money, in percent and in time.
import { ExactSum } from '../primitives/exact-sum.ts'
import type { Instant } from '../primitives/instant.ts'
import {
  balancesAt,
  drawdownPercent,
  type BalanceHistory,
  type CashFlow,
  type CashFlows,
} from './balance.ts'
import { deepestDrawdown, drawdownsOf } from './drawdown.ts'
import { largestTriangles } from './largest-triangles.ts'
import type { Column, TradeResults } from './trade-results.ts'

/** After a trade closed. Money, where nothing else is said. */
export interface CurvePoint {
  readonly time: Instant
  /** The sum of the net profits up to here. */
  readonly netProfit: number
  /** Of the account, with its deposits and withdrawals; null where it is not known. */
  readonly balance: number | null
  /** How far `netProfit` is below its highest value so far, which starts at 0. */
  readonly drawdown: number
  /** Of the highest balance so far; null where balances are not known. */
  readonly drawdownPercent: number | null
}

/** A deposit, a withdrawal, or what else moved the balance and is no result of a trade. Money. */
export interface CashFlowPoint extends CashFlow {
  /** Of the account, after everything up to that millisecond. */
  readonly balance: number
}

export interface TradeCurve {
  readonly points: readonly CurvePoint[]
  /** Null where balances are not known. */
  readonly cashFlows:
    | (Omit<CashFlows, 'largest'> & { readonly points: readonly CashFlowPoint[] })
    | null
  /** The deepest drawdown. A time is null where there is none. */
  readonly maxDrawdown: {
    readonly amount: number
    readonly percent: number | null
    /** Null also where the peak was before the first trade. */
    readonly peakAt: Instant | null
    readonly troughAt: Instant | null
    /** When net profit was back at its peak; null also where it is not yet. */
    readonly recoveredAt: Instant | null
  }
}

/**
 * @param history null over several accounts, and where balances are not known
 * @param cashFlows null over several accounts
 * @param count the maximum of points, at least 4: the first, the last, and the peak and the trough
 * of the deepest drawdown are always among them
 */
export const tradeCurve = (
  { netProfits, closedAt }: TradeResults,
  history: BalanceHistory | null,
  cashFlows: CashFlows | null,
  count: number,
): TradeCurve => {
  const sums = runningSums(netProfits)
  const drawdowns = drawdownsOf(netProfits)
  const balances = history && balancesAt(history, closedAt)
  const { amount, peak, trough, recovered } = deepestDrawdown(drawdowns)
  const timeAt = (index: number | null): Instant | null =>
    index === null ? null : (closedAt[index] ?? null)
  const percentAt = (index: number): number | null =>
    balances && drawdownPercent(drawdowns[index] ?? 0, balances.highest[index] ?? 0)
  const kept = [peak, trough].filter((index) => index !== null)
  return {
    points: largestTriangles(closedAt, sums, count, kept).map((index) => ({
      time: closedAt[index] ?? 0,
      netProfit: sums[index] ?? 0,
      balance: balances && (balances.balances[index] ?? 0),
      drawdown: drawdowns[index] ?? 0,
      drawdownPercent: percentAt(index),
    })),
    cashFlows: history && cashFlows && withBalances(cashFlows, history),
    maxDrawdown: {
      amount,
      percent: trough === null ? history && 0 : percentAt(trough),
      peakAt: timeAt(peak),
      troughAt: timeAt(trough),
      recoveredAt: timeAt(recovered),
    },
  }
}

const withBalances = ({ largest, ...sums }: CashFlows, history: BalanceHistory) => {
  const { balances } = balancesAt(
    history,
    largest.map(({ time }) => time),
  )
  return {
    ...sums,
    points: largest.map((flow, index) => ({ ...flow, balance: balances[index] ?? 0 })),
  }
}

/** Exact sums, each rounded once. */
const runningSums = (values: Column): Float64Array => {
  const sum = new ExactSum()
  return Float64Array.from(values, (value) => {
    sum.add(value)
    return sum.value()
  })
}
