// Idempotency keys as they are stored: one key of one user makes at most one effect within 24
// hours, whatever the route.
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Claimed, IdempotencyClaim, KeptReply } from '../access/idempotency-key.ts'
import type { IdempotencyInProgress, IdempotencyKeyReused, ServiceUnavailable } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export interface IdempotencyStore {
  /**
   * Claims a key for a request. Of several attempts at once exactly one is `claimed`; the others
   * are refused until it has a reply. A claim that has not begun lapses after 10 seconds and may be
   * given to another attempt. One that has begun never is: it is in progress for 30 seconds, and
   * `unknown` after that. A key is kept for 24 hours from its claim or, where it began, from then.
   */
  readonly claim: (
    owner: Owner,
    claim: IdempotencyClaim,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable | IdempotencyKeyReused | IdempotencyInProgress, Claimed>
  /**
   * From here on the request may have an effect. Refused unless this claim holds the key and has
   * neither begun nor been answered.
   */
  readonly begin: (
    owner: Owner,
    claim: IdempotencyClaim,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable | IdempotencyInProgress, void>
  /**
   * Keeps the first reply of the attempt that holds the key. Does nothing where another attempt
   * holds it.
   */
  readonly keep: (
    owner: Owner,
    claim: IdempotencyClaim,
    reply: KeptReply,
  ) => TE.TaskEither<ServiceUnavailable, void>
  /**
   * Frees the key of an attempt that certainly had no effect, begun or not. Does nothing where
   * another attempt holds the key, or where a reply is kept.
   */
  readonly release: (
    owner: Owner,
    claim: IdempotencyClaim,
  ) => TE.TaskEither<ServiceUnavailable, void>
}

/**
 * What a use case with an effect calls as the last step before it: after that the key is never
 * given to another attempt.
 */
export interface Once {
  readonly begin: TE.TaskEither<ServiceUnavailable | IdempotencyInProgress, void>
}

/** For a request that has no key. */
export const withoutKey: Once = { begin: TE.right(undefined) }
