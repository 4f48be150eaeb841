// The stop loss and take profit of an open position: which side of the price each belongs on, and
// whether a change of them shows in a later read (docs/behaviour.md#changes).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import {
  compareDecimals,
  decimalOf,
  multiplyDecimals,
  subtractDecimals,
} from '../primitives/decimal.ts'
import type { BrokerPosition } from './position.ts'

/** The levels that a position is to have; an absent one is removed. */
export interface Levels {
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
}

export type LevelName = keyof Levels

const levelNames: readonly LevelName[] = ['stopLoss', 'takeProfit']

/** What decides about a change of levels. */
type LevelledPosition = Pick<BrokerPosition, LevelName | 'currentPrice'>

/**
 * The levels of a position with one of them moved. A stop loss is below the current price of a buy
 * and above that of a sell, a take profit the other way round; the price itself is neither.
 */
export const decideLevels = (
  { side, currentPrice, stopLoss, takeProfit }: BrokerPosition,
  name: LevelName,
  value: number,
): E.Either<Refusal<'InvalidPrice'>, Levels> => {
  const isBelow = (side === 'buy') === (name === 'stopLoss')
  return (isBelow ? value < currentPrice : value > currentPrice)
    ? E.right({ stopLoss, takeProfit, [name]: value })
    : E.left(refuse('InvalidPrice', { level: name, side, value, currentPrice }))
}

/**
 * Whether a position that was read after a change has the levels as they were requested, which
 * decides a change that nobody confirmed. Brokers round a level to the symbol's digits, so one that
 * moved counts as requested within half a unit of the last decimal that the broker shows; one that
 * did not move proves nothing, however near it is.
 */
export const hasRequestedLevels = (
  after: LevelledPosition,
  requested: Levels,
  before: LevelledPosition,
): boolean => {
  const decimals = shownDecimals([after, before])
  return levelNames.every((name) => {
    if (after[name] === requested[name]) return true
    return after[name] !== before[name] && isRounded(after[name], requested[name], decimals)
  })
}

/**
 * Whether a level that was to change is what it was: the read is older than the change, or the
 * change changed nothing.
 */
export const showsOldLevel = (
  after: LevelledPosition,
  requested: Levels,
  before: LevelledPosition,
): boolean =>
  levelNames.some((name) => after[name] === before[name] && after[name] !== requested[name])

/**
 * The position after a change that the broker confirmed: where the read still shows the level of
 * before, the requested one holds.
 */
export const withConfirmedLevels = (
  after: BrokerPosition,
  requested: Levels,
  before: LevelledPosition,
): BrokerPosition => {
  const changed = levelNames.filter(
    (name) => requested[name] !== undefined && after[name] === before[name],
  )
  return { ...after, ...Object.fromEntries(changed.map((name) => [name, requested[name]])) }
}

/** No symbol has prices of more; beyond them is binary residue. */
const mostDecimals = 8

// The entry price of a netting position is an average, of more decimals than its symbol has.
const shownDecimals = (positions: readonly LevelledPosition[]): number => {
  const prices = positions.flatMap(({ currentPrice, stopLoss = 0, takeProfit = 0 }) => [
    currentPrice,
    stopLoss,
    takeProfit,
  ])
  return Math.min(mostDecimals, Math.max(...prices.map((price) => decimalOf(price).scale)))
}

const isRounded = (
  shown: number | undefined,
  requested: number | undefined,
  decimals: number,
): boolean => {
  if (shown === undefined || requested === undefined) return false
  const [low, high] = [Math.min(shown, requested), Math.max(shown, requested)]
  const distance = subtractDecimals(decimalOf(high), decimalOf(low))
  return (
    compareDecimals(multiplyDecimals(decimalOf(2), distance), { units: 1n, scale: decimals }) <= 0
  )
}
