// The fold equals a slow replay of the rules, on random histories in which every skipped reason,
// partial close and tie occurs.
import { dealHistory } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldDeals, skipReasons } from '../../src/trades/fold.ts'
import { replay } from './slow-replay.ts'

it('equals a slow replay, whatever the order of the deals', () => {
  const shuffled = dealHistory.chain((deals) =>
    fc.tuple(
      fc.constant(deals),
      fc.shuffledSubarray([...deals], { minLength: deals.length, maxLength: deals.length }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([deals, others]) => {
      const expected = replay(deals)
      expect(foldDeals(deals)).toEqual(expected)
      expect(foldDeals(others)).toEqual(expected)
    }),
    { numRuns: 6_000 },
  )
})

it('is compared on histories that reach every outcome', () => {
  const seen = new Set<string>()
  for (const deals of fc.sample(dealHistory, { numRuns: 2_000, seed: 7 })) {
    const { trades, skipped } = foldDeals(deals)
    for (const { reason } of skipped) seen.add(reason)
    for (const { volumeEstimated } of trades) seen.add(volumeEstimated ? 'estimated' : 'trade')
  }
  expect([...seen].toSorted()).toEqual([...skipReasons, 'estimated', 'trade'].toSorted())
})
