// How a market order reaches the broker at most once. A pure state machine over what is stored
// before and after each step, so that a process that dies anywhere leaves a record of what may have
// happened. An order is sent from `recorded` alone, and `sending` is stored before the send:
// whoever finds `sending` queries the broker's records and never sends again.
//
//   recorded ──send──▶ sending ──answer──▶ settled
//      ▲                  │ no clear answer
//      └── not sent ──────┤
//                         ▼
//                     looking_up ──found──▶ settled
//                         │ absent, by proof
//                         ▼
//                     rechecking ──found──▶ settled (the record is corrected)
//
// A recorded order that another process left is looked up before it is sent, and goes to looking_up
// when its window is over. One that cannot be sent in its window, or to its account any more, goes
// from recorded to settled. After a day of rechecks nothing more is done.
import type {
  AccountNotFound,
  AccountPurposeRestricted,
  LiveAccountRestricted,
  NotProvisioned,
  UnavailableCause,
  UnsupportedBroker,
} from '../errors.ts'
import { hourMs, minuteMs, secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Fill, RejectReason } from './order.ts'
import { notFoundAtBrokerCode } from './transitions.ts'
import type { Settlement } from './transitions.ts'

/** Not sent, as far as the process that wrote this knows: earlier tries certainly failed. */
export interface Recorded {
  readonly step: 'recorded'
}
/** May be sent at any moment of its window, or was sent and the answer is not stored. */
export interface Sending {
  readonly step: 'sending'
  readonly sentAt: Instant
}
/** May have been executed: the broker's records decide. */
export interface LookingUp {
  readonly step: 'looking_up'
  readonly sentAt: Instant
  /** The broker's number of the order; null where the broker gave none. */
  readonly orderId: string | null
  /** Lookups so far, readable or not. */
  readonly lookups: number
  /** Null before the first lookup, and after one that was unreadable or showed the order. */
  readonly absence: Absence | null
}
/** Consecutive readable lookups that did not show the order. */
export interface Absence {
  readonly lookups: number
  /**
   * How much time they cover. A gap counts for no more than its scheduled pause, so that a step of
   * the clock proves nothing.
   */
  readonly coveredMs: number
  readonly lastAt: Instant
}
/**
 * Rejected because the broker's records did not show it; looked up for another day in case they do
 * after all.
 */
export interface Rechecking {
  readonly step: 'rechecking'
  readonly sentAt: Instant
  readonly orderId: string | null
  readonly rechecks: number
}
/** Nothing more to do. */
export interface Settled {
  readonly step: 'settled'
}

export type Placement = Recorded | Sending | LookingUp | Rechecking | Settled

/** What the provider answered to a send, by what it means. */
export type PlacementAnswer =
  | { readonly kind: 'filled'; readonly fill: Fill }
  | { readonly kind: 'partially_filled'; readonly fill: Fill }
  /**
   * Accepted and not yet reported filled; with the broker's number of the order, where it gave one.
   */
  | { readonly kind: 'placed'; readonly orderId: string | null }
  | { readonly kind: 'refused'; readonly reason: RejectReason }
  /** Certainly not executed, for a reason that may pass. */
  | {
      readonly kind: 'not_sent'
      readonly retryAfterMs: number | null
      readonly cause?: UnavailableCause | undefined
    }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

/** What the broker's records show of an order that may have been executed. */
export type LookupAnswer =
  | { readonly kind: 'found'; readonly settlement: Settlement }
  /** The broker holds the order and has not executed it yet. */
  | { readonly kind: 'working' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unreadable' }

/** Who ended an order by hand, and why. */
export interface ManualFinish {
  readonly by: string
  readonly reason: string
}

/** What to store, and when to go on; null when there is nothing more to do. */
export interface PlacementStep {
  readonly placement: Placement
  /** How the order ended, stored with the step. */
  readonly outcome?: Settlement
  /** Stored with the step when an operator ended the order. */
  readonly finish?: ManualFinish
  readonly continueInMs: number | null
}

/**
 * How long after its creation an order may be sent. A market order is not executed late, at a price
 * that nobody asked for.
 */
export const placementWindowMs = 30 * secondMs
/**
 * How long consecutive lookups must show nothing before that is believed. It has to be longer than
 * `placementWindowMs` and the longest execution together (30 s and 60 s), since the first of these
 * lookups may come before the send.
 */
export const absenceProofMs = 5 * minuteMs
/**
 * How many consecutive lookups must show nothing at least; the last one reads from the trading
 * terminal itself.
 */
export const absenceProofLookups = 5

const retryPauseMs = secondMs
const lookupPausesMs = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * secondMs)
const steadyLookupPauseMs = minuteMs
/**
 * After the short pauses and 60 one-minute ones, lookups are made every 15 minutes. Counted and not
 * timed, since the clocks of processes differ.
 */
const lookupsBeforeLate = lookupPausesMs.length + 60
const lateLookupPauseMs = 15 * minuteMs
const recheckPauseMs = hourMs
const rechecksOfADay = 24

const brokerUnavailable: RejectReason = {
  code: 'BROKER_UNAVAILABLE',
  message: 'The broker could not be reached within 30 seconds; the order was not placed.',
}
const tokenRefused: RejectReason = {
  code: 'BROKER_UNAVAILABLE',
  message:
    'The provider refused the token that the operator of this service configured; the order was not placed. Tell the operator.',
}
const notFoundAtBroker: RejectReason = {
  code: notFoundAtBrokerCode,
  message:
    'The broker did not confirm the order and its records do not show it; it was not executed.',
}

/** The account is linked to another broker account than when the order was made. */
export interface AccountRelinked {
  readonly _tag: 'AccountRelinked'
}

/** Why an order can no longer be sent to its account, found when it was about to be sent. */
export type UnusableAccount =
  | AccountNotFound
  | AccountPurposeRestricted
  | AccountRelinked
  | LiveAccountRestricted
  | UnsupportedBroker
  | NotProvisioned

const unusableReasons: Readonly<Record<UnusableAccount['_tag'], RejectReason>> = {
  AccountNotFound: {
    code: 'ACCOUNT_NOT_FOUND',
    message: 'The account is no longer linked; the order was not sent.',
  },
  AccountPurposeRestricted: {
    code: 'ACCOUNT_PURPOSE_RESTRICTED',
    message: 'The account is no longer for trading; the order was not sent.',
  },
  AccountRelinked: {
    code: 'ACCOUNT_RELINKED',
    message: 'The account was linked to another broker account; the order was not sent.',
  },
  LiveAccountRestricted: {
    code: 'LIVE_ACCOUNT_RESTRICTED',
    message:
      'The broker does not confirm that this is a demo account; the order was not sent. Link a demo account to trade.',
  },
  UnsupportedBroker: {
    code: 'UNSUPPORTED_BROKER',
    message: 'The account is now on a platform that is not supported; the order was not sent.',
  },
  NotProvisioned: {
    code: 'NOT_PROVISIONED',
    message: 'The account is no longer connected to the provider; the order was not sent.',
  },
}

export const unusableReason = ({ _tag }: UnusableAccount): RejectReason => unusableReasons[_tag]

/** The end of an order that can no longer be sent to its account. */
export const rejectUnusable = (why: UnusableAccount): PlacementStep =>
  settled({ kind: 'rejected', reason: unusableReason(why) })

/** The end of an order that could not be sent in its window. */
export const rejectLate: PlacementStep = settled({ kind: 'rejected', reason: brokerUnavailable })

/** The same, where the provider answered the last try with 401. */
export const rejectTokenRefused: PlacementStep = settled({ kind: 'rejected', reason: tokenRefused })

export type NextAction =
  | { readonly kind: 'send' }
  /** Look the order up first, then send it if the broker's records do not show it. */
  | { readonly kind: 'verify_and_send' }
  | { readonly kind: 'look_up'; readonly from: LookingUp; readonly refresh: boolean }
  | { readonly kind: 'recheck'; readonly from: Rechecking }
  | { readonly kind: 'reject_late' }
  | { readonly kind: 'none' }

export interface PlacementContext {
  /**
   * Whether this process has followed the order in memory since it recorded it. If not, another
   * process may have sent it and the database may have lost that write, so it is looked up first.
   */
  readonly isOwn: boolean
  /** What is left of the window; 0 or less when it is over. */
  readonly timeLeftMs: number
  readonly createdAt: Instant
  readonly now: Instant
}

/** What a process that claims the order has to do, whoever left it there. */
export const nextAction = (
  placement: Placement,
  { isOwn, timeLeftMs, createdAt, now }: PlacementContext,
): NextAction => {
  switch (placement.step) {
    case 'recorded':
      if (timeLeftMs > 0) return { kind: isOwn ? 'send' : 'verify_and_send' }
      return isOwn ? { kind: 'reject_late' } : lookUpNow(firstLookup(createdAt, null), now)
    case 'sending':
      return lookUpNow(firstLookup(placement.sentAt, null), now)
    case 'looking_up':
      return lookUpNow(placement, now)
    case 'rechecking':
      return { kind: 'recheck', from: placement }
    case 'settled':
      return { kind: 'none' }
  }
}

/** What follows from the provider's answer to the send. */
export const afterSend = (
  { sentAt }: Sending,
  answer: PlacementAnswer,
  timeLeftMs: number,
): PlacementStep => {
  switch (answer.kind) {
    case 'filled':
    case 'partially_filled':
      return settled(answer)
    case 'refused':
      return settled({ kind: 'rejected', reason: answer.reason })
    case 'not_sent':
      return afterNotSent(answer.retryAfterMs, timeLeftMs, answer.cause)
    case 'placed':
      return lookUpLater(firstLookup(sentAt, answer.orderId))
    case 'unknown':
      return lookUpLater(firstLookup(sentAt, null))
  }
}

/**
 * What follows when the order was certainly not sent: another try, or the end when none fits into
 * the window.
 */
export const afterNotSent = (
  retryAfterMs: number | null,
  timeLeftMs: number,
  cause?: UnavailableCause,
): PlacementStep => {
  const pauseMs = Math.max(retryPauseMs, retryAfterMs ?? 0)
  if (pauseMs < timeLeftMs) return { placement: { step: 'recorded' }, continueInMs: pauseMs }
  return cause === 'token_refused' ? rejectTokenRefused : rejectLate
}

/**
 * What follows from the lookup before the first send of an order that another process recorded;
 * undefined when the order may be sent.
 */
export const afterVerification = (
  answer: LookupAnswer,
  timeLeftMs: number,
  createdAt: Instant,
): PlacementStep | undefined => {
  const isShort = timeLeftMs <= retryPauseMs
  switch (answer.kind) {
    case 'nothing':
      return timeLeftMs > 0 ? undefined : lookUpLater(firstLookup(createdAt, null))
    case 'unreadable':
      return isShort
        ? lookUpLater(firstLookup(createdAt, null))
        : { placement: { step: 'recorded' }, continueInMs: retryPauseMs }
    case 'found':
      return settled(answer.settlement)
    case 'working':
      return lookUpLater(firstLookup(createdAt, null))
  }
}

/**
 * What follows from a lookup.
 * @param now when the lookup began
 * @param refresh whether it read from the trading terminal itself
 */
export const afterLookup = (
  from: LookingUp,
  answer: LookupAnswer,
  now: Instant,
  refresh: boolean,
): PlacementStep => {
  const counted = { ...from, lookups: from.lookups + 1 }
  switch (answer.kind) {
    case 'found':
      return settled(answer.settlement)
    case 'unreadable':
    case 'working':
      return lookUpLater({ ...counted, absence: null })
    case 'nothing': {
      const absence = absenceWith(from, now)
      return isProved(absence) && refresh
        ? rejectAbsent(from)
        : lookUpLater({ ...counted, absence })
    }
  }
}

const rejectAbsent = ({ sentAt, orderId }: LookingUp): PlacementStep => ({
  placement: { step: 'rechecking', sentAt, orderId, rechecks: 0 },
  outcome: { kind: 'rejected', reason: notFoundAtBroker },
  continueInMs: recheckPauseMs,
})

/**
 * What follows from a lookup of an order that was rejected because the broker's records did not
 * show it.
 */
export const afterRecheck = (from: Rechecking, answer: LookupAnswer): PlacementStep => {
  if (answer.kind === 'found') return settled(answer.settlement)
  if (answer.kind === 'working') return { placement: from, continueInMs: steadyLookupPauseMs }
  const rechecks = from.rechecks + 1
  return rechecks < rechecksOfADay
    ? { placement: { ...from, rechecks }, continueInMs: recheckPauseMs }
    : { placement: { step: 'settled' }, continueInMs: null }
}

function settled(outcome: Settlement): PlacementStep {
  return { placement: { step: 'settled' }, outcome, continueInMs: null }
}

const firstLookup = (sentAt: Instant, orderId: string | null): LookingUp => ({
  step: 'looking_up',
  sentAt,
  orderId,
  lookups: 0,
  absence: null,
})

const lookUpNow = (from: LookingUp, now: Instant): NextAction => ({
  kind: 'look_up',
  from,
  refresh: isProved(absenceWith(from, now)),
})

const lookUpLater = (placement: LookingUp): PlacementStep => ({
  placement,
  continueInMs: pauseBefore(placement),
})

const pauseBefore = ({ lookups }: LookingUp): number =>
  lookups < lookupsBeforeLate ? (lookupPausesMs[lookups] ?? steadyLookupPauseMs) : lateLookupPauseMs

/** The absence if one more lookup, begun at `now`, does not show the order. */
const absenceWith = (from: LookingUp, now: Instant): Absence => {
  const { absence } = from
  if (absence === null) return { lookups: 1, coveredMs: 0, lastAt: now }
  const gapMs = Math.min(Math.max(now - absence.lastAt, 0), pauseBefore(from))
  return { lookups: absence.lookups + 1, coveredMs: absence.coveredMs + gapMs, lastAt: now }
}

const isProved = ({ lookups, coveredMs }: Absence): boolean =>
  lookups >= absenceProofLookups && coveredMs >= absenceProofMs
