// One change of a position at a time, on all instances: a change reads both levels and sends both,
// so that two at once would undo one another.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { BrokerUnavailable, InternalTimeout, ServiceUnavailable } from '../errors.ts'
import type { Ticket } from '../primitives/ids.ts'
import type { MaySend } from './clock.ts'

/**
 * How many changes of one account's positions one instance accepts at once, those that wait
 * included.
 */
export const maxChangesPerAccount = 100

export interface PositionLocks {
  /**
   * Runs the work while nobody else holds the position, under whichever of its links: the lock
   * belongs to the tenant's account at the provider. Whoever waits for too long gets
   * InternalTimeout, and beyond `maxChangesPerAccount` BrokerUnavailable; their work does not
   * begin. A lock of a process that died is free within seconds. `maySend` is true only while the
   * lock certainly holds: it turns false when the lock is lost, or cannot be renewed in time.
   */
  readonly holding: (
    account: BrokerAccount,
    ticket: Ticket,
  ) => <E, A>(
    work: (maySend: MaySend) => TE.TaskEither<E, A>,
  ) => TE.TaskEither<E | BrokerUnavailable | ServiceUnavailable | InternalTimeout, A>
}
