// What is known of a user beside what is theirs.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'

export interface UserStore {
  /**
   * The address as the operator wrote it; none for a user who is not there, or not of that tenant.
   */
  readonly email: (owner: Owner) => TE.TaskEither<ServiceUnavailable, O.Option<string>>
}
