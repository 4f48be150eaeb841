// How much a user may order: lots per order, orders of a UTC day, orders pending or open
// (docs/behaviour.md#checks-of-a-new-order).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type BreachedLimit, type ExceededRiskLimit, type Refusal } from '../errors.ts'
import { dayMs, startOfUtcDay, type Instant } from '../primitives/instant.ts'
import {
  addDecimals,
  compareDecimals,
  decimalOf,
  decimalToNumber,
  zero,
} from '../primitives/decimal.ts'
import type { OrderId } from './order.ts'

export const maxLotsPerOrder = 10
export const maxOrdersPerDay = 100
export const maxOpenOrders = 50

/**
 * Orders of one user: created in the current UTC day whatever their outcome, and pending or open
 * now.
 */
export interface OrderCounts {
  readonly today: number
  readonly open: number
}

/** A limit that the next order would pass is refused; how it stands before that order. */
const requireRiskLimit = (
  isExceeded: boolean,
  standing: ExceededRiskLimit,
): E.Either<Refusal<'RiskLimitExceeded'>, void> =>
  isExceeded ? E.left(refuse('RiskLimitExceeded', standing)) : E.right(undefined)

/** Checked before anything is read. */
export const requireVolumeInLimit = (
  volume: number,
): E.Either<Refusal<'RiskLimitExceeded'>, void> =>
  requireRiskLimit(volume > maxLotsPerOrder, {
    limit: 'volume_per_order',
    allowed: maxLotsPerOrder,
    current: volume,
  })

const requireOrdersTodayInLimit = (
  { today }: OrderCounts,
  now: Instant,
): E.Either<Refusal<'RiskLimitExceeded'>, void> =>
  requireRiskLimit(today >= maxOrdersPerDay, {
    limit: 'orders_per_day',
    allowed: maxOrdersPerDay,
    current: today,
    resetsAt: startOfUtcDay(now) + dayMs,
  })

const requireOpenOrdersInLimit = ({
  open,
}: OrderCounts): E.Either<Refusal<'RiskLimitExceeded'>, void> =>
  requireRiskLimit(open >= maxOpenOrders, {
    limit: 'open_orders',
    allowed: maxOpenOrders,
    current: open,
  })

/** The checks of the counts before one more order, each under the name of its limit. */
export const countChecks = [
  { name: 'orders_per_day', require: requireOrdersTodayInLimit },
  { name: 'open_orders', require: requireOpenOrdersInLimit },
] as const

/** Whether one more order may be recorded, given the counts before it. */
export const requireCountsInLimit = (
  counts: OrderCounts,
  now: Instant,
): E.Either<Refusal<'RiskLimitExceeded'>, void> => {
  const today = requireOrdersTodayInLimit(counts, now)
  return E.isLeft(today) ? today : requireOpenOrdersInLimit(counts)
}

// What a head trader allows: a failed challenge blocks new orders, desk and trader limits cap open
// positions and lots, and large orders need an approval. Every order counts as one that opens a
// position: whether it reduces one is known only once the broker has executed it.

export const challengeStatuses = ['active', 'passed', 'failed'] as const

/** A prop firm's challenge on an account: its status, and when it began. The newest counts. */
export interface ChallengeStanding {
  readonly startedAt: Instant
  readonly status: (typeof challengeStatuses)[number]
}

/** A limit that is null does not apply. Lots are compared exactly. */
export interface DeskLimits {
  readonly maxOpenLots: number | null
  readonly maxOpenPositions: number | null
  /** In capitals; null allows every symbol. */
  readonly allowedSymbols: readonly string[] | null
}

export interface TraderLimits extends DeskLimits {
  readonly maxLotsPerOrder: number | null
  /** Orders above it need an approval that the API cannot give. */
  readonly approvalAboveLots: number | null
}

/**
 * An order that counts against the limits even if the positions do not show it: it is pending, or
 * was filled after they were read. Volume in lots.
 */
export interface CountedOrder {
  readonly id: OrderId
  readonly volume: number
}

/**
 * The volume of each open position and of each counted order of the accounts that a limit covers,
 * in lots.
 */
export type OpenVolumes = readonly number[]

export interface OrderSize {
  /** In capitals. */
  readonly symbol: string
  readonly volume: number
}

/** Whether any of the limits needs the positions to be read. */
export const arePositionsNeeded = ({ maxOpenLots, maxOpenPositions }: DeskLimits): boolean =>
  maxOpenLots !== null || maxOpenPositions !== null

export const requireUnlocked = (
  challenges: readonly ChallengeStanding[],
): E.Either<Refusal<'ChallengeLocked'>, void> => {
  const newest = challenges.toSorted((a, b) => b.startedAt - a.startedAt)[0]
  return newest?.status === 'failed' ? E.left(refuse('ChallengeLocked')) : E.right(undefined)
}

const requireWithin =
  <Tag extends 'DeskLimitBreached' | 'TraderLimitBreached'>(tag: Tag) =>
  (
    order: OrderSize,
    limits: DeskLimits & Partial<TraderLimits>,
    openVolumes: OpenVolumes,
  ): E.Either<Refusal<Tag>, void> => {
    const breached = breachedLimit(order, limits, openVolumes)
    return breached === undefined ? E.right(undefined) : E.left(refuse(tag, breached))
  }

/** For the open volumes of all accounts of the desk. */
export const requireDeskLimits = requireWithin('DeskLimitBreached')

/** For the open volumes of the account of the order. */
export const requireTraderLimits = requireWithin('TraderLimitBreached')

export const requireNoApproval = (
  { volume }: OrderSize,
  { approvalAboveLots }: TraderLimits,
): E.Either<Refusal<'ApprovalRequired'>, void> =>
  approvalAboveLots !== null && volume > approvalAboveLots
    ? E.left(refuse('ApprovalRequired', { approvalAboveLots }))
    : E.right(undefined)

const breachedLimit = (
  { symbol, volume }: OrderSize,
  limits: DeskLimits & Partial<TraderLimits>,
  openVolumes: OpenVolumes,
): BreachedLimit | undefined => {
  const { maxLotsPerOrder = null, allowedSymbols, maxOpenPositions, maxOpenLots } = limits
  if (maxLotsPerOrder !== null && volume > maxLotsPerOrder)
    return { limit: 'maxLotsPerOrder', allowed: maxLotsPerOrder, current: volume }
  if (allowedSymbols !== null && !allowedSymbols.includes(symbol))
    return { limit: 'allowedSymbols', allowed: allowedSymbols, current: symbol }
  if (maxOpenPositions !== null && openVolumes.length + 1 > maxOpenPositions)
    return { limit: 'maxOpenPositions', allowed: maxOpenPositions, current: openVolumes.length }
  if (maxOpenLots === null) return undefined
  const open = openVolumes.map(decimalOf).reduce(addDecimals, zero)
  const isBreached =
    compareDecimals(addDecimals(open, decimalOf(volume)), decimalOf(maxOpenLots)) > 0
  return isBreached
    ? { limit: 'maxOpenLots', allowed: maxOpenLots, current: decimalToNumber(open) }
    : undefined
}
