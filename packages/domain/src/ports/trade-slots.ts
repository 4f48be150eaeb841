// How many orders are sent and looked up at once. Slots are shared fairly, so that a hung account
// or a busy tenant delays only its own orders.
import type * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../accounts/account.ts'

/**
 * Resolves with a function that gives the slot back, or with undefined when none came free within
 * so many milliseconds.
 */
export type AcquireSlot = (
  account: BrokerAccount,
  patienceMs: number,
) => T.Task<(() => void) | undefined>

export interface TradeSlots {
  readonly forSend: AcquireSlot
  readonly forLookup: AcquireSlot
}
