// How an order reaches the broker at most once, and how a limit or stop order is followed there. A
// pure state machine over what is stored before and after each transition, so that a process that
// dies anywhere leaves a record of what may have happened. An order is sent from `recorded` alone,
// and `sending` is stored before the send: a process that finds `sending` queries the broker's
// records and never sends again.
//
//      ┌──── not sent ────┐
//      ▼                  │
//   recorded ──send──▶ sending ──answer──▶ ended
//                         │ no clear answer
//                         ▼
//                     looking_up ──found──▶ ended
//                         │ absence proved: order is rejected
//                         ▼
//                     rechecking ──found──▶ ended (the rejection is corrected)
//
// A limit or stop order becomes `open` from any of these steps, once the broker has accepted it or
// its records show that it holds it. Then it has no due time, except for a lookup of its number:
// the watch reads what the broker holds, and a request may change or cancel it. An order that is
// missing at the broker is looked up until its end is known: it was there, so its absence from the
// records proves nothing.
//
// An order that a lookup shows as cancelled, or executed in part, becomes `confirming` before it is
// `ended`: its record shows the end, and two more lookups, or up to ten while they are unclear,
// correct it if the broker goes on with it.
//
// A recorded order that another process left is looked up before it is sent, and goes to looking_up
// when its deadline has passed. It goes there at once where the database was restarted, or failed
// over, since it was recorded: the database may have lost the write of `sending`. One that cannot
// be sent before the deadline, or whose account cannot be used any more, goes from recorded to
// ended. Rechecks end after 24 that show nothing, or seven days after the send.
import type { UnavailableCause } from '../errors.ts'
import { dayMs, hourMs, minuteMs, secondMs, type Instant } from '../primitives/instant.ts'
import {
  lateReason,
  notFoundAtBroker,
  termsOf,
  unusableReason,
  withBrokerOrderId,
  withOutcome,
  withTerms,
  type Fill,
  type LateCause,
  type Order,
  type OrderOutcome,
  type OrderTerms,
  type RejectReason,
  type UnusableAccount,
} from './order.ts'
import type {
  Absence,
  Confirming,
  LookingUp,
  Missing,
  Open,
  Placement,
  Rechecking,
  Sending,
} from './placement-state.ts'

/** The provider's answer to a send, by what it means. */
export type PlacementAnswer =
  | { readonly kind: 'filled' | 'partially_filled'; readonly fill: Fill }
  /** The broker holds the limit or stop order; with its number of it, where it gave one. */
  | { readonly kind: 'open'; readonly brokerOrderId: string | null }
  /** The broker accepted the market order, and did not report all of it as filled. */
  | {
      readonly kind: 'accepted'
      readonly brokerOrderId: string | null
      readonly isPartlyExecuted?: true | undefined
    }
  | { readonly kind: 'refused'; readonly reason: RejectReason }
  /** Certainly not executed, for a reason that may pass. */
  | {
      readonly kind: 'not_sent'
      readonly retryAfterMs: number | null
      readonly cause?: UnavailableCause | undefined
    }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

/** A limit or stop order that the broker holds. */
export interface BrokerOrder extends OrderTerms {
  /** The broker's number of it, which a broker may replace. */
  readonly brokerOrderId: string
  /** As the broker shows it, which may be the first two parts only; absent where it shows none. */
  readonly clientId?: string | undefined
  /** Lots as placed under this number, without what was executed under an earlier one. */
  readonly volume?: number | undefined
  /** Whether the broker shows that no part of it was executed yet. */
  readonly isUnexecuted?: boolean | undefined
}

/** What the broker's records show of an order that may have been executed. */
export type LookupAnswer =
  | { readonly kind: 'found'; readonly outcome: OrderOutcome }
  /**
   * The broker holds the limit or stop order and has not executed all of it yet. `order` is absent
   * where other records than the list of what it holds show that.
   */
  | { readonly kind: 'open'; readonly order?: BrokerOrder | undefined }
  /** The records show the market order, and not how it ended yet. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unreadable' }

/** Who ended an order by hand, and why. */
export interface ManualFinish {
  readonly by: string
  readonly reason: string
}

/** From one placement to the next: what to store, and when to go on; null where nothing is due. */
export interface Transition {
  readonly placement: Placement
  /** How the order ended, stored with the placement. */
  readonly outcome?: OrderOutcome
  /** The terms on which the broker holds the order, stored in its record. */
  readonly terms?: OrderTerms
  /** Stored with the placement when an operator ended the order. */
  readonly finish?: ManualFinish
  /** The lookups that were to confirm how it ended have shown nothing certain to the last. */
  readonly isUnverified?: true
  readonly continueInMs: number | null
}

/**
 * How long after its creation an order may be sent; the deadline is the end of that time. A market
 * order is not executed late, at a price that the caller did not expect.
 */
export const maxSendAgeMs = 30 * secondMs
/**
 * How long consecutive lookups must show nothing to prove that the order was not executed. Longer
 * than `maxSendAgeMs` and the longest execution together (30 s and 60 s), since the first of these
 * lookups may come before the send.
 */
export const absenceProofMs = 5 * minuteMs
/**
 * How many consecutive lookups that proof needs; the last one reads the trading terminal itself.
 */
export const absenceProofLookups = 5

/** How long a broker may take to place a pending order again that it cancelled to renumber it. */
export const renumberingMs = 10 * secondMs
// No order that the broker cancelled counts as ended sooner than this, since most are placed again at
// once. Shorter than `renumberingMs`, because a cancellation in a terminal must show within two
// seconds; an order that is placed again later is found by `confirming`.
export const renumberingWaitMs = secondMs

// By the first of these lookups a slow broker has placed it again, and by the second lists show it.
const confirmationPausesMs = [renumberingMs, minuteMs]
/** If lookup number so many is unclear as well, the order stays ended, marked as unverified. */
const maxConfirmations = 10

const retryPauseMs = secondMs
const lookupPausesMs = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * secondMs)
const steadyLookupPauseMs = minuteMs
/**
 * After the short pauses and 60 one-minute ones, lookups are made every 15 minutes. The lookups are
 * counted, not timed, since the clocks of processes differ.
 */
const lookupsBeforeSlowPolling = lookupPausesMs.length + 60
const slowPollingPauseMs = 15 * minuteMs
const recheckPauseMs = hourMs
/** After so many that could be read and showed nothing: a day, if all can be read. */
const rechecksOfADay = 24
/** How long after the send rechecks that show nothing certain go on: the account may be gone. */
const maxRecheckMs = 7 * dayMs
/** How old the stored time may be at which the broker was last known to hold an open order. */
export const unexecutedAtLagMs = 12 * hourMs

const endedWith = (outcome: OrderOutcome): Transition => ({
  placement: { step: 'ended' },
  outcome,
  continueInMs: null,
})

/** The rejection of an order whose account cannot be used any more. */
export const rejectUnusable = ({ _tag }: Pick<UnusableAccount, '_tag'>): Transition =>
  endedWith({ kind: 'rejected', reason: unusableReason(_tag) })

/** The rejection of an order that could not be sent before its deadline, with the last cause. */
export const lateRejection = (cause: LateCause): Transition =>
  endedWith({ kind: 'rejected', reason: lateReason(cause) })

export type NextAction =
  | { readonly kind: 'send' }
  /** Look the order up first, then send it if the broker's records do not show it. */
  | { readonly kind: 'verify_and_send' }
  | {
      readonly kind: 'look_up'
      readonly from: LookingUp | Open | Confirming | Rechecking
      readonly readFromTerminal: boolean
    }
  | { readonly kind: 'reject_late' }
  | { readonly kind: 'none' }

/**
 * Whether an order that is stored as `recorded` may have been sent:
 * - `no`: this process recorded it, or looked it up, and would know of a send
 * - `unlikely`: another process had it, and the database has lost no write since; one lookup
 *   confirms that it was not sent
 * - `possible`: the database server is another than when the order was recorded, or was restarted,
 *   and may have lost the write of `sending`; or the clock was set back since, so that nobody knows
 *   how long ago that was
 */
export type SentBefore = 'no' | 'unlikely' | 'possible'

export interface PlacementContext {
  readonly sentBefore: SentBefore
  /** 0 or less when the deadline has passed. */
  readonly timeToDeadlineMs: number
  readonly createdAt: Instant
  readonly now: Instant
}

/** What a process that claims the order has to do. */
export const nextAction = (
  placement: Placement,
  { sentBefore, timeToDeadlineMs, createdAt, now }: PlacementContext,
): NextAction => {
  switch (placement.step) {
    case 'recorded':
      if (sentBefore === 'no') return { kind: timeToDeadlineMs > 0 ? 'send' : 'reject_late' }
      return sentBefore === 'unlikely' && timeToDeadlineMs > 0
        ? { kind: 'verify_and_send' }
        : lookUpAction(firstLookup(createdAt, null), now)
    case 'sending':
      return lookUpAction(firstLookup(placement.sentAt, null), now)
    case 'looking_up':
      return lookUpAction(placement, now)
    case 'open':
    case 'confirming':
    case 'rechecking':
      return { kind: 'look_up', from: placement, readFromTerminal: true }
    case 'ended':
      return { kind: 'none' }
  }
}

/** What follows from the provider's answer to the send. */
export const afterSendAnswer = (
  { sentAt }: Sending,
  answer: PlacementAnswer,
  timeToDeadlineMs: number,
): Transition => {
  switch (answer.kind) {
    case 'filled':
    case 'partially_filled':
      return endedWith(answer)
    case 'refused':
      return endedWith({ kind: 'rejected', reason: answer.reason })
    case 'not_sent':
      return retryOrReject(answer.retryAfterMs, timeToDeadlineMs, answer.cause)
    case 'open':
      return afterAccepted(sentAt, answer.brokerOrderId)
    case 'accepted':
      return scheduleLookup({
        ...firstLookup(sentAt, answer.brokerOrderId),
        ...(answer.isPartlyExecuted && { isPartlyExecuted: true }),
      })
    case 'unknown':
      return scheduleLookup(firstLookup(sentAt, null))
  }
}

/**
 * What follows when the order was certainly not sent: another try, or the end when none can be made
 * before the deadline.
 */
export const retryOrReject = (
  retryAfterMs: number | null,
  timeToDeadlineMs: number,
  cause?: UnavailableCause,
): Transition => {
  const pauseMs = Math.max(retryPauseMs, retryAfterMs ?? 0)
  if (pauseMs < timeToDeadlineMs) return { placement: { step: 'recorded' }, continueInMs: pauseMs }
  const isToldToWait = retryAfterMs !== null && retryAfterMs >= timeToDeadlineMs
  return lateRejection(cause ?? (isToldToWait ? 'told_to_wait' : 'unreachable'))
}

/**
 * What follows from the lookup before the first send of an order that another process recorded;
 * undefined when the order may be sent.
 */
export const afterVerification = (
  answer: LookupAnswer,
  timeToDeadlineMs: number,
  createdAt: Instant,
): Transition | undefined => {
  const from = firstLookup(createdAt, null)
  const shown = transitionIfShown(from, answer, createdAt)
  if (shown !== undefined) return shown
  if (answer.kind === 'nothing' && timeToDeadlineMs > 0) return undefined
  if (answer.kind === 'unreadable' && timeToDeadlineMs > retryPauseMs)
    return { placement: { step: 'recorded' }, continueInMs: retryPauseMs }
  return scheduleLookup(from)
}

/**
 * What follows from a lookup.
 * @param at when its job began, before it waited for a slot
 */
export const afterLookup = (
  from: LookingUp | Open | Confirming | Rechecking,
  answer: LookupAnswer,
  at: Instant,
  readFromTerminal: boolean,
): Transition => {
  if (from.step === 'open') return afterLookupOfOpen(from, answer, at)
  if (from.step === 'confirming') return afterConfirmation(from, answer, at)
  if (from.step === 'rechecking') return afterRecheck(from, answer, at)
  const shown = transitionIfShown(from, answer, at)
  if (shown !== undefined) return shown
  const absence = answer.kind === 'nothing' ? absenceWith(from, at) : null
  return absence !== null && isProved(absence) && readFromTerminal && !from.isPartlyExecuted
    ? afterAbsenceProved(from)
    : scheduleLookup({ ...from, lookups: from.lookups + 1, absence })
}

/**
 * What follows where the records show how the order ended, or that the broker holds it; undefined
 * where they show neither.
 */
const transitionIfShown = (
  { sentAt, brokerOrderId }: LookingUp | Rechecking,
  answer: LookupAnswer,
  at: Instant,
): Transition | undefined => {
  const open = newlyOpen(sentAt, brokerOrderId)
  if (answer.kind === 'found') return afterEnd(open, answer.outcome, { since: at, lookups: 0 })
  // With the send as the time from which a part may have been executed: that is never too late.
  return answer.kind === 'open' ? afterFoundHeld(open, answer.order, sentAt) : undefined
}

/** What follows from a lookup of an open order, which began at `at`. */
export const afterLookupOfOpen = (from: Open, answer: LookupAnswer, at: Instant): Transition => {
  if (answer.kind === 'found')
    return afterEnd(from, answer.outcome, { since: from.missing?.since ?? at, lookups: 0 })
  if (answer.kind === 'open' && answer.order !== undefined)
    return afterFoundHeld(from, answer.order, at)
  // Records that cannot be read do not show that an order is missing.
  return answer.kind === 'unreadable' && from.missing === null
    ? { placement: from, continueInMs: steadyLookupPauseMs }
    : afterUnclearLookup(from, at)
}

/**
 * What follows where the records show how an order ended. They do not show who cancelled it.
 * @param missing with the lookups since it ended
 */
const afterEnd = (from: Open | Confirming, shown: OrderOutcome, missing: Missing): Transition => {
  const { cancellation } = from
  const outcome =
    shown.kind === 'cancelled' && cancellation ? { ...shown, reason: cancellation.by } : shown
  const mayGoOn = shown.kind === 'cancelled' || shown.kind === 'partially_filled'
  const pauseMs = confirmationPausesMs[missing.lookups]
  return mayGoOn && pauseMs !== undefined && cancellation?.isConfirmed !== true
    ? { placement: { ...from, step: 'confirming', missing }, outcome, continueInMs: pauseMs }
    : endedWith(outcome)
}

/** What follows from a lookup, begun at `at`, of an order that the broker has cancelled. */
const afterConfirmation = (from: Confirming, answer: LookupAnswer, at: Instant): Transition => {
  const missing = { ...from.missing, lookups: from.missing.lookups + 1 }
  if (answer.kind === 'found') return afterEnd(from, answer.outcome, missing)
  if (answer.kind === 'open' && answer.order !== undefined)
    return afterFoundHeld({ ...from, step: 'open' }, answer.order, at)
  return missing.lookups < maxConfirmations
    ? { placement: { ...from, missing }, continueInMs: steadyLookupPauseMs }
    : { placement: { step: 'ended' }, isUnverified: true, continueInMs: null }
}

const newlyOpen = (sentAt: Instant, brokerOrderId: string | null): Open => ({
  step: 'open',
  sentAt,
  unexecutedAt: sentAt,
  brokerOrderId,
  cancellation: null,
  missing: null,
})

/** If the broker accepted the order without giving its number, the number is looked up. */
const afterAccepted = (sentAt: Instant, brokerOrderId: string | null): Transition => ({
  placement: newlyOpen(sentAt, brokerOrderId),
  continueInMs: brokerOrderId === null ? lookupPauseMs(0) : null,
})

/**
 * What follows when the broker holds the order. Without `shown`, its list of open orders does not
 * contain it, and the next lookup has to show its number or its end.
 */
export const afterFoundHeld = (
  from: Open,
  shown: (OrderTerms & Pick<BrokerOrder, 'brokerOrderId' | 'isUnexecuted'>) | undefined,
  at: Instant,
): Transition => {
  if (shown === undefined) return { placement: from, continueInMs: lookupPauseMs(0) }
  const unexecutedAt = shown.isUnexecuted === true ? at : from.unexecutedAt
  return {
    placement: { ...from, unexecutedAt, brokerOrderId: shown.brokerOrderId, missing: null },
    terms: termsOf(shown),
    continueInMs: null,
  }
}

/** What follows when the broker's list of open orders no longer contains it: a lookup at once. */
export const afterFoundMissing = (from: Open, now: Instant): Transition => ({
  placement: { ...from, missing: { since: now, lookups: 0 } },
  continueInMs: 0,
})

/** What follows from a lookup that shows neither the order's end nor that the broker holds it. */
const afterUnclearLookup = (from: Open, now: Instant): Transition => {
  const { since, lookups } = from.missing ?? { since: now, lookups: 0 }
  const pauseMs = lookupPauseMs(lookups + 1)
  // Until then a cancelled order may appear under another number.
  const renumberedInMs = since + renumberingWaitMs - now
  return {
    placement: { ...from, missing: { since, lookups: lookups + 1 } },
    continueInMs: renumberedInMs > 0 ? Math.min(pauseMs, renumberedInMs) : pauseMs,
  }
}

/** The order as its record shows it after a transition; itself where that changes nothing of it. */
export const withTransition = (
  order: Order,
  { placement, outcome, terms }: Pick<Transition, 'placement' | 'outcome' | 'terms'>,
  at: Instant,
): Order => {
  if (outcome !== undefined) return withOutcome(order, outcome, at)
  const shown = placement.step === 'open' ? withTerms(order, terms, at) : order
  return 'brokerOrderId' in placement
    ? withBrokerOrderId(shown, placement.brokerOrderId, at)
    : shown
}

const afterAbsenceProved = ({ sentAt, brokerOrderId }: LookingUp): Transition => ({
  placement: { step: 'rechecking', sentAt, brokerOrderId, rechecks: 0 },
  outcome: { kind: 'rejected', reason: notFoundAtBroker },
  continueInMs: recheckPauseMs,
})

/**
 * What follows from a lookup, begun at `at`, of an order that was rejected because the broker's
 * records did not show it.
 */
const afterRecheck = (from: Rechecking, answer: LookupAnswer, at: Instant): Transition => {
  const shown = transitionIfShown(from, answer, at)
  if (shown !== undefined) return shown
  if (answer.kind !== 'nothing') {
    if (at - from.sentAt >= maxRecheckMs)
      return { placement: { step: 'ended' }, isUnverified: true, continueInMs: null }
    const isShown = answer.kind === 'unfinished'
    return { placement: from, continueInMs: isShown ? steadyLookupPauseMs : recheckPauseMs }
  }
  const rechecks = from.rechecks + 1
  return rechecks === rechecksOfADay
    ? { placement: { step: 'ended' }, continueInMs: null }
    : { placement: { ...from, rechecks }, continueInMs: recheckPauseMs }
}

const firstLookup = (sentAt: Instant, brokerOrderId: string | null): LookingUp => ({
  step: 'looking_up',
  sentAt,
  brokerOrderId,
  lookups: 0,
  absence: null,
})

const lookUpAction = (from: LookingUp, now: Instant): NextAction => {
  // The lookup that would complete the proof must read the terminal itself.
  return { kind: 'look_up', from, readFromTerminal: isProved(absenceWith(from, now)) }
}

const scheduleLookup = (placement: LookingUp): Transition => ({
  placement,
  continueInMs: lookupPauseMs(placement.lookups),
})

/** @param lookups how many were made before */
const lookupPauseMs = (lookups: number): number =>
  lookups < lookupsBeforeSlowPolling
    ? (lookupPausesMs[lookups] ?? steadyLookupPauseMs)
    : slowPollingPauseMs

/** The absence if one more lookup, begun at `now`, does not show the order. */
const absenceWith = (from: LookingUp, now: Instant): Absence => {
  const { absence } = from
  if (absence === null) return { lookups: 1, coveredMs: 0, lastAt: now }
  const gapMs = Math.min(Math.max(now - absence.lastAt, 0), lookupPauseMs(from.lookups))
  return { lookups: absence.lookups + 1, coveredMs: absence.coveredMs + gapMs, lastAt: now }
}

const isProved = ({ lookups, coveredMs }: Absence): boolean =>
  lookups >= absenceProofLookups && coveredMs >= absenceProofMs
