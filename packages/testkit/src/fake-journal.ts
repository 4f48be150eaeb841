// The journal in memory, with the trades that its deals amount to.
import type { Account, BrokerAccount } from '@tradeport/domain/accounts'
import { refuse, type Refusal } from '@tradeport/domain/errors'
import { journalEvents, type ServiceEvent } from '@tradeport/domain/events'
import {
  balanceAmounts,
  cashFlowReason,
  dealKey,
  differenceOf,
  isPlaced,
  type BrokerDeal,
  type JournalState,
} from '@tradeport/domain/journal'
import type {
  Clock,
  Journal,
  JournalClaim,
  PositionDeals,
  TradePage,
  TradeRecords,
  TradeSelection,
} from '@tradeport/domain/ports'
import {
  compareTickets,
  isSymbolMatch,
  pageOf,
  secondMs,
  sumExactly,
  type AccountId,
  type Instant,
  type Owner,
} from '@tradeport/domain/primitives'
import {
  compareDealOrder,
  foldPosition,
  groupByPosition,
  isReadableTime,
  placeOf,
  positionIdOf,
  type ClosedTrade,
  type FoldedPosition,
  type TradeFilter,
  type TradeListPlace,
} from '@tradeport/domain/trades'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { portOf } from './fake-port.ts'
import { ownAccount, type FakeRecords } from './fake-records.ts'

interface StoredJournal {
  readonly providerAccountId: string
  readonly linkedAt: Instant
  state: JournalState
  lastWantedAt: Instant | null
  lateWantedAt: Instant | null
  readonly deals: Map<string, BrokerDeal>
  positions: ReadonlyMap<string, FoldedPosition>
  revision: number
  lease: { readonly id: string; readonly until: Instant } | null
}

const leaseMs = 30 * secondMs

/** Of an account whose history was never read. */
export const unreadJournal: JournalState = {
  firstReadOffset: null,
  syncedAt: null,
  wantedAt: null,
  deals: 0,
  latestDealAt: null,
  check: null,
  rereadAt: null,
  disagreements: 0,
  isDueToBalanceAlone: false,
}

const notLinked = (accountId: AccountId): Refusal<'BrokerUnavailable'> =>
  refuse('BrokerUnavailable', { accountId, reason: 'it is not linked so' })
const dealsOf = ({ deals }: StoredJournal): readonly BrokerDeal[] => [...deals.values()]
/** What others after one of the deals changed the balance by. */
export const sumsOfOthers =
  (kept: readonly BrokerDeal[], deals: readonly BrokerDeal[]) =>
  (deal: BrokerDeal): number =>
    moneyIn(kept.filter((one) => !deals.includes(one) && compareDealOrder(one, deal) > 0))

const moneyIn = (deals: readonly BrokerDeal[]) => sumExactly(deals.flatMap(balanceAmounts))

/** @param happened records the events of deals */
export const createFakeJournal = (
  records: FakeRecords,
  happened: (owner: Owner, events: readonly ServiceEvent[]) => void,
  clock: Clock,
): { readonly journal: Journal; readonly trades: TradeRecords } => {
  const stored = new Map<AccountId, StoredJournal>()
  let lastNumber = 0

  const newJournal = (providerAccountId: string, linkedAt: Instant): StoredJournal => ({
    providerAccountId,
    linkedAt,
    state: unreadJournal,
    lastWantedAt: null,
    lateWantedAt: null,
    deals: new Map(),
    positions: new Map(),
    // No two journals have a revision in common.
    revision: (lastNumber += 1) * 1e6,
    lease: null,
  })
  /** The account, if the broker account is what it is linked to. */
  const linked = (account: BrokerAccount): Account | undefined => {
    const found = ownAccount(records, account.owner, account.accountId)
    return found?.provider?.providerAccountId === account.providerAccountId ? found : undefined
  }
  const journalOf = (account: BrokerAccount): StoredJournal | undefined => {
    const { owner, accountId } = account
    const found = ownAccount(records, owner, accountId) && stored.get(accountId)
    return found?.providerAccountId === account.providerAccountId ? found : undefined
  }
  const dealsFrom = (account: BrokerAccount, from: Instant): readonly BrokerDeal[] =>
    [...(journalOf(account)?.deals.values() ?? [])].filter(
      ({ time }) => time === undefined || !(time < from),
    )

  const isLeased = ({ lease }: StoredJournal): boolean =>
    lease !== null && lease.until > clock.now()
  const whileClaimed = <A>(
    { account, leaseId }: JournalClaim,
    run: (held: StoredJournal) => A,
  ): E.Either<Refusal<'ServiceUnavailable'>, A> => {
    const held =
      ownAccount(records, account.owner, account.accountId) && stored.get(account.accountId)
    if (held === undefined || held.lease?.id !== leaseId || !isLeased(held))
      return E.left(refuse('ServiceUnavailable', { reason: 'the claim has lapsed' }))
    held.lease = { id: leaseId, until: clock.now() + leaseMs }
    return E.right(run(held))
  }

  /** Folds all deals again, and returns those of each position. */
  const refold = (held: StoredJournal): ReadonlyMap<string, readonly BrokerDeal[]> => {
    const [before, deals] = [held.positions, groupByPosition(dealsOf(held))]
    held.positions = new Map([...deals].map(([id, all]) => [id, foldPosition(id, all)]))
    for (const [id, folded] of before)
      if (
        folded.status === 'closed' &&
        JSON.stringify(folded) !== JSON.stringify(held.positions.get(id))
      )
        held.revision += 1
    return deals
  }

  const journal = portOf<Journal>({
    find: (account) => O.fromNullable(journalOf(account)?.state),
    claim: (account): E.Either<Refusal<'BrokerUnavailable'>, O.Option<JournalClaim>> => {
      const { accountId } = account
      const found = linked(account)
      const before = stored.get(accountId)
      if (found === undefined) return E.left(notLinked(accountId))
      if (before !== undefined && isLeased(before)) return E.right(O.none)
      const held =
        journalOf(account) ??
        newJournal(account.providerAccountId, before === undefined ? found.createdAt : clock.now())
      if (before !== undefined && before !== held) {
        held.state = { ...held.state, wantedAt: before.state.wantedAt }
        held.lastWantedAt = before.lastWantedAt
        held.lateWantedAt = before.lateWantedAt
      }
      stored.set(accountId, held)
      const leaseId = String((lastNumber += 1))
      held.lease = { id: leaseId, until: clock.now() + leaseMs }
      const { state, linkedAt } = held
      return E.right(O.some({ account, leaseId, claimedAt: clock.now(), state, linkedAt }))
    },
    renew: (claim) => whileClaimed(claim, () => undefined),
    release: ({ account, leaseId }, result) => {
      const held = stored.get(account.accountId)
      if (held?.lease?.id !== leaseId) return
      held.lease = null
      if (result === 'too_many_deals') held.state = { ...held.state, wantedAt: null }
    },
    dealsFrom: (account, from, limit) =>
      dealsFrom(account, from).toSorted(byTimeAndText).slice(0, limit),
    write: (claim, change) =>
      whileClaimed(claim, (held) => {
        const { changed, vanished, firstReadOffset, completed, reading } = change
        const keys = new Set([...vanished, ...changed.map(({ was }) => was)].map(dealKey))
        const removed = new Map([...held.deals].filter(([key]) => keys.has(key)))
        for (const key of removed.keys()) held.deals.delete(key)
        const corrected = changed.filter(({ was }) => removed.has(dealKey(was)))
        const inserted: BrokerDeal[] = []
        const nowPlaced = new Set<BrokerDeal>()
        const insert = (deal: BrokerDeal, isNew: boolean): void => {
          if (held.deals.has(dealKey(deal))) return
          held.deals.set(dealKey(deal), deal)
          if (isNew) inserted.push(deal)
        }
        for (const { was, deal } of corrected) {
          if (isPlaced(deal) && !isPlaced(removed.get(dealKey(was)) ?? deal)) nowPlaced.add(deal)
          insert(deal, nowPlaced.has(deal))
        }
        for (const deal of change.inserted) insert(deal, true)
        const before = held.positions
        const positions = refold(held)
        const { syncedAt, latestDealAt } = completed ?? held.state
        const wanted = [held.state.wantedAt, held.lastWantedAt, held.lateWantedAt]
        const wantedAt = completed
          ? wanted.find((at) => (at ?? 0) > claim.claimedAt)
          : held.state.wantedAt
        const positionsOfNewCloses = inserted.flatMap((deal) =>
          deal.entry === 'out' ? (held.positions.get(positionIdOf(deal) ?? '') ?? []) : [],
        )
        const rereadAt = change.rereadAtFor(positionsOfNewCloses)
        held.state = {
          ...held.state,
          rereadAt: held.state.rereadAt ?? rereadAt,
          isDueToBalanceAlone: held.state.isDueToBalanceAlone && rereadAt === null,
          firstReadOffset,
          syncedAt,
          latestDealAt,
          wantedAt: wantedAt ?? null,
          deals: held.deals.size,
          check: removed.size + inserted.length > 0 ? null : held.state.check,
        }
        const { account, linkedAt } = claim
        if (reading !== null) {
          happened(
            account.owner,
            journalEvents({
              accountId: account.accountId,
              linkedAt,
              firstSeen: inserted,
              nowPlaced,
              positions,
              closedBefore: new Set(
                [...before].flatMap(([id, { status }]) => (status === 'closed' ? [id] : [])),
              ),
              sumOfOthersAfter: sumsOfOthers(dealsOf(held), inserted),
              sumOfAllDeals: moneyIn(dealsOf(held)),
              before: claim.state,
              reading,
            }),
          )
        }
        return { state: held.state, positionsOfNewCloses }
      }),
    check: (claim, balance, at) =>
      whileClaimed(claim, (held) => {
        const difference = differenceOf(balance, moneyIn(dealsOf(held)))
        held.state = { ...held.state, check: { at, balance, difference } }
        return difference
      }),
    setReread: (claim, { rereadAt, disagreements, isDueToBalanceAlone }) =>
      whileClaimed(claim, (held) => {
        held.state = { ...held.state, rereadAt, disagreements, isDueToBalanceAlone }
      }),
    wantRead: (account, delayMs, lateDelayMs = delayMs) => {
      const at = clock.now() + delayMs
      const late = clock.now() + lateDelayMs
      const found = linked(account)
      if (found === undefined) return
      const held =
        stored.get(account.accountId) ?? newJournal(account.providerAccountId, found.createdAt)
      stored.set(account.accountId, held)
      held.state = { ...held.state, wantedAt: Math.min(at, held.state.wantedAt ?? at) }
      held.lastWantedAt = Math.max(at, held.lastWantedAt ?? at)
      held.lateWantedAt = Math.max(late, held.lateWantedAt ?? late)
    },
    closingDeals: (account, orderId, from) =>
      dealsFrom(account, from)
        .filter((deal) => deal.orderId === orderId && (deal.entry ?? 'in') !== 'in')
        .toSorted(compareDealOrder),
  })

  /** The journals of accounts that were read to the end as they are linked now. */
  const ownJournals = (owner: Owner, ids: readonly AccountId[]) =>
    [...new Set(ids)].flatMap((accountId) => {
      const account = ownAccount(records, owner, accountId)
      const held = stored.get(accountId)
      const isRead =
        account?.provider?.providerAccountId === held?.providerAccountId &&
        typeof held?.state.syncedAt === 'number'
      return account !== undefined && held !== undefined && isRead ? [{ account, held }] : []
    })
  const ownDeals = (owner: Owner, accountId: AccountId): readonly BrokerDeal[] =>
    ownJournals(owner, [accountId]).flatMap(({ held }) => dealsOf(held))
  const selected = (owner: Owner, { accountIds, filter }: TradeSelection): readonly ClosedTrade[] =>
    ownJournals(owner, accountIds)
      .flatMap(({ account, held }) =>
        [...held.positions.values()].flatMap((folded): readonly ClosedTrade[] => {
          if (folded.status !== 'closed') return []
          const { status: _, ...trade } = folded
          return [{ accountId: account.id, userId: owner.userId, ...trade }]
        }),
      )
      .filter((trade) => isTradeMatch(filter, trade))
      .toSorted((a, b) => byClosing(placeOf(b), placeOf(a)))

  const skippedOf = (owner: Owner, accountIds: readonly AccountId[]) => {
    const unlinked = accountIds.find((id) => ownJournals(owner, [id]).length === 0)
    if (unlinked !== undefined) return E.left(notLinked(unlinked))
    return E.right(
      ownJournals(owner, accountIds).flatMap(({ account, held }) =>
        [...held.positions]
          .flatMap(([positionId, folded]) =>
            folded.status === 'skipped'
              ? [{ accountId: account.id, positionId, reason: folded.reason }]
              : [],
          )
          .toSorted((a, b) => compareTickets(a.positionId, b.positionId)),
      ),
    )
  }

  const trades = portOf<TradeRecords>({
    page: (owner, selection, after, limit) => {
      const all = selected(owner, selection)
      const following = all.filter((trade) => isAfter(trade, after))
      return E.map((skipped: TradePage['skipped']) => ({
        trades: following.slice(0, limit),
        total: all.length,
        before: all.length - following.length,
        skipped,
      }))(skippedOf(owner, selection.accountIds))
    },
    exportPage: (owner, selection, after, limit) => ({
      trades: selected(owner, selection)
        .filter((trade) => isAfter(trade, after))
        .slice(0, limit),
      revision: ownJournals(owner, selection.accountIds)
        .map(({ held }) => held.revision)
        .join(),
    }),
    results: (owner, selection) => {
      const oldestFirst = selected(owner, selection).toReversed()
      const column = (name: 'netProfit' | 'closedAt' | 'holdingTime') =>
        Float64Array.from(oldestFirst, ({ trade }) => trade[name])
      return {
        netProfits: column('netProfit'),
        closedAt: column('closedAt'),
        holdingTimes: column('holdingTime'),
      }
    },
    netProfitsBy: (owner, selection, by) => {
      const groups = Object.groupBy(
        selected(owner, selection).toReversed(),
        ({ accountId, trade }) => (by === 'account' ? accountId : trade[by]),
      )
      return Object.entries(groups)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, group = []]) => ({
          key,
          netProfits: Float64Array.from(group, ({ trade }) => trade.netProfit),
        }))
    },
    balances: (owner, accountId, from = 0) => {
      const check = ownJournals(owner, [accountId])[0]?.held.state.check ?? null
      if (check === null) return null
      const deals = ownDeals(owner, accountId).filter((deal) => moneyIn([deal]) !== 0)
      const moved = deals
        .filter(({ time }) => isReadableTime(time) && time >= from)
        .toSorted(compareDealOrder)
      const before = deals.filter((deal) => !moved.includes(deal)).flatMap(balanceAmounts)
      return {
        opening: sumExactly([check.difference, ...before]),
        times: Float64Array.from(moved, ({ time = 0 }) => time),
        amounts: Float64Array.from(moved, (deal) => moneyIn([deal])),
      }
    },
    cashFlows: (owner, accountId, { startDate = 0, endDate = Infinity }, limit) => {
      const flows = ownDeals(owner, accountId).flatMap((deal) => {
        const { id, entry, kind, time } = deal
        const amount = moneyIn([deal])
        const isFlow = kind !== 'buy' && kind !== 'sell' && kind !== 'credit' && amount !== 0
        const isWithin = isReadableTime(time) && time >= startDate && time <= endDate
        return isFlow && isWithin ? [{ id, entry, kind, time, amount, deal }] : []
      })
      // Over the deals, because each amount is rounded.
      const sumOf = (isIn: boolean): number =>
        Math.abs(moneyIn(flows.filter(({ amount }) => amount > 0 === isIn).map(({ deal }) => deal)))
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
    },
    find: (owner, { accountId, ticket }) =>
      O.fromNullable(
        selected(owner, { accountIds: [accountId], filter: {} }).find(
          ({ trade }) => trade.positionId === ticket,
        ),
      ),
    deals: (owner, accountId, positionId, page) => {
      const deals = ownDeals(owner, accountId)
        .filter((deal) => positionIdOf(deal) === positionId)
        .toSorted(compareDealOrder)
      return { deals: pageOf(deals, page), sums: dealSums(deals) }
    },
    reconciliation: (owner, accountId) => {
      const [journal] = ownJournals(owner, [accountId])
      if (journal === undefined) return E.left(notLinked(accountId))
      const { check, disagreements } = journal.held.state
      const deals = dealsOf(journal.held)
      const times = deals
        .map(({ time }) => time)
        .filter(isReadableTime)
        .toSorted((a, b) => a - b)
      return E.right({
        deals: deals.length,
        check,
        disagreements,
        firstDealAt: times[0] ?? null,
        lastDealAt: times.at(-1) ?? null,
        sum: moneyIn(deals),
      })
    },
    skipped: skippedOf,
  })

  return { journal, trades }
}

/**
 * Closing order: close time, then the closing deal's id (shorter first, then by text), then the
 * account.
 */
const byClosing = (a: TradeListPlace, b: TradeListPlace) =>
  a.closedAt - b.closedAt ||
  compareTickets(a.closingDealId, b.closingDealId) ||
  compareTickets(a.accountId, b.accountId)

const isAfter = (trade: ClosedTrade, place: TradeListPlace | undefined) =>
  place === undefined || byClosing(placeOf(trade), place) < 0

const isTradeMatch = (
  { symbol, startDate = -Infinity, endDate = Infinity, profitFilter = 'all' }: TradeFilter,
  { trade }: ClosedTrade,
) =>
  trade.closedAt >= startDate &&
  trade.closedAt <= endDate &&
  (profitFilter === 'all' || trade.netProfit > 0 === (profitFilter === 'profit')) &&
  isSymbolMatch(symbol, trade.symbol)

interface Placed extends Pick<BrokerDeal, 'time' | 'id'> {
  readonly entry?: BrokerDeal['entry'] | undefined
}

/** Deals without a time come after all others, and then those whose time could not be read. */
const placeInTime = ({ time = 9e15 }: Placed) => (Number.isFinite(time) ? time : 9.1e15)

const byTimeAndText = (a: Placed, b: Placed) =>
  placeInTime(a) - placeInTime(b) ||
  Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) ||
  ((a.entry ?? '') < (b.entry ?? '') ? -1 : 1)

const dealSums = (deals: readonly BrokerDeal[]): PositionDeals['sums'] => {
  const sumOf = (name: 'profit' | 'commission' | 'swap') =>
    sumExactly(deals.map((deal) => deal[name]))
  const volumeOf = (entry: 'in' | 'out') =>
    sumExactly(deals.map((deal) => (deal.entry === entry ? Math.max(0, deal.volume ?? 0) : 0)))
  return {
    openedVolume: volumeOf('in'),
    closedVolume: volumeOf('out'),
    profit: sumOf('profit'),
    commission: sumOf('commission'),
    swap: sumOf('swap'),
    netProfit: sumExactly(
      deals.flatMap(({ profit, commission, swap }) => [profit, commission, swap]),
    ),
  }
}
