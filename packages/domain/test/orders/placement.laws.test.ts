// The placement machine by itself: its windows, pauses and the proof of absence. What it does under
// faults is in simulation/order-simulation.test.ts.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  absenceProofLookups,
  absenceProofMs,
  afterLookup,
  retryOrReject,
  afterSendAnswer,
  afterVerification,
  nextAction,
  maxSendAgeMs,
  lateRejection,
  rejectUnusable,
  type LookupAnswer,
  type NextAction,
  type PlacementAnswer,
  type Transition,
  type SentBefore,
} from '../../src/orders/placement.ts'
import type {
  Confirming,
  LookingUp,
  Placement,
  Rechecking,
  Sending,
  Open,
} from '../../src/orders/placement-state.ts'
import type { CancelReason, OrderOutcome, OrderTerms } from '../../src/orders/order.ts'
import { hourMs, minuteMs, secondMs, type AccountId } from '../../src/primitives/index.ts'
import type { UnavailableCause } from '../../src/errors.ts'

const createdAt = Date.UTC(2026, 0, 5, 12)
const sending: Sending = { step: 'sending', sentAt: createdAt + 7 }
const lookingUp: LookingUp = {
  step: 'looking_up',
  sentAt: createdAt + 7,
  brokerOrderId: null,
  lookups: 0,
  absence: null,
}
const rechecking: Rechecking = {
  step: 'rechecking',
  sentAt: createdAt + 7,
  brokerOrderId: null,
  rechecks: 0,
}
const sinceCreation = { ...lookingUp, sentAt: createdAt }
const fill = { price: 1.1 }
const filled: OrderOutcome = { kind: 'filled', fill }
const reason = { code: 'TRADE_RETCODE_NO_MONEY', message: 'no money' }

const ended = (outcome: OrderOutcome): Transition => ({
  placement: { step: 'ended' },
  outcome,
  continueInMs: null,
})
const retryIn = (continueInMs: number): Transition => ({
  placement: { step: 'recorded' },
  continueInMs,
})
const lookUpIn = (placement: LookingUp, continueInMs: number): Transition => ({
  placement,
  continueInMs,
})

const terms: OrderTerms = { price: 1.1, stopLoss: 1.05, timeInForce: 'gtc' }
const order = { ...terms, brokerOrderId: '7', isUnexecuted: true }
const open: Open = {
  step: 'open',
  sentAt: sending.sentAt,
  unexecutedAt: sending.sentAt,
  brokerOrderId: '7',
  cancellation: null,
  missing: null,
}
const anyNumber = { ...open, brokerOrderId: null }
const isHeld = { placement: open, terms, continueInMs: null }
const shown: LookupAnswer = { kind: 'open', order }
const cancelledAtBroker: OrderOutcome = { kind: 'cancelled', reason: 'broker', at: 5 }

const cancelled: LookupAnswer = { kind: 'found', outcome: cancelledAtBroker }
const confirming = (lookups: number, cancellation: Open['cancellation'] = null): Confirming => ({
  ...open,
  step: 'confirming',
  cancellation,
  missing: { since: createdAt, lookups },
})

const lookUp = (from: LookingUp | Open, readFromTerminal = false): NextAction => ({
  kind: 'look_up',
  from,
  readFromTerminal,
})

describe('the next action', () => {
  const recorded = { step: 'recorded' } as const
  it.each<[Placement, SentBefore, number, NextAction]>([
    [recorded, 'no', 1, { kind: 'send' }],
    [recorded, 'no', 0, { kind: 'reject_late' }],
    [recorded, 'unlikely', 1, { kind: 'verify_and_send' }],
    [recorded, 'unlikely', 0, lookUp(sinceCreation)],
    [recorded, 'possible', maxSendAgeMs, lookUp(sinceCreation)],
    [sending, 'no', 1, lookUp(lookingUp)],
    [lookingUp, 'no', 1, lookUp(lookingUp)],
    [open, 'no', 1, lookUp(open, true)],
    [rechecking, 'no', 1, { kind: 'look_up', from: rechecking, readFromTerminal: true }],
    [{ step: 'ended' }, 'no', 1, { kind: 'none' }],
  ])('of %o, sent before: %s, with %i ms left is %o', (placement, ...context) => {
    const [sentBefore, timeToDeadlineMs, action] = context
    const now = createdAt
    expect(nextAction(placement, { sentBefore, timeToDeadlineMs, createdAt, now })).toEqual(action)
  })
})

describe('the provider’s answer to a send', () => {
  it.each<[PlacementAnswer, Transition]>([
    [filled, ended(filled)],
    [{ kind: 'partially_filled', fill }, ended({ kind: 'partially_filled', fill })],
    [{ kind: 'refused', reason }, ended({ kind: 'rejected', reason })],
    [
      { kind: 'accepted', brokerOrderId: '46000801' },
      lookUpIn({ ...lookingUp, brokerOrderId: '46000801' }, secondMs),
    ],
    [
      { kind: 'accepted', brokerOrderId: null, isPartlyExecuted: true },
      lookUpIn({ ...lookingUp, isPartlyExecuted: true }, secondMs),
    ],
    [{ kind: 'unknown' }, lookUpIn(lookingUp, secondMs)],
    [
      { kind: 'open', brokerOrderId: '7' },
      { placement: open, continueInMs: null },
    ],
    [
      { kind: 'open', brokerOrderId: null },
      { placement: anyNumber, continueInMs: secondMs },
    ],
  ])('%o is followed by %o', (answer, step) => {
    expect(afterSendAnswer(sending, answer, maxSendAgeMs)).toEqual(step)
  })

  it.each<[number | null, number, Transition, UnavailableCause?]>([
    [null, secondMs, lateRejection('token_refused'), 'token_refused'],
    [0, secondMs, lateRejection('unreachable')],
    [null, secondMs + 1, retryIn(secondMs)],
    [25 * secondMs, 25 * secondMs + 1, retryIn(25 * secondMs)],
    [25 * secondMs, 25 * secondMs, lateRejection('told_to_wait')],
    [25 * secondMs, secondMs, lateRejection('token_refused'), 'token_refused'],
    [null, -hourMs, lateRejection('unreachable')],
  ])(
    'that it was not sent, with a retry after %o ms and %i ms left, is followed by %o',
    (retryAfterMs, leftMs, step, cause) => {
      expect(retryOrReject(retryAfterMs, leftMs, cause)).toEqual(step)
      expect(afterSendAnswer(sending, { kind: 'not_sent', retryAfterMs, cause }, leftMs)).toEqual(
        step,
      )
    },
  )
})

it.each<[LookupAnswer, number, Transition | undefined]>([
  [{ kind: 'nothing' }, 1, undefined],
  [{ kind: 'nothing' }, 0, lookUpIn(sinceCreation, secondMs)],
  [{ kind: 'unreadable' }, secondMs + 1, retryIn(secondMs)],
  [{ kind: 'unreadable' }, secondMs, lookUpIn(sinceCreation, secondMs)],
  [{ kind: 'unfinished' }, maxSendAgeMs, lookUpIn(sinceCreation, secondMs)],
])(
  'the lookup before the first send of another process’s order %o with %i ms left is followed by %o',
  (answer, leftMs, step) => {
    expect(afterVerification(answer, leftMs, createdAt)).toEqual(step)
  },
)

/**
 * The steps that follow from these answers, each looked up when it is due; they end with the first
 * that has an outcome.
 */
const stepsAfter = (
  kinds: readonly ('nothing' | 'unreadable' | 'unfinished')[],
  lateMs = 0,
): readonly Transition[] => {
  const steps: Transition[] = [
    afterSendAnswer(sending, { kind: 'accepted', brokerOrderId: '46000801' }, 0),
  ]
  let now = createdAt
  for (const kind of kinds) {
    const { placement, continueInMs } = steps.at(-1) ?? expect.fail('there is a first step')
    if (placement.step !== 'looking_up') break
    now += (continueInMs ?? 0) + lateMs
    const action = nextAction(placement, {
      sentBefore: 'unlikely',
      timeToDeadlineMs: 0,
      createdAt,
      now,
    })
    if (action.kind !== 'look_up') return expect.fail(action.kind)
    steps.push(afterLookup(action.from, { kind }, now, action.readFromTerminal))
  }
  return steps
}

const repeated = <A>(value: A, count: number): readonly A[] => times(count, () => value)

describe('lookups', () => {
  it.each(['unreadable', 'unfinished'] as const)(
    'come after growing pauses, and for as long as the answer is %s',
    (kind) => {
      const pauses = stepsAfter(repeated(kind, 200)).map(({ continueInMs }) => continueInMs)
      const first = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * secondMs)
      expect(pauses).toEqual([
        ...first,
        ...repeated(minuteMs, 60),
        ...repeated(15 * minuteMs, 200 - first.length - 60 + 1),
      ])
    },
  )

  it('prove absence after five minutes of nothing, with a refreshed lookup', () => {
    const steps = stepsAfter(repeated('nothing', 20))
    const before = steps.at(-2)?.placement
    expect(before).toMatchObject({ step: 'looking_up', absence: { coveredMs: 247_000 } })
    expect(steps.at(-1)).toEqual({
      placement: {
        step: 'rechecking',
        sentAt: sending.sentAt,
        brokerOrderId: '46000801',
        rechecks: 0,
      },
      outcome: {
        kind: 'rejected',
        reason: {
          code: 'NOT_FOUND_AT_BROKER',
          message:
            'The broker did not confirm the order and its records do not show it; it was not executed.',
        },
      },
      continueInMs: hourMs,
    })
  })

  it.each([
    [{ lookups: 4, coveredMs: 240_000 }, minuteMs, true, 'rechecking'],
    [{ lookups: 4, coveredMs: 240_000 }, minuteMs - 1, true, 'looking_up'],
    [{ lookups: 3, coveredMs: 240_000 }, minuteMs, true, 'looking_up'],
    [{ lookups: 4, coveredMs: 240_000 }, minuteMs, false, 'looking_up'],
    // A gap counts for its scheduled pause at most, and for nothing when the clock was set back.
    [{ lookups: 4, coveredMs: 239_999 }, hourMs, true, 'looking_up'],
    [{ lookups: 4, coveredMs: 300_000 }, -hourMs, true, 'rechecking'],
    [{ lookups: 4, coveredMs: 299_999 }, -hourMs, true, 'looking_up'],
  ])(
    'that showed nothing before, %o, and nothing %i ms later, refreshed: %o, lead to %s',
    (absence, gapMs, readFromTerminal, step) => {
      const from = {
        ...lookingUp,
        lookups: 10,
        absence: { ...absence, lastAt: createdAt },
      }
      expect(
        afterLookup(from, { kind: 'nothing' }, createdAt + gapMs, readFromTerminal).placement.step,
      ).toBe(step)
    },
  )

  it('prove absence only by an unbroken row of them that covers five minutes, however late each comes', () => {
    const kinds = fc.array(
      fc.constantFrom('nothing', 'nothing', 'nothing', 'nothing', 'unreadable', 'unfinished'),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(kinds, fc.integer({ min: -hourMs, max: hourMs }), (drawn, lateMs) => {
        const steps = stepsAfter(drawn, lateMs)
        const answered = drawn.slice(0, steps.length - 1)
        const row = answered.length - 1 - answered.findLastIndex((kind) => kind !== 'nothing')
        const pausesMs = steps
          .slice(-row, -1)
          .reduce((sum, { continueInMs }) => sum + (continueInMs ?? 0), 0)
        const isProved = steps.at(-1)?.placement.step === 'rechecking'
        if (isProved)
          expect([row >= absenceProofLookups, pausesMs >= absenceProofMs]).toEqual([true, true])
        else if (row > 0 && lateMs >= 0)
          expect(row < absenceProofLookups || pausesMs < absenceProofMs).toBe(true)
        expect(steps.slice(0, -1).every(({ outcome }) => outcome === undefined)).toBe(true)
      }),
    )
  })
})

describe('an order that was rejected as not found', () => {
  it.each<[LookupAnswer, Transition]>([
    [{ kind: 'unfinished' }, { placement: rechecking, continueInMs: minuteMs }],
    [{ kind: 'nothing' }, { placement: { ...rechecking, rechecks: 1 }, continueInMs: hourMs }],
    [{ kind: 'unreadable' }, { placement: rechecking, continueInMs: hourMs }],
  ])('is looked up again: %o is followed by %o', (answer, step) => {
    expect(afterLookup(rechecking, answer, createdAt, true)).toEqual(step)
  })

  it('is looked up for a day, or a week where its records cannot be read or show no end', () => {
    const last = { placement: { step: 'ended' }, continueInMs: null }
    const from: Rechecking = { ...rechecking, rechecks: 23 }
    expect(afterLookup(from, { kind: 'nothing' }, createdAt, true)).toEqual(last)
    const weekLater = rechecking.sentAt + 7 * 24 * hourMs
    for (const kind of ['unreadable', 'unfinished'] as const) {
      const after = (at: number) => afterLookup(rechecking, { kind }, at, true)
      expect(after(weekLater - 1).placement).toEqual(rechecking)
      expect(after(weekLater)).toEqual({ ...last, isUnverified: true })
    }
  })
})

describe('a pending order', () => {
  it.each<[string, (answer: LookupAnswer) => Transition | undefined]>([
    ['was sent', (answer) => afterLookup(lookingUp, answer, createdAt, false)],
    ['another process recorded', (answer) => afterVerification(answer, 0, sending.sentAt)],
    ['was rejected as not found', (answer) => afterLookup(rechecking, answer, createdAt, true)],
    ['is open', (answer) => afterLookup(anyNumber, answer, createdAt, false)],
  ])('that %s is open once a lookup shows that the broker holds it', (_, after) => {
    expect(after(shown)).toMatchObject({
      placement: { step: 'open', brokerOrderId: '7', missing: null },
      terms,
      continueInMs: null,
    })
    expect(after({ kind: 'open' })).toMatchObject({ placement: { step: 'open' } })
    expect(after({ kind: 'found', outcome: filled })).toEqual(ended(filled))
  })

  it.each<[CancelReason | null, OrderOutcome, OrderOutcome]>([
    [null, cancelledAtBroker, cancelledAtBroker],
    ['user', cancelledAtBroker, { ...cancelledAtBroker, reason: 'user' }],
    ['halt', cancelledAtBroker, { ...cancelledAtBroker, reason: 'halt' }],
    // The cancellation lost against the fill, or came after the end.
    ['user', filled, filled],
    ['user', { kind: 'expired', at: 5 }, { kind: 'expired', at: 5 }],
    ['user', { kind: 'rejected', reason }, { kind: 'rejected', reason }],
  ])('that %s cancelled and the broker shows as %o ends as %o', (by, outcome, end) => {
    const cancellation = by && { by, isConfirmed: false }
    const from = { ...open, cancellation, missing: { since: createdAt, lookups: 1 } }
    const after = afterLookup(from, { kind: 'found', outcome }, createdAt, true)
    const mayGoOn = end.kind === 'cancelled'
    expect(after).toEqual(
      mayGoOn
        ? { placement: confirming(0, cancellation), outcome: end, continueInMs: 10 * secondMs }
        : ended(end),
    )
  })

  it('whose cancellation the broker confirmed ends at once', () => {
    const from = { ...open, cancellation: { by: 'user', isConfirmed: true } } as const
    const answer = { kind: 'found', outcome: cancelledAtBroker } as const
    const end = { ...cancelledAtBroker, reason: 'user' } as const
    expect(afterLookup(from, answer, createdAt, true)).toEqual(ended(end))
  })

  const again = { outcome: cancelledAtBroker, continueInMs: minuteMs }
  const unverified = {
    placement: { step: 'ended' },
    isUnverified: true,
    continueInMs: null,
  } as const
  it.each<[LookupAnswer, number, Transition]>([
    // Shown as cancelled twice more, ten seconds and another minute later.
    [cancelled, 0, { placement: confirming(1), ...again }],
    [cancelled, 1, ended(cancelledAtBroker)],
    // Placed again, or executed, under another number.
    [
      { kind: 'open', order: { ...order, isUnexecuted: false } },
      0,
      { ...isHeld, terms: expect.objectContaining(terms) as OrderTerms },
    ],
    [{ kind: 'found', outcome: filled }, 0, ended(filled)],
    // Nothing certain, for ten lookups.
    ...(['nothing', 'unreadable', 'open'] as const).flatMap(
      (kind): [LookupAnswer, number, Transition][] => [
        [{ kind }, 0, { placement: confirming(1), continueInMs: minuteMs }],
        [{ kind }, 8, { placement: confirming(9), continueInMs: minuteMs }],
        [{ kind }, 9, unverified],
      ],
    ),
    [cancelled, 9, ended(cancelledAtBroker)],
  ])(
    'that the broker cancelled and then shows as %o, after %i lookups, goes on with %o',
    (answer, lookups, next) => {
      expect(afterLookup(confirming(lookups), answer, createdAt, true)).toEqual(next)
    },
  )

  const since = createdAt - hourMs
  const goneSince = (since: number, lookups: number): Open => ({
    ...open,
    missing: { since, lookups },
  })
  it.each([
    [open, 'unreadable', { placement: open, continueInMs: minuteMs }],
    ...(['nothing', 'open'] as const).map((kind): [Open, LookupAnswer['kind'], Transition] => [
      open,
      kind,
      { placement: goneSince(createdAt, 1), continueInMs: secondMs },
    ]),
    ...(['nothing', 'open', 'unreadable'] as const).map(
      (kind): [Open, LookupAnswer['kind'], Transition] => [
        goneSince(since, 2),
        kind,
        { placement: goneSince(since, 3), continueInMs: 10 * secondMs },
      ],
    ),
    // What the broker cancelled counts as soon as it is not placed again any more.
    [
      goneSince(createdAt - 700, 2),
      'open',
      { placement: goneSince(createdAt - 700, 3), continueInMs: 300 },
    ],
  ])(
    'that the broker held, %o, and whose lookup answers only %s, goes on with %o',
    (from, kind, next) => {
      expect(afterLookup(from, { kind } as LookupAnswer, createdAt, true)).toEqual(next)
    },
  )

  it.each([true, false, undefined])(
    'whose number the broker replaced keeps its new one, and was held until now if it is unexecuted (%s)',
    (isUnexecuted) => {
      const renumbered = { ...order, brokerOrderId: '8', isUnexecuted }
      const at = createdAt + hourMs
      const answer: LookupAnswer = { kind: 'open', order: renumbered }
      expect(afterLookup(open, answer, at, true)).toEqual({
        ...isHeld,
        placement: {
          ...open,
          brokerOrderId: '8',
          unexecutedAt: isUnexecuted ? at : open.unexecutedAt,
        },
      })
    },
  )
})

describe('an order that can no longer be sent', () => {
  const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
  it.each([
    [
      lateRejection('unreachable'),
      'BROKER_UNAVAILABLE',
      /not be sent to the broker within 30 seconds; it was not placed/,
    ],
    [lateRejection('token_refused'), 'BROKER_UNAVAILABLE', /refused the token that the operator/],
    [
      lateRejection('told_to_wait'),
      'BROKER_UNAVAILABLE',
      /provider limits requests, or an earlier trade/,
    ],
    [lateRejection('no_slot'), 'BROKER_UNAVAILABLE', /Other orders were still being sent/],
    [lateRejection('overdue'), 'BROKER_UNAVAILABLE', /service could not send the order within 30/],
    ...(
      [
        [{ _tag: 'AccountNotFound' }, 'ACCOUNT_NOT_FOUND', /no longer linked; the order was not/],
        [
          { _tag: 'AccountPurposeRestricted' },
          'ACCOUNT_PURPOSE_RESTRICTED',
          /no longer for trading/,
        ],
        [{ _tag: 'AccountRelinked' }, 'ACCOUNT_RELINKED', /linked to another broker account/],
        [{ _tag: 'LiveAccountRestricted' }, 'LIVE_ACCOUNT_RESTRICTED', /Link a demo account/],
        [{ _tag: 'UnsupportedBroker', accountId }, 'UNSUPPORTED_BROKER', /platform/],
        [{ _tag: 'NotProvisioned', accountId }, 'NOT_PROVISIONED', /no longer connected/],
      ] as const
    ).map(([why, code, message]): [Transition, string, RegExp] => [
      rejectUnusable(why),
      code,
      message,
    ]),
  ])('%# is rejected as %s', (step, code, message) => {
    expect(step).toEqual(
      ended({ kind: 'rejected', reason: { code, message: expect.stringMatching(message) } }),
    )
  })
})
