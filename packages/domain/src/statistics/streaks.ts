// The longest runs of wins and of losses.
import type { Column } from './trade-results.ts'

/**
 * How many trades in a row, in closing order, had a net profit above 0 (wins), or of 0 or below
 * (losses); 0 without such trades.
 */
export const longestStreaks = (
  netProfits: Column,
): { readonly wins: number; readonly losses: number } => {
  let [wins, losses, winning, losing] = [0, 0, 0, 0]
  for (const netProfit of netProfits) {
    if (netProfit > 0) [winning, losing] = [winning + 1, 0]
    else [winning, losing] = [0, losing + 1]
    wins = Math.max(wins, winning)
    losses = Math.max(losses, losing)
  }
  return { wins, losses }
}
