// What orders and positions share of prices: their levels and on which side of a price each
// belongs, and whether prices that were read after a change are those that were requested.
import { decimalOf } from './decimal.ts'
import { sumExactly } from './exact-sum.ts'

export type Side = 'buy' | 'sell'

/** Stop loss and take profit; an absent level is none. */
export interface Levels {
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
}

export type LevelName = keyof Levels

export const levelNames: readonly LevelName[] = ['stopLoss', 'takeProfit']

/** The levels to change: a price sets one, null removes it, and an absent one stays. */
export type LevelsChange = { readonly [Name in LevelName]?: number | null | undefined }

export const changedLevels = (before: Levels, change: LevelsChange): Levels => {
  const levelAfter = (name: LevelName): number | undefined =>
    change[name] === undefined ? before[name] : (change[name] ?? undefined)
  return { stopLoss: levelAfter('stopLoss'), takeProfit: levelAfter('takeProfit') }
}

/**
 * Whether the level belongs below the price, as the stop loss of a buy and the take profit of a
 * sell do; the others belong above it.
 */
export const belongsBelow = (level: LevelName, side: Side): boolean =>
  (side === 'buy') === (level === 'stopLoss')

/** The first level that is at the price, or on the wrong side of it. */
export const findMisplacedLevel = (
  side: Side,
  price: number,
  levels: LevelsChange,
): { readonly level: LevelName; readonly value: number } | undefined => {
  for (const level of levelNames) {
    const value = levels[level] ?? undefined
    if (value !== undefined && (belongsBelow(level, side) ? value >= price : value <= price))
      return { level, value }
  }
  return undefined
}

/**
 * Whether prices that were read after a change are those that were requested. Brokers round a price
 * to the symbol's digits: one that moved counts as requested within half a unit of the last decimal
 * that the broker shows; one that did not move proves nothing, however near it is.
 */
export const hasRequestedPrices = <Name extends string>(
  names: readonly Name[],
  after: Prices<Name>,
  requested: Prices<Name>,
  before: Prices<Name>,
): boolean => {
  const decimals = shownDecimals(names.flatMap((name) => [after[name] ?? 0, before[name] ?? 0]))
  return names.every((name) => {
    if (after[name] === requested[name]) return true
    return after[name] !== before[name] && isRounded(after[name], requested[name], decimals)
  })
}

type Prices<Name extends string> = { readonly [Price in Name]?: number | undefined }

/** No symbol has prices of more; beyond them is binary residue. */
const mostDecimals = 8

// The entry price of a netting position is an average, of more decimals than its symbol has.
const shownDecimals = (prices: readonly number[]): number =>
  Math.min(mostDecimals, Math.max(...prices.map((price) => decimalOf(price).scale)))

const isRounded = (
  shown: number | undefined,
  requested: number | undefined,
  decimals: number,
): boolean =>
  shown !== undefined &&
  requested !== undefined &&
  2 * Math.abs(sumExactly([shown, -requested])) <= Number(`1e-${decimals}`)
