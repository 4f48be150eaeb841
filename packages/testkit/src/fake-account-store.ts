// Accounts and their snapshots in memory.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import {
  isOvertaken,
  isSameLink,
  withFailedRead,
  withReading,
  type Account,
  snapshotOf,
  type BalanceSnapshot,
} from '@tradeport/domain/accounts'
import type { AccountStore } from '@tradeport/domain/ports'
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import { instantKey, type FakeRecords } from './fake-records.ts'

export const createFakeAccountStore = (records: FakeRecords): AccountStore => {
  const find = (owner: Owner, id: AccountId): O.Option<Account> => {
    const account = records.tables.accounts.get(id)
    return account !== undefined && isOwnedBy(owner, account) ? O.some(account) : O.none
  }
  const snapshotsOf = (id: AccountId): readonly BalanceSnapshot[] =>
    [...records.tables.balanceSnapshots.values()]
      .filter(({ accountId }) => accountId === id)
      .map(({ timestamp, balance, equity, margin, freeMargin }) => ({
        timestamp,
        balance,
        equity,
        margin,
        freeMargin,
      }))
      .toSorted((a, b) => b.timestamp - a.timestamp)
  const keep = (account: Account): Account => {
    records.tables.accounts.set(account.id, account)
    return account
  }
  return {
    list: (owner) =>
      TE.fromIO(() =>
        [...records.tables.accounts.values()]
          .filter((account) => isOwnedBy(owner, account))
          .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
      ),
    find: (owner, id) => TE.fromIO(() => find(owner, id)),
    recordReading: (owner, account, reading) =>
      TE.fromIO(() => {
        const { id } = account
        const stored = find(owner, id)
        if (O.isNone(stored) || !isSameLink(stored.value, account)) return stored
        if (isOvertaken(stored.value, reading.readAt)) return stored
        const last = snapshotsOf(id).find(({ timestamp }) => timestamp <= reading.readAt) ?? null
        const snapshot = snapshotOf(last, reading)
        if (snapshot !== null)
          records.tables.balanceSnapshots.set(instantKey(id, snapshot.timestamp), {
            accountId: id,
            ...snapshot,
          })
        return O.some(keep(withReading(stored.value, reading)))
      }),
    recordFailedRead: (owner, id, at) =>
      TE.fromIO(() => {
        const stored = find(owner, id)
        if (O.isNone(stored)) return stored
        if (isOvertaken(stored.value, at)) return stored
        return O.some(keep(withFailedRead(stored.value, at)))
      }),
    snapshots: (owner, id, { from = -Infinity, to = Infinity, limit }) =>
      TE.fromIO(() =>
        O.isNone(find(owner, id))
          ? []
          : snapshotsOf(id)
              .filter(({ timestamp }) => timestamp >= from && timestamp <= to)
              .slice(0, limit),
      ),
  }
}

const isOwnedBy = ({ tenantId, userId }: Owner, { owner }: Account): boolean =>
  owner.tenantId === tenantId && owner.userId === userId
