// The sections of an operator's document, and the records that it creates, changes and removes.
import type { Account, AccountFigures, BalanceSnapshot, OperatorHalt } from '../accounts/account.ts'
import type { RiskThreshold } from '../accounts/risk-threshold.ts'
import type { CredentialHash, Plan, Scope } from '../access/credential.ts'
import type { ChallengeStanding, DeskLimits, TraderLimits } from '../orders/limits.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** In the order in which a document is applied. */
export const sections = [
  'tenants',
  'users',
  'accounts',
  'apiKeys',
  'accessTokens',
  'desks',
  'traderLimits',
  'challenges',
  'balanceSnapshots',
  'riskThresholds',
  'halts',
  'marketDataFeed',
] as const
export type Section = (typeof sections)[number]

export interface Tenant {
  readonly id: TenantId
  readonly name: string
}

/** A tenant to write; the provider token is left alone when undefined and unset when null. */
interface TenantChange extends Tenant {
  readonly providerToken?: string | null | undefined
}

export interface User {
  readonly id: UserId
  readonly tenantId: TenantId
  readonly email: string
  readonly plan: Plan
}

/** An account under the names of the document. */
export interface AccountFields
  extends
    Pick<
      Account,
      | 'id'
      | 'name'
      | 'broker'
      | 'brokerType'
      | 'accountNumber'
      | 'server'
      | 'purpose'
      | 'currency'
      | 'status'
      | 'createdAt'
    >,
    Pick<AccountFigures, 'balance' | 'equity' | 'margin'> {
  readonly userId: UserId
  readonly isDemo: boolean
  readonly providerAccountId: string | null
  readonly region: string | null
}

interface StoredCredential {
  readonly id: string
  readonly userId: UserId
  readonly hash: CredentialHash
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant | null
  readonly enabled: boolean
}

export interface StoredApiKey extends StoredCredential {
  readonly name: string
  readonly ipAllowlist: readonly string[]
}

export interface StoredAccessToken extends StoredCredential {
  readonly applicationId: string
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

/** An account may have several challenges, distinguished by startedAt; the newest counts. */
export interface Challenge extends ChallengeStanding {
  readonly accountId: AccountId
}

export interface AccountSnapshot extends BalanceSnapshot {
  readonly accountId: AccountId
}

/**
 * The account whose prices those without an account of their own get; there is at most one. By
 * listed symbol the broker's spelling, where the usual rule does not find it.
 */
export interface StoredMarketDataFeed {
  readonly id: typeof marketDataFeedId
  readonly accountId: AccountId
  readonly symbols: Readonly<Record<string, string>>
}
export const marketDataFeedId = 'feed'

interface Records {
  readonly tenants: Tenant
  readonly users: User
  readonly accounts: Account
  readonly apiKeys: StoredApiKey
  readonly accessTokens: StoredAccessToken
  readonly desks: Desk
  readonly traderLimits: AccountTraderLimits
  readonly challenges: Challenge
  readonly balanceSnapshots: AccountSnapshot
  readonly riskThresholds: RiskThreshold
  readonly halts: OperatorHalt
  readonly marketDataFeed: StoredMarketDataFeed
}

interface Keys {
  readonly tenants: TenantId
  readonly users: UserId
  readonly accounts: AccountId
  readonly apiKeys: string
  readonly accessTokens: string
  readonly desks: string
  readonly traderLimits: AccountId
  readonly challenges: Pick<Challenge, 'accountId' | 'startedAt'>
  readonly balanceSnapshots: Pick<AccountSnapshot, 'accountId' | 'timestamp'>
  readonly riskThresholds: Pick<RiskThreshold, 'accountId' | 'type' | 'severity'>
  readonly halts: AccountId
  readonly marketDataFeed: string
}

/** The fields of an entry that may be left out (the stored value stays) or null (it is unset). */
export type Patch<Fields> = {
  readonly [Field in keyof Fields]?: Fields[Field] | null | undefined
}

type Entry<Fields, Key extends keyof Fields> = Pick<Fields, Key> &
  Patch<Omit<Fields, Key>> & {
    /** Removes the record, with everything that belongs to it. */
    readonly removed?: boolean | undefined
    /**
     * The document is refused where this is true and the record is there, or false and it is not.
     */
    readonly new?: boolean | undefined
  }

/** A limit that is left out stays as it is. */
type Limited<Fields extends { readonly limits: object }> = Omit<Fields, 'limits'> & {
  readonly limits: Patch<Fields['limits']>
}

interface Entries {
  /** The provider's token for this tenant is a secret. */
  readonly tenants: Entry<Tenant & { readonly providerToken: string }, 'id'>
  readonly users: Entry<User, 'id'>
  readonly accounts: Entry<AccountFields, 'id'>
  /** A new entry that gives no key or token gets one that the service makes. */
  readonly apiKeys: Entry<Omit<StoredApiKey, 'hash'> & { readonly key: string }, 'id'>
  readonly accessTokens: Entry<Omit<StoredAccessToken, 'hash'> & { readonly token: string }, 'id'>
  readonly desks: Entry<Limited<Desk>, 'id'>
  readonly traderLimits: Entry<Limited<AccountTraderLimits>, 'accountId'>
  readonly challenges: Entry<Challenge, 'accountId' | 'startedAt'>
  readonly balanceSnapshots: Entry<AccountSnapshot, 'accountId' | 'timestamp'>
  readonly riskThresholds: Entry<RiskThreshold, 'accountId' | 'type' | 'severity'>
  readonly halts: Entry<Omit<OperatorHalt, 'since'>, 'accountId'>
  /** One entry at most. */
  readonly marketDataFeed: Entry<StoredMarketDataFeed, 'id'>
}

/**
 * The body of the operator API's `apply`. Every entry creates its record or changes it.
 */
export type OperatorDocument = { readonly [S in Section]: readonly Entries[S][] }

/**
 * The stored records that a document names by id or refers to, credentials that hold a hash it
 * names, and the user and tenant of every one of them.
 */
export type OperatorRecords = { readonly [S in Section]: readonly Records[S][] }

/** Which records to read before a document is decided, in addition to their users and tenants. */
export type OperatorKeys = { readonly [S in Section]: readonly Keys[S][] } & {
  readonly apiKeyHashes: readonly CredentialHash[]
  readonly accessTokenHashes: readonly CredentialHash[]
}

export interface Changes<Put, Key> {
  readonly put: readonly Put[]
  readonly remove: readonly Key[]
}

/**
 * What to write, all or nothing. A removal includes everything that belongs to the record.
 * Removals come first.
 */
export type OperatorChanges = {
  readonly [S in Section]: Changes<S extends 'tenants' ? TenantChange : Records[S], Keys[S]>
}

/** A record with a value for each section. */
export const bySection = <A>(valueOf: (section: Section) => A): Readonly<Record<Section, A>> =>
  Object.fromEntries(sections.map((section) => [section, valueOf(section)])) as Record<Section, A>

/** A document without entries: the default of each section. */
export const emptyDocument: OperatorDocument = bySection(() => [])

/** Writes nothing. */
export const noChanges: OperatorChanges = bySection(() => ({ put: [], remove: [] }))

/** An account as the provider describes it, in the fields of the operator's document. */
export interface ProviderAccount {
  readonly name: string
  /** Its login at the broker. */
  readonly accountNumber: string
  readonly server: string
  readonly brokerType: 'mt4' | 'mt5'
  readonly region: string
  /** Null where the broker does not report it. */
  readonly broker: string | null
  /** Null where the broker does not report it. */
  readonly currency: string | null
  readonly isDemo: boolean
}
