// The maximum drawdown (2.6, decision 37).
import { addDecimals, compareDecimals, decimalOf, decimalToNumber, subtractDecimals, zero } from '../primitives/decimal.ts'
import { moneyUnit, wholeUnits } from '../primitives/exact-sum.ts'
import { runSteps, type Steps } from '../primitives/run-steps.ts'

/**
 * The deepest fall of the running sum of net profits, taken in the order given, below the highest it had before, which is 0 at the start:
 * max over k of (max over j ≤ k of Sⱼ) − Sₖ, in money, at least 0. Sums are exact decimals, the result is rounded once. NaN when a net
 * profit is not finite.
 */
export const maxDrawdown = (netProfits: readonly number[]): number => runSteps(maxDrawdownInSteps(netProfits, Number.POSITIVE_INFINITY))

/** The same in steps of that many net profits, where they need big decimals; ordinary money takes microseconds. */
export function* maxDrawdownInSteps(netProfits: readonly number[], perStep: number): Steps<number> {
  let sum = 0
  let peak = 0
  let deepest = 0
  // By index: an iterator makes an object for each number where the engine does not see through it.
  for (let i = 0; i < netProfits.length; i++) {
    sum += wholeUnits(netProfits[i] as number, moneyUnit)
    peak = Math.max(peak, sum)
    deepest = Math.max(deepest, peak - sum)
    // Neither a NaN nor an inexact sum passes this.
    if (!(peak - Math.min(sum, 0) <= Number.MAX_SAFE_INTEGER)) return yield* maxDrawdownOfDecimals(netProfits, perStep)
  }
  return deepest / moneyUnit
}

function* maxDrawdownOfDecimals(netProfits: readonly number[], perStep: number): Steps<number> {
  let [sum, peak, deepest] = [zero, zero, zero]
  for (const [i, netProfit] of netProfits.entries()) {
    if ((i + 1) % perStep === 0) yield
    if (!Number.isFinite(netProfit)) return Number.NaN
    sum = addDecimals(sum, decimalOf(netProfit))
    if (compareDecimals(sum, peak) > 0) peak = sum
    const fall = subtractDecimals(peak, sum)
    if (compareDecimals(fall, deepest) > 0) deepest = fall
  }
  return decimalToNumber(deepest)
}
