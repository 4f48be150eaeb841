// The recovery factor.

/**
 * Net profit over the largest drawdown, both in money and of closed trades. Null when there is
 * profit and no drawdown, 0 when there is neither. MetaTrader divides by the drawdown of equity,
 * which open positions make deeper.
 */
export const recoveryFactor = (netProfit: number, maxDrawdown: number): number | null => {
  if (maxDrawdown === 0) return netProfit === 0 ? 0 : null
  return netProfit / maxDrawdown
}
