// What moved the balance of an account and is no result of a trade.
import type { Instant } from '../primitives/instant.ts'

export const cashFlowReasons = ['deposit', 'withdrawal', 'charge', 'correction', 'other'] as const
export type CashFlowReason = (typeof cashFlowReasons)[number]

export interface CashFlow {
  readonly time: Instant
  /** Money; below 0 where it left the account. */
  readonly amount: number
  readonly reason: CashFlowReason
}

export interface CashFlows {
  readonly count: number
  /** The sum of the amounts above 0. */
  readonly inflows: number
  /** The sum of the amounts below 0, as a magnitude. */
  readonly outflows: number
  /** The largest of them, by time. */
  readonly largest: readonly CashFlow[]
}
