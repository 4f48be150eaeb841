// The balance of an account at the times of its trades, and what moved it besides them.
import { ExactSum } from '../primitives/exact-sum.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Column } from './trade-results.ts'

/** Everything that moved the balance of one account: results, charges, deposits and withdrawals. */
export interface BalanceHistory {
  /** The balance before the first movement. */
  readonly opening: number
  /** Epoch milliseconds, ascending. */
  readonly times: Column
  /** Money, one for each time. */
  readonly amounts: Column
}

export interface Balances {
  /** After every movement up to each time, that time included. */
  readonly balances: Float64Array
  /** The highest balance before each time, that before the first movement included. */
  readonly highest: Float64Array
}

/**
 * Sums are exact decimals, each result is rounded once. Times are whole milliseconds; in which
 * order the balance moved within one is unknown here, so that only its last balance counts.
 * @param at ascending epoch milliseconds
 */
export const balancesAt = ({ opening, times, amounts }: BalanceHistory, at: Column): Balances => {
  const balances = new Float64Array(at.length)
  const highest = new Float64Array(at.length)
  const sum = new ExactSum()
  sum.add(opening)
  let [top, topBefore, movement] = [opening, opening, 0]
  const addMovementsBefore = (end: number) => {
    for (; (times[movement] ?? Infinity) < end; movement++) {
      sum.add(amounts[movement] ?? 0)
      if (times[movement + 1] !== times[movement]) top = Math.max(top, sum.value())
    }
  }
  for (let index = 0; index < at.length; index++) {
    const time = at[index] ?? 0
    // What moved at the time of a trade counts only for later ones.
    if (time !== at[index - 1]) {
      addMovementsBefore(time)
      topBefore = top
      addMovementsBefore(time + 1)
    }
    highest[index] = topBefore
    balances[index] = sum.value()
  }
  return { balances, highest }
}

/**
 * A drawdown in percent of the highest balance before it, 100 · drawdown / highest. Null where
 * that balance is not above 0 and there is a drawdown.
 */
export const drawdownPercent = (drawdown: number, highestBalance: number): number | null => {
  if (drawdown === 0) return 0
  return highestBalance > 0 ? (100 * drawdown) / highestBalance : null
}

// What moved the balance but buys and sells.

export const cashFlowReasons = ['deposit', 'withdrawal', 'charge', 'correction', 'other'] as const
export type CashFlowReason = (typeof cashFlowReasons)[number]

export interface CashFlow {
  readonly time: Instant
  /** Money; below 0 where it left the account. */
  readonly amount: number
  readonly reason: CashFlowReason
}

/** What was booked besides trades; money in the account's currency. */
export interface CashFlows {
  readonly count: number
  /** The sum of the amounts above 0. */
  readonly inflows: number
  /** The sum of the amounts below 0, as a magnitude. */
  readonly outflows: number
  /** The largest of them, by time. */
  readonly largest: readonly CashFlow[]
}
