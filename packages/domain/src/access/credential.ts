// A stored credential and whether it may be used now (docs/behaviour.md#authentication).
import type { Brand } from '../primitives/brand.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Scope } from './scopes.ts'

export const plans = ['free', 'pro', 'enterprise'] as const
export type Plan = (typeof plans)[number]

const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * Whether a token is written as a signed JWT is, or an unsigned one: what it says and who signed
 * it, if anybody, is another question.
 */
export const isInJwtForm = (token: string): boolean => jwtForm.test(token)

/** SHA-256 of a key or token in lower-case hex; the text itself is never stored. */
export type CredentialHash = Brand<string, 'CredentialHash'>

/** A user with the plan that sets the limits. */
export interface UserPlan {
  readonly owner: Owner
  readonly plan: Plan
}

export interface Credential extends UserPlan {
  readonly kind: 'api_key' | 'access_token'
  readonly id: string
  /**
   * Which application holds the token; null for a key. Limits are shared per application and user.
   */
  readonly applicationId: string | null
  readonly scopes: ReadonlySet<Scope>
  /** Addresses and CIDRs; none means everywhere. */
  readonly ipAllowlist: readonly string[]
  readonly expiresAt: Instant | null
  readonly enabled: boolean
}

/**
 * Which of a user's programs asks: one key, or one application, whichever token it holds just now.
 */
export type ProgramId = Brand<string, 'ProgramId'>

/** Who asks: what a use case needs to know of the credential. */
export interface Caller {
  readonly owner: Owner
}

/** For a use case that remembers what the same program asked before. */
export interface CallingProgram extends Caller {
  readonly program: ProgramId
}

/** Tells programs apart among those of one user. No two have one text: the kinds hold no space. */
export const programOf = ({ kind, id, applicationId }: Credential): ProgramId =>
  `${kind} ${applicationId ?? id}` as ProgramId

/**
 * Neither revoked nor expired. Where it is used from is for the door to check, which knows the
 * address.
 */
export const isUsable = (credential: Credential, now: Instant): boolean =>
  credential.enabled && (credential.expiresAt === null || now < credential.expiresAt)
