// Idempotency keys: a request's claim, the reply that is stored, and what the stored state of a key
// means for the next attempt.
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import { dayMs, secondMs } from '../primitives/instant.ts'

export interface IdempotencyClaim {
  readonly key: string
  /** SHA-256 over method, route, path and body, in lower-case hex. */
  readonly requestHash: string
  /**
   * Random: it names this attempt, so that a claim that lapsed and was given to another attempt is
   * recognised.
   */
  readonly id: string
}

/** A reply that is answered again to whoever sends the same request with the same key. */
export interface StoredReply {
  /** JSON text; opaque to the store. */
  readonly body: string
  /** Sealed at rest. */
  readonly isSecret: boolean
}

export type Claimed =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'replied'; readonly reply: StoredReply }
  /** An earlier attempt began and left no reply: it may have had its effect. */
  | { readonly kind: 'unknown' }

/** After this long a claim that has not begun belongs to a process that died. */
export const claimLapseMs = 10 * secondMs
/** After this long a request that began and left no reply is not expected to leave one. */
export const inProgressMs = 30 * secondMs
export const keyLifetimeMs = dayMs

export const heldKeyStates = ['claimed', 'begun', 'replied'] as const

/** `ageMs` is by the store's clock, which all instances share. */
export type HeldKey = { readonly requestHash: string; readonly ageMs: number } & (
  | { readonly state: 'claimed' | 'begun' }
  | { readonly state: 'replied'; readonly reply: StoredReply }
)

/**
 * The distance in either direction: the clock may have been set back since, and a claim must not
 * lock its key for an unknown time.
 */
const isOlder = ({ ageMs }: HeldKey, ms: number): boolean => Math.abs(ageMs) >= ms

export const mayBeClaimed = (held: HeldKey): boolean =>
  held.ageMs >= keyLifetimeMs || (held.state === 'claimed' && isOlder(held, claimLapseMs))

/** The answer to an attempt that may not have the key. */
export const answerOfHeldKey = (
  held: HeldKey,
  { requestHash }: IdempotencyClaim,
): E.Either<Refusal<'IdempotencyKeyReused' | 'IdempotencyInProgress'>, Claimed> => {
  if (held.requestHash !== requestHash) return E.left(refuse('IdempotencyKeyReused'))
  if (held.state === 'replied') return E.right({ kind: 'replied', reply: held.reply })
  return held.state === 'begun' && isOlder(held, inProgressMs)
    ? E.right({ kind: 'unknown' })
    : E.left(refuse('IdempotencyInProgress'))
}
