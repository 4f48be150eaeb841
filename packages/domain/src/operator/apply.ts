// Decides what an operator's document changes, over the records that it names. All or nothing: one
// fault anywhere and nothing is written.
import * as E from 'fp-ts/lib/Either.js'
import type { CredentialHash, Secrets } from '../access/credential.ts'
import { isSameLink, type Account } from '../accounts/account.ts'
import { refuse, type Issue, type Refusal } from '../errors.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { DeskLimits, TraderLimits } from '../orders/limits.ts'
import { accountFieldsOf, changedFields, idOf } from './plan.ts'
import {
  bySection,
  sections,
  type AccountFields,
  type OperatorChanges,
  type OperatorDocument,
  type OperatorKeys,
  type OperatorRecords,
  type Section,
  type Patch,
  type User,
} from './records.ts'

/** A credential's text, shown once: when it was made or given. */
type Issued<Field extends string> = { readonly id: string } & { readonly [_ in Field]: string }

/** `everyone` where they cannot be named one by one. */
export type AffectedUsers = readonly UserId[] | 'everyone'

export interface DecidedDocument {
  readonly changes: OperatorChanges
  /** Whose credentials caches must read anew. */
  readonly affectedUsers: AffectedUsers
  readonly apiKeys: readonly Issued<'key'>[]
  readonly accessTokens: readonly Issued<'token'>[]
}

// --- the rules of the sections ---

/** The record that a record belongs to. It must exist; which one it is can never change. */
type ParentKind = 'tenant' | 'user' | 'account'

/**
 * A required field cannot be unset, and a new record must name it. Any other has its default where
 * it is null and where a new record leaves it out.
 */
type FieldRule<Value> = 'required' | ParentKind | { readonly default: Value }

/** The fields of a record that are computed from the entry and the stored record only. */
type RuledFields<S extends Section> = Omit<
  S extends 'accounts' ? AccountFields : OperatorRecords[S][number],
  'createdAt' | 'hash' | 'limits' | 'since'
>

const rules: {
  readonly [S in Section]: {
    readonly [Field in keyof RuledFields<S>]: FieldRule<RuledFields<S>[Field]>
  }
} = {
  tenants: { id: 'required', name: 'required' },
  users: { id: 'required', tenantId: 'tenant', email: 'required', plan: { default: 'free' } },
  accounts: {
    userId: 'user',
    id: 'required',
    name: 'required',
    broker: { default: null },
    brokerType: 'required',
    accountNumber: 'required',
    server: 'required',
    purpose: 'required',
    isDemo: { default: false },
    currency: 'required',
    status: { default: 'connected' },
    balance: { default: 0 },
    equity: { default: 0 },
    margin: { default: 0 },
    providerAccountId: { default: null },
    region: { default: null },
  },
  apiKeys: {
    id: 'required',
    userId: 'user',
    // Where it is unset, the id stands for it.
    name: { default: '' },
    // A new key starts with read access to accounts and market data only.
    scopes: { default: ['accounts:read', 'market-data:read'] },
    ipAllowlist: { default: [] },
    expiresAt: { default: null },
    enabled: { default: true },
  },
  accessTokens: {
    id: 'required',
    userId: 'user',
    applicationId: 'required',
    scopes: 'required',
    expiresAt: { default: null },
    enabled: { default: true },
  },
  desks: { id: 'required', tenantId: 'tenant', accounts: { default: [] } },
  traderLimits: { accountId: 'account' },
  challenges: { accountId: 'account', startedAt: 'required', status: 'required' },
  balanceSnapshots: {
    accountId: 'account',
    timestamp: 'required',
    balance: 'required',
    equity: 'required',
    margin: 'required',
    freeMargin: { default: null },
  },
  riskThresholds: {
    accountId: 'account',
    type: 'required',
    severity: 'required',
    value: 'required',
    halt: { default: false },
    cancelOrders: { default: false },
  },
  halts: { accountId: 'account', reason: { default: null }, cancelOrders: { default: false } },
  marketDataFeed: { id: 'required', accountId: 'required', symbols: { default: {} } },
}

const noDeskLimits: DeskLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
const noTraderLimits: TraderLimits = {
  maxLotsPerOrder: null,
  ...noDeskLimits,
  approvalAboveLots: null,
}

/** Every record that the document names or refers to. */
export const recordKeysOf = (
  document: OperatorDocument,
  { hash }: Pick<Secrets, 'hash'>,
): OperatorKeys => {
  const parents = (kind: ParentKind): readonly unknown[] =>
    sections.flatMap((section) => {
      const fields = Object.entries(rules[section]).filter(([, rule]) => rule === kind)
      return document[section].flatMap((entry) =>
        fields.map(([field]) => (entry as unknown as Fields)[field]),
      )
    })
  const keys = bySection((section) =>
    distinctPresent(document[section].map((entry) => keyOf(section, entry))),
  ) as unknown as OperatorKeys
  const accounts = [
    ...document.desks.flatMap((desk) => desk.accounts),
    ...document.marketDataFeed.map((feed) => feed.accountId),
  ]
  return {
    ...keys,
    tenants: distinctPresent([...keys.tenants, ...parents('tenant')]) as readonly TenantId[],
    users: distinctPresent([...keys.users, ...parents('user')]) as readonly UserId[],
    accounts: distinctPresent([
      ...keys.accounts,
      ...accounts,
      ...parents('account'),
    ]) as readonly AccountId[],
    apiKeyHashes: distinctPresent(document.apiKeys.map(({ key }) => key)).map(hash),
    accessTokenHashes: distinctPresent(document.accessTokens.map(({ token }) => token)).map(hash),
  }
}

const distinctPresent = <A>(values: readonly A[]): readonly NonNullable<A>[] => [
  ...new Set(values.filter((value) => value !== null && value !== undefined)),
]

/** Its id, that of its account where an account has one at most, or else the whole entry. */
const keyOf = (section: Section, entry: OperatorDocument[Section][number]) =>
  'id' in entry || section === 'traderLimits' || section === 'halts' ? idOf(entry) : entry

// --- deciding ---

type Put<S extends Section> = OperatorChanges[S]['put'][number]
type ResultingRecords = { readonly [S in Section]: Map<string, Put<S>> }

/** @param fault the rest of the sentence that begins with the path of the field */
type ReportFault = (field: string, fault: string) => unknown

/**
 * The record to write of an entry; undefined where nothing changes or there is a fault.
 * @param fields undefined where one of them has a fault
 */
type BuildRecord<S extends Section> = (
  entry: OperatorDocument[S][number],
  fields: RuledFields<S> | undefined,
  stored: Put<S> | undefined,
  reportFault: ReportFault,
) => Put<S> | undefined

/**
 * What to write, or every fault of the document by its path.
 * @param now stands in for createdAt where the document gives none; when new halts begin
 */
export const decideApply =
  (document: OperatorDocument, secrets: Secrets, now: Instant) =>
  (records: OperatorRecords): E.Either<Refusal<'ValidationError'>, DecidedDocument> => {
    const faults: Issue[] = []
    // As they will be when the document has been applied, so that later sections can refer to
    // earlier ones.
    const resultingRecords = bySection(
      (section) => new Map(records[section].map((record) => [idOf(record), record])),
    ) as unknown as ResultingRecords
    const { hash } = secrets
    const apiKeys = credentialHashes(
      'key',
      document.apiKeys,
      records.apiKeys,
      secrets.newApiKey,
      hash,
    )
    const accessTokens = credentialHashes(
      'token',
      document.accessTokens,
      records.accessTokens,
      secrets.newAccessToken,
      hash,
    )

    const buildRecord: { readonly [S in Section]: BuildRecord<S> } = {
      tenants: ({ providerToken }, tenant) => tenant && { ...tenant, providerToken },
      users: (_, user) => user,
      accounts: (entry, fields, stored) => {
        const user = fields && resultingRecords.users.get(fields.userId)
        if (fields === undefined || user === undefined) return undefined
        // Without a time in the document the account was linked when it was first applied.
        const createdAt = entry.createdAt ?? stored?.createdAt ?? now
        const account = accountOf(entry, { ...fields, createdAt }, user, stored, now)
        // An account that is described as it is stays untouched, `updatedAt` included.
        return stored !== undefined && changedFields(stored, account).length === 0
          ? undefined
          : account
      },
      apiKeys: (entry, fields, stored, reportFault) => {
        const hash = apiKeys.hashOf(entry, stored, reportFault)
        return fields && hash && { ...fields, name: fields.name || entry.id, hash }
      },
      accessTokens: (entry, fields, stored, reportFault) => {
        const hash = accessTokens.hashOf(entry, stored, reportFault)
        return fields && hash && { ...fields, hash }
      },
      desks: (entry, desk, stored, reportFault) => {
        if (desk === undefined) return undefined
        // Stored accounts were checked when they were named.
        for (const [index, id] of (entry.accounts ?? []).entries())
          if (resultingRecords.accounts.get(id)?.owner.tenantId !== desk.tenantId)
            reportFault(
              `accounts[${index}]`,
              `must be an account of tenant ${desk.tenantId}, which has no ${id}`,
            )
        return {
          ...desk,
          accounts: [...new Set(desk.accounts)],
          limits: mergeLimits(noDeskLimits, stored?.limits, entry.limits),
        }
      },
      traderLimits: ({ limits }, account, stored) =>
        account && { ...account, limits: mergeLimits(noTraderLimits, stored?.limits, limits) },
      challenges: (_, challenge) => challenge,
      balanceSnapshots: (_, snapshot) => snapshot,
      riskThresholds: (_entry, threshold, _stored, reportFault) => {
        if (threshold?.cancelOrders === true && !threshold.halt)
          reportFault('cancelOrders', 'must be false without halt: the halt cancels the orders')
        return threshold
      },
      halts: (_, halt, stored) => halt && { ...halt, since: stored?.since ?? now },
      marketDataFeed: ({ accountId }, feed, _, reportFault) => {
        if (typeof accountId === 'string' && !resultingRecords.accounts.has(accountId))
          reportFault('accountId', notThere('account', accountId))
        return feed
      },
    }

    /** Records that the document removes, by themselves or with their tenant or user. */
    const gone = new Set<string>()
    /** With everything that belongs to the record and that a later section can refer to. */
    const remove = (section: Section, id: string) => {
      if (resultingRecords[section].delete(id)) gone.add(`${section} ${id}`)
      if (section === 'tenants')
        for (const user of resultingRecords.users.values())
          if (user.tenantId === id) remove('users', user.id)
      if (section === 'users')
        for (const account of resultingRecords.accounts.values())
          if (account.owner.userId === id) remove('accounts', account.id)
    }

    const decideSection = <S extends Section>(section: S) => {
      const seen = new Set<string>()
      const put: Put<S>[] = []
      const removed: unknown[] = []
      const entries: readonly OperatorDocument[S][number][] = document[section]
      for (const [index, entry] of entries.entries()) {
        // There is one feed, which the document names without a list.
        const path = section === 'marketDataFeed' ? section : `${section}[${index}]`
        const id = idOf(entry)
        // The document would contradict itself.
        if (seen.has(id)) {
          faults.push({ path, message: `${path} repeats a record; name it once` })
          continue
        }
        seen.add(id)
        const reportFault: ReportFault = (field, fault) =>
          faults.push({ path: `${path}.${field}`, message: `${path}.${field} ${fault}` })
        const stored = resultingRecords[section].get(id)
        const isThere = stored !== undefined
        if (entry.new === isThere) {
          reportFault(
            'new',
            `must not be ${isThere} for a record that is ${isThere ? '' : 'not '}there`,
          )
          continue
        }
        if (entry.removed === true) {
          remove(section, id)
          removed.push(keyOf(section, entry))
          continue
        }
        // It would lose its halt, its limits and all else that is not named here.
        if (gone.has(`${section} ${id}`)) {
          reportFault('id', 'is removed with its owner by this document; put it in a later one')
          continue
        }
        const fields = mergeEntry(entry, stored, rules[section], resultingRecords, reportFault)
        const record = buildRecord[section](
          entry,
          fields as RuledFields<S> | undefined,
          stored,
          reportFault,
        )
        if (record === undefined) continue
        put.push(record)
        resultingRecords[section].set(id, record)
      }
      return { put, remove: removed }
    }

    const changes = bySection(decideSection) as unknown as OperatorChanges
    if (faults.length > 0) return E.left(refuse('ValidationError', { issues: faults }))
    return E.right({
      changes,
      affectedUsers: usersAffectedBy(changes, records),
      apiKeys: apiKeys.issued,
      accessTokens: accessTokens.issued,
    })
  }

type Fields = Readonly<Record<string, unknown>>

/** Undefined where the entry has a fault. */
const mergeEntry = (
  entry: object,
  before: Put<Section> | undefined,
  fieldRules: Readonly<Record<string, FieldRule<unknown>>>,
  resultingRecords: ResultingRecords,
  reportFault: ReportFault,
): Fields | undefined => {
  const storedFields: object = before && 'owner' in before ? accountFieldsOf(before) : { ...before }
  let hasFault = false
  const fault: ReportFault = (field, reason) => {
    reportFault(field, reason)
    hasFault = true
  }
  const merged: Record<string, unknown> = {}
  for (const [field, rule] of Object.entries(fieldRules)) {
    const [requested, stored] = [(entry as Fields)[field], (storedFields as Fields)[field]]
    const value = requested ?? stored
    if (typeof rule === 'object')
      merged[field] = (requested === undefined ? stored : requested) ?? rule.default
    else if (
      rule !== 'required' &&
      stored !== undefined &&
      requested !== undefined &&
      requested !== stored
    )
      fault(field, 'cannot change while the record is there; remove the record and create it anew')
    else if (requested === null) fault(field, 'cannot be unset; leave it out to keep it')
    else if (value === undefined) fault(field, 'is required for a record that is not there yet')
    else if (rule !== 'required' && !resultingRecords[`${rule}s` as const].has(value as string))
      fault(field, notThere(rule, value as string))
    else merged[field] = value
  }
  return hasFault ? undefined : merged
}

const notThere = (what: string, id: string): string =>
  `must be the id of an existing ${what}; got ${JSON.stringify(id)}`

const accountOf = (
  entry: Patch<AccountFields>,
  { userId, isDemo, balance, equity, margin, providerAccountId, region, ...fields }: AccountFields,
  { tenantId }: User,
  stored: Account | undefined,
  now: Instant,
): Account => {
  // Without a provider account the region means nothing.
  const provider = providerAccountId === null ? null : { providerAccountId, region }
  // What the broker reported of one account does not hold for another, whose balance, equity and
  // margin are those of the document until its first reading.
  const isSame = stored !== undefined && isSameLink(stored, { ...fields, provider })
  const { tradeMode, lastReadAt, figures } = isSame ? stored : neverRead
  const money =
    isSame || provider === null
      ? { balance, equity, margin }
      : { balance: entry.balance ?? 0, equity: entry.equity ?? 0, margin: entry.margin ?? 0 }
  return {
    ...fields,
    owner: { tenantId, userId },
    linkedAsDemo: isDemo,
    tradeMode,
    figures: { ...figures, ...money },
    provider,
    // That another account could not be read says nothing of this one.
    status:
      isSame || entry.status !== undefined || fields.status !== 'error'
        ? fields.status
        : 'connected',
    lastReadAt,
    updatedAt: now,
  }
}

const neverRead = {
  tradeMode: null,
  lastReadAt: null,
  figures: { freeMargin: null, marginLevel: null, leverage: null },
}

/** A limit that is null, or all of them, does not apply. */
const mergeLimits = <Limits extends object>(
  none: Limits,
  stored: Limits | undefined,
  requested: Patch<Limits> | null | undefined,
): Limits => {
  if (requested === null) return none
  const named = Object.entries(requested ?? {}).filter(([, value]) => value !== undefined)
  return { ...none, ...stored, ...Object.fromEntries(named) }
}

type CredentialEntry<Field extends string> = {
  readonly id: string
  readonly removed?: boolean | undefined
} & { readonly [_ in Field]?: string | null | undefined }

/** Hashes the credentials that a document gives, and makes those that it does not. */
const credentialHashes = <Field extends 'key' | 'token'>(
  field: Field,
  entries: readonly CredentialEntry<Field>[],
  stored: readonly { readonly id: string; readonly hash: CredentialHash }[],
  make: () => string,
  hashSecret: Secrets['hash'],
) => {
  // Hashes that entries give up may become others'.
  const released = new Set(
    entries
      .filter((entry) => entry.removed === true || typeof entry[field] === 'string')
      .map(({ id }) => id),
  )
  const holders = new Map(
    stored.filter(({ id }) => !released.has(id)).map(({ id, hash }) => [hash, id]),
  )
  const issued: Issued<Field>[] = []
  /** The hash to store, of the secret that is given, was stored, or is made now. */
  const hashOf = (
    { id, [field]: given }: CredentialEntry<Field>,
    before: { readonly hash: CredentialHash } | undefined,
    reportFault: ReportFault,
  ): CredentialHash | undefined => {
    if (given === null) {
      reportFault(field, 'cannot be unset; revoke it with enabled: false or remove it')
      return undefined
    }
    if (given === undefined && before !== undefined) return before.hash
    const secret = given ?? make()
    const hash = hashSecret(secret)
    if ((holders.get(hash) ?? id) !== id)
      reportFault(field, 'is already in use; give another or none')
    holders.set(hash, id)
    issued.push({ id, [field]: secret } as Issued<Field>)
    return hash
  }
  return { issued, hashOf }
}

/**
 * The users whose credentials the changes may concern, so that only theirs are read anew wherever
 * they are cached: those that the changes put or remove, and those of every key and token that they
 * put or remove.
 * @param stored the credentials as they were before
 */
export const usersAffectedBy = (
  changes: OperatorChanges,
  stored: Pick<OperatorRecords, 'apiKeys' | 'accessTokens'>,
): AffectedUsers => {
  const { tenants, users, apiKeys, accessTokens } = changes
  // The users of a removed tenant go with it, and the changes do not name them.
  if (tenants.remove.length > 0) return 'everyone'
  const affected = new Set([
    ...users.put.map(({ id }) => id),
    ...users.remove,
    ...[...apiKeys.put, ...accessTokens.put].map(({ userId }) => userId),
  ])
  for (const section of ['apiKeys', 'accessTokens'] as const) {
    const ownerOf = new Map(stored[section].map(({ id, userId }) => [id, userId]))
    for (const id of changes[section].remove) {
      const userId = ownerOf.get(id)
      if (userId === undefined) return 'everyone'
      affected.add(userId)
    }
  }
  return [...affected]
}
