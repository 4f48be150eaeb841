// The fold equals a slow replay of the rules, on random histories in which every skipped reason,
// partial close and tie occurs.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { dealHistory } from '../../src/testing/deal-arbitraries.ts'
import { foldDeals, foldPositions } from '../../src/trades/fold-deals.ts'
import { skipReasons } from '../../src/trades/folded-trade.ts'
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
      expect(foldPositions(deals)).toEqual(expected)
      expect(foldPositions(others)).toEqual(expected)
      expect(foldDeals(deals)).toEqual({
        trades: expected.closed.map(({ trade }) => trade),
        skipped: expected.skipped,
      })
    }),
    { numRuns: 6_000 },
  )
})

it('is compared on histories that reach every outcome', () => {
  const seen = new Set<string>()
  for (const deals of fc.sample(dealHistory, { numRuns: 2_000, seed: 7 })) {
    const { closed, skipped, open } = foldPositions(deals)
    for (const { reason } of skipped) seen.add(reason)
    for (const { trade } of closed) seen.add(trade.volumeEstimated === true ? 'estimated' : 'trade')
    if (open.length > 0) seen.add('open')
  }
  expect([...seen].toSorted()).toEqual([...skipReasons, 'estimated', 'open', 'trade'].toSorted())
})
