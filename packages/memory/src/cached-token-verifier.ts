// Tokens of an issuer that were verified, so that a request with one in use costs no signature.
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { Clock, Secrets, TokenVerifier, VerifiedToken } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import { createRecentMisses } from './recent-misses.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'

/**
 * How long a token is believed before its signature is looked at again. Keys that its issuer
 * withdraws may be believed as long in addition.
 */
const verifiedTtlMs = 5 * 60_000

const refusedTtlMs = 1_000
const maxTokens = 20_000
const maxRefused = 10_000

interface Parts {
  readonly clock: Clock
  readonly hash: Secrets['hash']
  readonly tallies?: Tallies | undefined
}

/**
 * No token is kept, only what it proves, by its hash. Whether it has expired is for whoever uses it
 * to see.
 */
export const cachedTokenVerifier = (
  verifier: TokenVerifier,
  { clock, hash, tallies }: Parts,
): TokenVerifier => {
  const refused = createRecentMisses({ clock, ttlMs: refusedTtlMs, maxEntries: maxRefused })
  const verified = createSingleFlightCache<string, ServiceUnavailable, O.Option<VerifiedToken>>({
    clock,
    ttlMs: verifiedTtlMs,
    ageFrom: 'start',
    maxEntries: maxTokens,
    isKept: O.isSome,
    tally: tallies?.('issued_tokens'),
  })
  return {
    verify: (token) => {
      const key = hash(token)
      return verified.read(key, refused.through(key, verifier.verify(token)))
    },
  }
}
