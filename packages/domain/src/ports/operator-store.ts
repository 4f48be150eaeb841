// The operator's records. The operator stands above tenants, so this port alone is not bound to an
// owner; no route of users reaches it.
import type * as E from 'fp-ts/lib/Either.js'
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import type { OperatorChanges, OperatorKeys, OperatorRecords } from '../operator/records.ts'
import type { TenantId } from '../primitives/ids.ts'

export interface OperatorStore {
  /**
   * In one transaction, one document at a time: reads the named records, lets `decide` say what
   * becomes of them, and writes that or nothing. Every instance, this one too, is told whose
   * credentials changed (`PeerNotices`), if and only if it was written.
   */
  readonly apply: <A extends { readonly changes: OperatorChanges }>(
    keys: OperatorKeys,
    decide: (records: OperatorRecords) => E.Either<ValidationError, A>,
  ) => TE.TaskEither<ServiceUnavailable | ValidationError, A>
}

export interface ProviderTokens {
  /**
   * The tenant's token for the provider, a secret; none where the operator set none or it cannot be
   * decrypted.
   */
  readonly find: (tenantId: TenantId) => TE.TaskEither<ServiceUnavailable, O.Option<string>>
}
