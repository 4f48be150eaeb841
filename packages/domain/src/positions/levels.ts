// The stop loss and take profit of an open position: which side of the price each belongs on, and
// whether a change of them shows in what is read after it (docs/behaviour.md#changes).
import * as E from 'fp-ts/lib/Either.js'
import { invalidPrice } from '../errors.ts'
import type { InvalidPrice } from '../errors.ts'
import {
  compareDecimals,
  decimalOf,
  multiplyDecimals,
  subtractDecimals,
} from '../primitives/decimal.ts'
import type { Decimal } from '../primitives/decimal.ts'
import type { BrokerPosition } from './position.ts'

/** The levels that a position is to have; one that is left out is taken off. */
export interface Levels {
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
}

type LevelName = keyof Levels

const levelNames: readonly LevelName[] = ['stopLoss', 'takeProfit']

/** What a change of levels may look at. */
type LevelledPosition = Pick<BrokerPosition, LevelName | 'currentPrice'>

/**
 * A stop loss is below the current price of a buy and above that of a sell; the price itself is
 * neither.
 */
export const requireStopLossSide = (
  position: BrokerPosition,
  stopLoss: number,
): E.Either<InvalidPrice, number> =>
  isLossSide(position, stopLoss)
    ? E.right(stopLoss)
    : E.left(wrongSide(position, 'stopLoss', stopLoss))

/**
 * A take profit is above the current price of a buy and below that of a sell; the price itself is
 * neither.
 */
export const requireTakeProfitSide = (
  position: BrokerPosition,
  takeProfit: number,
): E.Either<InvalidPrice, number> =>
  isProfitSide(position, takeProfit)
    ? E.right(takeProfit)
    : E.left(wrongSide(position, 'takeProfit', takeProfit))

const isLossSide = ({ side, currentPrice }: BrokerPosition, level: number): boolean =>
  side === 'buy' ? level < currentPrice : level > currentPrice

const isProfitSide = ({ side, currentPrice }: BrokerPosition, level: number): boolean =>
  side === 'buy' ? level > currentPrice : level < currentPrice

const wrongSide = (
  { side, currentPrice }: BrokerPosition,
  level: LevelName,
  value: number,
): InvalidPrice => invalidPrice({ level, side, value, currentPrice })

export const levelsOf = ({ stopLoss, takeProfit }: LevelledPosition): Levels => ({
  stopLoss,
  takeProfit,
})

/**
 * Whether a position that was read after a change has the levels as they were asked for, which
 * settles a change that nobody confirmed. Brokers round a level to the symbol's digits, so one that
 * moved counts as asked for within half a unit of the last decimal that the broker shows; one that
 * is where it was proves nothing, however near it lies.
 */
export const hasLevelsAsAsked = (
  after: LevelledPosition,
  asked: Levels,
  before: LevelledPosition,
): boolean => {
  const decimals = shownDecimals([after, before])
  return levelNames.every((name) => {
    if (after[name] === asked[name]) return true
    return after[name] !== before[name] && isRounded(after[name], asked[name], decimals)
  })
}

/**
 * Whether a level that was to change stands where it stood: the read is older than the change, or
 * the change changed nothing.
 */
export const showsOldLevel = (
  after: LevelledPosition,
  asked: Levels,
  before: LevelledPosition,
): boolean => levelNames.some((name) => after[name] === before[name] && after[name] !== asked[name])

/**
 * The position as a change that the broker confirmed leaves it: where the read still shows the
 * level of before, the asked one holds.
 */
export const withConfirmedLevels = (
  after: BrokerPosition,
  asked: Levels,
  before: LevelledPosition,
): BrokerPosition => {
  const changed = levelNames.filter(
    (name) => asked[name] !== undefined && after[name] === before[name],
  )
  return { ...after, ...Object.fromEntries(changed.map((name) => [name, asked[name]])) }
}

/** No symbol has prices of more; beyond them is binary residue. */
const mostDecimals = 8

// The entry price of a netting position is an average, of more decimals than its symbol has.
const shownDecimals = (positions: readonly LevelledPosition[]): number => {
  const prices = positions.flatMap(({ currentPrice, stopLoss, takeProfit }) => [
    currentPrice,
    stopLoss,
    takeProfit,
  ])
  return Math.min(
    mostDecimals,
    Math.max(...prices.map((price) => (price === undefined ? 0 : decimalOf(price).scale))),
  )
}

const isRounded = (
  shown: number | undefined,
  asked: number | undefined,
  decimals: number,
): boolean => {
  if (shown === undefined || asked === undefined) return false
  const distance = multiplyDecimals(
    two,
    subtractDecimals(decimalOf(Math.max(shown, asked)), decimalOf(Math.min(shown, asked))),
  )
  return compareDecimals(distance, { units: 1n, scale: decimals }) <= 0
}

const two: Decimal = { units: 2n, scale: 0 }
