// The rule of limits as rows: at which figure each limit refuses, which one is named, and what is
// kept for how long.
import { exportLimit, times } from '@tradeport/testkit'
import { describe, expect, it } from 'vitest'
import {
  decideRate,
  endpointBucket,
  movedTo,
  rateVerdict,
  stricterRateState,
  tiers,
  unusedRateState,
  type RateState,
} from '../../src/access/rate-limits.ts'
import { dayMs, minuteMs } from '../../src/primitives/instant.ts'

const day = Math.floor(Date.parse('2026-03-07T00:00:00Z') / dayMs)
const midnight = (day + 1) * dayMs
const noon = midnight - dayMs / 2

const at = (now: number, fields: Partial<RateState> = {}): RateState => ({
  ...unusedRateState,
  at: now,
  day,
  ...fields,
})

/** A state in which requests of the minute, and of the export, would have to wait for so long. */
const waiting = (now: number, dayCount: number, minuteMs = -dayMs, exportMs = -dayMs): RateState =>
  at(now, {
    dayCount,
    minuteFullAt: now + 299 * 600 + minuteMs,
    endpoints: { [exportLimit.route]: now + 9 * 360_000 + exportMs },
  })

const ask = (state: RateState, now: number) => {
  const decision = decideRate(state, 'free', exportLimit, now)
  return { ...decision, ...rateVerdict(decision, 'free', exportLimit, now) }
}
const scopes = {
  minute: { scope: 'tier', window: 'minute' },
  day: { scope: 'tier', window: 'day' },
  endpoint: { scope: 'endpoint' },
  suspension: { scope: 'suspension' },
}
const refusal = (scope: keyof typeof scopes, retryAfterSeconds: number) => ({
  _tag: 'RateLimitExceeded',
  exceeded: scopes[scope],
  retryAfterSeconds,
})

it('limits each plan by its figures, with the burst on top of a minute', () => {
  expect(tiers).toEqual({
    free: { requestsPerMinute: 100, burst: 200, requestsPerDay: 10_000 },
    pro: { requestsPerMinute: 1_000, burst: 2_000, requestsPerDay: 100_000 },
    enterprise: { requestsPerMinute: 10_000, burst: 20_000, requestsPerDay: 1_000_000 },
  })
})

it('lets no more than the figure pass in a period, also where it does not divide it', () => {
  const limit = { route: 'GET /things', requests: 7, periodSeconds: 60 }
  expect(endpointBucket(limit)).toEqual({ size: 7, intervalMs: 8_572 })
})

it.each([
  [undefined, 300, 600],
  [exportLimit, 10, 360_000],
])('admits with %o %d requests at once, then one every %d ms', (endpoint, size, intervalMs) => {
  let state = unusedRateState
  const admitted = (requests: number, now: number) => {
    let count = 0
    for (let made = 0; made < requests; made += 1) {
      const decision = decideRate(state, 'free', endpoint, now)
      // Refusals are forgotten, so that none of them suspends.
      state = { ...decision.state, refusals: [] }
      if (decision.outcome === 'admitted') count += 1
    }
    return count
  }
  expect(admitted(size + 1, noon)).toBe(size)
  expect(admitted(1, noon + intervalMs - 1)).toBe(0)
  expect(admitted(2, noon + intervalMs)).toBe(1)
  expect(admitted(10, noon + 6 * intervalMs)).toBe(5)
  // A clock that is set back by an hour counts as one that stood still.
  expect(admitted(1, noon - 3_600_000)).toBe(0)
  expect(admitted(2, noon - 3_600_000 + intervalMs)).toBe(1)
  expect(admitted(400, noon + dayMs)).toBe(size)
})

it('admits 10,000 requests a day, and the next after midnight UTC', () => {
  const last = ask(at(noon, { dayCount: 9_999 }), noon)
  const remains = { limit: 10_000, remaining: 0, resetSeconds: midnight / 1_000 }
  expect(last).toMatchObject({ outcome: 'admitted', ...remains, refusal: null })
  const next = ask(last.state, noon)
  expect(next).toMatchObject({ outcome: 'refused', ...remains, refusal: refusal('day', 43_200) })
  expect(next.state.dayCount).toBe(10_000)
  expect(ask(next.state, midnight)).toMatchObject({
    outcome: 'admitted',
    state: { day: day + 1, dayCount: 1 },
  })
})

describe('a refusal', () => {
  it.each<[keyof typeof scopes, number, number, ...number[]]>([
    ['minute', 5, noon, 0, 5_000, 4_999],
    ['endpoint', 6, noon, 0, 5_000, 5_001],
    ['day', 4, midnight - 4_000, 10_000, 4_000],
    ['minute', 5, midnight - 4_000, 10_000, 4_001],
  ])(
    'names the longest wait: the %s for %d seconds, at %d with the day’s count and waits %j',
    (scope, seconds, now, dayCount = 0, minuteWaitMs, exportWaitMs) => {
      const { outcome, refusal: got } = ask(waiting(now, dayCount, minuteWaitMs, exportWaitMs), now)
      expect([outcome, got]).toEqual(['refused', refusal(scope, seconds)])
    },
  )

  it('is a suspension from the tenth within five minutes on', () => {
    const refusals = times(9, (index) => noon - 5 * minuteMs + 1 + index)
    const full = waiting(noon, 0, 60_000)
    const tenth = ask({ ...full, refusals }, noon)
    expect(tenth).toMatchObject({
      outcome: 'suspension_began',
      refusal: refusal('suspension', 900),
      state: { refusals: [], suspendedUntil: noon + 15 * minuteMs },
    })
    expect(ask(tenth.state, noon + minuteMs)).toMatchObject({
      outcome: 'suspended',
      refusal: refusal('suspension', 840),
    })
    // A refusal of five minutes ago no longer counts.
    const later = ask({ ...full, refusals: refusals.with(0, noon - 5 * minuteMs) }, noon)
    expect([later.outcome, later.state.refusals]).toEqual(['refused', [...refusals.slice(1), noon]])
  })
})

it.each([
  ['has the least remaining as a share of its size', 3_600_000, 4, 100, 300],
  ['is of two with one share the one that is full last: the day', 3_600_000, 3, 100, 10_000],
  ['is of two with one share the one that is full last: the minute', 1_000, 3, 100, 300],
  ['is the minute where both are full at one moment', 1_800, 3, 100, 300],
])('the reported limit %s', (_, beforeMidnightMs, requests, dayCount, limit) => {
  const now = midnight - beforeMidnightMs
  const state = at(now, { minuteFullAt: now + requests * 600, dayCount })
  const outcome = 'admitted'
  const ofMinute = limit === 300
  expect(rateVerdict({ state, outcome }, 'free', undefined, now)).toMatchObject({
    limit,
    remaining: limit - (ofMinute ? requests : dayCount),
    resetSeconds: Math.ceil((ofMinute ? now + requests * 600 : midnight) / 1_000),
    refusal: null,
    standings: [
      {
        exceeded: scopes.minute,
        limit: 300,
        remaining: 300 - requests,
        fullAt: now + requests * 600,
      },
      { exceeded: scopes.day, limit: 10_000, remaining: 10_000 - dayCount, fullAt: midnight },
    ],
  })
})

const stateAt = (now: number): RateState =>
  at(now, {
    minuteFullAt: now + 1_000,
    dayCount: 7,
    endpoints: { a: now + 2_000 },
    refusals: [now - 200, now - 100],
    suspendedUntil: now + 3_000,
  })

it('what is kept of a subject moves to another clock, but for the day and its count', () => {
  expect(movedTo(stateAt(1_000), 1_500)).toEqual(stateAt(1_500))
})

describe('the stricter of two states', () => {
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
  const tomorrow = { ...other, day: day + 1 }
  const old = { ...one, refusals: [noon - 6 * minuteMs, noon - 5 * minuteMs] }

  it.each([
    [
      'is the greater of each part',
      one,
      other,
      {
        ...one,
        minuteFullAt: 6,
        endpoints: { a: 2, b: 9, c: 7 },
      },
    ],
    ['has the count of the later day alone', one, tomorrow, { day: day + 1, dayCount: 20 }],
    ['has no refusals where none counts', old, { ...other, refusals: [] }, { refusals: [] }],
  ])('%s, in either order', (_, a, b, expected) => {
    expect(stricterRateState(a, b, noon)).toMatchObject(expected)
    expect(stricterRateState(b, a, noon)).toMatchObject(expected)
  })

  it('has the refusals of the first where both were refused as often', () => {
    const as = { ...other, refusals: [noon - 5, noon - 1] }
    expect(stricterRateState(one, as, noon).refusals).toEqual(one.refusals)
    expect(stricterRateState(as, one, noon).refusals).toEqual(as.refusals)
  })
})
