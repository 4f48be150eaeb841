// The sealed secrets of all tenants, for changing the key that seals them. It is the operator's,
// who stands above owners; nothing opened comes out of it.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { Slice } from '../operator/listing.ts'
import type { ResealedBatch, SealedSecret, SecretsCensus } from '../operator/sealed-secrets.ts'

export interface SealedSecrets {
  /**
   * Seals under the current key up to so many secrets that are not, all or nothing. One that is
   * written meanwhile is sealed by whoever writes it, and is not written over; one that no key
   * opens stays as it is.
   */
  readonly reseal: (slice: Slice<SealedSecret>) => TE.TaskEither<ServiceUnavailable, ResealedBatch>
  readonly census: TE.TaskEither<ServiceUnavailable, SecretsCensus>
}
