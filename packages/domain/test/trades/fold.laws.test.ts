// Laws of the fold over random histories in which every skipped reason, partial close and tie
// occurs.
import { dealHistory, shuffled } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { sumExactly } from '../../src/primitives/exact-sum.ts'
import { type Deal, foldDeals, foldPosition, groupByPosition } from '../../src/trades/index.ts'

it('gives each position once, with all of its money, whatever the order of the deals', () => {
  fc.assert(
    fc.property(
      dealHistory.chain((deals) => fc.tuple(fc.constant(deals), shuffled(deals))),
      ([deals, others]) => {
        const { trades, skipped } = foldDeals(deals)
        expect(foldDeals(others)).toEqual({ trades, skipped })
        let open = 0
        for (const [id, own] of groupByPosition(deals)) {
          const folded = foldPosition(id, own)
          const sumOf = (field: 'profit' | 'commission' | 'swap') =>
            sumExactly(own.map((deal) => deal[field]))
          if (folded.status === 'open') open += 1
          else if (folded.status === 'skipped')
            expect(skipped).toContainEqual({ positionId: id, reason: folded.reason })
          else {
            expect(trades).toContainEqual(folded.trade)
            expect(folded.trade).toMatchObject({
              profit: sumOf('profit'),
              commission: sumOf('commission'),
              swap: sumOf('swap'),
              netProfit: sumExactly(own.flatMap(moneyOf)),
            })
          }
        }
        expect(trades.length + skipped.length + open).toBe(groupByPosition(deals).size)
      },
    ),
    { numRuns: 300 },
  )
})

const moneyOf = ({ profit, commission, swap }: Deal) => [profit, commission, swap]
