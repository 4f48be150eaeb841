// What the statistics need of many trades: one column for each figure, in closing order.

/** Numbers in a list, or in a typed array, which needs 8 bytes for each. */
export type Column = readonly number[] | Float64Array

export interface TradeResults {
  /** Money, after commission and swap. */
  readonly netProfits: Column
  /** Epoch milliseconds, ascending. */
  readonly closedAt: Column
  /** Whole seconds. */
  readonly holdingTimes: Column
}
