// A stored credential and whether it may be used now (docs/behaviour.md#authentication).
import type { Brand, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'

export const plans = ['free', 'pro', 'enterprise'] as const
export type Plan = (typeof plans)[number]

const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * Whether a token has the form of a JWT, signed or unsigned. Neither its claims nor its signature
 * are checked.
 */
export const isInJwtForm = (token: string): boolean => jwtForm.test(token)

/** SHA-256 of a key or token in lower-case hex; the text itself is never stored. */
export type CredentialHash = Brand<string, 'CredentialHash'>

/** Makes and hashes credentials: randomness and digests come from a port. */
export interface Secrets {
  /** A new key with its checksum. */
  readonly newApiKey: () => string
  /** A new opaque access token. */
  readonly newAccessToken: () => string
  /** The digest by which a credential is stored and found; it does not reveal the credential. */
  readonly hash: (secret: string) => CredentialHash
}

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
 * Which program sends the request: one key, or one application with any of its tokens for one user.
 * What is limited per credential is counted under it.
 */
export type ProgramId = Brand<string, 'ProgramId'>

/** The part of the credential that a use case needs. */
export interface Caller {
  readonly owner: Owner
}

/** For a use case that depends on what the credential may do. */
export interface ScopedCaller extends Caller {
  readonly program: ProgramId
  readonly scopes: ReadonlySet<Scope>
}

/**
 * No two programs have one text: the ids hold no space, and an application's name, which may, comes
 * last.
 */
export const programOf = ({
  kind,
  id,
  owner,
  applicationId,
}: Pick<Credential, 'kind' | 'id' | 'owner' | 'applicationId'>): ProgramId =>
  (kind === 'api_key'
    ? `key ${id}`
    : `app ${owner.tenantId} ${owner.userId} ${applicationId}`) as ProgramId

/** Neither revoked nor expired. */
export const isUsable = (credential: Credential, now: Instant): boolean =>
  credential.enabled && (credential.expiresAt === null || now < credential.expiresAt)

// What a credential may do (docs/behaviour.md#scopes).

const scopeResources = [
  'accounts',
  'market-data',
  'trading',
  'orders',
  'positions',
  'history',
  'webhooks',
  'finance',
  'ai-agents',
  'position-insights',
  'shared-charts',
] as const

export type Scope = `${(typeof scopeResources)[number]}:${'read' | 'write'}`

export const scopes: readonly Scope[] = scopeResources.flatMap(
  (resource) => [`${resource}:read`, `${resource}:write`] as const,
)

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text)

/** Passes when one of the required scopes is held. */
export const requireScope = (
  held: ReadonlySet<Scope>,
  anyOf: readonly Scope[],
): E.Either<Refusal<'InsufficientScope'>, void> =>
  anyOf.some((scope) => held.has(scope))
    ? E.right(undefined)
    : E.left(refuse('InsufficientScope', { requiredAnyOf: anyOf }))
