// Decides what an operator's document changes, over the records that it names. All or nothing: one
// fault anywhere and nothing is written.
import * as E from 'fp-ts/lib/Either.js'
import { isSameLink } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { apiKeyRequirement, isApiKey } from '../access/api-key.ts'
import type { CredentialHash } from '../access/credential.ts'
import { validationError } from '../errors.ts'
import type { Issue, ValidationError } from '../errors.ts'
import type { TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { usersAffectedBy } from './affected-users.ts'
import type { AffectedUsers } from './affected-users.ts'
import { mergeEntry } from './merge-entry.ts'
import type { Merging, Rules } from './merge-entry.ts'
import { accountFieldsOf, changedFields, idOf } from './plan.ts'
import type {
  AccountFields,
  AccountTraderLimits,
  Changes,
  Desk,
  DeskLimits,
  OperatorChanges,
  OperatorDocument,
  OperatorKeys,
  OperatorRecords,
  AccountSnapshot,
  Section,
  Settings,
  StoredAccessToken,
  StoredApiKey,
  Challenge,
  Tenant,
  TenantChange,
  TraderLimits,
  User,
} from './records.ts'

/** Makes and hashes credentials: randomness and digests come from a port. */
export interface CredentialSource {
  readonly newApiKey: () => string
  readonly newAccessToken: () => string
  readonly hash: (secret: string) => CredentialHash
}

/** A credential's text, shown once: when it was made or given. */
export interface IssuedSecret {
  readonly id: string
  readonly secret: string
}

export interface AppliedDocument {
  readonly changes: OperatorChanges
  /** Whose credentials are to be read anew. */
  readonly affectedUsers: AffectedUsers
  readonly apiKeys: readonly IssuedSecret[]
  readonly accessTokens: readonly IssuedSecret[]
}

/** Every record that the document names or refers to. */
export const keysOf = (
  document: OperatorDocument,
  { hash }: Pick<CredentialSource, 'hash'>,
): OperatorKeys => {
  const {
    tenants,
    users,
    accounts,
    apiKeys,
    accessTokens,
    desks,
    traderLimits,
    challenges,
    balanceSnapshots,
  } = document
  return {
    tenants: present([
      ...tenants.map(({ id }) => id),
      ...[...users, ...desks].map(({ tenantId }) => tenantId),
    ]),
    users: present([
      ...users.map(({ id }) => id),
      ...[...accounts, ...apiKeys, ...accessTokens].map(({ userId }) => userId),
    ]),
    accounts: present([
      ...accounts.map(({ id }) => id),
      ...desks.flatMap((desk) => desk.accounts),
      ...[...traderLimits, ...challenges, ...balanceSnapshots].map(({ accountId }) => accountId),
    ]),
    apiKeys: present(apiKeys.map(({ id }) => id)),
    apiKeyHashes: present(apiKeys.map(({ key }) => key)).map(hash),
    accessTokens: present(accessTokens.map(({ id }) => id)),
    accessTokenHashes: present(accessTokens.map(({ token }) => token)).map(hash),
    desks: present(desks.map(({ id }) => id)),
    traderLimits: present(traderLimits.map(({ accountId }) => accountId)),
    challenges,
    balanceSnapshots,
  }
}

const present = <A>(values: readonly (A | null | undefined)[]): readonly A[] => [
  ...new Set(values.filter((value): value is A => value !== null && value !== undefined)),
]

// A new key starts with read access to accounts and market data only.
const firstScopes: StoredApiKey['scopes'] = ['accounts:read', 'market-data:read']
const noDeskLimits: DeskLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
const noTraderLimits: TraderLimits = {
  maxLotsPerOrder: null,
  ...noDeskLimits,
  approvalAboveLots: null,
}

/**
 * What to write, or every fault of the document by its path.
 * @param now stands in for createdAt where the document gives none
 */
export const decideApply =
  (document: OperatorDocument, secrets: CredentialSource, now: Instant) =>
  (records: OperatorRecords): E.Either<ValidationError, AppliedDocument> => {
    const faults: Issue[] = []
    // As they will be when the document has been applied, so that later sections can refer to
    // earlier ones.
    const tenants = byId(records.tenants)
    const users = byId(records.users)
    const accounts = byId(records.accounts)
    const ofTenant = { owner: 'tenant', known: tenants } as const
    const ofUser = { owner: 'user', known: users } as const
    const ofAccount = { owner: 'account', known: accounts } as const
    const apiKeys = credentialHashes(records.apiKeys, secrets.newApiKey, secrets.hash)
    const accessTokens = credentialHashes(
      records.accessTokens,
      secrets.newAccessToken,
      secrets.hash,
    )

    const removeUser = (id: UserId): void => {
      users.delete(id)
      for (const account of accounts.values())
        if (account.owner.userId === id) accounts.delete(account.id)
    }
    const removeTenant = (id: TenantId): void => {
      tenants.delete(id)
      for (const user of users.values()) if (user.tenantId === id) removeUser(user.id)
    }

    /**
     * `decide` returns the record to write, or undefined where nothing changes or there is a fault.
     */
    const decideEach = <
      Entry extends OperatorDocument[Section][number],
      Stored,
      Put extends Stored,
      Key,
    >(
      section: Section,
      entries: readonly Entry[],
      known: Map<string, Stored>,
      keyOf: (entry: Entry) => Key,
      decide: (merging: Merging<Entry, Stored>) => Put | undefined,
      removeOwned?: (key: Key) => void,
    ): Changes<Put, Key> => {
      const seen = new Set<string>()
      const put: Put[] = []
      const remove: Key[] = []
      for (const [index, entry] of entries.entries()) {
        const path = `${section}[${index}]`
        const id = idOf(entry)
        // The document would contradict itself.
        if (seen.has(id)) faults.push({ path, message: 'this record is named twice; say it once' })
        seen.add(id)
        if (entry.removed === true) {
          known.delete(id)
          remove.push(keyOf(entry))
          removeOwned?.(keyOf(entry))
          continue
        }
        const reportFault = (field: string, message: string): unknown =>
          faults.push({ path: `${path}.${field}`, message })
        const record = decide({ entry, stored: known.get(id), reportFault })
        if (record === undefined) continue
        put.push(record)
        known.set(id, record)
      }
      return { put, remove }
    }

    const changes: OperatorChanges = {
      tenants: decideEach(
        'tenants',
        document.tenants,
        tenants,
        ({ id }) => id,
        (merging): TenantChange | undefined => {
          const tenant = mergeEntry<Tenant>(merging, { id: 'required', name: 'required' })
          return tenant && { ...tenant, providerToken: merging.entry.providerToken }
        },
        removeTenant,
      ),
      users: decideEach(
        'users',
        document.users,
        users,
        ({ id }) => id,
        (merging) =>
          mergeEntry<User>(merging, {
            id: 'required',
            tenantId: ofTenant,
            email: 'required',
            plan: { unset: 'free' },
          }),
        removeUser,
      ),
      accounts: decideEach(
        'accounts',
        document.accounts,
        accounts,
        ({ id }) => id,
        ({ entry, stored, reportFault }) => {
          const merging = { entry, stored: stored && accountFieldsOf(stored), reportFault }
          const fields = mergeEntry<Omit<AccountFields, 'createdAt'>>(merging, {
            userId: ofUser,
            ...accountRules,
          })
          const user = fields && users.get(fields.userId)
          if (fields === undefined || user === undefined) return undefined
          // An account was linked at some moment: without one in the document, at that of its first
          // apply.
          const createdAt = entry.createdAt ?? stored?.createdAt ?? now
          const account = accountOf({ ...fields, createdAt }, user, stored, now)
          // A document that says what is already so leaves no trace, whatever number of times it is
          // applied.
          return stored !== undefined && changedFields(stored, account).length === 0
            ? undefined
            : account
        },
      ),
      apiKeys: decideEach(
        'apiKeys',
        document.apiKeys,
        byId(records.apiKeys),
        ({ id }) => id,
        (merging) => {
          const { entry, reportFault } = merging
          const key = mergeEntry<Omit<StoredApiKey, 'hash'>>(merging, {
            id: 'required',
            userId: ofUser,
            name: { unset: entry.id },
            scopes: { unset: firstScopes },
            ipAllowlist: { unset: [] },
            expiresAt: { unset: null },
            enabled: { unset: true },
          })
          const hash = apiKeys.hashOf(merging, 'key', entry.key)
          if (typeof entry.key === 'string' && !isApiKey(entry.key))
            reportFault('key', `a key must be ${apiKeyRequirement}`)
          return key && hash && { ...key, hash }
        },
      ),
      accessTokens: decideEach(
        'accessTokens',
        document.accessTokens,
        byId(records.accessTokens),
        ({ id }) => id,
        (merging) => {
          const token = mergeEntry<Omit<StoredAccessToken, 'hash'>>(merging, {
            id: 'required',
            userId: ofUser,
            applicationId: 'required',
            scopes: 'required',
            expiresAt: { unset: null },
            enabled: { unset: true },
          })
          const hash = accessTokens.hashOf(merging, 'token', merging.entry.token)
          return token && hash && { ...token, hash }
        },
      ),
      desks: decideEach(
        'desks',
        document.desks,
        byId(records.desks),
        ({ id }) => id,
        (merging) => {
          const { entry, stored, reportFault } = merging
          const desk = mergeEntry<Omit<Desk, 'limits'>>(merging, {
            id: 'required',
            tenantId: ofTenant,
            accounts: { unset: [] },
          })
          if (desk === undefined) return undefined
          // Stored accounts were checked when they were named.
          for (const [index, id] of (entry.accounts ?? []).entries())
            if (accounts.get(id)?.owner.tenantId !== desk.tenantId)
              reportFault(`accounts[${index}]`, `tenant ${desk.tenantId} has no account ${id}`)
          return {
            ...desk,
            accounts: [...new Set(desk.accounts)],
            limits: mergeLimits(noDeskLimits, stored?.limits, entry.limits),
          }
        },
      ),
      traderLimits: decideEach(
        'traderLimits',
        document.traderLimits,
        byId(records.traderLimits),
        ({ accountId }) => accountId,
        (merging) => {
          const { entry, stored } = merging
          const account = mergeEntry<Pick<AccountTraderLimits, 'accountId'>>(merging, {
            accountId: ofAccount,
          })
          return (
            account && {
              ...account,
              limits: mergeLimits(noTraderLimits, stored?.limits, entry.limits),
            }
          )
        },
      ),
      challenges: decideEach(
        'challenges',
        document.challenges,
        byId(records.challenges),
        ({ accountId, startedAt }) => ({ accountId, startedAt }),
        (merging) =>
          mergeEntry<Challenge>(merging, {
            accountId: ofAccount,
            startedAt: 'required',
            status: 'required',
          }),
      ),
      balanceSnapshots: decideEach(
        'balanceSnapshots',
        document.balanceSnapshots,
        byId(records.balanceSnapshots),
        ({ accountId, timestamp }) => ({ accountId, timestamp }),
        (merging) =>
          mergeEntry<AccountSnapshot>(merging, {
            accountId: ofAccount,
            timestamp: 'required',
            balance: 'required',
            equity: 'required',
            margin: 'required',
            freeMargin: { unset: null },
          }),
      ),
    }
    if (faults.length > 0) return E.left(validationError(faults))
    return E.right({
      changes,
      affectedUsers: usersAffectedBy(changes, records),
      apiKeys: apiKeys.issued,
      accessTokens: accessTokens.issued,
    })
  }

const byId = <Record extends OperatorRecords[Section][number]>(
  records: readonly Record[],
): Map<string, Record> => new Map(records.map((record) => [idOf(record), record]))

const accountRules: Rules<Omit<AccountFields, 'userId' | 'createdAt'>> = {
  id: 'required',
  name: 'required',
  broker: { unset: null },
  brokerType: 'required',
  accountNumber: 'required',
  server: 'required',
  purpose: 'required',
  isDemo: { unset: false },
  currency: 'required',
  status: { unset: 'connected' },
  balance: { unset: 0 },
  equity: { unset: 0 },
  margin: { unset: 0 },
  providerAccountId: { unset: null },
  region: { unset: null },
}

const accountOf = (
  { userId, isDemo, balance, equity, margin, providerAccountId, region, ...fields }: AccountFields,
  { tenantId }: User,
  stored: Account | undefined,
  now: Instant,
): Account => {
  // Without a provider account the region means nothing.
  const provider = providerAccountId === null ? null : { providerAccountId, region }
  // What a broker said of one account is not known of another: not how much it holds, and least of
  // all that it is a demo account.
  const known =
    stored !== undefined && isSameLink(stored, { ...fields, provider }) ? stored : undefined
  return {
    ...fields,
    owner: { tenantId, userId },
    linkedAsDemo: isDemo,
    tradeMode: known?.tradeMode ?? null,
    figures: {
      balance,
      equity,
      margin,
      freeMargin: known?.figures.freeMargin ?? null,
      marginLevel: known?.figures.marginLevel ?? null,
      leverage: known?.figures.leverage ?? null,
    },
    provider,
    lastReadAt: known?.lastReadAt ?? null,
    updatedAt: now,
  }
}

/** A limit that is null, or all of them, does not apply. */
const mergeLimits = <Limits extends object>(
  none: Limits,
  stored: Limits | undefined,
  said: Settings<Limits> | null | undefined,
): Limits => {
  if (said === null) return none
  const named = Object.entries(said ?? {}).filter(([, value]) => value !== undefined)
  return { ...none, ...stored, ...Object.fromEntries(named) }
}

/** Hashes the credentials that a document gives, and makes those that it does not. */
const credentialHashes = (
  stored: readonly { readonly id: string; readonly hash: CredentialHash }[],
  make: () => string,
  hashSecret: CredentialSource['hash'],
) => {
  const holders = new Map(stored.map(({ id, hash }) => [hash, id]))
  const issued: IssuedSecret[] = []
  const hashOf = (
    {
      entry: { id },
      stored: before,
      reportFault,
    }: Merging<{ readonly id: string }, { readonly hash: CredentialHash }>,
    field: string,
    given: string | null | undefined,
  ): CredentialHash | undefined => {
    if (given === null) {
      reportFault(field, `a ${field} cannot be unset; revoke it with enabled: false or remove it`)
      return undefined
    }
    if (given === undefined && before !== undefined) return before.hash
    const secret = given ?? make()
    const hash = hashSecret(secret)
    if ((holders.get(hash) ?? id) !== id)
      reportFault(field, `this ${field} is already in use; give another or none`)
    holders.set(hash, id)
    issued.push({ id, secret })
    return hash
  }
  return { issued, hashOf }
}
