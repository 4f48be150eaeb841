// The operator's records in memory: all or nothing, with the same references and the same removals
// as the database.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { serviceUnavailable } from '../errors.ts'
import type { ServiceUnavailable, ValidationError } from '../errors.ts'
import type { OperatorChanges, OperatorKeys, OperatorRecords } from '../operator/records.ts'
import type { OperatorStore, ProviderTokens } from '../ports/operator-store.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { instantKey } from './fake-records.ts'
import type { FakeRecords, Tables } from './fake-records.ts'

export const createFakeOperatorStore = (records: FakeRecords): OperatorStore => ({
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
      if (isBroken(tables))
        return E.left(serviceUnavailable('operator.apply: a reference is broken'))
      records.tables = tables
      return decision
    }),
})

export const createFakeProviderTokens = (records: FakeRecords): ProviderTokens => ({
  find: (tenantId) =>
    TE.fromIO(() => O.fromNullable(records.tables.tenants.get(tenantId)?.providerToken)),
})

const recordsNamed = (tables: Tables, keys: OperatorKeys): OperatorRecords => {
  const bound = {
    accounts: named(tables.accounts, keys.accounts),
    apiKeys: [...tables.apiKeys.values()].filter(
      ({ id, hash }) => keys.apiKeys.includes(id) || keys.apiKeyHashes.includes(hash),
    ),
    accessTokens: [...tables.accessTokens.values()].filter(
      ({ id, hash }) => keys.accessTokens.includes(id) || keys.accessTokenHashes.includes(hash),
    ),
    desks: named(tables.desks, keys.desks),
    traderLimits: named(tables.traderLimits, keys.traderLimits),
    challenges: named(tables.challenges, keys.challenges.map(keyOf)),
    balanceSnapshots: named(tables.balanceSnapshots, keys.balanceSnapshots.map(keyOf)),
  }
  const holders = [
    ...bound.accounts.map(({ owner }) => owner),
    ...bound.apiKeys,
    ...bound.accessTokens,
  ].map(({ userId }) => userId)
  const users = named(tables.users, [...keys.users, ...holders])
  const tenants = named(tables.tenants, [
    ...keys.tenants,
    ...[...users, ...bound.desks].map(({ tenantId }) => tenantId),
  ])
  return { ...bound, users, tenants: tenants.map(({ id, name }) => ({ id, name })) }
}

const named = <A>(table: ReadonlyMap<string, A>, keys: readonly string[]): readonly A[] =>
  [...new Set(keys)].flatMap((key) => table.get(key) ?? [])

const copyOf = (tables: Tables): Tables =>
  Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, new Map(table)]),
  ) as unknown as Tables

type Row =
  | string
  | {
      readonly id?: string
      readonly accountId?: AccountId
      readonly startedAt?: Instant
      readonly timestamp?: Instant
    }

const keyOf = (row: Row): string => {
  if (typeof row === 'string') return row
  const { id, accountId, startedAt, timestamp } = row
  const at = startedAt ?? timestamp
  return (
    id ??
    (accountId !== undefined && at !== undefined ? instantKey(accountId, at) : (accountId ?? ''))
  )
}

const kinds = [
  'tenants',
  'users',
  'accounts',
  'apiKeys',
  'accessTokens',
  'desks',
  'traderLimits',
  'challenges',
  'balanceSnapshots',
] as const

// Owners first, then whatever has lost its owner.
const removeAll = (tables: Tables, changes: OperatorChanges): void => {
  for (const kind of kinds)
    for (const removed of changes[kind].remove) tables[kind].delete(keyOf(removed))
  const hasAccount = ({ accountId }: { readonly accountId: string }): boolean =>
    tables.accounts.has(accountId)
  keepOnly(tables.users, ({ tenantId }) => tables.tenants.has(tenantId))
  keepOnly(tables.accounts, ({ owner }) => tables.users.has(owner.userId))
  keepOnly(tables.apiKeys, ({ userId }) => tables.users.has(userId))
  keepOnly(tables.accessTokens, ({ userId }) => tables.users.has(userId))
  keepOnly(tables.webhooks, ({ webhook }) => tables.users.has(webhook.owner.userId))
  keepOnly(tables.desks, ({ tenantId }) => tables.tenants.has(tenantId))
  keepOnDesks(tables)
  keepOnly(tables.traderLimits, hasAccount)
  keepOnly(tables.challenges, hasAccount)
  keepOnly(tables.balanceSnapshots, hasAccount)
}

const keepOnly = <A>(table: Map<string, A>, isKept: (record: A) => boolean): void => {
  for (const [key, record] of table) if (!isKept(record)) table.delete(key)
}

const putAll = (tables: Tables, changes: OperatorChanges): void => {
  for (const kind of kinds.slice(1))
    for (const row of changes[kind].put) (tables[kind] as Map<string, Row>).set(keyOf(row), row)
  for (const { providerToken, ...tenant } of changes.tenants.put) {
    const kept = tables.tenants.get(tenant.id)?.providerToken ?? null
    tables.tenants.set(tenant.id, {
      ...tenant,
      providerToken: providerToken === undefined ? kept : providerToken,
    })
  }
  keepOnDesks(tables)
}

const keepOnDesks = ({ desks, accounts }: Tables): void => {
  for (const [id, desk] of desks)
    desks.set(id, {
      ...desk,
      accounts: desk.accounts.filter((accountId) => accounts.has(accountId)),
    })
}

const isBroken = ({
  tenants,
  users,
  accounts,
  apiKeys,
  accessTokens,
  desks,
  traderLimits,
  challenges,
  balanceSnapshots,
}: Tables): boolean =>
  [...users.values(), ...desks.values()].some(({ tenantId }) => !tenants.has(tenantId)) ||
  [...accounts.values()].some(
    ({ owner }) => users.get(owner.userId)?.tenantId !== owner.tenantId,
  ) ||
  [...apiKeys.values(), ...accessTokens.values()].some(({ userId }) => !users.has(userId)) ||
  [...traderLimits.values(), ...challenges.values(), ...balanceSnapshots.values()].some(
    ({ accountId }) => !accounts.has(accountId),
  ) ||
  [apiKeys, accessTokens].some(
    (table) => new Set([...table.values()].map(({ hash }) => hash)).size < table.size,
  )
