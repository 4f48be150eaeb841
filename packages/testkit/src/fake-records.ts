// The stored records in memory: what the fakes of the stores share, so that an account written
// through one is seen by the others.
import type { HeldKey } from '@tradeport/domain/access'
import type { Account, CheckedThreshold, OperatorHalt } from '@tradeport/domain/accounts'
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
import type { NewHalt, OperatorOrder } from '@tradeport/domain/ports'
import { isSameOwner, type AccountId, type Instant, type Owner } from '@tradeport/domain/primitives'
import type { WebhookWithSecret } from '@tradeport/domain/webhooks'

export interface StoredTenant extends Tenant {
  readonly providerToken: string | null
}

export interface OrderRow extends OperatorOrder {
  /** In which run of the database server it was recorded. */
  readonly recordedRun: string
  readonly checkedAt: Instant
  readonly endedAt: Instant | null
}

/** An idempotency key, and which claim holds it. */
export type StoredKey = HeldKey & {
  readonly place: string
  readonly claimId: string
  readonly since: Instant
}

/** Rows by their key. Those that belong to a removed row are removed with it. */
export class Table<Row> extends Map<string, Row> {
  private readonly key: (row: Row) => string
  readonly parents: 'tenants' | 'users' | 'accounts' | undefined
  readonly parentOf: (row: Row) => string

  constructor(
    key: (row: Row) => string,
    parents?: Table<Row>['parents'],
    parentOf: (row: Row) => string = () => '',
    rows: Iterable<readonly [string, Row]> = [],
  ) {
    super(rows)
    this.key = key
    this.parents = parents
    this.parentOf = parentOf
  }
  /** Of a row, of the fields that identify one, or the key itself. */
  keyOf(row: string | Partial<Row>): string {
    return typeof row === 'string' ? row : this.key(row as Row)
  }
  /** In the order in which they were first put in. */
  where(isMatching: (row: Row) => boolean): readonly Row[] {
    return [...this.values()].filter(isMatching)
  }
  named(rows: readonly (string | Partial<Row>)[]): readonly Row[] {
    return [...new Set(rows.map((row) => this.keyOf(row)))].flatMap((key) => this.get(key) ?? [])
  }
  put(row: Row): Row {
    this.set(this.key(row), row)
    return row
  }
  copy(): Table<Row> {
    return new Table(this.key, this.parents, this.parentOf, this)
  }
}

const byId = ({ id }: { readonly id: string }) => id
const byAccount = ({ accountId }: { readonly accountId: AccountId }): AccountId => accountId
const byUser = ({ userId }: { readonly userId: string }) => userId
const byTenant = ({ tenantId }: { readonly tenantId: string }) => tenantId

const createTables = () => ({
  tenants: new Table<StoredTenant>(byId),
  users: new Table<User>(byId, 'tenants', byTenant),
  accounts: new Table<Account>(byId, 'users', ({ owner }) => owner.userId),
  apiKeys: new Table<StoredApiKey>(byId, 'users', byUser),
  accessTokens: new Table<StoredAccessToken>(byId, 'users', byUser),
  desks: new Table<Desk>(byId, 'tenants', byTenant),
  traderLimits: new Table<AccountTraderLimits>(byAccount, 'accounts', byAccount),
  challenges: new Table<Challenge>(
    ({ accountId, startedAt }) => `${accountId} ${startedAt}`,
    'accounts',
    byAccount,
  ),
  balanceSnapshots: new Table<AccountSnapshot>(
    ({ accountId, timestamp }) => `${accountId} ${timestamp}`,
    'accounts',
    byAccount,
  ),
  riskThresholds: new Table<CheckedThreshold>(thresholdKey, 'accounts', byAccount),
  /** By the operator. */
  halts: new Table<OperatorHalt>(byAccount, 'accounts', byAccount),
  /** By the owners. */
  ownHalts: new Table<NewHalt & { readonly accountId: AccountId }>(
    byAccount,
    'accounts',
    byAccount,
  ),
  webhooks: new Table<WebhookWithSecret>(
    ({ webhook }) => webhook.id,
    'users',
    ({ webhook }) => webhook.owner.userId,
  ),
  marketDataFeed: new Table<StoredMarketDataFeed>(byId),
  orders: new Table<OrderRow>(({ order }) => order.id),
  idempotencyKeys: new Table<StoredKey>(({ place }) => place),
})
export type Tables = ReturnType<typeof createTables>

/**
 * A whole state that one assignment replaces, so that a change is seen all at once or not at all.
 */
export interface FakeRecords {
  tables: Tables
  /** Id of the database server process. */
  databaseRun: string
}

export const createFakeRecords = (): FakeRecords => ({
  tables: createTables(),
  databaseRun: 'the first run',
})

export const copyOf = (tables: Tables): Tables =>
  Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, table.copy()]),
  ) as unknown as Tables

export const ownAccount = (
  { tables }: FakeRecords,
  owner: Owner,
  id: AccountId,
): Account | undefined => {
  const account = tables.accounts.get(id)
  return account !== undefined && isSameOwner(account.owner, owner) ? account : undefined
}

/** The order of two texts. */
export const byText = (a: string, b: string): number => Number(a > b) - Number(a < b)

/** By type and severity. */
export const thresholdsOf = (tables: Tables, of: AccountId): readonly CheckedThreshold[] =>
  tables.riskThresholds
    .where(({ accountId }) => accountId === of)
    .toSorted((a, b) => byText(thresholdKey(a), thresholdKey(b)))

export function thresholdKey({
  accountId,
  type,
  severity,
}: Pick<CheckedThreshold, 'accountId' | 'type' | 'severity'>): string {
  return `${accountId} ${type} ${severity}`
}
