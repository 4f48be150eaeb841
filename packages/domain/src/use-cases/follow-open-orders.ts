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
 * One with other terms or another number is stored so, and one that the broker does not hold any
 * more is due to be looked up.
 * @returns whether an order is due to be looked up now
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
    const shown = await trading.heldOrders(account)()
    if (E.isLeft(shown)) return shown
    let isDue = false
    for (const one of open) {
      const now = clock.now()
      const transition = transitionOfRound(one, findBrokerOrder(one.order, shown.right), now)
      if (transition === undefined) continue
      const written = await orders.advance(account.owner, one, transition, now)()
      if (E.isLeft(written)) return written
      isDue ||= transition.continueInMs === 0
    }
    return E.right(isDue)
  }

/** What a round of the watch changes; nothing where the broker holds the order as it is stored. */
const transitionOfRound = (
  { order, placement }: StoredOrder,
  shown: BrokerOrder | undefined,
  now: Instant,
): Transition | undefined => {
  if (placement.step !== 'open') return undefined
  // One that is missing already falls due by itself.
  if (shown === undefined)
    return placement.missing === null ? afterFoundMissing(placement, now) : undefined
  const transition = afterFoundHeld(placement, shown, now)
  const isUnchanged =
    // A clock may have been set back.
    (Math.abs(now - placement.unexecutedAt) < unexecutedAtLagMs || shown.isUnexecuted !== true) &&
    placement.missing === null &&
    withTransition(order, transition, now) === order
  return isUnchanged ? undefined : transition
}
