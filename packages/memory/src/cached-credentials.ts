// Credentials kept for at most a second, so that a request needs no database read and a revocation still takes effect within one second on
// every instance (decision 11). The second runs from the start of the read: from its end, a slow read could outlive it.
import type { Clock, Credential, CredentialStore, ServiceUnavailable } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { createSingleFlightCache } from './single-flight-cache.ts'

export const credentialTtlMs = 1_000

const maxCredentials = 20_000

export interface CachedCredentials extends CredentialStore {
  /** After a document of the operator: this instance reads every credential anew. */
  readonly forgetAll: () => void
}

/** Only found credentials are kept: a key that was just made works at once, and guesses take no room. */
export const cachedCredentials = (store: CredentialStore, { clock }: { readonly clock: Clock }): CachedCredentials => {
  const kept = createSingleFlightCache<string, ServiceUnavailable, O.Option<Credential>>({
    clock,
    ttlMs: credentialTtlMs,
    ageFrom: 'start',
    maxEntries: maxCredentials,
    isKept: O.isSome,
  })
  return {
    findApiKey: (hash) => kept.read(`api_key ${hash}`, store.findApiKey(hash)),
    findAccessToken: (hash) => kept.read(`access_token ${hash}`, store.findAccessToken(hash)),
    forgetAll: kept.dropAll,
  }
}
