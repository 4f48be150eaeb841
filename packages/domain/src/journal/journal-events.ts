// Derives events from deals that were newly written to the journal.
import type { AccountReading } from '../accounts/account.ts'
import { tradeClosed } from '../events/position-events.ts'
import { withoutAbsent } from '../events/service-event.ts'
import type { EventOf, ServiceEvent } from '../events/service-event.ts'
import { ExactSum, sumExactly } from '../primitives/exact-sum.ts'
import { formatPositionId } from '../primitives/ids.ts'
import type { AccountId } from '../primitives/ids.ts'
import { toIso } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { sortedBy } from '../primitives/sorted.ts'
import { compareDealOrder, isReadableTime, priceOf, symbolOf } from '../trades/deal.ts'
import { groupByPosition } from '../trades/fold-deals.ts'
import { foldPosition } from '../trades/fold-position.ts'
import { balanceAmounts, dealKey } from './broker-deal.ts'
import type { BrokerDeal, DealKind } from './broker-deal.ts'
import { entryOf, positionCloses } from './position-closes.ts'
import type { PositionClose } from './position-closes.ts'

/** Deals that were just written, with what their events need. */
export interface NewDeals {
  readonly accountId: AccountId
  /** Deals before this time produce no events. */
  readonly linkedAt: Instant
  readonly inserted: readonly BrokerDeal[]
  /**
   * By position id: all kept deals of each position that an inserted deal belongs to, the inserted
   * ones among them.
   */
  readonly positions: ReadonlyMap<string, readonly BrokerDeal[]>
  /** The account's balance right after the latest inserted deal. */
  readonly balanceAfter: number
  /** The account as read just after the deals. */
  readonly reading: AccountReading
  readonly now: Instant
}

/**
 * The events in the order of the deals; for each deal the position's events come first, then the
 * trade's, then the balance's.
 *
 * A position is opened once, by its first opening deal; `trade.closed` comes when the position
 * first is a closed trade. Each closing deal is one `position.closed`, and each deal that changes
 * the balance, or the credit, one `account.balance_changed`. A deal without a readable time counts
 * as new.
 */
export const journalEvents = (news: NewDeals): readonly ServiceEvent[] => {
  const inserted = sortedBy(news.inserted, compareDealOrder)
  const positionEvents = eventsOfPositions(news, inserted)
  const balanceEvents = eventsOfBalance(news, inserted)
  return inserted.flatMap((deal) => [
    ...(positionEvents.get(deal) ?? []),
    ...(balanceEvents.get(deal) ?? []),
  ])
}

type EventsByDeal = ReadonlyMap<BrokerDeal, readonly ServiceEvent[]>

const isNews = ({ linkedAt }: NewDeals, { time }: BrokerDeal): boolean =>
  !isReadableTime(time) || time >= linkedAt

const timeOrNull = ({ time }: BrokerDeal): string | null =>
  isReadableTime(time) ? toIso(time) : null

const eventsOfPositions = (news: NewDeals, inserted: readonly BrokerDeal[]): EventsByDeal => {
  const events = new Map<BrokerDeal, readonly ServiceEvent[]>()
  const add = (deal: BrokerDeal, event: ServiceEvent): unknown =>
    events.set(deal, [...(events.get(deal) ?? []), event])
  const insertedByKey = new Map(inserted.map((deal) => [dealKey(deal), deal]))
  for (const [positionId, own] of groupByPosition(inserted)) {
    const all = news.positions.get(positionId) ?? []
    if (!all.some((deal) => isNews(news, deal))) continue
    const before = all.filter((deal) => !insertedByKey.has(dealKey(deal)))

    const opening = own.filter(({ entry }) => entry === 'in')
    const [first] = opening
    if (first !== undefined && isNews(news, first) && !before.some(({ entry }) => entry === 'in'))
      add(first, positionOpened(news, positionId, opening, symbolOf(all)))

    for (const close of positionCloses(all)) {
      const deal = insertedByKey.get(dealKey(close.deal))
      if (deal !== undefined && isNews(news, deal))
        add(deal, positionClosed(news, positionId, close, symbolOf(all)))
    }

    const folded = foldPosition(positionId, all)
    const last = own.at(-1)
    if (last === undefined || folded.status !== 'closed' || folded.trade.closedAt < news.linkedAt)
      continue
    if (before.length > 0 && foldPosition(positionId, before).status === 'closed') continue
    add(last, tradeClosed({ accountId: news.accountId, trade: folded.trade }, news.now))
  }
  return events
}

const otherSide = { buy: 'sell', sell: 'buy' } as const

const positionOpened = (
  { accountId, now }: NewDeals,
  ticket: string,
  opening: readonly BrokerDeal[],
  symbol: string | undefined,
): EventOf<'position.opened'> => {
  const [first] = opening as [BrokerDeal]
  const { volume, price } = entryOf(opening)
  const position_id = formatPositionId(accountId, ticket)
  return {
    type: 'position.opened',
    key: `position.opened ${position_id}`,
    data: withoutAbsent({
      position_id,
      account_id: accountId,
      symbol: symbol ?? null,
      type: first.side as 'buy' | 'sell',
      volume,
      entry_price: price,
      margin_used: null,
      opened_at: timeOrNull(first),
      stop_loss: first.stopLoss,
      take_profit: first.takeProfit,
    }),
    at: now,
  }
}

const positionClosed = (
  { accountId, now }: NewDeals,
  ticket: string,
  { deal, closedVolume, remainingVolume, entryPrice }: PositionClose,
  symbol: string | undefined,
): EventOf<'position.closed'> => ({
  type: 'position.closed',
  key: `position.closed ${accountId} ${dealKey(deal)}`,
  data: withoutAbsent({
    position_id: formatPositionId(accountId, ticket),
    account_id: accountId,
    symbol: symbol ?? null,
    type: otherSide[deal.side as 'buy' | 'sell'],
    closed_volume: closedVolume,
    remaining_volume: remainingVolume,
    entry_price: entryPrice,
    exit_price: priceOf(deal) || null,
    realized_pnl: deal.profit,
    is_partial: remainingVolume === null ? null : remainingVolume > 0,
    closed_at: timeOrNull(deal),
    exit_reason: deal.reason,
  }),
  at: now,
})

// From the balance after the latest deal, backwards.
const eventsOfBalance = (news: NewDeals, inserted: readonly BrokerDeal[]): EventsByDeal => {
  const events = new Map<BrokerDeal, readonly ServiceEvent[]>()
  const balance = new ExactSum()
  balance.add(news.balanceAfter)
  for (const deal of inserted.toReversed()) {
    const after = balance.value()
    for (const amount of balanceAmounts(deal)) balance.add(-amount)
    const amount = sumExactly(balanceAmounts(deal))
    if (!isNews(news, deal) || (amount === 0 && deal.kind !== 'credit')) continue
    events.set(deal, [balanceChanged(news, deal, { before: balance.value(), after, amount })])
  }
  return events
}

interface BalanceChange {
  readonly before: number
  readonly after: number
  readonly amount: number
}

const balanceChanged = (
  { accountId, reading: { figures }, now }: NewDeals,
  deal: BrokerDeal,
  { before, after, amount }: BalanceChange,
): EventOf<'account.balance_changed'> => ({
  type: 'account.balance_changed',
  key: `account.balance_changed ${accountId} ${dealKey(deal)}`,
  data: withoutAbsent({
    account_id: accountId,
    previous_balance: before,
    new_balance: after,
    change_amount: amount,
    change_percentage: percentageOf(amount, before),
    equity: figures.equity,
    margin: figures.margin,
    free_margin: figures.freeMargin,
    change_reason: changeReasonOf(deal.kind, amount),
    changed_at: timeOrNull(deal),
    margin_level: figures.marginLevel ?? undefined,
  }),
  at: now,
})

/** Of the size of the balance, so that the sign follows the amount. */
const percentageOf = (amount: number, balance: number): number | null => {
  if (amount === 0) return 0
  return balance === 0 ? null : (amount * 100) / Math.abs(balance)
}

/**
 * Charges are what the broker books for its services, interest and taxes, in either direction; a
 * dividend is none of them.
 */
const changeReasonOf = (kind: DealKind, amount: number): string => {
  switch (kind) {
    case 'buy':
    case 'sell':
      return 'trade'
    case 'balance':
      return amount > 0 ? 'deposit' : 'withdrawal'
    case 'charge':
    case 'commission':
    case 'interest':
    case 'tax':
      return 'charge'
    case 'credit':
    case 'correction':
      return kind
    case 'bonus':
    case 'dividend':
    case 'cancelled':
    case 'other':
      return 'other'
  }
}
