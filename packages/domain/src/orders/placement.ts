// How an order reaches the broker exactly once: a pure machine over what is written down before and after each step, so that a process that
// dies anywhere leaves a record that says what may have happened (decision 23). Nothing is sent from any state but `recorded`, and `sending`
// is written before the send: whoever finds it must ask the broker, never send again.
import type { AccountNotFound, AccountPurposeRestricted, LiveAccountRestricted, NotProvisioned, UnsupportedBroker } from '../errors.ts'
import { minuteMs, secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Fill, RejectReason } from './order.ts'
import type { Settlement } from './transitions.ts'

/** Not sent for certain, as often as it was tried. */
export interface Recorded {
  readonly step: 'recorded'
}
/** About to be sent, or sent without a word of what came of it. */
export interface Sending {
  readonly step: 'sending'
  readonly sentAt: Instant
}
/** May have been executed: the broker's records decide. */
export interface LookingUp {
  readonly step: 'looking_up'
  readonly sentAt: Instant
  /** The broker's number of the order; null where it told none. */
  readonly orderId: string | null
  /** Look-ups made so far, readable or not. */
  readonly lookups: number
  /** The first look-up that could be read and showed nothing; null while there was none. */
  readonly nothingSince: Instant | null
}
export interface Settled {
  readonly step: 'settled'
  readonly settlement: Settlement
}

export type Placement = Recorded | Sending | LookingUp | Settled

/** What the provider answered to the one send, by what it means (provider's return codes). */
export type PlacementAnswer =
  | { readonly kind: 'filled'; readonly fill: Fill }
  | { readonly kind: 'partially_filled'; readonly fill: Fill }
  /** Accepted, and not yet said to be filled; with the broker's number of the order, where it told one. */
  | { readonly kind: 'placed'; readonly orderId: string | null }
  | { readonly kind: 'refused'; readonly reason: RejectReason }
  /** Certainly not executed, for a reason that may pass. */
  | { readonly kind: 'not_sent'; readonly retryAfterMs: number | null }
  /** It may have been executed. */
  | { readonly kind: 'unknown' }

/** What the broker's records show of an order that may have been executed. */
export type LookupAnswer =
  | { readonly kind: 'found'; readonly settlement: Settlement }
  /** The broker holds the order and has not executed it yet. */
  | { readonly kind: 'working' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unreadable' }

/** What to write down, and when to go on; null when there is nothing more to do. */
export interface PlacementStep {
  readonly placement: Placement
  readonly continueInMs: number | null
}

/** How long an order may be tried before the market has moved on. */
export const placementWindowMs = 30 * secondMs
/** How long look-ups must have shown nothing before that is believed. */
export const absenceProofMs = 5 * minuteMs

const retryPauseMs = secondMs
const lookupPausesMs = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * secondMs)
const steadyLookupPauseMs = minuteMs

const brokerUnavailable: RejectReason = {
  code: 'BROKER_UNAVAILABLE',
  message: 'The broker could not be reached in time; the order was not placed.',
}
const notFoundAtBroker: RejectReason = {
  code: 'NOT_FOUND_AT_BROKER',
  message: 'The broker did not confirm the order and shows no trace of it; it was not executed.',
}

/** Why an account can be sent nothing, found when its order was about to be sent. */
export type UnusableAccount = AccountNotFound | AccountPurposeRestricted | LiveAccountRestricted | UnsupportedBroker | NotProvisioned

const unusableReasons: Readonly<Record<UnusableAccount['_tag'], RejectReason>> = {
  AccountNotFound: { code: 'ACCOUNT_NOT_FOUND', message: 'The account is not linked any more; the order was not sent.' },
  AccountPurposeRestricted: {
    code: 'ACCOUNT_PURPOSE_RESTRICTED',
    message: 'The account is not for trading any more; the order was not sent.',
  },
  LiveAccountRestricted: {
    code: 'LIVE_ACCOUNT_RESTRICTED',
    message: 'The broker does not say that this is a demo account; the order was not sent. Link a demo account to trade.',
  },
  UnsupportedBroker: {
    code: 'UNSUPPORTED_BROKER',
    message: 'The account is on a platform that takes no orders now; the order was not sent.',
  },
  NotProvisioned: { code: 'NOT_PROVISIONED', message: 'The account has no account at the provider any more; the order was not sent.' },
}

export const unusableReason = ({ _tag }: UnusableAccount): RejectReason => unusableReasons[_tag]

/** The end of an order whose account can be sent nothing any more. */
export const rejectUnusable = (why: UnusableAccount): PlacementStep => settled({ kind: 'rejected', reason: unusableReason(why) })

export type NextAction = 'send' | 'look_up' | 'reject_late' | 'none'

/** What a settler that takes the placement up has to do, whoever left it there. */
export const nextAction = (placement: Placement, createdAt: Instant, now: Instant): NextAction => {
  switch (placement.step) {
    case 'recorded':
      // A market order that was never sent is not sent late, at a price that nobody asked for.
      return now - createdAt < placementWindowMs ? 'send' : 'reject_late'
    case 'sending':
    case 'looking_up':
      return 'look_up'
    case 'settled':
      return 'none'
  }
}

/** The end of an order that could not be sent in time. */
export const rejectLate: PlacementStep = settled({ kind: 'rejected', reason: brokerUnavailable })

/** What follows from the provider's answer to the send. */
export const afterSend = (sending: Sending, answer: PlacementAnswer, createdAt: Instant, now: Instant): PlacementStep => {
  switch (answer.kind) {
    case 'filled':
    case 'partially_filled':
      return settled(answer)
    case 'refused':
      return settled({ kind: 'rejected', reason: answer.reason })
    case 'not_sent': {
      const pause = Math.max(retryPauseMs, answer.retryAfterMs ?? 0)
      // How old an order is that seems to come from the future, because a clock was set back, nobody knows: it is not tried again.
      const isAgeKnown = createdAt - now < placementWindowMs
      const isInTime = isAgeKnown && now + pause - createdAt < placementWindowMs
      return isInTime ? { placement: { step: 'recorded' }, continueInMs: pause } : rejectLate
    }
    case 'placed':
      return lookUpLater(firstLookup(sending, answer.orderId))
    case 'unknown':
      return lookUpLater(firstLookup(sending, null))
  }
}

const firstLookup = ({ sentAt }: Sending, orderId: string | null): LookingUp => ({
  step: 'looking_up',
  sentAt,
  orderId,
  lookups: 0,
  nothingSince: null,
})

/** What follows from a look-up at the broker; a crash before the answer was written down counts as an unknown answer. */
export const afterLookup = (before: Sending | LookingUp, answer: LookupAnswer, now: Instant): PlacementStep => {
  if (answer.kind === 'found') return settled(answer.settlement)
  const { lookups, nothingSince, orderId } = before.step === 'looking_up' ? before : firstLookup(before, null)
  const counted: LookingUp = { step: 'looking_up', sentAt: before.sentAt, orderId, lookups: lookups + 1, nothingSince }
  switch (answer.kind) {
    case 'unreadable':
      return lookUpLater(counted)
    case 'working':
      return lookUpLater({ ...counted, nothingSince: null })
    case 'nothing': {
      // From a clock that was set back meanwhile the proof begins anew.
      const since = Math.min(nothingSince ?? now, now)
      if (now - since >= absenceProofMs) return settled({ kind: 'rejected', reason: notFoundAtBroker })
      return lookUpLater({ ...counted, nothingSince: since })
    }
  }
}

function settled(settlement: Settlement): PlacementStep {
  return { placement: { step: 'settled', settlement }, continueInMs: null }
}

const lookUpLater = (placement: LookingUp): PlacementStep => ({
  placement,
  continueInMs: lookupPausesMs[placement.lookups] ?? steadyLookupPauseMs,
})
