// The maximum drawdown.
import {
  addDecimals,
  compareDecimals,
  decimalOf,
  decimalToNumber,
  subtractDecimals,
  zero,
} from '../primitives/decimal.ts'
import { moneyUnit, wholeUnits } from '../primitives/exact-sum.ts'

/**
 * The deepest fall of the running sum of net profits, taken in the order given, below the highest
 * it had before, which is 0 at the start: max over k of (max over j ≤ k of Sⱼ) − Sₖ, in money, at
 * least 0. Sums are exact decimals, the result is rounded once. NaN when a net profit is not
 * finite.
 */
export const maxDrawdown = (netProfits: readonly number[]): number => {
  let sum = 0
  let peak = 0
  let deepest = 0
  for (const netProfit of netProfits) {
    sum += wholeUnits(netProfit, moneyUnit)
    peak = Math.max(peak, sum)
    deepest = Math.max(deepest, peak - sum)
    // Neither a NaN nor an inexact sum passes this.
    if (!(peak - Math.min(sum, 0) <= Number.MAX_SAFE_INTEGER))
      return maxDrawdownOfDecimals(netProfits)
  }
  return deepest / moneyUnit
}

const maxDrawdownOfDecimals = (netProfits: readonly number[]): number => {
  let [sum, peak, deepest] = [zero, zero, zero]
  for (const netProfit of netProfits) {
    if (!Number.isFinite(netProfit)) return Number.NaN
    sum = addDecimals(sum, decimalOf(netProfit))
    if (compareDecimals(sum, peak) > 0) peak = sum
    const fall = subtractDecimals(peak, sum)
    if (compareDecimals(fall, deepest) > 0) deepest = fall
  }
  return decimalToNumber(deepest)
}
