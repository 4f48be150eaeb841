// The calculation pool: threads of their own, users in turn, and an end for what takes too long.
import type { Owner } from '@tradeport/domain/primitives'
import { robustStatistics } from '@tradeport/domain/statistics'
import * as E from 'fp-ts/lib/Either.js'
import { expect, it, onTestFinished } from 'vitest'
import { openCalculations, type CalculationLimits } from '../src/calculations.ts'

const tradesOf = (count: number) =>
  Float64Array.from({ length: count }, (_, at) => ((at * 7) % 11) - 5)
const open = (limits: Partial<CalculationLimits> = {}) => {
  const pool = openCalculations({ threads: 1, ...limits })
  onTestFinished(() => pool.close())
  const compute = (user: string, trades = 20, resamples = 1_000) =>
    pool.calculate(
      { tenantId: 'acme', userId: user } as Owner,
      'robustStatistics',
      tradesOf(trades),
      resamples,
    )()
  return compute
}
const tagOf = (result: E.Either<{ readonly _tag: string }, unknown>) =>
  E.isLeft(result) ? result.left._tag : 'computed'

it('computes what the domain does, while the event loop goes on', async () => {
  const compute = open()
  expect(await compute('u-1')).toEqual(E.right(robustStatistics(tradesOf(20), 1_000)))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  await compute('u-1', 5_000, 5_000)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(20)
})

it('accepts two at a time of a user, computes the users’ in turn, and lets only so many wait', async () => {
  const compute = open({ queue: 2 })
  expect(tagOf(await compute('u-0'))).toBe('computed')
  const order: string[] = []
  const users = ['u-1', 'u-1', 'u-1', 'u-2', 'u-3']
  const results = users.map(async (user) => {
    const tag = tagOf(await compute(user, 500))
    if (tag === 'computed') order.push(user)
    return tag
  })
  expect(await Promise.all(results)).toEqual([
    'computed',
    'computed',
    'RateLimitExceeded',
    'computed',
    'ServiceUnavailable',
  ])
  expect(order).toEqual(['u-1', 'u-2', 'u-1'])
  expect(tagOf(await compute('u-1'))).toBe('computed')
})

it('ends what runs or waits too long, says what to do, and computes on', async () => {
  const compute = open({ waitMs: 500, runMs: 1_500 })
  const [long, waiting] = [compute('u-1', 100_000, 20_000), compute('u-2')]
  expect(await waiting).toMatchObject({ left: { retryAfterSeconds: 5 } })
  expect(await long).toMatchObject({ left: { _tag: 'ServiceUnavailable', unread: 'calculation' } })
  // On a busy machine the new thread may need more than the time to start.
  await expect.poll(async () => tagOf(await compute('u-1'))).toBe('computed')
})
