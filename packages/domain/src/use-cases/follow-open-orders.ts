// A round of the watch compares the open orders of an account with those that the broker holds.
import * as E from 'fp-ts/lib/Either.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { AsyncResult, BrokerReadTag } from '../errors.ts'
import { findBrokerOrder } from '../orders/order-terms.ts'
import {
  afterFoundHeld,
  afterFoundMissing,
  unexecutedAtLagMs,
  withTransition,
  type BrokerOrder,
  type Transition,
} from '../orders/placement.ts'
import type { Ports, StoredOrder } from '../ports/index.ts'
import type { Instant } from '../primitives/instant.ts'

/**
 * Stores the new terms or number of each order; one that the broker no longer holds becomes due for
 * a lookup.
 * @returns whether any order is now due for a lookup
 */
export const followOpenOrders =
  ({ orders, trading, clock }: Pick<Ports, 'orders' | 'trading' | 'clock'>) =>
  (account: BrokerAccount): AsyncResult<boolean, BrokerReadTag> =>
  async () => {
    const found = await orders.openOrders(account.owner, account.accountId)()
    if (E.isLeft(found)) return found
    const open = found.right.filter(
      ({ destination }) => destination.providerAccountId === account.providerAccountId,
    )
    if (open.length === 0) return E.right(false)
    const readAt = clock.now()
    const held = await trading.heldOrders(account)()
    if (E.isLeft(held)) return held
    let isDue = false
    for (const stored of open) {
      const now = clock.now()
      const shown = findBrokerOrder(stored.order, held.right)
      const transition = transitionOfRound(stored, shown, readAt, now)
      if (transition === undefined) continue
      const written = await orders.advance(account.owner, stored, transition, now)()
      if (E.isLeft(written)) return written
      isDue ||= written.right && transition.continueInMs === 0
    }
    return E.right(isDue)
  }

/**
 * The transition that a round makes; undefined where the broker holds the order as it is stored.
 * @param readAt when the read began that shows what the broker holds
 */
const transitionOfRound = (
  { order, placement }: StoredOrder,
  shown: BrokerOrder | undefined,
  readAt: Instant,
  now: Instant,
): Transition | undefined => {
  if (placement.step !== 'open') return undefined
  // Lookups of an order that is already missing are scheduled.
  if (shown === undefined)
    return placement.missing === null ? afterFoundMissing(placement, now) : undefined
  const transition = afterFoundHeld(placement, shown, readAt)
  const isUnchanged =
    // A clock may have been set back.
    (Math.abs(readAt - placement.unexecutedAt) < unexecutedAtLagMs ||
      shown.isUnexecuted !== true) &&
    placement.missing === null &&
    withTransition(order, transition, now) === order
  return isUnchanged ? undefined : transition
}
