// The drawdown: how far the summed net profit has fallen from its highest value so far.
import { ExactSum } from '../primitives/exact-sum.ts'
import type { Column } from './trade-results.ts'

/** The deepest drawdown; trades are named by their place in closing order. */
export interface DeepestDrawdown {
  /** Money, at least 0. */
  readonly amount: number
  /** The trade after which the sum was highest; null where that was before the first trade. */
  readonly peak: number | null
  /** The trade after which the sum was lowest; null without a drawdown. */
  readonly trough: number | null
  /** The first trade after which the sum was back at its peak; null where none is yet. */
  readonly recovered: number | null
}

/**
 * The drawdown after each trade, in money, at least 0: (max over j ≤ k of Sⱼ) − Sₖ with S₀ = 0 and
 * Sₖ the sum of the first k net profits. Sums are exact decimals, each result is rounded once.
 */
export const drawdownsOf = (netProfits: Column): Float64Array => {
  const drawdowns = new Float64Array(netProfits.length)
  let drawdown = new ExactSum()
  let at = 0
  for (const netProfit of netProfits) {
    drawdown.add(-netProfit)
    const amount = drawdown.value()
    if (amount < 0) drawdown = new ExactSum()
    drawdowns[at] = Math.max(0, amount)
    at += 1
  }
  return drawdowns
}

/** The first of several that are equally deep. */
export const deepestDrawdown = (drawdowns: Float64Array): DeepestDrawdown => {
  let deepest: DeepestDrawdown = { amount: 0, peak: null, trough: null, recovered: null }
  let peak: number | null = null
  drawdowns.forEach((amount, place) => {
    if (amount > deepest.amount) deepest = { amount, peak, trough: place, recovered: null }
    if (amount > 0) return
    peak = place
    if (deepest.trough !== null) deepest = { ...deepest, recovered: deepest.recovered ?? place }
  })
  return deepest
}

/**
 * The largest drop of the summed net profit from its peak, which starts at 0, in the order given.
 * In money, at least 0.
 */
export const maxDrawdown = (netProfits: Column): number =>
  deepestDrawdown(drawdownsOf(netProfits)).amount
