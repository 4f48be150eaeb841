// The operator's lists in memory.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ListedAccount, ListedTenant, OwnedPlace, Slice } from '../operator/listing.ts'
import type { StoredAccessToken, StoredApiKey } from '../operator/records.ts'
import type { OwnedSlice, TenantRecords } from '../ports/tenant-records.ts'
import type { TenantId } from '../primitives/ids.ts'
import type { FakeRecords, StoredTenant, Tables } from './fake-records.ts'

export const createFakeTenantRecords = (records: FakeRecords): TenantRecords => {
  const inTenant = (tenantId: TenantId) => {
    const { tables } = records
    const isOwn = ({ userId }: { readonly userId: string }): boolean =>
      tables.users.get(userId)?.tenantId === tenantId
    return {
      users: [...tables.users.values()].filter((user) => user.tenantId === tenantId),
      accounts: [...tables.accounts.values()].filter(({ owner }) => owner.tenantId === tenantId),
      apiKeys: [...tables.apiKeys.values()].filter(isOwn),
      accessTokens: [...tables.accessTokens.values()].filter(isOwn),
      desks: [...tables.desks.values()].filter((desk) => desk.tenantId === tenantId),
    }
  }
  return {
    tenants: (slice) =>
      TE.fromIO(() => sliceById([...records.tables.tenants.values()].map(listedTenant), slice)),
    find: (tenantId) =>
      TE.fromIO(() => O.map(listedTenant)(O.fromNullable(records.tables.tenants.get(tenantId)))),
    counts: (tenantId) =>
      TE.fromIO(() => {
        const { users, accounts, apiKeys, accessTokens, desks } = inTenant(tenantId)
        return {
          users: users.length,
          accounts: accounts.length,
          apiKeys: apiKeys.length,
          accessTokens: accessTokens.length,
          desks: desks.length,
        }
      }),
    users: (tenantId, slice) => TE.fromIO(() => sliceById(inTenant(tenantId).users, slice)),
    accounts: (tenantId, slice) =>
      TE.fromIO(() => {
        const places = inTenant(tenantId).accounts.map((account) => ({
          userId: account.owner.userId,
          id: account.id,
          account,
        }))
        return sliceByOwner(places, slice).map(({ account }) =>
          listedAccount(records.tables, account),
        )
      }),
    apiKeys: (tenantId, slice) =>
      TE.fromIO(() => sliceByOwner(inTenant(tenantId).apiKeys, slice).map(withoutHash)),
    accessTokens: (tenantId, slice) =>
      TE.fromIO(() => sliceByOwner(inTenant(tenantId).accessTokens, slice).map(withoutHash)),
    desks: (tenantId, slice) => TE.fromIO(() => sliceById(inTenant(tenantId).desks, slice)),
  }
}

const listedTenant = ({ id, name, providerToken }: StoredTenant): ListedTenant => ({
  id,
  name,
  hasProviderToken: providerToken !== null,
})

const listedAccount = (
  { traderLimits, challenges }: Tables,
  account: ListedAccount['account'],
): ListedAccount => ({
  account,
  limits: traderLimits.get(account.id)?.limits ?? null,
  challenges: [...challenges.values()]
    .filter(({ accountId }) => accountId === account.id)
    .map(({ startedAt, status }) => ({ startedAt, status }))
    .toSorted((a, b) => b.startedAt - a.startedAt),
})

const withoutHash = <A extends StoredApiKey | StoredAccessToken>({
  hash: _hash,
  ...shown
}: A): Omit<A, 'hash'> => shown

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b)

const sliceBy = <A, Place>(
  all: readonly A[],
  { after, limit }: Slice<Place>,
  order: (a: A | Place, b: A | Place) => number,
): readonly A[] =>
  all
    .toSorted(order)
    .filter((record) => after === undefined || order(record, after) > 0)
    .slice(0, limit)

const sliceById = <Id extends string, A extends { readonly id: Id }>(
  all: readonly A[],
  slice: Slice<Id>,
): readonly A[] =>
  sliceBy(all, slice, (a, b) =>
    compare(typeof a === 'string' ? a : a.id, typeof b === 'string' ? b : b.id),
  )

const sliceByOwner = <A extends OwnedPlace>(all: readonly A[], slice: OwnedSlice): readonly A[] =>
  sliceBy(
    all.filter(({ userId }) => slice.userId === undefined || userId === slice.userId),
    slice,
    (a: OwnedPlace, b: OwnedPlace) => compare(a.userId, b.userId) || compare(a.id, b.id),
  )
