// The head trader's limits in memory, as a fake of the port, over the operator's records and the
// orders.
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../accounts/account.ts'
import type { PendingSize } from '../orders/guards.ts'
import type { Clock } from '../ports/clock.ts'
import type { AccountGuards, GuardStore } from '../ports/guard-store.ts'
import type { OrderPlacement } from '../ports/order-store.ts'
import { isSameOwner } from '../primitives/ids.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { FakeRecords } from './fake-records.ts'

/** An order as the fake of the order store holds it. */
export interface StoredOrder extends OrderPlacement {
  readonly sendUntilMs: number
  readonly dueAt: Instant | null
  readonly settledAt: Instant | null
}

/** The run of the fakes' database server. */
export const fakeServerRun = 'the only run'

/** @param orders every order there is */
export const createFakeGuardStore = (
  records: FakeRecords,
  orders: () => readonly StoredOrder[],
  clock: Clock,
): GuardStore => ({
  challenges: (owner, id) =>
    TE.fromIO(() =>
      findAccount(records, owner, id) === undefined
        ? []
        : [...records.tables.challenges.values()]
            .filter(({ accountId }) => accountId === id)
            .map(({ status, startedAt }) => ({ status, startedAt })),
    ),
  guards: (owner, id) => TE.fromIO(() => guardsOf(records, orders(), owner, id, clock.now())),
})

/** @param filledSince orders that were filled from then on count as pending */
export const guardsOf = (
  records: FakeRecords,
  orders: readonly StoredOrder[],
  owner: Owner,
  id: AccountId,
  readAt: Instant,
  filledSince: Instant = Infinity,
): AccountGuards => {
  const account = findAccount(records, owner, id)
  if (account === undefined) return { trader: null, desks: [], readAt: 0, serverRun: fakeServerRun }
  const all = [...records.tables.accounts.values()]
  const pendingOn = (accounts: readonly Account[]): readonly PendingSize[] => {
    const links = new Set(accounts.flatMap((one) => all.filter(isLinkOf(one))).map((one) => one.id))
    return orders
      .filter(
        ({ order, settledAt }) =>
          order.status === 'pending' || ('fill' in order && (settledAt ?? 0) >= filledSince),
      )
      .filter(({ order }) => links.has(order.request.accountId))
      .map(({ order }) => ({ id: order.id, volume: order.request.volume }))
  }
  const limits = records.tables.traderLimits.get(id)?.limits
  return {
    trader: limits === undefined ? null : { limits, pending: pendingOn([account]) },
    desks: [...records.tables.desks.values()]
      .filter(({ tenantId, accounts }) => tenantId === owner.tenantId && accounts.includes(id))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((desk) => {
        const accounts = desk.accounts.flatMap((one) => records.tables.accounts.get(one) ?? [])
        return { limits: desk.limits, accounts, pending: pendingOn(accounts) }
      }),
    readAt,
    serverRun: fakeServerRun,
  }
}

/** Whether both are links to one broker account. */
const isLinkOf = (one: Account) => (other: Account) =>
  other.id === one.id ||
  (one.provider !== null &&
    one.owner.tenantId === other.owner.tenantId &&
    one.provider.providerAccountId === other.provider?.providerAccountId)

const findAccount = (records: FakeRecords, owner: Owner, id: AccountId): Account | undefined => {
  const account = records.tables.accounts.get(id)
  return account !== undefined && isSameOwner(account.owner, owner) ? account : undefined
}
