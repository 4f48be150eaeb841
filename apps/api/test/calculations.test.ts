// The calculation pool: threads of their own, a few places for each user, and an end for what takes
// too long.
import type { Owner } from '@tradeport/domain/primitives'
import { robustStatistics } from '@tradeport/domain/statistics'
import * as E from 'fp-ts/lib/Either.js'
import { expect, it, onTestFinished } from 'vitest'
import { openCalculations, type CalculationLimits } from '../src/calculations.ts'

const open = (limits: Partial<CalculationLimits> = {}) => {
  const pool = openCalculations({ threads: 1, ...limits })
  onTestFinished(() => pool.close())
  const compute = (user: string, trades = 20, resamples = 1_000) =>
    pool.calculate(
      { tenantId: 'acme', userId: user } as Owner,
      'robustStatistics',
      Float64Array.from({ length: trades }, (_, at) => ((at * 7) % 11) - 5),
      resamples,
    )()
  return compute
}
const tagOf = (result: E.Either<{ readonly _tag: string }, unknown>): string =>
  E.isLeft(result) ? result.left._tag : 'computed'

it('computes what the domain does, while the event loop goes on', async () => {
  const compute = open()
  const trades = Float64Array.from({ length: 20 }, (_, at) => ((at * 7) % 11) - 5)
  expect(await compute('u-1')).toEqual(E.right(robustStatistics(trades, 1_000)))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  await compute('u-1', 5_000, 5_000)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(20)
})

it('accepts two at a time of a user, and of others as many as may wait', async () => {
  const compute = open({ queue: 2 })
  const users = ['u-1', 'u-1', 'u-1', 'u-2', 'u-3']
  const results = await Promise.all(users.map((user) => compute(user, 500)))
  expect(results.map(tagOf)).toEqual([
    'computed',
    'computed',
    'RateLimitExceeded',
    'computed',
    'ServiceUnavailable',
  ])
  expect(tagOf(await compute('u-1'))).toBe('computed')
})

it('ends what takes too long, and computes on', async () => {
  const compute = open({ timeoutMs: 1_500 })
  expect(tagOf(await compute('u-1', 100_000, 20_000))).toBe('ServiceUnavailable')
  // On a busy machine the new thread may need more than the timeout to start.
  await expect.poll(async () => tagOf(await compute('u-1'))).toBe('computed')
})
