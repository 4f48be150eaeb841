// Access tokens that say themselves whose they are, signed by an issuer whom the operator trusts.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Scope } from '../access/scopes.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** What a token proves. Whether there is such a user is not among it. */
export interface VerifiedToken {
  readonly id: string
  readonly owner: Owner
  readonly applicationId: string
  /** Those of its scopes that are known here. */
  readonly scopes: ReadonlySet<Scope>
  readonly expiresAt: Instant
}

export interface TokenVerifier {
  /**
   * None for whatever proves nothing: no token of the issuer, none for this service, a bad
   * signature, too early or too late. ServiceUnavailable where that cannot be told, because the
   * issuer's keys cannot be read: the token may be good.
   */
  readonly verify: (token: string) => TE.TaskEither<ServiceUnavailable, O.Option<VerifiedToken>>
}
