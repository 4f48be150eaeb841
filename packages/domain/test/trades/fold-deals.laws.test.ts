// Laws of the fold (2.5, 4.5; decisions 33 to 36), on random histories in which every skipped reason, partial close and tie occurs.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dealHistory, positionDeals, positionlessDeal } from '../../src/testing/deal-arbitraries.ts'
import type { Deal } from '../../src/trades/deal.ts'
import { foldDeals, foldInSteps, foldPositions } from '../../src/trades/fold-deals.ts'
import { skipReasons } from '../../src/trades/folded-trade.ts'
import { fraction, nearest, replay, total } from './slow-replay.ts'

const runs = { numRuns: 2_000 }
const byPosition = (a: { positionId: string }, b: { positionId: string }): number => (a.positionId < b.positionId ? -1 : 1)
const isTrading = (deal: Deal): boolean => deal.side !== undefined && !['', '0', undefined].includes(deal.positionId)

describe('the fold of deals into trades', () => {
  it('equals a slow replay written from the words of the specification (4.5, decision 34)', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        const { trades, skipped, open } = foldPositions(deals)
        expect({ trades, skipped, open }).toEqual(replay(deals))
      }),
      { numRuns: 6_000 },
    )
  })

  it('does not depend on the order of the deals (decision 34)', () => {
    const shuffled = dealHistory.chain((deals) =>
      fc.tuple(fc.constant(deals), fc.shuffledSubarray([...deals], { minLength: deals.length, maxLength: deals.length })),
    )
    fc.assert(
      fc.property(shuffled, ([deals, others]) => {
        const { closingDeals: _one, ...one } = foldPositions(deals)
        const { closingDeals: _other, ...other } = foldPositions(others)
        expect(other).toEqual(one)
      }),
      runs,
    )
  })

  it('puts every position into exactly one of trades, skipped and open', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        const { trades, skipped, open } = foldPositions(deals)
        const found = [...trades.map((trade) => trade.positionId), ...skipped.map((position) => position.positionId), ...open]
        const given = new Set(deals.filter(isTrading).map((deal) => deal.positionId as string))
        expect(found.toSorted()).toEqual([...given].toSorted())
      }),
      runs,
    )
  })

  it('folds disjoint sets of positions to the union of their folds', () => {
    fc.assert(
      fc.property(dealHistory, fc.func(fc.boolean()), (deals, isLeft) => {
        const left = deals.filter((deal) => isLeft(deal.positionId))
        const right = deals.filter((deal) => !isLeft(deal.positionId))
        const [whole, one, other] = [foldPositions(deals), foldPositions(left), foldPositions(right)]
        expect([...one.trades, ...other.trades].toSorted(byPosition)).toEqual(whole.trades.toSorted(byPosition))
        expect([...one.skipped, ...other.skipped].toSorted(byPosition)).toEqual(whole.skipped.toSorted(byPosition))
        expect([...one.open, ...other.open].toSorted()).toEqual(whole.open.toSorted())
      }),
      runs,
    )
  })

  it('lets deals of other positions, and deals of none, change nothing', () => {
    const others = fc.array(
      fc.oneof(
        positionlessDeal.map((deal) => [deal]),
        positionDeals('another'),
      ),
      { maxLength: 3 },
    )
    fc.assert(
      fc.property(dealHistory, others, fc.nat(), (deals, more, at) => {
        const before = foldPositions(deals)
        const after = foldPositions(deals.toSpliced(at % (deals.length + 1), 0, ...more.flat()))
        expect(after.trades.filter((trade) => trade.positionId !== 'another')).toEqual(before.trades)
        expect(after.skipped.filter((position) => position.positionId !== 'another')).toEqual(before.skipped)
        expect(after.open.filter((id) => id !== 'another')).toEqual(before.open)
      }),
      runs,
    )
  })

  it('sums money as exact fractions do, rounded once, and nets it so (2.5)', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        for (const trade of foldDeals(deals).trades) {
          const own = deals.filter((deal) => isTrading(deal) && deal.positionId === trade.positionId)
          for (const field of ['profit', 'commission', 'swap'] as const) {
            expect(trade[field]).toBe(nearest(total(own.map((deal) => fraction(deal[field])))))
          }
          const parts = own.flatMap(({ profit, commission, swap }) => [profit, commission, swap])
          expect(trade.netProfit).toBe(nearest(total(parts.map(fraction))))
        }
      }),
      runs,
    )
  })

  it('puts the entry price between the opening prices and the exit price between the closing ones', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        for (const trade of foldDeals(deals).trades) {
          const own = deals.filter((deal) => isTrading(deal) && deal.positionId === trade.positionId)
          const prices = (entry: string): number[] => own.filter((deal) => deal.entry === entry).map((deal) => deal.price as number)
          expect(trade.entryPrice).toBeGreaterThanOrEqual(Math.min(...prices('in')))
          expect(trade.entryPrice).toBeLessThanOrEqual(Math.max(...prices('in')))
          expect(trade.exitPrice).toBeGreaterThanOrEqual(Math.min(...prices('out')))
          expect(trade.exitPrice).toBeLessThanOrEqual(Math.max(...prices('out')))
        }
      }),
      runs,
    )
  })

  it('lists trades in closing order, each with its last closing deal (decision 36)', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        const { trades, closingDeals } = foldPositions(deals)
        expect(closingDeals.map(({ positionId, time }) => [positionId, time])).toEqual(
          trades.map(({ positionId, closedAt }) => [positionId, closedAt]),
        )
        const places = closingDeals.map(({ time, id }) => [time as number, id.length, id] as const)
        expect(places).toEqual(places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] === b[2] ? 0 : a[2] < b[2] ? -1 : 1)))
      }),
      runs,
    )
  })

  it('gives the same in steps of any size', () => {
    fc.assert(
      fc.property(dealHistory, fc.integer({ min: 1, max: 9 }), (deals, perStep) => {
        const steps = foldInSteps(deals, perStep)
        let step = steps.next()
        while (!step.done) step = steps.next()
        const { trades, skipped, open, closingDeals } = foldPositions(deals)
        expect(step.value.trades).toEqual(trades)
        expect(step.value.closingDeals).toEqual(closingDeals)
        expect(step.value.skipped).toEqual(skipped)
        expect(step.value.open).toEqual(open)
      }),
      { numRuns: 500 },
    )
  })

  it('takes part in histories that reach every outcome', () => {
    const seen = new Set<string>()
    for (const deals of fc.sample(dealHistory, { numRuns: 2_000, seed: 7 })) {
      const { trades, skipped, open } = foldPositions(deals)
      for (const { reason } of skipped) seen.add(reason)
      for (const { volumeEstimated = false } of trades) seen.add(volumeEstimated ? 'estimated' : 'trade')
      if (open.length > 0) seen.add('open')
    }
    expect([...seen].toSorted()).toEqual([...skipReasons, 'estimated', 'open', 'trade'].toSorted())
  })
})
