// The expectancy of trades.
import { exactSumOf } from '../primitives/exact-sum.ts'
import type { Column } from './trade-results.ts'

/**
 * The mean net profit of a trade, Σ xᵢ / n, in money; 0 without trades. MetaTrader reports it as
 * the expected payoff.
 */
export const expectancy = (netProfits: Column): number =>
  exactSumOf(netProfits).dividedBy(Math.max(1, netProfits.length))
