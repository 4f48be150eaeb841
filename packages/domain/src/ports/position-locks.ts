// One change of a position at a time, whichever instance makes it: a change reads both levels and sends both, so that two at once would undo
// one another (4.3 rules 4 and 6; decision 30).
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { InternalTimeout, ServiceUnavailable } from '../errors.ts'
import type { Owner, PositionId } from '../primitives/ids.ts'

export interface PositionLocks {
  /**
   * Does the work while nobody else holds the position. Whoever waits for too long gets InternalTimeout, and its work was not begun;
   * what a process held that died is free again within seconds.
   */
  readonly holding: (
    owner: Owner,
    id: PositionId,
  ) => <E, A>(work: TE.TaskEither<E, A>) => TE.TaskEither<E | ServiceUnavailable | InternalTimeout, A>
}
