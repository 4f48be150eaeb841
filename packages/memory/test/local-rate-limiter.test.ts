import type { RateSubject } from '@tradeport/domain/access'
import { newRateSubject, times } from '@tradeport/testkit'
import { rateLimiterContract } from '@tradeport/testkit/contracts'
import { expect, it } from 'vitest'
import { createLocalRateLimiter } from '../src/index.ts'

const noon = Date.parse('2026-03-07T12:00:00.000Z')
const onSuspension = () => undefined

rateLimiterContract('in this process', async (listener) => ({
  limiter: createLocalRateLimiter({ onSuspension: listener }),
  close: async () => undefined,
}))

const newSubjects = (count: number): readonly RateSubject[] => times(count, () => newRateSubject())

it('what the limiter keeps is bounded, and can come from another limiter', () => {
  const [limiter, other] = [
    createLocalRateLimiter({ onSuspension, maxSubjects: 100 }),
    createLocalRateLimiter({ onSuspension }),
  ]
  const subjects = newSubjects(150)
  for (const subject of subjects) limiter.decide(subject, undefined, noon)
  expect(subjects.filter((subject) => limiter.stateOf(subject) !== undefined)).toEqual(
    subjects.slice(50),
  )
  const subject = newRateSubject()
  for (let asked = 0; asked < 299; asked += 1) other.decide(subject, undefined, noon)
  limiter.adopt(subject, other.stateOf(subject) as never)
  expect([1, 2].map(() => limiter.decide(subject, undefined, noon).refusal === null)).toEqual([
    true,
    false,
  ])
})
