// How much a user may order: lots per order, orders of a UTC day, orders pending or open
// (docs/behaviour.md#checks-of-a-new-order).
import * as E from 'fp-ts/lib/Either.js'
import { riskLimitExceeded } from '../errors.ts'
import type { RiskLimitExceeded } from '../errors.ts'
import { dayMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'

export const maxLotsPerOrder = 10
export const maxOrdersPerDay = 100
export const maxOpenOrders = 50

/**
 * Orders of one user: created in the current UTC day whatever became of them, and pending or open
 * now.
 */
export interface OrderCounts {
  readonly today: number
  readonly open: number
}

/** The first instant of the UTC day of an instant. */
export const startOfUtcDay = (at: Instant): Instant => Math.floor(at / dayMs) * dayMs

/** Lots above what one order may hold are refused before anything is read. */
export const requireVolumeInLimit = (volume: number): E.Either<RiskLimitExceeded, void> =>
  volume > maxLotsPerOrder
    ? E.left(
        riskLimitExceeded({ limit: 'volume_per_order', allowed: maxLotsPerOrder, current: volume }),
      )
    : E.right(undefined)

/** Whether one more order may be recorded, given the counts before it. */
export const requireCountsInLimit = (
  { today, open }: OrderCounts,
  now: Instant,
): E.Either<RiskLimitExceeded, void> => {
  if (today >= maxOrdersPerDay) {
    const resetsAt = startOfUtcDay(now) + dayMs
    return E.left(
      riskLimitExceeded({
        limit: 'orders_per_day',
        allowed: maxOrdersPerDay,
        current: today,
        resetsAt,
      }),
    )
  }
  if (open >= maxOpenOrders)
    return E.left(
      riskLimitExceeded({ limit: 'open_orders', allowed: maxOpenOrders, current: open }),
    )
  return E.right(undefined)
}
