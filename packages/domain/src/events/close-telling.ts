// How a close comes to be told exactly once (6): a pure machine over what is written down of it, from before it is sent. A process that dies anywhere leaves
// a record that says what may have happened, and the broker's own records decide. Nothing is told that they do not show, and nothing is dropped while
// they cannot be read.
import { absenceProofMs } from '../orders/placement.ts'
import type { CloseOrder, CloseOutcome } from '../positions/close.ts'
import { closingDealKey, isOrderKnown, oldestFillOf, partialFillOf } from '../positions/closing-deals.ts'
import type { ClosingDeal, ClosingDealKey, ClosingFill, SentClose } from '../positions/closing-deals.ts'
import type { BrokerPosition } from '../positions/position.ts'
import type { CloseId, PositionId } from '../primitives/ids.ts'
import { minuteMs, secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { compareLots, lotsWithout } from '../primitives/lots.ts'
import type { ClosedTrade } from '../trades/account-history.ts'
import { positionClosed, tradeClosed } from './position-events.ts'
import type { ServiceEvent } from './service-event.ts'

/** A close that is about to be sent, with what was read of its position. Volumes in lots. */
export interface IntendedClose {
  readonly id: PositionId
  /** Before the close. */
  readonly position: Pick<BrokerPosition, 'symbol' | 'side' | 'volume' | 'entryPrice'>
  readonly order: Pick<CloseOrder, 'closes' | 'leaves'>
  readonly sentAt: Instant
}

/** The looks at the broker's records since the last step. */
export interface Looks {
  /** Readable or not. */
  readonly count: number
  /** The first that could be read and did not show what is looked for; null while there was none. */
  readonly nothingSince: Instant | null
}

/** About to be sent, or sent without a word of what came of it. */
export interface CloseSent {
  readonly step: 'sent'
  /** The broker's number of the closing order; null where it did not say. */
  readonly orderId: string | null
  readonly looks: Looks
}
/** Made, and its deals were not to be found yet. */
export interface CloseMade {
  readonly step: 'made'
  readonly orderId: string | null
  readonly outcome: Pick<CloseOutcome, 'closedVolume' | 'remainingVolume'>
  readonly madeAt: Instant
  readonly looks: Looks
}
/** Told, of a position of which nothing is left: the trade that it became is still to be told. */
export interface CloseTold {
  readonly step: 'told'
  /** As before: whatever the broker shows of that order later is of no other close. */
  readonly orderId: string | null
  readonly deals: readonly ClosingDealKey[]
  readonly looks: Looks
}
/** Nothing more is to be told. */
export interface CloseEnded {
  readonly step: 'ended'
  /** As in `told`; null also where nothing was made. */
  readonly orderId: string | null
  /** Those that it was told with, which are of no other close. */
  readonly deals: readonly ClosingDealKey[]
}

export type CloseProgress = CloseSent | CloseMade | CloseTold | CloseEnded

/** A record as it is taken on. */
export interface TellingClose {
  readonly closeId: CloseId
  readonly close: IntendedClose
  readonly progress: CloseProgress
  /** Deals of the account that other closes were told with, and when those were sent. */
  readonly toldDeals: ReadonlyMap<ClosingDealKey, Instant>
  /** Numbers of orders that are of other closes of the account: those that the broker told, and on MT4 those of their positions. */
  readonly otherOrders: ReadonlySet<string>
  /** Whether another close of the position takes its deals first. */
  readonly waitsForOther: boolean
  /** When the next close of the position was sent, of those that left a trace or may yet; null where there was none. */
  readonly nextSentAt: Instant | null
}

/** What to write down and to tell, all at once, and when to go on; null when there is nothing more to do. */
export interface CloseStep {
  readonly progress: CloseProgress
  readonly events: readonly ServiceEvent[]
  readonly continueInMs: number | null
}

/** What whoever sent the close knows of it in the end. */
export type CloseAnswer =
  /** Certainly not made. */
  | { readonly kind: 'not_made' }
  | { readonly kind: 'unknown'; readonly orderId: string | null }
  | {
      readonly kind: 'made'
      readonly orderId: string | null
      readonly outcome: CloseMade['outcome']
      readonly fill: ClosingFill | undefined
    }

/** What the broker's records show of a close: the account's book, and the deals that closed the position, oldest first. */
export type CloseLook =
  | { readonly kind: 'unreadable' }
  | {
      readonly kind: 'read'
      readonly positions: readonly BrokerPosition[]
      readonly deals: readonly ClosingDeal[]
      /** Whether the platform gives the rest of a position a new number, as MT4 does. */
      readonly renumbers: boolean
    }

export type TradeLook =
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'nothing' }
  /** The history is longer than is read, and does not become shorter. */
  | { readonly kind: 'too_long' }
  | { readonly kind: 'found'; readonly trade: ClosedTrade }

/** When a close of which nobody wrote the end is looked for by others; it may still be under way, which the position's lock tells. */
export const firstLookMs = 10 * secondMs
/** For how long the broker's history may lack what its book shows, or what the broker confirmed. */
export const historyPatienceMs = 60 * minuteMs
/** For how long it may not be readable before a close that was made is told without its deals. */
const unreadablePatienceMs = 24 * 60 * minuteMs

const pausesMs = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * secondMs)
const steadyPauseMs = minuteMs
/** Looks after which it is less urgent: about an hour's. */
const urgentLooks = 66
const patientPauseMs = 15 * minuteMs

/** From a clock that was set back meanwhile the wait begins anew. */
const waitingSince = ({ nothingSince }: Looks, now: Instant): Instant => Math.min(nothingSince ?? now, now)

const noLooks: Looks = { count: 0, nothingSince: null }

/** How a record begins. */
export const closeSent: CloseSent = { step: 'sent', orderId: null, looks: noLooks }

/** What follows from the end of the sending, for whoever saw it. */
export const afterCloseAnswer = (closeId: CloseId, close: IntendedClose, answer: CloseAnswer, now: Instant): CloseStep => {
  switch (answer.kind) {
    case 'not_made':
      return ended(nothingMade)
    case 'unknown':
      return later({ step: 'sent', orderId: answer.orderId, looks: noLooks })
    case 'made': {
      const { orderId, outcome, fill } = answer
      const { closedVolume, remainingVolume } = outcome
      const made: CloseMade = { step: 'made', orderId, outcome: { closedVolume, remainingVolume }, madeAt: now, looks: noLooks }
      return fill === undefined ? later(made) : told(closeId, close, { ...made, fill }, now)
    }
  }
}

/** What follows from a look at the broker's records for a close whose end, or whose deals, are not known. */
export const afterCloseLook = (
  record: Omit<TellingClose, 'progress'>,
  before: CloseSent | CloseMade,
  look: CloseLook,
  now: Instant,
): CloseStep => {
  const counted = { ...before, looks: { ...before.looks, count: before.looks.count + 1 } }
  if (look.kind === 'unreadable') {
    // What nobody confirmed waits for as long as it takes.
    if (before.step === 'sent' || now - before.madeAt < unreadablePatienceMs) return later(counted)
    return told(record.closeId, record.close, { ...before, fill: null }, now)
  }
  const sent = { ticket: record.close.id.ticket, orderId: before.orderId, sentAt: record.close.sentAt }
  // What could be of either is the other's, which takes its own first.
  if (record.waitsForOther && !isOrderKnown(sent)) return later(counted)
  const nothingSince = waitingSince(before.looks, now)
  const found = dealsOf(record, before, sent, look, now - nothingSince)
  if (found !== undefined) return tellFound(record, before, look, found, now)
  return withoutDeals(record, { ...counted, looks: { ...counted.looks, nothingSince } }, look, now)
}

type Records = Extract<CloseLook, { kind: 'read' }>

interface FoundDeals {
  readonly fill: ClosingFill
  readonly volume: number
}

/** The deals of a close, as far as it can be told after so long. */
const dealsOf = (
  { close, toldDeals, otherOrders, nextSentAt }: Omit<TellingClose, 'progress'>,
  before: CloseSent | CloseMade,
  sent: SentClose,
  look: Records,
  waitedMs: number,
): FoundDeals | undefined => {
  const volume = before.step === 'made' ? before.outcome.closedVolume : close.order.closes
  const whole = (fill: ClosingFill | undefined): FoundDeals | undefined => fill && { fill, volume }
  const isFree = (deal: ClosingDeal): boolean => !toldDeals.has(closingDealKey(deal)) && !otherOrders.has(deal.orderId ?? '')
  // Closes of a position are sent one after another, so that what came before the next is more likely this one's.
  const isWithin = ({ at }: ClosingDeal): boolean => isOrderKnown(sent) || nextSentAt === null || at === undefined || at < nextSentAt
  const free = look.deals.filter(isFree)
  const likely = free.filter(isWithin)
  const soon = whole(oldestFillOf(likely, sent, volume))
  if (soon !== undefined || before.step === 'made' || waitedMs < absenceProofMs) return soon
  return partialFillOf(likely, sent, volume) ?? whole(oldestFillOf(free, sent, volume)) ?? partialFillOf(free, sent, volume)
}

const tellFound = (
  record: Omit<TellingClose, 'progress'>,
  before: CloseSent | CloseMade,
  look: Records,
  { fill, volume }: FoundDeals,
  now: Instant,
): CloseStep => {
  const { closeId, close } = record
  if (before.step === 'made') return told(closeId, close, { ...before, fill }, now)
  const earlier = othersSince(record, look).filter((deal) => !fill.deals.includes(closingDealKey(deal)) && isNoLater(deal, fill))
  const remainingVolume = lotsLeft(close.position.volume, [volume, ...earlier.map(lotsOf)])
  const outcome = { closedVolume: volume, remainingVolume }
  return told(closeId, close, { orderId: before.orderId, outcome, fill, madeAt: close.sentAt }, now)
}

/** Where no deal is found the book alone can speak for a close that nobody confirmed: by lots that are gone and that no other close took. */
const withoutDeals = (record: Omit<TellingClose, 'progress'>, nothing: CloseSent | CloseMade, look: Records, now: Instant): CloseStep => {
  const { closeId, close } = record
  const waitedMs = now - (nothing.looks.nothingSince ?? now)
  if (nothing.step === 'made') {
    if (waitedMs < historyPatienceMs) return later(nothing)
    return told(closeId, close, { ...nothing, fill: null }, now)
  }
  if (waitedMs < absenceProofMs) return later(nothing)
  const [held, expected] = [heldLots(close, look), lotsLeft(close.position.volume, othersSince(record, look).map(lotsOf))]
  if (compareLots(held, expected) >= 0) return ended(nothingMade)
  if (waitedMs < historyPatienceMs) return later(nothing)
  // Where the history shows what other closes took of the position, it would show this one's deal too: the lots that are gone are theirs, whatever the
  // clocks say of when.
  if (look.deals.some((deal) => record.toldDeals.has(closingDealKey(deal)))) return ended(nothingMade)
  const { closes } = close.order
  if (compareLots(lotsWithout(expected, held), closes) !== 0) return ended(nothingMade)
  const outcome = { closedVolume: closes, remainingVolume: held }
  return told(closeId, close, { orderId: nothing.orderId, outcome, fill: null, madeAt: close.sentAt }, now)
}

/** Deals that closed some of the position since this close was sent: by their time, or because a later close was told with them. */
const othersSince = ({ close, toldDeals }: Omit<TellingClose, 'progress'>, { deals }: Records): readonly ClosingDeal[] =>
  deals.filter((deal) => (deal.at ?? 0) >= close.sentAt || (toldDeals.get(closingDealKey(deal)) ?? 0) >= close.sentAt)

const isNoLater = ({ at }: ClosingDeal, fill: ClosingFill): boolean => at !== undefined && fill.at !== null && at <= fill.at

const lotsOf = ({ volume = 0 }: ClosingDeal): number => volume

/** What follows from a look for the trade of a position that was closed wholly. One that never shows is not folded, and no trade. */
export const afterTradeLook = (before: CloseTold, look: TradeLook, now: Instant): CloseStep => {
  if (look.kind === 'found') return ended(before, [tradeClosed(look.trade, now)])
  if (look.kind === 'too_long') return ended(before)
  const counted = { ...before, looks: { ...before.looks, count: before.looks.count + 1 } }
  if (look.kind === 'unreadable') return later(counted)
  const nothingSince = waitingSince(before.looks, now)
  if (now - nothingSince >= historyPatienceMs) return ended(before)
  return later({ ...counted, looks: { ...counted.looks, nothingSince } })
}

/** Whether a trade is what the position of a close became; on MT4 the trade may go under the number that the position had first. */
export const isTradeOf =
  ({ ticket }: PositionId, deals: readonly ClosingDealKey[]) =>
  ({ trade, closingDealId }: ClosedTrade): boolean =>
    trade.positionId === ticket || deals.includes(closingDealKey({ id: closingDealId, at: trade.closedAt }))

const told = (
  closeId: CloseId,
  { id, position }: IntendedClose,
  made: Pick<CloseMade, 'orderId' | 'outcome' | 'madeAt'> & { readonly fill: ClosingFill | null },
  now: Instant,
): CloseStep => {
  const { orderId, outcome, fill, madeAt } = made
  const deals = fill?.deals ?? []
  const events = [positionClosed({ closeId, id, position, outcome, fill, madeAt }, now)]
  if (outcome.remainingVolume > 0) return ended({ orderId, deals }, events)
  return { progress: { step: 'told', orderId, deals, looks: noLooks }, events, continueInMs: 0 }
}

const nothingMade = { orderId: null, deals: [] }

const ended = ({ orderId, deals }: Pick<CloseEnded, 'orderId' | 'deals'>, events: readonly ServiceEvent[] = []): CloseStep => ({
  progress: { step: 'ended', orderId, deals },
  events,
  continueInMs: null,
})

const later = (progress: CloseSent | CloseMade | CloseTold): CloseStep => {
  const { count } = progress.looks
  const steadyMs = count < urgentLooks ? steadyPauseMs : patientPauseMs
  return { progress, events: [], continueInMs: pausesMs[count] ?? steadyMs }
}

const lotsLeft = (volume: number, closed: readonly number[]): number =>
  closed.reduce((left, lots) => (compareLots(lots, left) < 0 ? lotsWithout(left, lots) : 0), volume)

const heldLots = ({ id, position }: IntendedClose, { positions, renumbers }: Records): number => {
  const held =
    positions.find(({ ticket }) => ticket === id.ticket) ?? (renumbers ? positions.find((one) => isAlike(one, position)) : undefined)
  return held?.volume ?? 0
}

const isAlike = (one: BrokerPosition, { symbol, side, entryPrice }: IntendedClose['position']): boolean =>
  one.symbol === symbol && one.side === side && one.entryPrice === entryPrice
