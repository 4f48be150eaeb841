// The operator's lists in memory, as a fake of the port; it passes the same contract as the database.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ListedAccount, ListedTenant, OwnedPlace, Slice } from '../operator/listing.ts'
import type { StoredAccessToken, StoredApiKey } from '../operator/records.ts'
import type { OwnedSlice, TenantRecords } from '../ports/tenant-records.ts'
import type { TenantId } from '../primitives/ids.ts'
import type { FakeRecords, StoredTenant, Tables } from './fake-records.ts'

export const createFakeTenantRecords = (records: FakeRecords): TenantRecords => {
  const read =
    <A>(work: (tables: Tables) => A): TE.TaskEither<never, A> =>
    () =>
      TE.right(work(records.tables))()
  return {
    tenants: (slice) => read(({ tenants }) => sliceById([...tenants.values()].map(listedTenant), slice)),
    find: (tenantId) => read(({ tenants }) => O.map(listedTenant)(O.fromNullable(tenants.get(tenantId)))),
    counts: (tenantId) =>
      read((tables) => {
        const isOwn = ownedBy(tables, tenantId)
        return {
          users: [...tables.users.values()].filter((user) => user.tenantId === tenantId).length,
          accounts: [...tables.accounts.values()].filter(({ owner }) => owner.tenantId === tenantId).length,
          apiKeys: [...tables.apiKeys.values()].filter(isOwn).length,
          accessTokens: [...tables.accessTokens.values()].filter(isOwn).length,
          desks: [...tables.desks.values()].filter((desk) => desk.tenantId === tenantId).length,
        }
      }),
    users: (tenantId, slice) =>
      read(({ users }) =>
        sliceById(
          [...users.values()].filter((user) => user.tenantId === tenantId),
          slice,
        ),
      ),
    accounts: (tenantId, slice) =>
      read((tables) => {
        const own = [...tables.accounts.values()].filter(({ owner }) => owner.tenantId === tenantId)
        const places = own.map((account) => ({ userId: account.owner.userId, id: account.id, account }))
        return sliceByOwner(places, slice).map(({ account }) => listedAccount(tables, account))
      }),
    apiKeys: (tenantId, slice) =>
      read((tables) => sliceByOwner([...tables.apiKeys.values()].filter(ownedBy(tables, tenantId)), slice).map(withoutHash)),
    accessTokens: (tenantId, slice) =>
      read((tables) => sliceByOwner([...tables.accessTokens.values()].filter(ownedBy(tables, tenantId)), slice).map(withoutHash)),
    desks: (tenantId, slice) =>
      read(({ desks }) =>
        sliceById(
          [...desks.values()].filter((desk) => desk.tenantId === tenantId),
          slice,
        ),
      ),
  }
}

const listedTenant = ({ id, name, providerToken }: StoredTenant): ListedTenant => ({ id, name, hasProviderToken: providerToken !== null })

const listedAccount = ({ traderLimits, challenges }: Tables, account: ListedAccount['account']): ListedAccount => ({
  account,
  limits: traderLimits.get(account.id)?.limits ?? null,
  challenges: [...challenges.values()]
    .filter(({ accountId }) => accountId === account.id)
    .map(({ startedAt, status }) => ({ startedAt, status }))
    .toSorted((a, b) => b.startedAt - a.startedAt),
})

const withoutHash = <A extends StoredApiKey | StoredAccessToken>({ hash: _hash, ...shown }: A): Omit<A, 'hash'> => shown

const ownedBy =
  ({ users }: Tables, tenantId: TenantId) =>
  ({ userId }: OwnedPlace): boolean =>
    users.get(userId)?.tenantId === tenantId

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b)

const sliceById = <Id extends string, A extends { readonly id: Id }>(all: readonly A[], { after, limit }: Slice<Id>): readonly A[] =>
  all
    .toSorted((a, b) => compare(a.id, b.id))
    .filter(({ id }) => after === undefined || compare(id, after) > 0)
    .slice(0, limit)

const comparePlaces = (a: OwnedPlace, b: OwnedPlace): number => compare(a.userId, b.userId) || compare(a.id, b.id)

const sliceByOwner = <A extends OwnedPlace>(all: readonly A[], { after, limit, userId }: OwnedSlice): readonly A[] =>
  all
    .filter((record) => userId === undefined || record.userId === userId)
    .toSorted(comparePlaces)
    .filter((record) => after === undefined || comparePlaces(record, after) > 0)
    .slice(0, limit)
