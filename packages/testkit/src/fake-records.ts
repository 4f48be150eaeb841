// The stored records in memory: what the fakes of the stores share, so that an account written
// through one is seen by the others.
import type { Account, CheckedThreshold, OperatorHalt } from '@tradeport/domain/accounts'
import type { HeldKey } from '@tradeport/domain/access'
import type {
  AccountSnapshot,
  AccountTraderLimits,
  Challenge,
  Desk,
  StoredAccessToken,
  StoredApiKey,
  StoredMarketDataFeed,
  Tenant,
  User,
} from '@tradeport/domain/operator'
import type { NewHalt } from '@tradeport/domain/ports'
import type { AccountId, Instant } from '@tradeport/domain/primitives'
import type { WebhookWithSecret } from '@tradeport/domain/webhooks'

export interface StoredTenant extends Tenant {
  readonly providerToken: string | null
}

/** An idempotency key, and which claim holds it. */
export type StoredKey = HeldKey & { readonly claimId: string }

/** Each table by its key; `instantKey` makes the key of those that an account has several of. */
export interface Tables {
  readonly tenants: Map<string, StoredTenant>
  readonly users: Map<string, User>
  readonly accounts: Map<string, Account>
  readonly apiKeys: Map<string, StoredApiKey>
  readonly accessTokens: Map<string, StoredAccessToken>
  readonly desks: Map<string, Desk>
  readonly traderLimits: Map<string, AccountTraderLimits>
  readonly challenges: Map<string, Challenge>
  readonly balanceSnapshots: Map<string, AccountSnapshot>
  readonly riskThresholds: Map<string, CheckedThreshold>
  /** By the operator. */
  readonly halts: Map<string, OperatorHalt>
  /** By the owners. */
  readonly ownHalts: Map<string, NewHalt>
  readonly webhooks: Map<string, WebhookWithSecret>
  readonly marketDataFeed: Map<string, StoredMarketDataFeed>
}

/**
 * A whole state that one assignment replaces, so that a change is seen all at once or not at all.
 */
export interface FakeRecords {
  tables: Tables
  /** By tenant, user and key. */
  readonly idempotencyKeys: Map<string, StoredKey>
}

export const createFakeRecords = (): FakeRecords => ({
  tables: {
    tenants: new Map(),
    users: new Map(),
    accounts: new Map(),
    apiKeys: new Map(),
    accessTokens: new Map(),
    desks: new Map(),
    traderLimits: new Map(),
    challenges: new Map(),
    balanceSnapshots: new Map(),
    riskThresholds: new Map(),
    halts: new Map(),
    ownHalts: new Map(),
    webhooks: new Map(),
    marketDataFeed: new Map(),
  },
  idempotencyKeys: new Map(),
})

export const instantKey = (accountId: AccountId, at: Instant): string => `${accountId}@${at}`

/** By type and severity. */
export const thresholdsOf = (tables: Tables, of: AccountId): readonly CheckedThreshold[] =>
  [...tables.riskThresholds.values()]
    .filter(({ accountId }) => accountId === of)
    .toSorted((a, b) => (thresholdKey(a) < thresholdKey(b) ? -1 : 1))

export const thresholdKey = ({
  accountId,
  type,
  severity,
}: Pick<CheckedThreshold, 'accountId' | 'type' | 'severity'>): string =>
  `${accountId} ${type} ${severity}`
