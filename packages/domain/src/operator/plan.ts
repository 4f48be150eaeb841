// What a document would change: each record by the document's own names, with its fields before and
// after. Of a secret only its name is shown.
import type { Account } from '../accounts/account.ts'
import { toIso } from '../primitives/instant.ts'
import type { RecordCounts } from './listing.ts'
import {
  sections,
  type AccountFields,
  type OperatorChanges,
  type OperatorDocument,
  type OperatorRecords,
  type Section,
} from './records.ts'

type PlannedValue = string | number | boolean | null | readonly string[]

export interface PlannedField {
  readonly field: string
  /** Both undefined for a secret that is set; `from` is undefined on a record that is not there yet. */
  readonly from?: PlannedValue | undefined
  readonly to?: PlannedValue | undefined
}

export interface PlannedChange {
  readonly section: Section
  /**
   * The record's id; without one, that of its account with what tells several of an account apart.
   */
  readonly id: string
  readonly action: 'create' | 'change' | 'remove'
  /** Every field of a new record, those that change of a stored one, none of a removed one. */
  readonly fields: readonly PlannedField[]
  /** What goes with a tenant or a user that is removed. */
  readonly alsoRemoved?: RecordCounts
}

type Stored = OperatorRecords[Section][number]
type Put = OperatorChanges[Section]['put'][number]
type Key = OperatorChanges[Section]['remove'][number]

/** Identifies a record within its section. */
export const idOf = (one: Stored | Put | Key | OperatorDocument[Section][number]): string => {
  if (typeof one === 'string') return one
  if ('id' in one) return one.id
  if ('severity' in one) return `${one.accountId} ${one.type} ${one.severity}`
  if ('startedAt' in one) return `${one.accountId} ${toIso(one.startedAt)}`
  return 'timestamp' in one ? `${one.accountId} ${toIso(one.timestamp)}` : one.accountId
}

/**
 * In the order in which a document is written, without records that stay as they are and removals of
 * what is not there. A provider token that is given counts as changing, since the stored one is not
 * opened to compare.
 */
export const planOf = (
  records: OperatorRecords,
  changes: OperatorChanges,
): readonly PlannedChange[] =>
  sections.flatMap((section) => {
    const stored = new Map<string, Stored>(records[section].map((record) => [idOf(record), record]))
    const { put, remove } = changes[section]
    const removals = remove.map(idOf).filter((id) => stored.has(id))
    const puts = put.flatMap((record): readonly PlannedChange[] => {
      const id = idOf(record)
      const before = stored.get(id)
      const fields = changedFields(before, record)
      if (before === undefined) return [{ section, id, action: 'create', fields }]
      return fields.length === 0 ? [] : [{ section, id, action: 'change', fields }]
    })
    return [
      ...removals.map((id): PlannedChange => ({ section, id, action: 'remove', fields: [] })),
      ...puts,
    ]
  })

/**
 * The fields that differ, all of them where there was no record before. Null stands for what one of
 * two records does not have, such as a symbol of the feed.
 */
export const changedFields = (before: Stored | undefined, after: Put): readonly PlannedField[] => {
  const fieldsBefore = new Map(before === undefined ? [] : fieldsOf(before))
  const fieldsAfter = new Map(fieldsOf(after))
  const removedFields = [...fieldsBefore.keys()].filter((field) => !fieldsAfter.has(field))
  for (const field of removedFields) fieldsAfter.set(field, null)
  return [...fieldsAfter].flatMap(([field, to]): readonly PlannedField[] => {
    const from = fieldsBefore.get(field)
    if (to === undefined || (before !== undefined && JSON.stringify(from) === JSON.stringify(to)))
      return []
    if (secretFields.has(field)) return [to === null ? { field, to } : { field }]
    return [before === undefined ? { field, to } : { field, from: from ?? null, to }]
  })
}

const secretFields = new Set(['providerToken', 'key', 'token'])
/** They identify a record that has no id of its own. */
const keyFields = new Set(['accountId', 'startedAt', 'timestamp', 'type', 'severity'])

type Fields = readonly (readonly [field: string, value: PlannedValue | undefined])[]

/**
 * By the names of the document, without those that identify the record; a key or token is
 * represented by its hash.
 */
const fieldsOf = (record: Put): Fields => {
  if ('owner' in record) return flattened({ ...accountFieldsOf(record) })
  if (!('hash' in record)) return flattened({ ...record })
  const { hash, ...fields } = record
  return flattened({ ...('applicationId' in record ? { token: hash } : { key: hash }), ...fields })
}

const flattened = (record: Readonly<Record<string, unknown>>): Fields =>
  Object.entries(record).flatMap(([field, value]): Fields => {
    if (field === 'id' || (!('id' in record) && keyFields.has(field))) return []
    if (field === 'limits' || field === 'symbols')
      return Object.entries(value as Readonly<Record<string, PlannedValue>>).map(([name, part]) => [
        `${field}.${name}`,
        part,
      ])
    const isTime = field.endsWith('At') || field === 'since'
    return [
      [
        field,
        isTime && typeof value === 'number' ? toIso(value) : (value as PlannedValue | undefined),
      ],
    ]
  })

export const accountFieldsOf = ({
  owner,
  linkedAsDemo,
  figures,
  provider,
  ...account
}: Account): AccountFields => ({
  id: account.id,
  userId: owner.userId,
  name: account.name,
  broker: account.broker,
  brokerType: account.brokerType,
  accountNumber: account.accountNumber,
  server: account.server,
  purpose: account.purpose,
  isDemo: linkedAsDemo,
  currency: account.currency,
  status: account.status,
  balance: figures.balance,
  equity: figures.equity,
  margin: figures.margin,
  providerAccountId: provider?.providerAccountId ?? null,
  region: provider?.region ?? null,
  createdAt: account.createdAt,
})

/** What a document does to the tenant, user or account of an order under way. */
export type OrderEffect =
  | 'tenant_removed'
  | 'user_removed'
  | 'account_removed'
  /** To another provider account, region or platform. */
  | 'account_relinked'
  | 'provider_token_changed'
  | 'provider_token_removed'

const linkFields = new Set(['brokerType', 'providerAccountId', 'region'])

/**
 * What a planned change does to the orders of its tenant, user or account; undefined where it does
 * nothing to them.
 */
export const orderEffectOf = ({
  section,
  action,
  fields,
}: PlannedChange): OrderEffect | undefined => {
  if (section === 'tenants') {
    if (action === 'remove') return 'tenant_removed'
    const token = fields.find(({ field }) => field === 'providerToken')
    return token && (token.to === null ? 'provider_token_removed' : 'provider_token_changed')
  }
  if (section === 'users') return action === 'remove' ? 'user_removed' : undefined
  if (section !== 'accounts' || action === 'create') return undefined
  if (action === 'remove') return 'account_removed'
  return fields.some(({ field }) => linkFields.has(field)) ? 'account_relinked' : undefined
}
