// Accounts in memory: their figures and snapshots, halts, risk thresholds and limits.
import {
  isOvertaken,
  isSameLink,
  snapshotOf,
  withFailedRead,
  withReading,
  type Account,
  type BalanceSnapshot,
  type ThresholdBreach,
} from '@tradeport/domain/accounts'
import type { Halt } from '@tradeport/domain/errors'
import { thresholdBreached, type ServiceEvent } from '@tradeport/domain/events'
import { isUnderWay, type AccountLimits, type CountedOrder } from '@tradeport/domain/orders'
import type {
  AccountStore,
  Clock,
  Halts,
  LimitStore,
  RiskThresholds,
} from '@tradeport/domain/ports'
import { isSameOwner, type AccountId, type Instant, type Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import { portOf } from './fake-port.ts'
import {
  byText,
  ownAccount,
  thresholdKey,
  thresholdsOf,
  type FakeRecords,
  type OrderRow,
} from './fake-records.ts'

export const createFakeAccountStore = (records: FakeRecords): AccountStore => {
  /** Whose figures they are; none for those that the operator entered. */
  const providersOf = new WeakMap<BalanceSnapshot, string | undefined>()
  const snapshotsOf = ({ id, provider }: Account): readonly BalanceSnapshot[] =>
    records.tables.balanceSnapshots
      .where(
        (one) =>
          one.accountId === id &&
          [undefined, provider?.providerAccountId].includes(providersOf.get(one)),
      )
      .map(({ accountId: _account, ...snapshot }) => snapshot)
      .toSorted((a, b) => b.timestamp - a.timestamp)
  const put = (account: Account): Account => records.tables.accounts.put(account)
  return portOf<AccountStore>({
    list: (owner) =>
      records.tables.accounts
        .where((account) => isSameOwner(account.owner, owner))
        .toSorted((a, b) => a.createdAt - b.createdAt || byText(a.id, b.id)),
    find: (owner, id) => O.fromNullable(ownAccount(records, owner, id)),
    recordReading: (owner, account, reading) => {
      const stored = ownAccount(records, owner, account.id)
      if (stored === undefined) return O.none
      if (!isSameLink(stored, account) || isOvertaken(stored, reading.readAt)) return O.some(stored)
      const last = snapshotsOf(stored).find(({ timestamp }) => timestamp <= reading.readAt) ?? null
      const snapshot = snapshotOf(last, reading)
      if (snapshot !== null) {
        const put = records.tables.balanceSnapshots.put({ accountId: account.id, ...snapshot })
        providersOf.set(put, stored.provider?.providerAccountId)
      }
      return O.some(put(withReading(stored, reading)))
    },
    recordFailedRead: (owner, account, readAt) => {
      const stored = ownAccount(records, owner, account.id)
      if (stored === undefined) return O.none
      if (!isSameLink(stored, account) || isOvertaken(stored, readAt)) return O.some(stored)
      return O.some(put(withFailedRead(stored, readAt)))
    },
    snapshots: (owner, id, { from = -Infinity, to = Infinity, limit }) => {
      const account = ownAccount(records, owner, id)
      return account === undefined
        ? []
        : snapshotsOf(account)
            .filter(({ timestamp }) => timestamp >= from && timestamp <= to)
            .slice(0, limit)
    },
  })
}

export const createFakeHalts = (records: FakeRecords): Halts => {
  const haltsOf = (owner: Owner, id: AccountId) => {
    const { halts, ownHalts } = records.tables
    return ownAccount(records, owner, id) ? { operators: halts.get(id), own: ownHalts.get(id) } : {}
  }
  const find = (owner: Owner, id: AccountId): O.Option<Halt> => {
    const { operators, own } = haltsOf(owner, id)
    const halt = operators ?? own
    return O.fromNullable(
      halt && { by: operators ? 'operator' : 'owner', since: halt.since, reason: halt.reason },
    )
  }
  return portOf<Halts>({
    find,
    haltCancelsOrders: (owner, id) => {
      const { operators, own } = haltsOf(owner, id)
      return [operators?.cancelOrders, own?.cancelOrders].includes(true)
    },
    halt: (owner, id, halt) => {
      const { own } = haltsOf(owner, id)
      const cancelOrders = halt.cancelOrders || !!own?.cancelOrders
      if (ownAccount(records, owner, id))
        records.tables.ownHalts.put({ ...(own ?? halt), accountId: id, cancelOrders })
      return find(owner, id)
    },
    lift: (owner, id) => {
      const { operators, own } = haltsOf(owner, id)
      if (own && !operators) records.tables.ownHalts.delete(id)
      return find(owner, id)
    },
  })
}

/** @param happened records the events of breaches */
export const createFakeRiskThresholds = (
  records: FakeRecords,
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void = () => undefined,
): RiskThresholds =>
  portOf<RiskThresholds>({
    ofAccount: ({ accountId }) => thresholdsOf(records.tables, accountId),
    record: ({ owner }, checks, openPositions) => {
      const { riskThresholds, halts } = records.tables
      const breaches: ThresholdBreach[] = []
      for (const { before, after, breach } of checks) {
        const stored = riskThresholds.get(thresholdKey(before))
        if (JSON.stringify(stored) !== JSON.stringify(before)) continue
        riskThresholds.put(after)
        if (!breach) continue
        happened(owner, [thresholdBreached(breach, openPositions)])
        breaches.push(breach)
        const { accountId, type, severity, halt, cancelOrders } = after
        if (!halt) continue
        const reason = `the risk threshold ${type} (${severity}) was breached`
        const standing = halts.get(accountId) ?? {
          accountId,
          since: breach.at,
          reason,
          cancelOrders,
        }
        halts.put(cancelOrders ? { ...standing, cancelOrders } : standing)
      }
      return breaches
    },
  })

export const createFakeLimitStore = (records: FakeRecords, clock: Clock): LimitStore =>
  portOf<LimitStore>({
    challenges: (owner, id) =>
      ownAccount(records, owner, id) === undefined
        ? []
        : records.tables.challenges
            .where(({ accountId }) => accountId === id)
            .map(({ status, startedAt }) => ({ status, startedAt })),
    limitsOf: (owner, id) => limitsOf(records, owner, id, clock.now()),
  })

/** The broker's number of an order, which market orders do not show. */
export const brokerOrderIdOf = ({ order, placement }: OrderRow): string | undefined =>
  ('brokerOrderId' in placement ? placement.brokerOrderId : null) ?? order.brokerOrderId

/** @param filledSince orders that were filled from then on count too */
export const limitsOf = (
  records: FakeRecords,
  owner: Owner,
  id: AccountId,
  readAt: Instant,
  filledSince: Instant = Infinity,
): AccountLimits => {
  const { tables, databaseRun } = records
  const account = ownAccount(records, owner, id)
  if (account === undefined) return { trader: null, desks: [], readAt: 0, databaseRun }
  const countedOn = (accounts: readonly Account[]): readonly CountedOrder[] => {
    const held = new Set(accounts.map(({ provider }) => provider?.providerAccountId))
    return tables.orders
      .where(
        ({ order, destination, endedAt }) =>
          order.owner.tenantId === owner.tenantId &&
          held.has(destination.providerAccountId) &&
          (isUnderWay(order) || ('fill' in order && (endedAt ?? 0) >= filledSince)),
      )
      .map((row) => ({
        id: row.order.id,
        providerAccountId: row.destination.providerAccountId,
        ticket: brokerOrderIdOf(row) ?? null,
        volume: row.order.request.volume,
        isOpen: row.order.status === 'open',
      }))
  }
  const limits = tables.traderLimits.get(id)?.limits
  return {
    trader: limits === undefined ? null : { limits, counted: countedOn([account]) },
    desks: tables.desks
      .where(({ tenantId, accounts }) => tenantId === owner.tenantId && accounts.includes(id))
      .toSorted((a, b) => byText(a.id, b.id))
      .map((desk) => {
        const accounts = tables.accounts.named(desk.accounts)
        return { limits: desk.limits, accounts, counted: countedOn(accounts) }
      }),
    readAt,
    databaseRun,
  }
}
