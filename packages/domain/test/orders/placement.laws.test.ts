// The placement machine against a broker that may do anything, with a process that dies anywhere: never sent twice, never rejected while it may
// have been executed, and always settled once the broker can be read (decision 23).
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  absenceProofMs,
  afterLookup,
  afterSend,
  nextAction,
  placementWindowMs,
  rejectLate,
  rejectUnusable,
  unusableReason,
} from '../../src/orders/placement.ts'
import type {
  LookingUp,
  LookupAnswer,
  NextAction,
  Placement,
  PlacementAnswer,
  PlacementStep,
  Sending,
  UnusableAccount,
} from '../../src/orders/placement.ts'
import type { Settlement } from '../../src/orders/transitions.ts'
import type { AccountId } from '../../src/primitives/ids.ts'

type Crash = 'none' | 'before sending' | 'after sending' | 'after the look-up'

/** One turn of a settler, as the world decides it. */
interface Turn {
  readonly crash: Crash
  /** What the broker does with a send: it executes the order or not, and answers so or says nothing. */
  readonly executes: boolean
  readonly answer: 'true' | 'lost' | 'not_sent'
  readonly isReadable: boolean
  readonly delayMs: number
}

const turn: fc.Arbitrary<Turn> = fc.record({
  crash: fc.constantFrom<Crash>('none', 'none', 'none', 'before sending', 'after sending', 'after the look-up'),
  executes: fc.boolean(),
  answer: fc.constantFrom('true', 'lost', 'not_sent'),
  isReadable: fc.boolean(),
  delayMs: fc.integer({ min: 0, max: 20_000 }),
})

interface World {
  now: number
  placement: Placement
  sends: number
  executions: number
}

const fill = { price: 1.1 }
const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId

// What a settler does between two durable writes; a crash leaves what was written before it.
const runTurn = (world: World, { crash, executes, answer, isReadable, delayMs }: Turn): void => {
  world.now += delayMs
  const action = nextAction(world.placement, 0, world.now)
  if (action === 'none') return
  if (action === 'reject_late') return write(world, rejectLate)
  if (action === 'send') {
    const sending: Sending = { step: 'sending', sentAt: world.now }
    world.placement = sending
    if (crash === 'before sending') return
    world.sends += 1
    const isExecuted = answer !== 'not_sent' && executes
    if (isExecuted) world.executions += 1
    if (crash === 'after sending') return
    write(world, afterSend(sending, answerOf(answer, isExecuted), 0, world.now))
    return
  }
  if (world.placement.step !== 'sending' && world.placement.step !== 'looking_up') return
  if (crash === 'after the look-up') return
  write(world, afterLookup(world.placement, lookupOf(isReadable, world.executions > 0), world.now))
}

const answerOf = (answer: Turn['answer'], isExecuted: boolean): PlacementAnswer => {
  if (answer === 'not_sent') return { kind: 'not_sent', retryAfterMs: null }
  if (answer === 'lost') return { kind: 'unknown' }
  return isExecuted ? { kind: 'filled', fill } : { kind: 'refused', reason: { code: 'TRADE_RETCODE_NO_MONEY', message: 'no money' } }
}

const lookupOf = (isReadable: boolean, isExecuted: boolean): LookupAnswer => {
  if (!isReadable) return { kind: 'unreadable' }
  return isExecuted ? { kind: 'found', settlement: { kind: 'filled', fill } } : { kind: 'nothing' }
}

const write = (world: World, { placement, continueInMs }: PlacementStep): void => {
  world.placement = placement
  world.now += continueInMs ?? 0
}

const newWorld = (): World => ({ now: 0, placement: { step: 'recorded' }, sends: 0, executions: 0 })

describe('a placement', () => {
  it('is executed at most once, and its settlement says what the broker did', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
        const world = newWorld()
        for (const next of turns) {
          runTurn(world, next)
          expect(world.executions).toBeLessThanOrEqual(1)
          if (world.placement.step === 'settled') expect(world.placement.settlement.kind === 'filled').toBe(world.executions === 1)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('is settled in the end, once the broker can be read again and no process dies', () => {
    const calm: Turn = { crash: 'none', executes: true, answer: 'true', isReadable: true, delayMs: 0 }
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 20 }), (turns) => {
        const world = newWorld()
        for (const next of [...turns, ...Array.from({ length: 20 }, () => calm)]) runTurn(world, next)
        expect(world.placement.step).toBe('settled')
      }),
    )
  })

  it.each<[Placement, NextAction]>([
    [{ step: 'sending', sentAt: 0 }, 'look_up'],
    [{ step: 'looking_up', sentAt: 0, orderId: null, lookups: 0, nothingSince: null }, 'look_up'],
    [{ step: 'settled', settlement: { kind: 'filled', fill } }, 'none'],
  ])('is never sent again once it may have been sent: of %o follows %s', (placement, action) => {
    expect(nextAction(placement, 0, 1)).toBe(action)
  })
})

describe('the provider’s answer to a send', () => {
  const sending: Sending = { step: 'sending', sentAt: 7 }
  const reason = { code: 'TRADE_RETCODE_NO_MONEY', message: 'no money' }

  it.each<[PlacementAnswer, Settlement]>([
    [
      { kind: 'filled', fill },
      { kind: 'filled', fill },
    ],
    [
      { kind: 'partially_filled', fill },
      { kind: 'partially_filled', fill },
    ],
    [
      { kind: 'refused', reason },
      { kind: 'rejected', reason },
    ],
  ])('%o settles the order', (answer, settlement) => {
    expect(afterSend(sending, answer, 0, 9)).toEqual({ placement: { step: 'settled', settlement }, continueInMs: null })
  })

  it('keeps the number that the broker gave an order for every look-up, whatever the look-ups before it showed', () => {
    const { placement } = afterSend({ step: 'sending', sentAt: 7 }, { kind: 'placed', orderId: '46000801' }, 0, 8)
    const answers = fc.array(fc.constantFrom('working', 'nothing', 'unreadable'), { maxLength: 20 })
    fc.assert(
      fc.property(answers, (kinds) => {
        let now = 8
        let looking = placement
        for (const kind of kinds) {
          if (looking.step === 'looking_up') looking = afterLookup(looking, { kind }, (now += 1_000)).placement
        }
        expect(looking).toMatchObject({ step: 'looking_up', orderId: '46000801' })
      }),
    )
  })

  it.each<PlacementAnswer>([{ kind: 'placed', orderId: null }, { kind: 'unknown' }])('%o leaves it to the broker’s records', (answer) => {
    expect(afterSend(sending, answer, 0, 9)).toEqual({
      placement: { step: 'looking_up', sentAt: 7, orderId: null, lookups: 0, nothingSince: null },
      continueInMs: 1_000,
    })
  })
})

describe('look-ups', () => {
  const sending: Sending = { step: 'sending', sentAt: 0 }

  const pausesOf = (answer: LookupAnswer, count: number): readonly number[] => {
    const pauses: number[] = []
    let step: PlacementStep = afterSend(sending, { kind: 'unknown' }, 0, 0)
    let now = 0
    while (pauses.length < count && step.continueInMs !== null && step.placement.step === 'looking_up') {
      pauses.push(step.continueInMs / 1_000)
      now += step.continueInMs
      step = afterLookup(step.placement, answer, now)
    }
    return pauses
  }

  it('come after 1, 2, 5, 10, 20, 30 and then every 60 seconds', () => {
    expect(pausesOf({ kind: 'unreadable' }, 9)).toEqual([1, 2, 5, 10, 20, 30, 60, 60, 60])
  })

  it('go on while the broker cannot be read, however long', () => {
    expect(pausesOf({ kind: 'unreadable' }, 500)).toHaveLength(500)
  })

  it('go on while the broker holds the order', () => {
    expect(pausesOf({ kind: 'working' }, 500)).toHaveLength(500)
  })

  it('believe in nothing only after five minutes of nothing', () => {
    const first = afterLookup(sending, { kind: 'nothing' }, 1_000)
    if (first.placement.step !== 'looking_up') return expect.fail('rejected at once')
    const early = afterLookup(first.placement, { kind: 'nothing' }, 1_000 + absenceProofMs - 1)
    expect(early.placement.step).toBe('looking_up')
    const late = afterLookup(first.placement, { kind: 'nothing' }, 1_000 + absenceProofMs)
    expect(late.placement).toEqual({
      step: 'settled',
      settlement: {
        kind: 'rejected',
        reason: {
          code: 'NOT_FOUND_AT_BROKER',
          message: 'The broker did not confirm the order and shows no trace of it; it was not executed.',
        },
      },
    })
    expect(absenceProofMs).toBe(300_000)
  })

  it('count a process that died before it wrote down the answer as one that got none', () => {
    expect(afterLookup({ step: 'sending', sentAt: 7 }, { kind: 'unreadable' }, 9)).toEqual({
      placement: { step: 'looking_up', sentAt: 7, orderId: null, lookups: 1, nothingSince: null },
      continueInMs: 2_000,
    })
    expect(afterLookup({ step: 'sending', sentAt: 7 }, { kind: 'nothing' }, 9).placement).toMatchObject({ lookups: 1, nothingSince: 9 })
  })

  it('forget nothing of the proof when the broker cannot be read for once', () => {
    const first = afterLookup(sending, { kind: 'nothing' }, 0)
    const unread = afterLookup(first.placement as LookingUp, { kind: 'unreadable' }, absenceProofMs - 1)
    expect(unread.placement).toEqual({ step: 'looking_up', sentAt: 0, orderId: null, lookups: 2, nothingSince: 0 })
    expect(afterLookup(unread.placement as LookingUp, { kind: 'nothing' }, absenceProofMs).placement.step).toBe('settled')
  })

  it('begin the proof anew when the clock was set back, and wait no longer than that', () => {
    const first = afterLookup(sending, { kind: 'nothing' }, 60 * 60_000)
    const back = afterLookup(first.placement as LookingUp, { kind: 'nothing' }, 0)
    expect(back.placement).toMatchObject({ step: 'looking_up', nothingSince: 0 })
    expect(afterLookup(back.placement as LookingUp, { kind: 'nothing' }, absenceProofMs - 1).placement.step).toBe('looking_up')
    expect(afterLookup(back.placement as LookingUp, { kind: 'nothing' }, absenceProofMs).placement.step).toBe('settled')
  })

  it('begin the proof anew when the order was seen in between', () => {
    const first = afterLookup(sending, { kind: 'nothing' }, 0)
    const seen = afterLookup(first.placement as Sending, { kind: 'working' }, 1_000)
    const gone = afterLookup(seen.placement as Sending, { kind: 'nothing' }, absenceProofMs)
    expect(gone.placement.step).toBe('looking_up')
  })
})

describe('sends that did not happen', () => {
  // Orders are not created at the beginning of time.
  const createdAt = 1_767_600_000_000
  const sending: Sending = { step: 'sending', sentAt: createdAt }
  const notSent = (retryAfterMs: number | null, age: number) =>
    afterSend(sending, { kind: 'not_sent', retryAfterMs }, createdAt, createdAt + age)

  const later = (age: number): NextAction => nextAction({ step: 'recorded' }, createdAt, createdAt + age)

  it('are tried again while the order is young', () => {
    expect(notSent(null, 5_000)).toEqual({ placement: { step: 'recorded' }, continueInMs: 1_000 })
    expect(notSent(4_000, 5_000)).toEqual({ placement: { step: 'recorded' }, continueInMs: 4_000 })
  })

  it('end the order when the broker asks to wait for longer than is left', () => {
    expect(notSent(25_000, 5_000)).toEqual(rejectLate)
    expect(notSent(null, placementWindowMs)).toEqual(rejectLate)
    expect(rejectLate).toEqual({
      placement: {
        step: 'settled',
        settlement: {
          kind: 'rejected',
          reason: { code: 'BROKER_UNAVAILABLE', message: 'The broker could not be reached in time; the order was not placed.' },
        },
      },
      continueInMs: null,
    })
  })

  it('are not repeated when the clock was set back since the order was made, whose age nobody knows', () => {
    expect(notSent(null, -60 * 60_000)).toEqual(rejectLate)
    // Clocks of instances differ a little.
    expect(notSent(null, -1_000)).toEqual({ placement: { step: 'recorded' }, continueInMs: 1_000 })
    expect(notSent(null, 1 - placementWindowMs)).toMatchObject({ placement: { step: 'recorded' } })
    expect(notSent(null, -placementWindowMs)).toEqual(rejectLate)
  })

  it('are not made at all once the order is old', () => {
    expect(later(placementWindowMs - 1)).toBe('send')
    expect(later(placementWindowMs)).toBe('reject_late')
    expect(placementWindowMs).toBe(30_000)
  })
})

describe('orders of an account that can be sent nothing any more', () => {
  it.each<[UnusableAccount, string, RegExp]>([
    [{ _tag: 'AccountNotFound' }, 'ACCOUNT_NOT_FOUND', /not linked/],
    [{ _tag: 'AccountPurposeRestricted' }, 'ACCOUNT_PURPOSE_RESTRICTED', /not for trading/],
    [{ _tag: 'LiveAccountRestricted' }, 'LIVE_ACCOUNT_RESTRICTED', /demo account/],
    [{ _tag: 'UnsupportedBroker', accountId }, 'UNSUPPORTED_BROKER', /platform/],
    [{ _tag: 'NotProvisioned', accountId }, 'NOT_PROVISIONED', /no account at the provider/],
  ])('are rejected, with what the account is and that nothing was sent: %o', (why, code, said) => {
    const { placement, continueInMs } = rejectUnusable(why)
    expect(continueInMs).toBeNull()
    expect(placement).toMatchObject({ step: 'settled', settlement: { kind: 'rejected', reason: { code } } })
    expect(unusableReason(why).message).toMatch(said)
    expect(unusableReason(why).message).toContain('the order was not sent')
  })
})
