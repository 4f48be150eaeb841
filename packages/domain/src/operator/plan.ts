// What a document would change, told before it is applied: each record by the document's own names, with its fields before and after. Of a secret it is
// told that it would be written, never what it is or was.
import { isSameLink } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import { toIso, toIsoOrNull } from '../primitives/instant.ts'
import type { DeskLimits } from './document.ts'
import type {
  AccountSnapshot,
  AccountTraderLimits,
  Challenge,
  Changes,
  Desk,
  OperatorChanges,
  OperatorRecords,
  StoredAccessToken,
  StoredApiKey,
  TenantChange,
  User,
} from './records.ts'

export type PlannedSection = keyof OperatorChanges
export type PlannedValue = string | number | boolean | null | readonly string[]

export interface PlannedField {
  readonly field: string
  /** Both undefined for a secret; `from` is undefined on a record that is not there yet. */
  readonly from?: PlannedValue | undefined
  readonly to?: PlannedValue | undefined
}

export interface PlannedChange {
  readonly section: PlannedSection
  /** The entry's id, or for what an account has the account's, with the instant where there are several. */
  readonly id: string
  readonly action: 'create' | 'change' | 'remove'
  /** Every field of a new record, the changing ones of one that is there, none of one that goes. */
  readonly fields: readonly PlannedField[]
}

/** What a document does to the tenant, user or account of an order under way. */
export type OrderEffect =
  | 'tenant_removed'
  | 'user_removed'
  | 'account_removed'
  /** To another provider account, region or platform. */
  | 'account_relinked'
  | 'provider_token_changed'
  | 'provider_token_removed'

/** What a document does, by whose orders it touches. */
export interface OrderEffects {
  readonly tenants: ReadonlyMap<TenantId, OrderEffect>
  readonly users: ReadonlyMap<UserId, OrderEffect>
  readonly accounts: ReadonlyMap<AccountId, OrderEffect>
}

/** By the names of the document; a secret stands there by what tells it from another, and is told by its name alone. */
type Fields = Readonly<Record<string, PlannedValue | undefined>>

const secretFields: ReadonlySet<string> = new Set(['providerToken', 'key', 'token'])

/**
 * In the order in which a document is written. What is put as it stands already is left out, and so is what is removed and not there; a provider
 * token that is named counts as changing, since the stored one is not opened to compare.
 */
export const planOf = (records: OperatorRecords, changes: OperatorChanges): readonly PlannedChange[] => [
  ...planSection('tenants', records.tenants, changes.tenants, { idOf, keyId, fieldsOf: tenantFields }),
  ...planSection('users', records.users, changes.users, { idOf, keyId, fieldsOf: userFields }),
  ...planSection('accounts', records.accounts, changes.accounts, { idOf, keyId, fieldsOf: accountFields }),
  ...planSection('apiKeys', records.apiKeys, changes.apiKeys, { idOf, keyId, fieldsOf: keyFields }),
  ...planSection('accessTokens', records.accessTokens, changes.accessTokens, { idOf, keyId, fieldsOf: tokenFields }),
  ...planSection('desks', records.desks, changes.desks, { idOf, keyId, fieldsOf: deskFields }),
  ...planSection('traderLimits', records.traderLimits, changes.traderLimits, {
    idOf: ({ accountId }) => accountId,
    keyId,
    fieldsOf: traderLimitsFields,
  }),
  ...planSection('challenges', records.challenges, changes.challenges, {
    idOf: challengeId,
    keyId: challengeId,
    fieldsOf: ({ status }) => ({ status }),
  }),
  ...planSection('balanceSnapshots', records.balanceSnapshots, changes.balanceSnapshots, {
    idOf: snapshotId,
    keyId: snapshotId,
    fieldsOf: snapshotFields,
  }),
]

interface Reading<Record, Key> {
  readonly idOf: (record: Record) => string
  readonly keyId: (key: Key) => string
  readonly fieldsOf: (record: Record) => Fields
}

const planSection = <Record, Key>(
  section: PlannedSection,
  stored: readonly Record[],
  { put, remove }: Changes<Record, Key>,
  { idOf: id, keyId: idOfKey, fieldsOf }: Reading<Record, Key>,
): readonly PlannedChange[] => {
  const before = new Map(stored.map((record) => [id(record), fieldsOf(record)]))
  const removals = remove
    .map(idOfKey)
    .filter((key) => before.has(key))
    .map((key): PlannedChange => ({ section, id: key, action: 'remove', fields: [] }))
  const puts = put.flatMap((record): readonly PlannedChange[] => {
    const key = id(record)
    const held = before.get(key)
    const fields = changedFields(held, fieldsOf(record))
    if (held === undefined) return [{ section, id: key, action: 'create', fields }]
    return fields.length === 0 ? [] : [{ section, id: key, action: 'change', fields }]
  })
  return [...removals, ...puts]
}

const changedFields = (before: Fields | undefined, after: Fields): readonly PlannedField[] =>
  Object.entries(after).flatMap(([field, to]): readonly PlannedField[] => {
    if (to === undefined) return []
    const from = before?.[field]
    if (before !== undefined && JSON.stringify(from) === JSON.stringify(to)) return []
    return secretFields.has(field) ? [{ field }] : [{ field, ...(before === undefined ? {} : { from }), to }]
  })

const idOf = ({ id }: { readonly id: string }): string => id
const keyId = (id: string): string => id
const challengeId = ({ accountId, startedAt }: Pick<Challenge, 'accountId' | 'startedAt'>): string => `${accountId} ${toIso(startedAt)}`
const snapshotId = ({ accountId, timestamp }: Pick<AccountSnapshot, 'accountId' | 'timestamp'>): string =>
  `${accountId} ${toIso(timestamp)}`

const tenantFields = ({ name, providerToken }: TenantChange): Fields => ({ name, providerToken })

const userFields = ({ tenantId, email, plan }: User): Fields => ({ tenantId, email, plan })

const accountFields = (account: Account): Fields => ({
  userId: account.owner.userId,
  name: account.name,
  broker: account.broker,
  brokerType: account.brokerType,
  accountNumber: account.accountNumber,
  server: account.server,
  purpose: account.purpose,
  isDemo: account.linkedAsDemo,
  currency: account.currency,
  status: account.status,
  balance: account.figures.balance,
  equity: account.figures.equity,
  margin: account.figures.margin,
  providerAccountId: account.provider?.providerAccountId ?? null,
  region: account.provider?.region ?? null,
  createdAt: toIso(account.createdAt),
})

const keyFields = ({ userId, name, hash, scopes, ipAllowlist, expiresAt, enabled }: StoredApiKey): Fields => ({
  userId,
  name,
  key: hash,
  scopes,
  ipAllowlist,
  expiresAt: toIsoOrNull(expiresAt),
  enabled,
})

const tokenFields = ({ userId, applicationId, hash, scopes, expiresAt, enabled }: StoredAccessToken): Fields => ({
  userId,
  applicationId,
  token: hash,
  scopes,
  expiresAt: toIsoOrNull(expiresAt),
  enabled,
})

const limitFields = ({ maxOpenLots, maxOpenPositions, allowedSymbols }: DeskLimits): Fields => ({
  'limits.maxOpenLots': maxOpenLots,
  'limits.maxOpenPositions': maxOpenPositions,
  'limits.allowedSymbols': allowedSymbols,
})

const deskFields = ({ tenantId, accounts, limits }: Desk): Fields => ({ tenantId, accounts, ...limitFields(limits) })

const traderLimitsFields = ({ limits }: AccountTraderLimits): Fields => ({
  'limits.maxLotsPerOrder': limits.maxLotsPerOrder,
  ...limitFields(limits),
  'limits.approvalAboveLots': limits.approvalAboveLots,
})

const snapshotFields = ({ balance, equity, margin, freeMargin }: AccountSnapshot): Fields => ({ balance, equity, margin, freeMargin })

/** A provider token that is named counts as changing, as in the plan. */
export const orderEffectsOf = (records: OperatorRecords, { tenants, users, accounts }: OperatorChanges): OrderEffects => ({
  tenants: new Map([
    ...effectOnEach(storedOf(tenants.remove, records.tenants), 'tenant_removed'),
    ...effectOnEach(idsOf(tenants.put.filter(({ providerToken }) => typeof providerToken === 'string')), 'provider_token_changed'),
    ...effectOnEach(idsOf(tenants.put.filter(({ providerToken }) => providerToken === null)), 'provider_token_removed'),
  ]),
  users: new Map(effectOnEach(storedOf(users.remove, records.users), 'user_removed')),
  accounts: new Map([
    ...effectOnEach(storedOf(accounts.remove, records.accounts), 'account_removed'),
    ...effectOnEach(idsOf(accounts.put.filter((after) => isRelinked(records.accounts, after))), 'account_relinked'),
  ]),
})

const effectOnEach = <Id>(ids: readonly Id[], effect: OrderEffect): readonly (readonly [Id, OrderEffect])[] => ids.map((id) => [id, effect])

const idsOf = <Id>(records: readonly { readonly id: Id }[]): readonly Id[] => records.map(({ id }) => id)

const storedOf = <Id>(ids: readonly Id[], stored: readonly { readonly id: Id }[]): readonly Id[] => {
  const known = new Set(idsOf(stored))
  return ids.filter((id) => known.has(id))
}

const isRelinked = (stored: readonly Account[], after: Account): boolean => {
  const before = stored.find(({ id }) => id === after.id)
  return before !== undefined && (!isSameLink(before, after) || before.provider?.region !== after.provider?.region)
}
