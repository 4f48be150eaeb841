// Derives events from deals that were newly written to the journal.
import { takeLeftWhile } from 'fp-ts/lib/ReadonlyArray.js'
import type { AccountReading } from '../accounts/account.ts'
import {
  balanceChanged,
  positionClosed,
  positionOpened,
  tradeClosed,
  type ServiceEvent,
} from './events.ts'
import { exactSumOf, sumExactly } from '../primitives/exact-sum.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { compareDealOrder, isReadableTime, symbolOf } from '../trades/deal.ts'
import { foldPosition, groupByPosition } from '../trades/fold.ts'
import { balanceAmounts, dealKey, type BrokerDeal, type DealKey } from '../journal/broker-deal.ts'
import { differenceOf, type JournalState } from '../journal/journal-state.ts'
import { positionCloses } from '../journal/closes.ts'

/** A write of deals, with what its events need. */
export interface WrittenDeals {
  readonly accountId: AccountId
  /** Deals before this time produce no events. */
  readonly linkedAt: Instant
  /**
   * Not those that were there before with other fields, but for those that did not say what they did
   * to which position.
   */
  readonly firstSeen: readonly BrokerDeal[]
  /** Those of `firstSeen` that were there before. Their change of the balance was recorded. */
  readonly nowPlaced: ReadonlySet<BrokerDeal>
  /**
   * All kept deals of each position of which a deal was inserted, corrected or removed, by position
   * id.
   */
  readonly positions: ReadonlyMap<string, readonly BrokerDeal[]>
  /** The positions that were closed trades before this write. */
  readonly closedBefore: ReadonlySet<string>
  /** What the kept deals after a first seen one, but for those, changed the balance by. */
  readonly sumOfOthersAfter: (deal: BrokerDeal) => number
  /** What all kept deals together changed the balance by. */
  readonly sumOfAllDeals: number
  /** The last comparison of the deals with the balance when the journal was claimed. */
  readonly before: Pick<JournalState, 'check' | 'disagreements'>
  /** The account as read just after the deals. */
  readonly reading: AccountReading
}

/** Whether a deal makes events: it is no older than the link, or its time cannot be read. */
export const isAfterLink = ({ time }: DealKey, linkedAt: Instant): boolean =>
  !isReadableTime(time) || time >= linkedAt

/**
 * The events in the order of the deals; for each deal the position's events come first, then the
 * trade's, then the balance's. Trades that a correction closes come last.
 *
 * A position is opened by its first opening deal, by each deal that reverses it, and by an opening
 * deal that follows the close of all of it (brokers book a rollover so). Further deals of the same
 * order that follow at once belong to the same opening.
 * `trade.closed` comes when the position becomes a closed trade. It comes again where a deal that
 * was shown late opened the position again and it closed once more, and where another deal closes it
 * after a close without a volume, which was taken for the whole rest. Each closing deal is one
 * `position.closed`, and each deal that changes the balance, or the credit, one
 * `account.balance_changed`. A deal without a readable time counts as new.
 */
export const journalEvents = (written: WrittenDeals): readonly ServiceEvent[] => {
  const { accountId, linkedAt, reading } = written
  const firstSeen = written.firstSeen.toSorted(compareDealOrder)
  const firstSeenByPosition = groupByPosition(firstSeen)
  const events = new Map(firstSeen.map((deal) => [dealKey(deal), [] as ServiceEvent[]]))
  const closedByCorrection: ServiceEvent[] = []
  const add = (deal: BrokerDeal, event: ServiceEvent): unknown =>
    events.get(dealKey(deal))?.push(event)
  const isNew = (deal: BrokerDeal): boolean => isAfterLink(deal, linkedAt)

  for (const [ticket, all] of written.positions) {
    if (!all.some(isNew)) continue
    const inOrder = all.toSorted(compareDealOrder)
    const position = { accountId, ticket, symbol: symbolOf(inOrder) }
    const own = firstSeenByPosition.get(ticket) ?? []
    const addOpening = (deal: BrokerDeal, again?: string): unknown =>
      add(deal, positionOpened(position, [deal, ...executedWith(deal, own)], again))

    const firstInserted = own.find(({ entry }) => entry === 'in')
    const wasOpened = all.some((deal) => deal.entry === 'in' && !events.has(dealKey(deal)))
    if (firstInserted !== undefined && isNew(firstInserted) && !wasOpened) addOpening(firstInserted)

    for (const close of positionCloses(inOrder)) {
      const { deal } = close
      if (isNew(deal)) add(deal, positionClosed(position, close))
      if (deal.entry === 'inout') {
        const opened = { ...deal, volume: close.openedVolume ?? 0 }
        if (isNew(deal)) add(deal, positionOpened(position, [opened], dealKey(deal)))
        continue
      }
      const next = inOrder[inOrder.indexOf(deal) + 1]
      const reopening = next && own.find((one) => dealKey(one) === dealKey(next))
      if (close.remainingVolume === 0 && reopening?.entry === 'in' && isNew(reopening))
        addOpening(reopening, dealKey(reopening))
    }

    const folded = foldPosition(ticket, all)
    if (folded.status !== 'closed' || folded.trade.closedAt < linkedAt) continue
    const newClose = own.findLast(({ entry }) => entry === 'out')
    const isClosedAnew =
      newClose !== undefined &&
      (newClose.id === folded.closingDealId || firstInserted !== undefined)
    if (written.closedBefore.has(ticket) && !isClosedAnew) continue
    const event = tradeClosed({ accountId, ...folded }, newClose && dealKey(newClose))
    const last = own.at(-1)
    if (last === undefined) closedByCorrection.push(event)
    else add(last, event)
  }

  // Backwards from the balance after the latest deal, without one deal after the other.
  const balanceNow = balanceAfterDeals(written)
  const balance = exactSumOf([balanceNow ?? 0])
  const current = (): number | null => (balanceNow === null ? null : balance.value())
  let sumOfOthers = 0
  for (const deal of firstSeen.filter(isNew).toReversed()) {
    balance.add(sumOfOthers)
    sumOfOthers = written.sumOfOthersAfter(deal)
    balance.add(-sumOfOthers)
    const after = current()
    for (const amount of balanceAmounts(deal)) balance.add(-amount)
    const amount = sumExactly(balanceAmounts(deal))
    if ((amount !== 0 || deal.kind === 'credit') && !written.nowPlaced.has(deal))
      add(deal, balanceChanged({ accountId, deal, before: current(), after, amount, reading }))
  }
  return [...events.values(), closedByCorrection].flat()
}

/**
 * The deals right after `first` in which its order was executed further. What other orders add to
 * the position is left out, since they may come in the same read or in a later one.
 */
const executedWith = (first: BrokerDeal, deals: readonly BrokerDeal[]): readonly BrokerDeal[] =>
  takeLeftWhile<BrokerDeal>(
    ({ entry, orderId }) => entry === 'in' && orderId !== undefined && orderId === first.orderId,
  )(deals.slice(deals.indexOf(first) + 1))

/**
 * The balance after the latest kept deal; null where it is not known. The balance that was read may
 * include deals that the history does not show yet. So it counts only where it equals the sum of the
 * deals, or differs from it by as much as before and reading the whole history again did not explain
 * that: the history of some accounts lacks old deals.
 */
const balanceAfterDeals = ({ sumOfAllDeals, before, reading }: WrittenDeals): number | null => {
  const { balance } = reading.figures
  const difference = differenceOf(balance, sumOfAllDeals)
  if (difference === 0) return sumOfAllDeals
  return before.disagreements > 1 && difference === before.check?.difference ? balance : null
}
