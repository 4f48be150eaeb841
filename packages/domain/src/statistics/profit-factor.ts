// The profit factor (2.6, decision 37).
import type { ExactSum } from '../primitives/exact-sum.ts'

/** What was won over what was lost, both at least 0; null when there is profit and no loss (it is unbounded), 0 when there is neither. */
export const profitFactor = (profit: ExactSum, loss: ExactSum): number | null => {
  if (loss.value() !== 0) return profit.ratioTo(loss)
  return profit.value() === 0 ? 0 : null
}
