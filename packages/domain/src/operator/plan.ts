// What a document would change, told before it is applied: each record by the document's own names, with its fields before and after. Of a secret it is
// told that it would be written, never what it is or was.
import type { Account } from '../accounts/account.ts'
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
