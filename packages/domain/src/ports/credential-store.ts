// Finds whose a presented key or token is. The one store that cannot take the owner first, because it is what tells the owner.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Credential, CredentialHash } from '../access/credential.ts'
import type { ServiceUnavailable } from '../errors.ts'

export interface CredentialStore {
  readonly findApiKey: (hash: CredentialHash) => TE.TaskEither<ServiceUnavailable, O.Option<Credential>>
  readonly findAccessToken: (hash: CredentialHash) => TE.TaskEither<ServiceUnavailable, O.Option<Credential>>
}
