// What an operator may say in one document (the operator API's `apply`). Every entry is created or brought to what it says: a field that is
// absent is left alone, one that is null is unset, and an entry with `removed` is removed.
import type { AccountPurpose, AccountStatus } from '../accounts/account.ts'
import type { Plan } from '../access/credential.ts'
import type { Scope } from '../access/scopes.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** A field that can be left alone (undefined) or unset (null). */
export type Setting<A> = A | null | undefined

interface Removable {
  readonly removed?: boolean | undefined
}

export interface TenantEntry extends Removable {
  readonly id: TenantId
  readonly name?: Setting<string>
  /** The provider's token for this tenant: a secret. */
  readonly providerToken?: Setting<string>
}

export interface UserEntry extends Removable {
  readonly id: UserId
  readonly tenantId?: Setting<TenantId>
  readonly email?: Setting<string>
  readonly plan?: Setting<Plan>
}

export interface AccountEntry extends Removable {
  readonly id: AccountId
  readonly userId?: Setting<UserId>
  readonly name?: Setting<string>
  readonly broker?: Setting<string>
  readonly brokerType?: Setting<string>
  readonly accountNumber?: Setting<string>
  readonly server?: Setting<string>
  readonly purpose?: Setting<AccountPurpose>
  readonly isDemo?: Setting<boolean>
  readonly currency?: Setting<string>
  readonly status?: Setting<AccountStatus>
  readonly balance?: Setting<number>
  readonly equity?: Setting<number>
  readonly margin?: Setting<number>
  readonly providerAccountId?: Setting<string>
  readonly region?: Setting<string>
  readonly createdAt?: Setting<Instant>
}

export interface ApiKeyEntry extends Removable {
  readonly id: string
  readonly userId?: Setting<UserId>
  readonly name?: Setting<string>
  /** The key itself, a secret; made by the service when a new entry gives none. */
  readonly key?: Setting<string>
  readonly scopes?: Setting<readonly Scope[]>
  readonly ipAllowlist?: Setting<readonly string[]>
  readonly expiresAt?: Setting<Instant>
  readonly enabled?: Setting<boolean>
}

export interface AccessTokenEntry extends Removable {
  readonly id: string
  readonly userId?: Setting<UserId>
  readonly applicationId?: Setting<string>
  /** The token itself, a secret; made by the service when a new entry gives none. */
  readonly token?: Setting<string>
  readonly scopes?: Setting<readonly Scope[]>
  readonly expiresAt?: Setting<Instant>
  readonly enabled?: Setting<boolean>
}

export interface DeskLimits {
  readonly maxOpenLots: number | null
  readonly maxOpenPositions: number | null
  /** In capitals; null allows every symbol. */
  readonly allowedSymbols: readonly string[] | null
}

export interface TraderLimits extends DeskLimits {
  readonly maxLotsPerOrder: number | null
  /** Orders above it need an approval that the API cannot give. */
  readonly approvalAboveLots: number | null
}

export interface DeskEntry extends Removable {
  readonly id: string
  readonly tenantId?: Setting<TenantId>
  readonly accounts?: Setting<readonly AccountId[]>
  readonly limits?: Setting<{ readonly [Limit in keyof DeskLimits]?: Setting<DeskLimits[Limit]> }>
}

export interface TraderLimitsEntry extends Removable {
  readonly accountId: AccountId
  readonly limits?: Setting<{ readonly [Limit in keyof TraderLimits]?: Setting<TraderLimits[Limit]> }>
}

export const challengeStatuses = ['active', 'passed', 'failed'] as const
export type ChallengeStatus = (typeof challengeStatuses)[number]

/** A prop-firm challenge; an account may have several, told apart by startedAt, and the newest counts. */
export interface ChallengeEntry extends Removable {
  readonly accountId: AccountId
  readonly startedAt: Instant
  readonly status?: Setting<ChallengeStatus>
}

export interface BalanceSnapshotEntry extends Removable {
  readonly accountId: AccountId
  readonly timestamp: Instant
  readonly balance?: Setting<number>
  readonly equity?: Setting<number>
  readonly margin?: Setting<number>
  readonly freeMargin?: Setting<number>
}

export interface OperatorDocument {
  readonly tenants: readonly TenantEntry[]
  readonly users: readonly UserEntry[]
  readonly accounts: readonly AccountEntry[]
  readonly apiKeys: readonly ApiKeyEntry[]
  readonly accessTokens: readonly AccessTokenEntry[]
  readonly desks: readonly DeskEntry[]
  readonly traderLimits: readonly TraderLimitsEntry[]
  readonly challenges: readonly ChallengeEntry[]
  readonly balanceSnapshots: readonly BalanceSnapshotEntry[]
}

/** A document that says nothing: what one that leaves sections out says of those. */
export const emptyDocument: OperatorDocument = {
  tenants: [],
  users: [],
  accounts: [],
  apiKeys: [],
  accessTokens: [],
  desks: [],
  traderLimits: [],
  challenges: [],
  balanceSnapshots: [],
}
