// Stop losses and take profits: reached as soon as an account is looked at while the price stands
// at or beyond them; filled at the level.
import type { Desk } from '../books/entries.ts'
import { fillClose } from '../books/fills.ts'
import { exitPriceOf, type Position } from '../books/position.ts'

export const executeStops = (desk: Desk): void => {
  // A close replaces the list of positions, so this one can be walked to its end.
  for (const position of desk.account.positions) {
    const reached = reachedLevel(desk, position)
    if (reached !== undefined && desk.market.isOpen(position.instrument.symbol)) {
      fillClose(
        desk,
        position,
        position.volume,
        { reason: reached.reason, comment: reached.comment },
        { price: reached.level },
      )
    }
  }
}

const reachedLevel = (desk: Desk, position: Position) => {
  const { stopLoss, takeProfit, side } = position
  if (stopLoss === undefined && takeProfit === undefined) return undefined
  const price = exitPriceOf(desk.market, position, desk.at)
  const digits = position.instrument.digits
  if (stopLoss !== undefined && (side === 'buy' ? price.lte(stopLoss) : price.gte(stopLoss))) {
    return { level: stopLoss, reason: 'SL' as const, comment: `[sl ${stopLoss.toFixed(digits)}]` }
  }
  if (
    takeProfit !== undefined &&
    (side === 'buy' ? price.gte(takeProfit) : price.lte(takeProfit))
  ) {
    return {
      level: takeProfit,
      reason: 'TP' as const,
      comment: `[tp ${takeProfit.toFixed(digits)}]`,
    }
  }
  return undefined
}
