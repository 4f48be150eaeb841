// The journal in memory.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account, BrokerAccount } from '@tradeport/domain/accounts'
import { journalEvents, type ServiceEvent } from '@tradeport/domain/events'
import {
  balanceAmounts,
  cashFlowReason,
  dealKey,
  type BrokerDeal,
  type JournalState,
} from '@tradeport/domain/journal'
import type {
  Clock,
  Journal,
  JournalClaim,
  JournalLost,
  PositionDeals,
  TradeRecords,
  TradeSelection,
} from '@tradeport/domain/ports'
import {
  sumExactly,
  isSameOwner,
  pageOf,
  type AccountId,
  type Owner,
  secondMs,
  type Instant,
  compareTickets,
} from '@tradeport/domain/primitives'
import {
  placeOf,
  type ClosedTrade,
  type TradeListPlace,
  compareDealOrder,
  isReadableTime,
  positionIdOf,
  foldPosition,
  type FoldedPosition,
} from '@tradeport/domain/trades'
import { byClosing, isTradeMatch } from './closing-order.ts'
import type { FakeRecords } from './fake-records.ts'

interface StoredJournal {
  readonly providerAccountId: string
  readonly linkedAt: Instant
  state: JournalState
  lastWantedAt: Instant | null
  deals: Map<string, BrokerDeal>
  readonly positions: Map<string, FoldedPosition>
  revision: number
  lease: { readonly token: string; readonly until: Instant } | null
}

export interface FakeJournal {
  readonly journal: Journal
  readonly records: TradeRecords
}

const leaseMs = 30 * secondMs

const sumOf = ({ deals }: StoredJournal): number =>
  sumExactly([...deals.values()].flatMap(balanceAmounts))

const resultsOf = (trades: readonly ClosedTrade[]) => ({
  netProfits: Float64Array.from(trades, ({ trade }) => trade.netProfit),
  closedAt: Float64Array.from(trades, ({ trade }) => trade.closedAt),
  holdingTimes: Float64Array.from(trades, ({ trade }) => trade.holdingTime),
})

interface Placed extends Pick<BrokerDeal, 'time' | 'id'> {
  readonly entry?: BrokerDeal['entry'] | undefined
}

/** Deals without a time come after all others, and then those whose time could not be read. */
const placeInTime = ({ time = 9e15 }: Placed): number => (Number.isFinite(time) ? time : 9.1e15)

const byTimeAndText = (a: Placed, b: Placed): number =>
  placeInTime(a) - placeInTime(b) ||
  Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) ||
  ((a.entry ?? '') < (b.entry ?? '') ? -1 : 1)

const dealSums = (deals: readonly BrokerDeal[]): PositionDeals['sums'] => {
  const sumOf = (of: (deal: BrokerDeal) => number): number => sumExactly(deals.map(of))
  return {
    openedVolume: sumOf(({ entry, volume = 0 }) => (entry === 'in' ? Math.max(0, volume) : 0)),
    closedVolume: sumOf(({ entry, volume = 0 }) => (entry === 'out' ? Math.max(0, volume) : 0)),
    profit: sumOf(({ profit }) => profit),
    commission: sumOf(({ commission }) => commission),
    swap: sumOf(({ swap }) => swap),
    netProfit: sumExactly(
      deals.flatMap(({ profit, commission, swap }) => [profit, commission, swap]),
    ),
  }
}

const amountOf = (deal: BrokerDeal): number => sumExactly(balanceAmounts(deal))

const isAfter = (trade: ClosedTrade, place: TradeListPlace | undefined): boolean =>
  place === undefined || byClosing(placeOf(trade), place) < 0

/** @param happened records the events of deals */
export const createFakeJournal = (
  records: FakeRecords,
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void,
  clock: Clock,
): FakeJournal => {
  const stored = new Map<AccountId, StoredJournal>()
  let lastNumber = 0

  const newJournal = (providerAccountId: string, linkedAt: Instant): StoredJournal => ({
    providerAccountId,
    linkedAt,
    state: {
      firstReadOffset: null,
      syncedAt: null,
      wantedAt: null,
      deals: 0,
      latestDealAt: null,
      check: null,
      rereadAt: null,
      disagreements: 0,
    },
    lastWantedAt: null,
    deals: new Map(),
    positions: new Map(),
    // No two journals have a revision in common.
    revision: (lastNumber += 1) * 1e6,
    lease: null,
  })

  const forgetRemoved = (): void => {
    for (const id of stored.keys()) if (!records.tables.accounts.has(id)) stored.delete(id)
  }
  const own = (owner: Owner, id: AccountId): Account | undefined => {
    forgetRemoved()
    const account = records.tables.accounts.get(id)
    return account !== undefined && isSameOwner(account.owner, owner) ? account : undefined
  }
  const linked = (account: BrokerAccount): Account | undefined => {
    const found = own(account.owner, account.accountId)
    return found?.provider?.providerAccountId === account.providerAccountId ? found : undefined
  }
  const journalOf = (account: BrokerAccount): StoredJournal | undefined => {
    const found = own(account.owner, account.accountId) && stored.get(account.accountId)
    return found?.providerAccountId === account.providerAccountId ? found : undefined
  }
  const dealsFrom = (account: BrokerAccount, from: Instant): readonly BrokerDeal[] =>
    [...(journalOf(account)?.deals.values() ?? [])].filter(
      ({ time }) => time === undefined || !(time < from),
    )

  const isLeased = ({ lease }: StoredJournal): boolean =>
    lease !== null && lease.until > clock.now()
  const whileClaimed = <A>(
    { account, token }: JournalClaim,
    run: (held: StoredJournal) => A,
  ): TE.TaskEither<JournalLost, A> =>
    TE.fromIOEither(() => {
      forgetRemoved()
      const held = stored.get(account.accountId)
      if (held === undefined || held.lease?.token !== token || !isLeased(held))
        return E.left({ _tag: 'JournalLost' })
      held.lease = { token, until: clock.now() + leaseMs }
      return E.right(run(held))
    })

  const refold = (
    held: StoredJournal,
    ids: ReadonlySet<string | undefined>,
  ): ReadonlyMap<string, readonly BrokerDeal[]> => {
    const deals = new Map<string, readonly BrokerDeal[]>()
    for (const id of ids) {
      if (id === undefined) continue
      const before = held.positions.get(id)
      const all = [...held.deals.values()].filter((deal) => positionIdOf(deal) === id)
      deals.set(id, all)
      const after = all.length === 0 ? undefined : foldPosition(id, all)
      if (after === undefined) held.positions.delete(id)
      else held.positions.set(id, after)
      if (before?.status === 'closed' && JSON.stringify(before) !== JSON.stringify(after))
        held.revision += 1
    }
    return deals
  }

  const journal: Journal = {
    find: (account) => TE.fromIO(() => O.fromNullable(journalOf(account)?.state)),
    claim: (account) =>
      TE.fromIO(() => {
        const found = linked(account)
        const before = stored.get(account.accountId)
        if (found === undefined || (before !== undefined && isLeased(before))) return O.none
        const held =
          journalOf(account) ??
          newJournal(
            account.providerAccountId,
            before === undefined ? found.createdAt : clock.now(),
          )
        if (before !== undefined && before !== held) {
          held.state = { ...held.state, wantedAt: before.state.wantedAt }
          held.lastWantedAt = before.lastWantedAt
        }
        stored.set(account.accountId, held)
        held.lease = { token: String((lastNumber += 1)), until: clock.now() + leaseMs }
        return O.some({
          account,
          token: held.lease.token,
          state: held.state,
          linkedAt: held.linkedAt,
        })
      }),
    renew: (claim) => whileClaimed(claim, () => undefined),
    release: ({ account, token }) =>
      TE.fromIO(() => {
        const held = stored.get(account.accountId)
        if (held?.lease?.token === token) held.lease = null
      }),
    dealsFrom: (account, from, limit) =>
      TE.fromIO(() => dealsFrom(account, from).toSorted(byTimeAndText).slice(0, limit)),
    write: (claim, change) =>
      whileClaimed(claim, (held) => {
        const { firstReadOffset, completed, reading, now } = change
        const removed = [...change.vanished, ...change.changed].flatMap(
          (deal) => held.deals.get(dealKey(deal)) ?? [],
        )
        for (const deal of removed) held.deals.delete(dealKey(deal))
        const corrected = change.changed.filter((deal) =>
          removed.some((before) => dealKey(before) === dealKey(deal)),
        )
        const inserted: BrokerDeal[] = []
        for (const deal of [...corrected, ...change.inserted]) {
          if (held.deals.has(dealKey(deal))) continue
          held.deals.set(dealKey(deal), deal)
          if (!corrected.includes(deal)) inserted.push(deal)
        }
        const positions = refold(
          held,
          new Set([...removed, ...corrected, ...inserted].map(positionIdOf)),
        )
        const { syncedAt, latestDealAt } = completed ?? held.state
        const wishes =
          completed === null ? [held.state.wantedAt] : [held.state.wantedAt, held.lastWantedAt]
        held.state = {
          ...held.state,
          firstReadOffset,
          syncedAt,
          latestDealAt,
          wantedAt:
            wishes.find(
              (wish) => wish !== null && (completed === null || wish > completed.syncedAt),
            ) ?? null,
          deals: held.deals.size,
          check: removed.length + inserted.length > 0 ? null : held.state.check,
        }
        const { account, linkedAt } = claim
        if (reading !== null && inserted.length > 0) {
          const balanceAfter = completed === null ? sumOf(held) : reading.figures.balance
          happened(
            account.owner,
            journalEvents({
              accountId: account.accountId,
              linkedAt,
              inserted,
              positions,
              balanceAfter,
              reading,
              now,
            }),
          )
        }
        return held.state
      }),
    check: (claim, balance, at) =>
      whileClaimed(claim, (held) => {
        const difference = sumExactly([balance, -sumOf(held)])
        held.state = { ...held.state, check: { at, difference } }
        return difference
      }),
    setReread: (claim, { rereadAt, disagreements }) =>
      whileClaimed(claim, (held) => {
        held.state = { ...held.state, rereadAt, disagreements }
      }),
    want: (account, at) =>
      TE.fromIO(() => {
        const found = linked(account)
        if (found === undefined) return
        const held =
          stored.get(account.accountId) ?? newJournal(account.providerAccountId, found.createdAt)
        stored.set(account.accountId, held)
        held.state = { ...held.state, wantedAt: Math.min(at, held.state.wantedAt ?? at) }
        held.lastWantedAt = Math.max(at, held.lastWantedAt ?? at)
      }),
    closingDeals: (account, orderId, from) =>
      TE.fromIO(() =>
        dealsFrom(account, from)
          .filter(
            (deal) => deal.orderId === orderId && deal.entry !== undefined && deal.entry !== 'in',
          )
          .toSorted(compareDealOrder),
      ),
  }

  const ownJournals = (owner: Owner, ids: readonly AccountId[]) =>
    [...new Set(ids)].flatMap((accountId) => {
      const account = own(owner, accountId)
      const held = stored.get(accountId)
      const isOfLink =
        account !== undefined &&
        held !== undefined &&
        account.provider?.providerAccountId === held.providerAccountId
      return isOfLink && held.state.syncedAt !== null ? [{ account, held }] : []
    })
  const selected = (owner: Owner, { accountIds, filter }: TradeSelection): readonly ClosedTrade[] =>
    ownJournals(owner, accountIds)
      .flatMap(({ account, held }) =>
        [...held.positions.values()].flatMap((folded): readonly ClosedTrade[] =>
          folded.status === 'closed'
            ? [
                {
                  accountId: account.id,
                  userId: account.owner.userId,
                  closingDealId: folded.closingDealId,
                  trade: folded.trade,
                },
              ]
            : [],
        ),
      )
      .filter((trade) => isTradeMatch(filter, trade))
      .toSorted((a, b) => byClosing(placeOf(b), placeOf(a)))
  const trades: TradeRecords = {
    page: (owner, selection, after, limit) =>
      TE.fromIO(() => {
        const all = selected(owner, selection)
        const following = all.filter((trade) => isAfter(trade, after))
        return {
          trades: following.slice(0, limit),
          total: all.length,
          before: all.length - following.length,
        }
      }),
    exportPage: (owner, selection, after, limit) =>
      TE.fromIO(() => ({
        trades: selected(owner, selection)
          .filter((trade) => isAfter(trade, after))
          .slice(0, limit),
        revision: ownJournals(owner, selection.accountIds)
          .map(({ held }) => held.revision)
          .join(),
      })),
    results: (owner, selection) =>
      TE.fromIO(() => resultsOf(selected(owner, selection).toReversed())),
    netProfits: (owner, selection) =>
      TE.fromIO(() => resultsOf(selected(owner, selection).toReversed()).netProfits),
    netProfitsBy: (owner, selection, by) =>
      TE.fromIO(() => {
        const groups = Object.groupBy(
          selected(owner, selection).toReversed(),
          ({ accountId, trade }) => (by === 'account' ? accountId : trade[by]),
        )
        return Object.entries(groups)
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([key, group = []]) => ({ key, netProfits: resultsOf(group).netProfits }))
      }),
    balances: (owner, accountId, from = 0) =>
      TE.fromIO(() => {
        const [journal] = ownJournals(owner, [accountId])
        const deals = [...(journal?.held.deals.values() ?? [])].filter(
          (deal) => amountOf(deal) !== 0,
        )
        const moved = deals
          .filter(({ time }) => isReadableTime(time) && time >= from)
          .toSorted(byTimeAndText)
        const before = deals.filter((deal) => !moved.includes(deal)).flatMap(balanceAmounts)
        return {
          opening: sumExactly([journal?.held.state.check?.difference ?? 0, ...before]),
          times: Float64Array.from(moved, ({ time = 0 }) => time),
          amounts: Float64Array.from(moved, amountOf),
        }
      }),
    cashFlows: (owner, accountId, { from = 0, to = Infinity }, limit) =>
      TE.fromIO(() => {
        const [journal] = ownJournals(owner, [accountId])
        const flows = [...(journal?.held.deals.values() ?? [])].flatMap((deal) => {
          const { id, entry, kind, time } = deal
          const amount = amountOf(deal)
          const isFlow = kind !== 'buy' && kind !== 'sell' && kind !== 'credit' && amount !== 0
          const isWithin = isReadableTime(time) && time >= from && time <= to
          return isFlow && isWithin ? [{ id, entry, kind, time, amount }] : []
        })
        const sumOf = (isIn: boolean): number =>
          sumExactly(flows.map(({ amount }) => (amount > 0 === isIn ? Math.abs(amount) : 0)))
        return {
          count: flows.length,
          inflows: sumOf(true),
          outflows: sumOf(false),
          largest: flows
            .toSorted((a, b) => Math.abs(b.amount) - Math.abs(a.amount) || byTimeAndText(a, b))
            .slice(0, limit)
            .toSorted(byTimeAndText)
            .map(({ time, amount, kind }) => ({
              time,
              amount,
              reason: cashFlowReason(kind, amount),
            })),
        }
      }),
    find: (owner, { accountId, ticket }) =>
      TE.fromIO(() =>
        O.fromNullable(
          selected(owner, { accountIds: [accountId], filter: { profit: 'all' } }).find(
            (one) => one.trade.positionId === ticket,
          ),
        ),
      ),
    deals: (owner, accountId, positionId, page) =>
      TE.fromIO(() => {
        const deals = ownJournals(owner, [accountId])
          .flatMap(({ held }) => [...held.deals.values()])
          .filter((deal) => positionIdOf(deal) === positionId)
          .toSorted(compareDealOrder)
        return { deals: pageOf(deals, page), sums: dealSums(deals) }
      }),
    reconciliation: (owner, accountId) =>
      TE.fromIO(() => {
        const [journal] = ownJournals(owner, [accountId])
        if (journal === undefined) return O.none
        const { state, deals } = journal.held
        const times = [...deals.values()].map(({ time }) => time).filter(isReadableTime)
        return O.some({
          deals: state.deals,
          check: state.check,
          rereadAt: state.rereadAt,
          firstDealAt: times.length === 0 ? null : Math.min(...times),
          lastDealAt: times.length === 0 ? null : Math.max(...times),
          sum: sumOf(journal.held),
        })
      }),
    skipped: (owner, accountIds) =>
      TE.fromIO(() =>
        ownJournals(owner, accountIds).flatMap(({ account, held }) =>
          [...held.positions.values()]
            .flatMap((folded) =>
              folded.status === 'skipped' ? [{ accountId: account.id, ...folded.position }] : [],
            )
            .toSorted((a, b) => compareTickets(a.positionId, b.positionId)),
        ),
      ),
  }

  return { journal, records: trades }
}
