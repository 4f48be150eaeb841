// The rule of limits as rows: at which figure each limit refuses, which one is named, and what is
// kept for how long.
import { describe, expect, it } from 'vitest'
import {
  caughtUp,
  decideRate,
  movedTo,
  rateStateEnds,
  rateVerdict,
  stricterRateState,
  unusedRateState,
} from '../../src/access/rate-decision.ts'
import type { RateState, RateVerdict } from '../../src/access/rate-decision.ts'
import type { EndpointLimit } from '../../src/access/rate-limits.ts'
import { dayMs, minuteMs } from '../../src/primitives/instant.ts'
import { exportLimit } from '../../src/testing/rate-arbitraries.ts'

const day = Math.floor(Date.parse('2026-03-07T00:00:00Z') / dayMs)
const midnight = (day + 1) * dayMs
const noon = midnight - dayMs / 2

const at = (now: number, fields: Partial<RateState> = {}): RateState => ({
  ...unusedRateState,
  at: now,
  day,
  ...fields,
})
// The instant at which a bucket of the free plan's minute is full again, of which so many requests
// have been taken.
const minuteTaken = (requests: number, now: number): number => now + requests * 600

// When requests of this, and of the export, would have to wait for so long.
const minuteWaits = (ms: number, now: number) => minuteTaken(299, now) + ms
const exportWaits = (ms: number, now: number) => ({ [exportLimit.route]: now + 9 * 360_000 + ms })

const ask = (
  state: RateState,
  now: number,
  endpoint?: EndpointLimit,
): RateVerdict & { readonly next: RateState; readonly outcome: string } => {
  const decision = decideRate(state, 'free', endpoint, now)
  return {
    ...rateVerdict(decision, 'free', endpoint, now),
    next: decision.state,
    outcome: decision.outcome,
  }
}

describe('the day of the free plan', () => {
  it('has 10,000 requests, and the next must wait for midnight UTC', () => {
    const last = ask(at(noon, { dayCount: 9_999 }), noon)
    expect(last).toMatchObject({
      outcome: 'admitted',
      limit: 10_000,
      remaining: 0,
      resetSeconds: midnight / 1_000,
      refusal: null,
    })
    expect(last.next.dayCount).toBe(10_000)
    const next = ask(last.next, noon)
    expect(next).toMatchObject({
      outcome: 'refused',
      limit: 10_000,
      remaining: 0,
      resetSeconds: midnight / 1_000,
    })
    expect(next.refusal).toEqual({
      _tag: 'RateLimitExceeded',
      exceeded: { scope: 'tier', window: 'day' },
      retryAfterSeconds: (midnight - noon) / 1_000,
    })
    expect(next.next.dayCount).toBe(10_000)
    expect(ask(next.next, midnight)).toMatchObject({
      outcome: 'admitted',
      next: { day: day + 1, dayCount: 1 },
    })
  })
})

describe('what a refusal names', () => {
  it.each<[what: string, fields: Partial<RateState>, exceeded: object, retryAfterSeconds: number]>([
    [
      'the minute',
      { minuteFullAt: minuteWaits(600, noon) },
      { scope: 'tier', window: 'minute' },
      1,
    ],
    [
      'the minute, in whole seconds rounded up',
      { minuteFullAt: minuteWaits(2_001, noon) },
      { scope: 'tier', window: 'minute' },
      3,
    ],
    ['the endpoint', { endpoints: exportWaits(90_000, noon) }, { scope: 'endpoint' }, 90],
    [
      'the one that is waited for longest',
      { minuteFullAt: minuteWaits(5_000, noon), endpoints: exportWaits(4_999, noon) },
      { scope: 'tier', window: 'minute' },
      5,
    ],
    [
      'the endpoint, when that is waited for longer',
      { minuteFullAt: minuteWaits(5_000, noon), endpoints: exportWaits(5_001, noon) },
      { scope: 'endpoint' },
      6,
    ],
    [
      'the tier, where both are waited for as long',
      { minuteFullAt: minuteWaits(5_000, noon), endpoints: exportWaits(5_000, noon) },
      { scope: 'tier', window: 'minute' },
      5,
    ],
    [
      'the day before the minute',
      { dayCount: 10_000, minuteFullAt: minuteWaits(5_000, noon) },
      { scope: 'tier', window: 'day' },
      43_200,
    ],
  ])('is %s', (_, fields, exceeded, retryAfterSeconds) => {
    const { outcome, refusal } = ask(at(noon, fields), noon, exportLimit)
    expect(outcome).toBe('refused')
    expect(refusal).toEqual({ _tag: 'RateLimitExceeded', exceeded, retryAfterSeconds })
  })

  it.each<[what: string, minuteMs: number, ownMs: number, exceeded: object]>([
    ['the day, where the minute is waited for as long', 4_000, 0, { scope: 'tier', window: 'day' }],
    [
      'the day, where the endpoint is waited for as long',
      0,
      4_000,
      { scope: 'tier', window: 'day' },
    ],
    ['the minute, where midnight is nearer', 4_001, 0, { scope: 'tier', window: 'minute' }],
    ['the endpoint, where midnight is nearer', 0, 4_001, { scope: 'endpoint' }],
  ])('is, four seconds before midnight, %s', (_, minuteWaitMs, ownWaitMs, exceeded) => {
    const now = midnight - 4_000
    const fields = {
      dayCount: 10_000,
      minuteFullAt: minuteWaits(minuteWaitMs, now),
      endpoints: exportWaits(ownWaitMs, now),
    }
    expect(ask(at(now, fields), now, exportLimit).refusal?.exceeded).toEqual(exceeded)
  })

  it('is the suspension that the tenth refusal within five minutes begins', () => {
    const refusals = Array.from({ length: 9 }, (_, index) => noon - 5 * minuteMs + 1 + index)
    const full = { minuteFullAt: minuteWaits(60_000, noon) }
    const tenth = ask(at(noon, { ...full, refusals }), noon)
    expect(tenth).toMatchObject({
      outcome: 'suspension_began',
      refusal: {
        _tag: 'RateLimitExceeded',
        exceeded: { scope: 'suspension' },
        retryAfterSeconds: 900,
      },
      next: { refusals: [], suspendedUntil: noon + 15 * minuteMs },
    })
    expect(ask(tenth.next, noon + minuteMs)).toMatchObject({
      outcome: 'suspended',
      refusal: { exceeded: { scope: 'suspension' }, retryAfterSeconds: 840 },
    })
    // A refusal of five minutes ago does not count any more.
    const later = ask(at(noon, { ...full, refusals: refusals.with(0, noon - 5 * minuteMs) }), noon)
    expect(later.outcome).toBe('refused')
    expect(later.next.refusals).toEqual([...refusals.slice(1), noon])
  })
})

const toldAt = (now: number, taken: number, dayCount: number) =>
  rateVerdict(
    { state: at(now, { minuteFullAt: minuteTaken(taken, now), dayCount }), outcome: 'admitted' },
    'free',
    undefined,
    now,
  )

describe('the limit that is told of', () => {
  it.each<[what: string, beforeMidnightMs: number, taken: number, dayCount: number, limit: number]>(
    [
      ['has the least remaining as a share of its size', 3_600_000, 4, 100, 300],
      ['is the day where that has', 3_600_000, 2, 100, 10_000],
      ['is of two with one share the one that is full last: the day', 3_600_000, 3, 100, 10_000],
      ['is of two with one share the one that is full last: the minute', 1_000, 3, 100, 300],
      ['is the minute where both are full at one moment', 1_800, 3, 100, 300],
      ['is the day where that is tighter, though it is full first', 1_000, 3, 5_000, 10_000],
    ],
  )('%s', (_, beforeMidnightMs, taken, dayCount, limit) => {
    const now = midnight - beforeMidnightMs
    const told = toldAt(now, taken, dayCount)
    expect(told).toEqual(
      limit === 300
        ? {
            limit,
            remaining: 300 - taken,
            resetSeconds: Math.ceil((now + taken * 600) / 1_000),
            refusal: null,
          }
        : { limit, remaining: 10_000 - dayCount, resetSeconds: midnight / 1_000, refusal: null },
    )
  })
})

describe('what is kept of a subject', () => {
  it.each<[what: string, fields: Partial<RateState>, ends: number]>([
    ['never seen', {}, 0],
    ['whose day has no requests', { day: 3, minuteFullAt: 7 }, 7],
    ['whose day has one', { day: 3, dayCount: 1, minuteFullAt: 7 }, 4 * dayMs],
    ['that is suspended', { suspendedUntil: 9, minuteFullAt: 7 }, 9],
    ['that was refused, by the last refusal', { refusals: [1, 5, 9] }, 9 + 5 * minuteMs],
    ['with buckets of endpoints', { endpoints: { a: 5, b: 8, c: 6 }, minuteFullAt: 7 }, 8],
  ])('%s ends', (_, fields, ends) => {
    expect(rateStateEnds({ ...unusedRateState, ...fields })).toBe(ends)
  })

  it('begins the day anew at midnight, and keeps its count where the clock is set back', () => {
    const state = at(noon, { dayCount: 7 })
    expect(caughtUp(state, midnight - 1)).toMatchObject({ day, dayCount: 7 })
    expect(caughtUp(state, midnight)).toMatchObject({ day: day + 1, dayCount: 0 })
    expect(caughtUp(state, noon - dayMs)).toMatchObject({ day: day - 1, dayCount: 7 })
  })

  it('moves with the clock that it is told to, but for the day and its count', () => {
    const state = at(1_000, {
      minuteFullAt: 2_000,
      dayCount: 7,
      endpoints: { a: 3_000 },
      refusals: [800, 900],
      suspendedUntil: 4_000,
    })
    expect(movedTo(state, 1_500)).toEqual({
      at: 1_500,
      minuteFullAt: 2_500,
      day,
      dayCount: 7,
      endpoints: { a: 3_500 },
      refusals: [1_300, 1_400],
      suspendedUntil: 4_500,
    })
    expect(movedTo(movedTo(state, 1_500), 1_000)).toEqual(state)
  })
})

describe('the stricter of two accounts, in each of its parts', () => {
  const one = at(noon, {
    minuteFullAt: 5,
    dayCount: 30,
    endpoints: { a: 1, b: 9 },
    refusals: [noon - 3, noon - 2],
    suspendedUntil: 8,
  })
  const other = at(noon, {
    minuteFullAt: 6,
    dayCount: 20,
    endpoints: { a: 2, c: 7 },
    refusals: [noon - 1],
    suspendedUntil: 4,
  })

  it.each([
    ['one and the other', one, other],
    ['the other and one', other, one],
  ])('is the greater of what they counted on one day: %s', (_, a, b) => {
    expect(stricterRateState(a, b, noon)).toEqual({
      at: noon,
      minuteFullAt: 6,
      day,
      dayCount: 30,
      endpoints: { a: 2, b: 9, c: 7 },
      refusals: [noon - 3, noon - 2],
      suspendedUntil: 8,
    })
  })

  it('has the refusals of the first where both were refused as often', () => {
    const as = { ...other, refusals: [noon - 5, noon - 1] }
    expect(
      [stricterRateState(one, as, noon), stricterRateState(as, one, noon)].map(
        ({ refusals }) => refusals,
      ),
    ).toEqual([one.refusals, as.refusals])
  })

  it.each([
    ['one and the other', one, { ...other, day: day + 1 }],
    ['the other and one', { ...other, day: day + 1 }, one],
  ])('is the count of the later day alone: %s', (_, a, b) => {
    expect(stricterRateState(a, b, noon)).toMatchObject({ day: day + 1, dayCount: 20 })
  })

  it('counts only the refusals that still matter', () => {
    const old = { ...one, refusals: [noon - 6 * minuteMs, noon - 5 * minuteMs] }
    expect(stricterRateState(old, other, noon).refusals).toEqual([noon - 1])
    expect(stricterRateState(old, { ...other, refusals: [] }, noon).refusals).toEqual([])
  })
})
