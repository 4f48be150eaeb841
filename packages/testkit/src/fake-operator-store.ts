// The operator's records in memory: all or nothing, with the same references and the same removals
// as the database.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse, type Refusal, type ServiceUnavailable } from '@tradeport/domain/errors'
import type { OperatorChanges, OperatorKeys, OperatorRecords } from '@tradeport/domain/operator'
import type { RiskThreshold } from '@tradeport/domain/accounts'
import type { OperatorStore, ProviderTokens } from '@tradeport/domain/ports'
import type { AccountId, Instant, Owner } from '@tradeport/domain/primitives'
import { instantKey, thresholdKey, type FakeRecords, type Tables } from './fake-records.ts'

export const createFakeOperatorStore = (records: FakeRecords): OperatorStore => ({
  apply: <A extends { readonly changes: OperatorChanges }>(
    keys: OperatorKeys,
    decide: (named: OperatorRecords) => E.Either<Refusal<'ValidationError'>, A>,
  ) =>
    TE.fromIOEither((): E.Either<ServiceUnavailable | Refusal<'ValidationError'>, A> => {
      const decision = decide(recordsNamed(records.tables, keys))
      if (E.isLeft(decision)) return decision
      const tables = copyOf(records.tables)
      removeAll(tables, decision.right.changes)
      putAll(tables, decision.right.changes)
      if (isBroken(tables))
        return E.left(
          refuse('ServiceUnavailable', { reason: 'operator.apply: a reference is broken' }),
        )
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
    riskThresholds: named(tables.riskThresholds, keys.riskThresholds.map(keyOf)).map(
      ({ accountId, type, severity, value, halt }) => ({ accountId, type, severity, value, halt }),
    ),
    halts: named(tables.halts, keys.halts),
    marketDataFeed: named(tables.marketDataFeed, keys.marketDataFeed),
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

interface Row {
  readonly id?: string
  readonly tenantId?: string
  readonly userId?: string
  readonly accountId?: AccountId
  readonly owner?: Owner
  readonly webhook?: { readonly owner: Owner }
  readonly startedAt?: Instant
  readonly timestamp?: Instant
  readonly type?: RiskThreshold['type']
  readonly severity?: RiskThreshold['severity']
}

const keyOf = (row: Row | string): string => {
  if (typeof row === 'string') return row
  const { id, accountId = '' as AccountId, startedAt, timestamp, type, severity } = row
  if (type !== undefined && severity !== undefined)
    return thresholdKey({ accountId, type, severity })
  const at = startedAt ?? timestamp
  return id ?? (at === undefined ? accountId : instantKey(accountId, at))
}

/** Whose rows need an owner in which table; owners come before what they own. */
const owners: readonly (readonly [
  keyof Tables,
  owner: 'tenants' | 'users' | 'accounts',
  ownerId: (row: Row) => string | undefined,
])[] = [
  ['users', 'tenants', ({ tenantId }) => tenantId],
  ['desks', 'tenants', ({ tenantId }) => tenantId],
  ['accounts', 'users', ({ owner }) => owner?.userId],
  ['apiKeys', 'users', ({ userId }) => userId],
  ['accessTokens', 'users', ({ userId }) => userId],
  ['webhooks', 'users', ({ webhook }) => webhook?.owner.userId],
  ['traderLimits', 'accounts', ({ accountId }) => accountId],
  ['challenges', 'accounts', ({ accountId }) => accountId],
  ['balanceSnapshots', 'accounts', ({ accountId }) => accountId],
  ['riskThresholds', 'accounts', ({ accountId }) => accountId],
  ['halts', 'accounts', ({ accountId }) => accountId],
  ['marketDataFeed', 'accounts', ({ accountId }) => accountId],
  ['ownHalts', 'accounts', ({ accountId }) => accountId],
]

const orphansOf = (tables: Tables) =>
  owners.flatMap(([name, owner, ownerId]) => {
    const table = tables[name] as Map<string, Row>
    return [...table]
      .filter(([, row]) => !tables[owner].has(ownerId(row) ?? ''))
      .map(([key]) => ({ table, key }))
  })

const sectionsOf = (changes: OperatorChanges) => Object.keys(changes) as (keyof OperatorChanges)[]

const unchecked = { providerAccountId: null, breachedValue: null, reference: null, day: null }

/** With what loses its owner by it. */
const removeAll = (tables: Tables, changes: OperatorChanges): void => {
  for (const section of sectionsOf(changes))
    for (const removed of changes[section].remove) tables[section].delete(keyOf(removed))
  for (let orphans = orphansOf(tables); orphans.length > 0; orphans = orphansOf(tables))
    for (const { table, key } of orphans) table.delete(key)
}

const putAll = (tables: Tables, changes: OperatorChanges): void => {
  const checked = new Map(tables.riskThresholds)
  const tokens = new Map([...tables.tenants].map(([id, { providerToken }]) => [id, providerToken]))
  for (const section of sectionsOf(changes))
    for (const row of changes[section].put)
      (tables[section] as Map<string, Row>).set(keyOf(row), row)
  for (const threshold of changes.riskThresholds.put) {
    const key = keyOf(threshold)
    tables.riskThresholds.set(key, { ...unchecked, ...checked.get(key), ...threshold })
  }
  for (const { providerToken, ...tenant } of changes.tenants.put) {
    const token = providerToken === undefined ? tokens.get(tenant.id) : providerToken
    tables.tenants.set(tenant.id, { ...tenant, providerToken: token ?? null })
  }
  for (const [id, desk] of tables.desks) {
    const accounts = desk.accounts.filter((accountId) => tables.accounts.has(accountId))
    tables.desks.set(id, { ...desk, accounts })
  }
}

const isBroken = (tables: Tables): boolean =>
  orphansOf(tables).length > 0 ||
  [...tables.accounts.values()].some(
    ({ owner }) => tables.users.get(owner.userId)?.tenantId !== owner.tenantId,
  ) ||
  [tables.apiKeys, tables.accessTokens].some(
    (table) => new Set([...table.values()].map(({ hash }) => hash)).size < table.size,
  )
