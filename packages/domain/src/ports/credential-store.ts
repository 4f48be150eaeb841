// Finds whose a presented key or token is. The one store whose methods cannot all take the owner
// first, because they are what tells the owner.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Credential, CredentialHash, UserPlan } from '../access/credential.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'

export interface CredentialStore {
  readonly findApiKey: (
    hash: CredentialHash,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<Credential>>
  readonly findAccessToken: (
    hash: CredentialHash,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<Credential>>
  /**
   * For tokens that say themselves whose they are: none when there is no such user in that tenant.
   */
  readonly findUserPlan: (owner: Owner) => TE.TaskEither<ServiceUnavailable, O.Option<UserPlan>>
}
