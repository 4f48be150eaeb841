// The stop loss and take profit of an open position: which side of the price each belongs on, and
// whether a change of them shows in a later read (docs/behaviour.md#changes).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import {
  changedLevels,
  findMisplacedLevel,
  hasRequestedPrices,
  levelNames,
  type LevelName,
  type Levels,
  type LevelsChange,
} from '../primitives/prices.ts'
import type { BrokerPosition } from './position.ts'

/** What decides about a change of levels. */
type LevelledPosition = Pick<BrokerPosition, LevelName | 'currentPrice'>

/**
 * The levels of a position after a change. A stop loss is below the current price of a buy and
 * above that of a sell, a take profit the other way round; the price itself is neither.
 */
export const decideLevels = (
  { side, currentPrice, ...before }: BrokerPosition,
  change: LevelsChange,
): E.Either<Refusal<'InvalidPrice'>, Levels> => {
  const misplaced = findMisplacedLevel(side, currentPrice, change)
  if (misplaced !== undefined)
    return E.left(refuse('InvalidPrice', { ...misplaced, side, currentPrice }))
  return E.right(changedLevels(before, change))
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
): boolean =>
  // The current price is as it is; it shows how many decimals the symbol has.
  hasRequestedPrices(
    [...levelNames, 'currentPrice'],
    after,
    { ...requested, currentPrice: after.currentPrice },
    before,
  )

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
  const { stopLoss, takeProfit, ...rest } = after
  const shown = { stopLoss, takeProfit }
  const confirmed = levelNames
    .map((name) => [name, after[name] === before[name] ? requested[name] : shown[name]] as const)
    .filter(([, price]) => price !== undefined)
  return { ...rest, ...Object.fromEntries(confirmed) }
}
