// What the operator writes and lists, in memory: tenants, users, their credentials and secrets. A
// document is applied as the database does it: all or nothing, with the same references and the
// same removals.
import type { Account, RiskThreshold } from '@tradeport/domain/accounts'
import { refuse, type Refusal, type ServiceUnavailable } from '@tradeport/domain/errors'
import {
  type ListedAccount,
  type ListedTenant,
  type OperatorChanges,
  type OperatorKeys,
  type OperatorRecords,
  type Slice,
  type StoredAccessToken,
  type StoredApiKey,
  type User,
} from '@tradeport/domain/operator'
import type {
  OperatorStore,
  ProviderTokens,
  TenantRecords,
  UserStore,
} from '@tradeport/domain/ports'
import type { Owner, TenantId, UserId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { portOf } from './fake-port.ts'
import {
  byText,
  copyOf,
  thresholdsOf,
  type FakeRecords,
  type StoredTenant,
  type Table,
  type Tables,
} from './fake-records.ts'

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

const recordsNamed = (tables: Tables, keys: OperatorKeys): OperatorRecords => {
  const bound = {
    accounts: tables.accounts.named(keys.accounts),
    apiKeys: tables.apiKeys.where(
      ({ id, hash }) => keys.apiKeys.includes(id) || keys.apiKeyHashes.includes(hash),
    ),
    accessTokens: tables.accessTokens.where(
      ({ id, hash }) => keys.accessTokens.includes(id) || keys.accessTokenHashes.includes(hash),
    ),
    desks: tables.desks.named(keys.desks),
    traderLimits: tables.traderLimits.named(keys.traderLimits),
    challenges: tables.challenges.named(keys.challenges),
    balanceSnapshots: tables.balanceSnapshots.named(keys.balanceSnapshots),
    riskThresholds: tables.riskThresholds
      .named(keys.riskThresholds)
      .map((threshold) => ({ accountId: threshold.accountId, ...shownThreshold(threshold) })),
    halts: tables.halts.named(keys.halts),
    marketDataFeed: tables.marketDataFeed.named(keys.marketDataFeed),
  }
  const holders = [
    ...bound.accounts.map(({ owner }) => owner),
    ...bound.apiKeys,
    ...bound.accessTokens,
  ].map(({ userId }) => userId)
  const users = tables.users.named([...keys.users, ...holders])
  const tenants = tables.tenants.named([
    ...keys.tenants,
    ...[...users, ...bound.desks].map(({ tenantId }) => tenantId),
  ])
  return { ...bound, users, tenants: tenants.map(({ id, name }) => ({ id, name })) }
}

const allOf = (tables: Tables) => tables as unknown as Readonly<Record<keyof Tables, Table<object>>>

const sectionsOf = (changes: OperatorChanges) => Object.keys(changes) as (keyof OperatorChanges)[]

/** The keys of rows whose parent is missing, with their table. */
const orphansOf = (tables: Tables) =>
  Object.values(allOf(tables)).flatMap((table) =>
    [...table]
      .filter(([, row]) => table.parents && !tables[table.parents].has(table.parentOf(row)))
      .map(([key]) => ({ table, key })),
  )

/** With what belongs to them. */
const removeAll = (tables: Tables, changes: OperatorChanges) => {
  for (const section of sectionsOf(changes))
    for (const removed of changes[section].remove) {
      const table = allOf(tables)[section]
      table.delete(table.keyOf(removed))
    }
  for (let orphans = orphansOf(tables); orphans.length > 0; orphans = orphansOf(tables))
    for (const { table, key } of orphans) table.delete(key)
  dropMembers(tables)
}

/** The accounts of desks that no longer exist. */
const dropMembers = ({ desks, accounts }: Tables) => {
  for (const desk of desks.values())
    desks.put({ ...desk, accounts: desk.accounts.filter((id) => accounts.has(id)) })
}

export const uncheckedThreshold = {
  providerAccountId: null,
  breachedValue: null,
  reference: null,
  unconfirmedEquity: null,
  day: null,
  checkedAt: null,
}

const putAll = (tables: Tables, changes: OperatorChanges) => {
  const { riskThresholds, tenants } = tables
  const before = copyOf(tables)
  for (const section of sectionsOf(changes))
    for (const row of changes[section].put) allOf(tables)[section].put(row)
  for (const threshold of changes.riskThresholds.put) {
    const [checked] = before.riskThresholds.named([threshold])
    const { halt, cancelOrders } = threshold
    const isArmed = checked && halt && (!checked.halt || (cancelOrders && !checked.cancelOrders))
    riskThresholds.put({
      ...uncheckedThreshold,
      ...checked,
      ...threshold,
      ...(isArmed && { breachedValue: null }),
    })
  }
  for (const { id, name, providerToken } of changes.tenants.put) {
    const kept = before.tenants.get(id)?.providerToken ?? null
    tenants.put({ id, name, providerToken: providerToken === undefined ? kept : providerToken })
  }
  dropMembers(tables)
}

const isBroken = (tables: Tables) =>
  orphansOf(tables).length > 0 ||
  tables.accounts.where(({ owner }) => tables.users.get(owner.userId)?.tenantId !== owner.tenantId)
    .length > 0 ||
  [tables.apiKeys, tables.accessTokens].some(
    (table) => new Set([...table.values()].map(({ hash }) => hash)).size < table.size,
  )

export const createFakeProviderTokens = (records: FakeRecords): ProviderTokens =>
  portOf<ProviderTokens>({
    find: (tenantId) => O.fromNullable(records.tables.tenants.get(tenantId)?.providerToken),
  })

export const userOf = ({ tables }: FakeRecords, { tenantId, userId }: Owner): O.Option<User> => {
  const user = tables.users.get(userId)
  return user?.tenantId === tenantId ? O.some(user) : O.none
}

export const createFakeUserStore = (records: FakeRecords): UserStore =>
  portOf<UserStore>({
    email: (owner) => O.map(({ email }: User) => email)(userOf(records, owner)),
  })

// --- lists ---

export const createFakeTenantRecords = (records: FakeRecords): TenantRecords => {
  const inTenant = (id: TenantId, user?: UserId) => {
    const { tables } = records
    const isOf = ({ tenantId, userId }: { tenantId?: TenantId; userId?: UserId }): boolean =>
      tenantId === id && [undefined, userId].includes(user)
    const isByUser = ({ userId }: { readonly userId: UserId }): boolean =>
      isOf({ ...tables.users.get(userId), userId })
    return {
      users: tables.users.where(isOf),
      accounts: tables.accounts.where(({ owner }) => isOf(owner)),
      apiKeys: tables.apiKeys.where(isByUser),
      accessTokens: tables.accessTokens.where(isByUser),
      desks: tables.desks.where(isOf),
      webhooks: tables.webhooks.where(({ webhook }) => isOf(webhook.owner)),
    }
  }
  const listed = (account: Account): ListedAccount => ({
    account,
    limits: records.tables.traderLimits.get(account.id)?.limits ?? null,
    challenges: records.tables.challenges
      .where(({ accountId }) => accountId === account.id)
      .map(({ startedAt, status }) => ({ startedAt, status }))
      .toSorted((a, b) => b.startedAt - a.startedAt),
    riskThresholds: thresholdsOf(records.tables, account.id).map(
      ({ breachedValue, reference, checkedAt, ...threshold }) => ({
        ...shownThreshold(threshold),
        breached: breachedValue === threshold.value,
        reference,
        checkedAt,
      }),
    ),
  })
  return portOf<TenantRecords>({
    tenants: (slice) => sliceOf([...records.tables.tenants.values()], slice).map(listedTenant),
    find: (id) => O.map(listedTenant)(O.fromNullable(records.tables.tenants.get(id))),
    counts: (id, userId) => {
      const rows = Object.entries(inTenant(id, userId))
      return Object.fromEntries(rows.map(([name, { length }]) => [name, length])) as never
    },
    users: (id, slice) => sliceOf(inTenant(id).users, slice),
    accounts: (id, slice) =>
      sliceOf(inTenant(id, slice.userId).accounts, slice, ({ owner }) => owner.userId).map(listed),
    apiKeys: (id, slice) =>
      sliceOf(inTenant(id, slice.userId).apiKeys, slice, userIdOf).map(withoutHash),
    accessTokens: (id, slice) =>
      sliceOf(inTenant(id, slice.userId).accessTokens, slice, userIdOf).map(withoutHash),
    desks: (id, slice) => sliceOf(inTenant(id).desks, slice),
  })
}

const userIdOf = ({ userId }: { readonly userId: string }) => userId

const shownThreshold = ({ type, severity, value, halt, cancelOrders }: RiskThreshold) => ({
  type,
  severity,
  value,
  halt,
  cancelOrders,
})

const listedTenant = ({ id, name, providerToken }: StoredTenant): ListedTenant => ({
  id,
  name,
  hasProviderToken: providerToken !== null,
})

const withoutHash = <A extends StoredApiKey | StoredAccessToken>({
  hash: _hash,
  ...shown
}: A): Omit<A, 'hash'> => shown

/** By the user where rows belong to one, then by id. */
const sliceOf = <A extends { readonly id: string }>(
  all: readonly A[],
  { after, limit }: Slice<string | { readonly userId: string; readonly id: string }>,
  userOf: (row: A) => string = () => '',
): readonly A[] => {
  const placeOf = (row: A) => JSON.stringify([userOf(row), row.id])
  const { userId: user, id } = typeof after === 'object' ? after : { userId: '', id: after }
  return all
    .toSorted((a, b) => byText(placeOf(a), placeOf(b)))
    .filter((row) => after === undefined || placeOf(row) > JSON.stringify([user, id]))
    .slice(0, limit)
}
