// The operator's records in memory, as a fake of the port: all or nothing, with the same references and the same removals as the database.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { serviceUnavailable } from '../errors.ts'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import type { OperatorChanges, OperatorKeys, OperatorRecords } from '../operator/records.ts'
import type { OperatorStore, ProviderTokens } from '../ports/operator-store.ts'
import { instantKey, secretKey } from './fake-records.ts'
import type { FakeRecords, Tables } from './fake-records.ts'

/** @param key the number of the key that seals */
export const createFakeOperatorStore = (records: FakeRecords, key = 0): OperatorStore => ({
  apply: <A extends { readonly changes: OperatorChanges }>(
    keys: OperatorKeys,
    decide: (named: OperatorRecords) => E.Either<ValidationError, A>,
  ) =>
    TE.fromIOEither((): E.Either<ServiceUnavailable | ValidationError, A> => {
      const decision = decide(recordsNamed(records.tables, keys))
      if (E.isLeft(decision)) return decision
      const tables = copyOf(records.tables)
      removeAll(tables, decision.right.changes)
      putAll(tables, decision.right.changes)
      const fault = brokenReference(tables)
      if (fault !== undefined) return E.left(fault)
      records.tables = tables
      for (const { id, providerToken } of decision.right.changes.tenants.put)
        if (typeof providerToken === 'string') records.sealedUnder.set(secretKey({ kind: 'provider_token', id }), key)
      return decision
    }),
})

export const createFakeProviderTokens = (records: FakeRecords): ProviderTokens => ({
  find: (tenantId) => TE.fromIO(() => O.fromNullable(records.tables.tenants.get(tenantId)?.providerToken)),
})

const recordsNamed = (tables: Tables, keys: OperatorKeys): OperatorRecords => {
  const bound = boundRecords(tables, keys)
  const holders = [...bound.accounts.map(({ owner }) => owner), ...bound.apiKeys, ...bound.accessTokens].map(({ userId }) => userId)
  const users = named(tables.users, [...keys.users, ...holders])
  const tenants = named(tables.tenants, [...keys.tenants, ...[...users, ...bound.desks].map(({ tenantId }) => tenantId)])
  return { ...bound, users, tenants: tenants.map(({ id, name }) => ({ id, name })) }
}

const boundRecords = (tables: Tables, keys: OperatorKeys): Omit<OperatorRecords, 'tenants' | 'users'> => ({
  accounts: named(tables.accounts, keys.accounts),
  apiKeys: [...tables.apiKeys.values()].filter(({ id, hash }) => keys.apiKeys.includes(id) || keys.apiKeyHashes.includes(hash)),
  accessTokens: [...tables.accessTokens.values()].filter(
    ({ id, hash }) => keys.accessTokens.includes(id) || keys.accessTokenHashes.includes(hash),
  ),
  desks: named(tables.desks, keys.desks),
  traderLimits: named(tables.traderLimits, keys.traderLimits),
  challenges: named(
    tables.challenges,
    keys.challenges.map(({ accountId, startedAt }) => instantKey(accountId, startedAt)),
  ),
  balanceSnapshots: named(
    tables.balanceSnapshots,
    keys.balanceSnapshots.map(({ accountId, timestamp }) => instantKey(accountId, timestamp)),
  ),
})

const named = <A>(table: ReadonlyMap<string, A>, keys: readonly string[]): readonly A[] =>
  [...new Set(keys)].flatMap((key) => {
    const record = table.get(key)
    return record === undefined ? [] : [record]
  })

const copyOf = (tables: Tables): Tables => ({
  tenants: new Map(tables.tenants),
  users: new Map(tables.users),
  accounts: new Map(tables.accounts),
  apiKeys: new Map(tables.apiKeys),
  accessTokens: new Map(tables.accessTokens),
  desks: new Map(tables.desks),
  traderLimits: new Map(tables.traderLimits),
  challenges: new Map(tables.challenges),
  balanceSnapshots: new Map(tables.balanceSnapshots),
  webhooks: new Map(tables.webhooks),
})

// Owners first, then whatever has lost its owner.
const removeAll = (tables: Tables, changes: OperatorChanges): void => {
  for (const id of changes.tenants.remove) tables.tenants.delete(id)
  for (const id of changes.users.remove) tables.users.delete(id)
  for (const id of changes.accounts.remove) tables.accounts.delete(id)
  for (const id of changes.apiKeys.remove) tables.apiKeys.delete(id)
  for (const id of changes.accessTokens.remove) tables.accessTokens.delete(id)
  for (const id of changes.desks.remove) tables.desks.delete(id)
  for (const id of changes.traderLimits.remove) tables.traderLimits.delete(id)
  for (const { accountId, startedAt } of changes.challenges.remove) tables.challenges.delete(instantKey(accountId, startedAt))
  for (const { accountId, timestamp } of changes.balanceSnapshots.remove) tables.balanceSnapshots.delete(instantKey(accountId, timestamp))
  const hasAccount = ({ accountId }: { readonly accountId: string }): boolean => tables.accounts.has(accountId)
  keepOnly(tables.users, ({ tenantId }) => tables.tenants.has(tenantId))
  keepOnly(tables.accounts, ({ owner }) => tables.users.has(owner.userId))
  keepOnly(tables.apiKeys, ({ userId }) => tables.users.has(userId))
  keepOnly(tables.accessTokens, ({ userId }) => tables.users.has(userId))
  keepOnly(tables.webhooks, ({ webhook }) => tables.users.has(webhook.owner.userId))
  keepOnly(tables.desks, ({ tenantId }) => tables.tenants.has(tenantId))
  for (const [id, desk] of tables.desks) {
    if (desk.accounts.every((accountId) => hasAccount({ accountId }))) continue
    tables.desks.set(id, { ...desk, accounts: desk.accounts.filter((accountId) => hasAccount({ accountId })) })
  }
  keepOnly(tables.traderLimits, hasAccount)
  keepOnly(tables.challenges, hasAccount)
  keepOnly(tables.balanceSnapshots, hasAccount)
}

const keepOnly = <A>(table: Map<string, A>, isKept: (record: A) => boolean): void => {
  for (const [key, record] of table) if (!isKept(record)) table.delete(key)
}

const putAll = (tables: Tables, changes: OperatorChanges): void => {
  for (const { providerToken, ...tenant } of changes.tenants.put) {
    const kept = tables.tenants.get(tenant.id)?.providerToken ?? null
    tables.tenants.set(tenant.id, { ...tenant, providerToken: providerToken === undefined ? kept : providerToken })
  }
  for (const user of changes.users.put) tables.users.set(user.id, user)
  for (const account of changes.accounts.put) tables.accounts.set(account.id, account)
  for (const key of changes.apiKeys.put) tables.apiKeys.set(key.id, key)
  for (const token of changes.accessTokens.put) tables.accessTokens.set(token.id, token)
  for (const desk of changes.desks.put)
    tables.desks.set(desk.id, { ...desk, accounts: desk.accounts.filter((accountId) => tables.accounts.has(accountId)) })
  for (const limits of changes.traderLimits.put) tables.traderLimits.set(limits.accountId, limits)
  for (const challenge of changes.challenges.put) tables.challenges.set(instantKey(challenge.accountId, challenge.startedAt), challenge)
  for (const snapshot of changes.balanceSnapshots.put)
    tables.balanceSnapshots.set(instantKey(snapshot.accountId, snapshot.timestamp), snapshot)
}

const brokenReference = (tables: Tables): ServiceUnavailable | undefined => {
  const ownerOf = (userId: string): string | undefined => tables.users.get(userId)?.tenantId
  const faults = [
    ...[...tables.users.values()].filter(({ tenantId }) => !tables.tenants.has(tenantId)).map(() => 'users_tenant'),
    ...[...tables.accounts.values()].filter(({ owner }) => ownerOf(owner.userId) !== owner.tenantId).map(() => 'accounts_user'),
    ...[...tables.apiKeys.values()].filter(({ userId }) => !tables.users.has(userId)).map(() => 'api_keys_user'),
    ...[...tables.accessTokens.values()].filter(({ userId }) => !tables.users.has(userId)).map(() => 'access_tokens_user'),
    ...[...tables.desks.values()].filter(({ tenantId }) => !tables.tenants.has(tenantId)).map(() => 'desks_tenant'),
    ...[...tables.traderLimits.values(), ...tables.challenges.values(), ...tables.balanceSnapshots.values()]
      .filter(({ accountId }) => !tables.accounts.has(accountId))
      .map(() => 'account_of_record'),
    ...repeatedHashes(tables.apiKeys).map(() => 'api_keys_hash'),
    ...repeatedHashes(tables.accessTokens).map(() => 'access_tokens_hash'),
  ]
  return faults[0] === undefined ? undefined : serviceUnavailable(`operator.apply: ${faults[0]}`)
}

const repeatedHashes = (table: ReadonlyMap<string, { readonly hash: string }>): readonly string[] => {
  const hashes = [...table.values()].map(({ hash }) => hash)
  return hashes.filter((hash, index) => hashes.indexOf(hash) !== index)
}
