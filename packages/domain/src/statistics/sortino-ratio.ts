// The Sortino ratio of trades.
import { exactSumOf } from '../primitives/exact-sum.ts'
import type { Column } from './trade-results.ts'

/**
 * The mean trade over the downside deviation from 0, which counts every trade:
 *   x̄ / √(Σ min(xᵢ, 0)² / n) (F. A. Sortino and R. van der Meer, Journal of Portfolio Management
 * 17(4), 1991, with a target of 0). Without a unit, per trade, not annualised. Null when there is
 * profit and no loss, 0 when there is neither, NaN when a net profit is not finite.
 */
export const sortinoRatio = (netProfits: Column): number | null => {
  const mean = exactSumOf(netProfits).dividedBy(Math.max(1, netProfits.length))
  if (!Number.isFinite(mean)) return Number.NaN
  let largestLoss = 0
  for (const netProfit of netProfits) largestLoss = Math.max(largestLoss, -netProfit)
  if (largestLoss === 0) return mean === 0 ? 0 : null
  // In units of the largest loss, so that no square leaves the range of doubles.
  let squares = 0
  for (const netProfit of netProfits)
    if (netProfit < 0) squares += (netProfit / largestLoss) * (netProfit / largestLoss)
  return mean / largestLoss / Math.sqrt(squares / netProfits.length)
}
