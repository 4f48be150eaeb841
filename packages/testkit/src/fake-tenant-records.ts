// The operator's lists in memory.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '@tradeport/domain/accounts'
import type {
  ListedAccount,
  ListedTenant,
  StoredAccessToken,
  StoredApiKey,
} from '@tradeport/domain/operator'
import type { TenantRecords } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import { thresholdsOf, type FakeRecords, type StoredTenant } from './fake-records.ts'

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
  const listed = (account: ListedAccount['account']): ListedAccount => ({
    account,
    limits: records.tables.traderLimits.get(account.id)?.limits ?? null,
    challenges: [...records.tables.challenges.values()]
      .filter(({ accountId }) => accountId === account.id)
      .map(({ startedAt, status }) => ({ startedAt, status }))
      .toSorted((a, b) => b.startedAt - a.startedAt),
    riskThresholds: thresholdsOf(records.tables, account.id).map(
      ({ type, severity, value, halt }) => ({ type, severity, value, halt }),
    ),
  })
  return {
    tenants: (slice) =>
      TE.fromIO(() => sliceOf([...records.tables.tenants.values()].map(listedTenant), slice)),
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
    users: (tenantId, slice) => TE.fromIO(() => sliceOf(inTenant(tenantId).users, slice)),
    accounts: (tenantId, slice) =>
      TE.fromIO(() =>
        sliceOf(
          inTenant(tenantId).accounts.map((account) => ({ ...account, ...account.owner })),
          slice,
        ).flatMap(({ id }) => listed(records.tables.accounts.get(id) as Account)),
      ),
    apiKeys: (tenantId, slice) =>
      TE.fromIO(() => sliceOf(inTenant(tenantId).apiKeys, slice).map(withoutHash)),
    accessTokens: (tenantId, slice) =>
      TE.fromIO(() => sliceOf(inTenant(tenantId).accessTokens, slice).map(withoutHash)),
    desks: (tenantId, slice) => TE.fromIO(() => sliceOf(inTenant(tenantId).desks, slice)),
  }
}

const listedTenant = ({ id, name, providerToken }: StoredTenant): ListedTenant => ({
  id,
  name,
  hasProviderToken: providerToken !== null,
})

const withoutHash = <A extends StoredApiKey | StoredAccessToken>({
  hash: _hash,
  ...shown
}: A): Omit<A, 'hash'> => shown

interface Place {
  readonly userId?: string
  readonly id: string
}

/** By the owner where a record has one, then by id. */
const compare = (a: Place, b: Place): number => {
  const [one, other] = [a, b].map(({ userId = '', id }) => JSON.stringify([userId, id]))
  return Number((one ?? '') > (other ?? '')) - Number((one ?? '') < (other ?? ''))
}

const sliceOf = <A extends Place>(
  all: readonly A[],
  slice: {
    readonly after?: Place | string | undefined
    readonly limit: number
    readonly userId?: string | undefined
  },
): readonly A[] => {
  const { after, limit, userId } = slice
  const place = typeof after === 'string' ? { id: after } : after
  return all
    .filter((record) => userId === undefined || record.userId === userId)
    .toSorted(compare)
    .filter((record) => place === undefined || compare(record, place) > 0)
    .slice(0, limit)
}
