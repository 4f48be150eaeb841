// Credentials and request limits.
import type * as O from 'fp-ts/lib/Option.js'
import type { Credential, CredentialHash, Scope, UserPlan } from '../access/credential.ts'
import type { EndpointLimit, RateState, RateSubject, RateVerdict } from '../access/rate-limits.ts'
import type { AsyncResult } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export type { Secrets } from '../access/credential.ts'

/**
 * Finds the owner of a presented key or token, so that its methods cannot all have the owner first.
 */
export interface CredentialStore {
  /**
   * Whatever its state: a key that expired or was switched off is found too. None for an unknown
   * hash.
   */
  readonly findApiKey: (hash: CredentialHash) => AsyncResult<O.Option<Credential>>
  /** Of the tokens that the operator stored, in the same way. */
  readonly findAccessToken: (hash: CredentialHash) => AsyncResult<O.Option<Credential>>
  /**
   * For tokens that name their owner: none when there is no such user in that tenant.
   */
  readonly findUserPlan: (owner: Owner) => AsyncResult<O.Option<UserPlan>>
}

/** What a token proves. Whether there is such a user is not part of it. */
export interface VerifiedToken {
  readonly id: string
  readonly owner: Owner
  readonly applicationId: string
  /** Those of its scopes that are known here. */
  readonly scopes: ReadonlySet<Scope>
  readonly expiresAt: Instant
}

/** Verifies access tokens that name their owner, signed by an issuer whom the operator trusts. */
export interface TokenVerifier {
  /**
   * None for whatever proves nothing: no token of the issuer, none for this service, a bad
   * signature, too early or too late. ServiceUnavailable where the issuer's keys cannot be
   * read: the token may be good.
   */
  readonly verify: (token: string) => AsyncResult<O.Option<VerifiedToken>>
}

/** Mail addresses of users. */
export interface UserStore {
  /**
   * The address as the operator wrote it; none for a user who is not there, or not of that tenant.
   */
  readonly email: (owner: Owner) => AsyncResult<O.Option<string>>
}

/** The caller's IP address as text; undefined where the connection is already gone. */
export type CallerAddress = string | undefined

/** Limits failed credentials per client address, so that guessing is slow and reads no database. */
export interface AddressLimits {
  /**
   * Whether the credential was accepted from there within the last minute: it is then looked up
   * whatever else its address sends.
   */
  readonly wasAccepted: (hash: CredentialHash, address: CallerAddress, now: Instant) => boolean
  /** The name of the addresses that are limited together, as one. */
  readonly groupOf: (address: CallerAddress) => string
  /** How long until the address may try another credential, in milliseconds; 0 if it may now. */
  readonly waitMs: (address: CallerAddress, now: Instant) => number
  /** Lets the credential pass from there for a minute, as `wasAccepted` reports. */
  readonly recordAccepted: (hash: CredentialHash, address: CallerAddress, now: Instant) => void
  /** Counts a refused credential against the address, from which it is not accepted any more. */
  readonly recordFailed: (hash: CredentialHash, address: CallerAddress, now: Instant) => void
}

/** Counts requests against their limits, in this process or over several instances. */
export interface RateLimiter {
  /**
   * Counts one request and returns whether it may pass. Never rejects, and answers at once where it
   * can, so that a request need not wait for a promise.
   * @param endpoint the limit of the requested route; undefined where it has none of its
   * own
   */
  readonly decide: (
    subject: RateSubject,
    endpoint: EndpointLimit | undefined,
    now: Instant,
  ) => RateVerdict | Promise<RateVerdict>
}

/**
 * A limiter in this process that a shared limiter reads, and writes what it has read elsewhere.
 */
export interface LocalRateLimiter extends RateLimiter {
  readonly decide: (...request: Parameters<RateLimiter['decide']>) => RateVerdict
  /** undefined where nothing is kept of the subject. */
  readonly stateOf: (subject: RateSubject) => RateState | undefined
  /** Counts on from this state in place of its own. */
  readonly adopt: (subject: RateSubject, state: RateState) => void
}

/**
 * Called once for each suspension as it begins, by the instance that made it begin. It must not
 * block.
 */
export type SuspensionListener = (subject: RateSubject, until: Instant) => void
