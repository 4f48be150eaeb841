// The head trader's limits in memory, as a fake of the port, over the operator's records and the orders.
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../accounts/account.ts'
import type { PendingSize } from '../orders/guards.ts'
import type { Order } from '../orders/order.ts'
import type { GuardStore } from '../ports/guard-store.ts'
import { isSameOwner } from '../primitives/ids.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { FakeRecords } from './fake-records.ts'

/** @param orders every order there is */
export const createFakeGuardStore = (records: FakeRecords, orders: () => readonly Order[]): GuardStore => {
  const find = (owner: Owner, id: AccountId): Account | undefined => {
    const account = records.tables.accounts.get(id)
    return account !== undefined && isSameOwner(account.owner, owner) ? account : undefined
  }
  const pendingOn = (accounts: readonly AccountId[]): readonly PendingSize[] =>
    orders()
      .filter(({ status, request }) => status === 'pending' && accounts.includes(request.accountId))
      .map(({ id, request }) => ({ id, volume: request.volume }))
  return {
    challenges: (owner, id) =>
      TE.fromIO(() =>
        find(owner, id) === undefined
          ? []
          : [...records.tables.challenges.values()]
              .filter(({ accountId }) => accountId === id)
              .map(({ status, startedAt }) => ({ status, startedAt })),
      ),
    guards: (owner, id) =>
      TE.fromIO(() => {
        if (find(owner, id) === undefined) return { trader: null, desks: [] }
        const desks = [...records.tables.desks.values()]
          .filter(({ tenantId, accounts }) => tenantId === owner.tenantId && accounts.includes(id))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        const limits = records.tables.traderLimits.get(id)?.limits
        return {
          trader: limits === undefined ? null : { limits, pending: pendingOn([id]) },
          desks: desks.map(({ limits, accounts }) => ({
            limits,
            accounts: accounts.flatMap((one) => records.tables.accounts.get(one) ?? []),
            pending: pendingOn(accounts),
          })),
        }
      }),
  }
}
