// The head trader's limits in memory, as a fake of the port, over the operator's records and the
// orders.
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '@tradeport/domain/accounts'
import { isUnderWay, type CountedOrder } from '@tradeport/domain/orders'
import type { Clock, AccountLimits, LimitStore, OrderPlacement } from '@tradeport/domain/ports'
import { isSameOwner, type AccountId, type Owner, type Instant } from '@tradeport/domain/primitives'
import type { FakeRecords } from './fake-records.ts'

/** An order as the fake of the order store holds it. */
export interface StoredOrder extends OrderPlacement {
  readonly sendDeadlineMs: number
  readonly dueAt: Instant | null
  readonly endedAt: Instant | null
}

/** The run of the fakes' database server. */
export const fakeServerRun = 'the only run'

/** @param orders every order there is */
export const createFakeLimitStore = (
  records: FakeRecords,
  orders: () => readonly StoredOrder[],
  clock: Clock,
): LimitStore => ({
  challenges: (owner, id) =>
    TE.fromIO(() =>
      findAccount(records, owner, id) === undefined
        ? []
        : [...records.tables.challenges.values()]
            .filter(({ accountId }) => accountId === id)
            .map(({ status, startedAt }) => ({ status, startedAt })),
    ),
  limitsOf: (owner, id) => TE.fromIO(() => limitsOf(records, orders(), owner, id, clock.now())),
})

/** @param filledSince orders that were filled from then on count as pending */
export const limitsOf = (
  records: FakeRecords,
  orders: readonly StoredOrder[],
  owner: Owner,
  id: AccountId,
  readAt: Instant,
  filledSince: Instant = Infinity,
): AccountLimits => {
  const account = findAccount(records, owner, id)
  if (account === undefined) return { trader: null, desks: [], readAt: 0, serverRun: fakeServerRun }
  const all = [...records.tables.accounts.values()]
  const pendingOn = (accounts: readonly Account[]): readonly CountedOrder[] => {
    const links = new Set(accounts.flatMap((one) => all.filter(isLinkOf(one))).map((one) => one.id))
    return orders
      .filter(
        ({ order, endedAt }) =>
          isUnderWay(order) || ('fill' in order && (endedAt ?? 0) >= filledSince),
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
