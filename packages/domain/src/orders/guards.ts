// What a head trader allows: a failed challenge locks, desk and trader limits bound the book, and
// large orders need an approval. Every order counts as one that opens, since whether it reduces a
// position is known only once the broker has executed it.
import * as E from 'fp-ts/lib/Either.js'
import {
  approvalRequired,
  challengeLocked,
  deskLimitBreached,
  traderLimitBreached,
} from '../errors.ts'
import type {
  ApprovalRequired,
  BreachedLimit,
  ChallengeLocked,
  DeskLimitBreached,
  TraderLimitBreached,
} from '../errors.ts'
import {
  addDecimals,
  compareDecimals,
  decimalOf,
  decimalToNumber,
  zero,
} from '../primitives/decimal.ts'
import type { Instant } from '../primitives/instant.ts'
import type { OrderId } from './order.ts'

/** The status of a challenge and when it began; the newest counts. */
export interface ChallengeStanding {
  readonly status: 'active' | 'passed' | 'failed'
  readonly startedAt: Instant
}

/** A limit that is null does not apply. Lots are compared exactly. */
export interface BookLimits {
  readonly maxOpenLots: number | null
  readonly maxOpenPositions: number | null
  /** In capitals. */
  readonly allowedSymbols: readonly string[] | null
}

export interface OrderLimits extends BookLimits {
  readonly maxLotsPerOrder: number | null
  readonly approvalAboveLots: number | null
}

/** An order that is pending, or was filled after the books were read; volume in lots. */
export interface PendingSize {
  readonly id: OrderId
  readonly volume: number
}

/**
 * The volume of each open position and of each pending order of the accounts that a limit covers,
 * in lots.
 */
export type Book = readonly number[]

export interface OrderSize {
  /** In capitals. */
  readonly symbol: string
  readonly volume: number
}

/** Whether any of the limits needs the book to be read. */
export const isBookNeeded = ({ maxOpenLots, maxOpenPositions }: BookLimits): boolean =>
  maxOpenLots !== null || maxOpenPositions !== null

export const requireUnlocked = (
  challenges: readonly ChallengeStanding[],
): E.Either<ChallengeLocked, void> => {
  const newest = challenges.toSorted((a, b) => b.startedAt - a.startedAt)[0]
  return newest?.status === 'failed' ? E.left(challengeLocked) : E.right(undefined)
}

/** @param book of all the desk's accounts */
export const requireDeskLimits = (
  order: OrderSize,
  limits: BookLimits,
  book: Book,
): E.Either<DeskLimitBreached, void> => {
  const breached = breachedBookLimit(order, limits, book)
  return breached === undefined ? E.right(undefined) : E.left(deskLimitBreached(breached))
}

/** @param book of the order's account */
export const requireTraderLimits = (
  order: OrderSize,
  limits: OrderLimits,
  book: Book,
): E.Either<TraderLimitBreached, void> => {
  const { maxLotsPerOrder } = limits
  if (maxLotsPerOrder !== null && order.volume > maxLotsPerOrder)
    return E.left(
      traderLimitBreached({
        limit: 'maxLotsPerOrder',
        allowed: maxLotsPerOrder,
        current: order.volume,
      }),
    )
  const breached = breachedBookLimit(order, limits, book)
  return breached === undefined ? E.right(undefined) : E.left(traderLimitBreached(breached))
}

export const requireNoApproval = (
  { volume }: OrderSize,
  { approvalAboveLots }: OrderLimits,
): E.Either<ApprovalRequired, void> =>
  approvalAboveLots !== null && volume > approvalAboveLots
    ? E.left(approvalRequired(approvalAboveLots))
    : E.right(undefined)

const breachedBookLimit = (
  { symbol, volume }: OrderSize,
  limits: BookLimits,
  book: Book,
): BreachedLimit | undefined => {
  const { allowedSymbols, maxOpenPositions, maxOpenLots } = limits
  if (allowedSymbols !== null && !allowedSymbols.includes(symbol))
    return { limit: 'allowedSymbols', allowed: allowedSymbols, current: symbol }
  if (maxOpenPositions !== null && book.length + 1 > maxOpenPositions)
    return { limit: 'maxOpenPositions', allowed: maxOpenPositions, current: book.length }
  if (maxOpenLots === null) return undefined
  const open = book.map(decimalOf).reduce(addDecimals, zero)
  const isBreached =
    compareDecimals(addDecimals(open, decimalOf(volume)), decimalOf(maxOpenLots)) > 0
  return isBreached
    ? { limit: 'maxOpenLots', allowed: maxOpenLots, current: decimalToNumber(open) }
    : undefined
}
