// What the instances of one service tell each other, so that none serves for long what another has
// changed.
import type { AffectedUsers } from '../operator/affected-users.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export type PeerNotice =
  /**
   * The operator changed keys, tokens or the users themselves. The operator's store tells it within
   * the transaction that writes it.
   */
  | { readonly kind: 'credentials_changed'; readonly users: AffectedUsers }
  /**
   * The broker may have executed something on the account: what was read of it before is out of
   * date.
   */
  | { readonly kind: 'account_changed'; readonly accountId: AccountId }
  /** Notices may have been lost: whatever rests on having heard them is read anew. */
  | { readonly kind: 'notices_missed' }

export interface PeerNotices {
  /**
   * Tells the other instances. One that cannot be told is logged and given up: what they keep of an
   * account expires within seconds anyway.
   */
  readonly tellAccountChanged: (accountId: AccountId) => void
  /**
   * Calls `receive` with every notice of another instance, and with every change of credentials
   * whoever made it, in the order of their commits. It must not throw.
   */
  readonly subscribe: (receive: (notice: PeerNotice) => void) => void
  /**
   * Whatever was committed before this moment has been received, or `notices_missed` in its place;
   * -Infinity before the first such moment.
   */
  readonly confirmedAt: () => Instant
}
