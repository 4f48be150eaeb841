// The operator's records as they are stored, and the changes that a document makes to them.
import type { Account } from '../accounts/account.ts'
import type { BalanceSnapshot } from '../accounts/balance-history.ts'
import type { CredentialHash, Plan } from '../access/credential.ts'
import type { Scope } from '../access/scopes.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { ChallengeStatus, DeskLimits, TraderLimits } from './document.ts'

export interface Tenant {
  readonly id: TenantId
  readonly name: string
}

/** A tenant to write; the provider token is left alone when undefined and unset when null. */
export interface TenantChange extends Tenant {
  readonly providerToken?: string | null | undefined
}

export interface User {
  readonly id: UserId
  readonly tenantId: TenantId
  readonly email: string
  readonly plan: Plan
}

export interface StoredApiKey {
  readonly id: string
  readonly userId: UserId
  readonly name: string
  readonly hash: CredentialHash
  readonly scopes: readonly Scope[]
  readonly ipAllowlist: readonly string[]
  readonly expiresAt: Instant | null
  readonly enabled: boolean
}

export interface StoredAccessToken {
  readonly id: string
  readonly userId: UserId
  readonly applicationId: string
  readonly hash: CredentialHash
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant | null
  readonly enabled: boolean
}

export interface Desk {
  readonly id: string
  readonly tenantId: TenantId
  readonly accounts: readonly AccountId[]
  readonly limits: DeskLimits
}

export interface AccountTraderLimits {
  readonly accountId: AccountId
  readonly limits: TraderLimits
}

export interface Challenge {
  readonly accountId: AccountId
  readonly startedAt: Instant
  readonly status: ChallengeStatus
}

export interface AccountSnapshot extends BalanceSnapshot {
  readonly accountId: AccountId
}

/** The stored records that a document names by id or refers to, credentials that hold a hash it names, and the user and tenant of every one of them. */
export interface OperatorRecords {
  readonly tenants: readonly Tenant[]
  readonly users: readonly User[]
  readonly accounts: readonly Account[]
  readonly apiKeys: readonly StoredApiKey[]
  readonly accessTokens: readonly StoredAccessToken[]
  readonly desks: readonly Desk[]
  readonly traderLimits: readonly AccountTraderLimits[]
  readonly challenges: readonly Challenge[]
  readonly balanceSnapshots: readonly AccountSnapshot[]
}

/** Which records to read before a document is decided, beside their users and tenants. */
export interface OperatorKeys {
  readonly tenants: readonly TenantId[]
  readonly users: readonly UserId[]
  readonly accounts: readonly AccountId[]
  readonly apiKeys: readonly string[]
  readonly apiKeyHashes: readonly CredentialHash[]
  readonly accessTokens: readonly string[]
  readonly accessTokenHashes: readonly CredentialHash[]
  readonly desks: readonly string[]
  /** Limits, challenges and snapshots are read for these accounts. */
  readonly traderLimits: readonly AccountId[]
  readonly challenges: readonly Pick<Challenge, 'accountId' | 'startedAt'>[]
  readonly balanceSnapshots: readonly Pick<AccountSnapshot, 'accountId' | 'timestamp'>[]
}

export interface Changes<Put, Key> {
  readonly put: readonly Put[]
  readonly remove: readonly Key[]
}

/** What to write, all or nothing. A removal takes everything along that belongs to the record. Removals come first. */
export interface OperatorChanges {
  readonly tenants: Changes<TenantChange, TenantId>
  readonly users: Changes<User, UserId>
  readonly accounts: Changes<Account, AccountId>
  readonly apiKeys: Changes<StoredApiKey, string>
  readonly accessTokens: Changes<StoredAccessToken, string>
  readonly desks: Changes<Desk, string>
  readonly traderLimits: Changes<AccountTraderLimits, AccountId>
  readonly challenges: Changes<Challenge, Pick<Challenge, 'accountId' | 'startedAt'>>
  readonly balanceSnapshots: Changes<AccountSnapshot, Pick<AccountSnapshot, 'accountId' | 'timestamp'>>
}

/** Writes nothing. */
export const noChanges: OperatorChanges = {
  tenants: { put: [], remove: [] },
  users: { put: [], remove: [] },
  accounts: { put: [], remove: [] },
  apiKeys: { put: [], remove: [] },
  accessTokens: { put: [], remove: [] },
  desks: { put: [], remove: [] },
  traderLimits: { put: [], remove: [] },
  challenges: { put: [], remove: [] },
  balanceSnapshots: { put: [], remove: [] },
}
