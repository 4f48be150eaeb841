// The limiter of one instance: the numbered contract, and what it keeps.
import type { RateSubject } from '@tradeport/domain'
import { newRateSubject, rateLimiterContract } from '@tradeport/domain/testing'
import { describe, expect, it } from 'vitest'
import { createLocalRateLimiter } from '../src/index.ts'

const noon = Date.parse('2026-03-07T12:00:00.000Z')
const nextDay = Date.parse('2026-03-08T00:00:00.000Z')

rateLimiterContract('in this process', (onSuspension) =>
  Promise.resolve({ limiter: createLocalRateLimiter({ onSuspension }), close: () => Promise.resolve() }),
)

const limiterOf = (maxSubjects?: number) =>
  createLocalRateLimiter({ onSuspension: () => undefined, ...(maxSubjects === undefined ? {} : { maxSubjects }) })

const newSubjects = (count: number): readonly RateSubject[] => Array.from({ length: count }, () => newRateSubject())

describe('what the limiter keeps', () => {
  it('is one entry for each subject that asked', () => {
    const limiter = limiterOf()
    const subjects = newSubjects(50)
    for (const subject of [...subjects, ...subjects]) limiter.decide(subject, undefined, noon)
    expect(limiter.size()).toBe(50)
  })

  it('goes once it says no more than nothing, at the pace at which others come', () => {
    const limiter = limiterOf()
    for (const subject of newSubjects(500)) limiter.decide(subject, undefined, noon)
    for (const subject of newSubjects(300)) limiter.decide(subject, undefined, nextDay)
    expect(limiter.size()).toBeLessThanOrEqual(320)
  })

  it('stays while it is counted on: the day’s requests, a suspension', () => {
    const limiter = limiterOf()
    const [spent] = newSubjects(1) as [RateSubject]
    for (let asked = 0; asked < 310; asked += 1) limiter.decide(spent, undefined, nextDay - 1)
    for (const subject of newSubjects(500)) limiter.decide(subject, undefined, nextDay + 800_000)
    expect(limiter.decide(spent, undefined, nextDay + 899_998).refusal?.exceeded).toEqual({ scope: 'suspension' })
  })

  it('never grows beyond its bound; those kept longest are forgotten', () => {
    const limiter = limiterOf(100)
    const subjects = newSubjects(150)
    for (const subject of subjects) limiter.decide(subject, undefined, noon)
    expect(limiter.size()).toBe(100)
    expect(subjects.filter((subject) => limiter.stateOf(subject) !== undefined)).toEqual(subjects.slice(50))
  })

  it('is what another limiter learnt, where it was told', () => {
    const [limiter, other] = [limiterOf(), limiterOf()]
    const subject = newRateSubject()
    expect(limiter.stateOf(subject)).toBeUndefined()
    for (let asked = 0; asked < 299; asked += 1) other.decide(subject, undefined, noon)
    limiter.adopt(subject, other.stateOf(subject) as never)
    expect([1, 2].map(() => limiter.decide(subject, undefined, noon).refusal === null)).toEqual([true, false])
  })
})
