// Laws of the fold (2.5, 4.5), on random histories in which every skipped reason, partial close and tie occurs.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dealHistory, positionDeals, positionlessDeal } from '../../src/testing/deal-arbitraries.ts'
import type { Deal } from '../../src/trades/deal.ts'
import { foldDeals, foldPositions } from '../../src/trades/fold-deals.ts'
import { foldPosition } from '../../src/trades/fold-position.ts'
import { skipReasons } from '../../src/trades/folded-trade.ts'
import { fraction, nearest, replay, total } from './slow-replay.ts'

const runs = { numRuns: 2_000 }
const byPosition = (a: { positionId: string }, b: { positionId: string }): number => (a.positionId < b.positionId ? -1 : 1)
const idsOf = (positions: readonly { positionId: string }[]): string[] => positions.map(({ positionId }) => positionId)
const isTrading = (deal: Deal): boolean => deal.side !== undefined && !['', '0', undefined].includes(deal.positionId)

describe('the fold of deals into trades', () => {
  it('equals a slow replay written from the words of the specification (4.5)', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        const { closed, skipped, open } = foldPositions(deals)
        expect({ trades: closed.map(({ trade }) => trade), skipped, open: idsOf(open) }).toEqual(replay(deals))
      }),
      { numRuns: 6_000 },
    )
  })

  it('does not depend on the order of the deals', () => {
    const shuffled = dealHistory.chain((deals) =>
      fc.tuple(fc.constant(deals), fc.shuffledSubarray([...deals], { minLength: deals.length, maxLength: deals.length })),
    )
    fc.assert(
      fc.property(shuffled, ([deals, others]) => {
        expect(foldPositions(others)).toEqual(foldPositions(deals))
      }),
      runs,
    )
  })

  it('puts every position into exactly one of trades, skipped and open', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        const { closed, skipped, open } = foldPositions(deals)
        const found = idsOf([...closed.map(({ trade }) => trade), ...skipped, ...open])
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
        const [whole, one, other] = [foldDeals(deals), foldDeals(left), foldDeals(right)]
        expect([...one.trades, ...other.trades].toSorted(byPosition)).toEqual(whole.trades.toSorted(byPosition))
        expect([...one.skipped, ...other.skipped].toSorted(byPosition)).toEqual(whole.skipped.toSorted(byPosition))
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
        const before = foldDeals(deals)
        const after = foldDeals(deals.toSpliced(at % (deals.length + 1), 0, ...more.flat()))
        expect(after.trades.filter((trade) => trade.positionId !== 'another')).toEqual(before.trades)
        expect(after.skipped.filter((position) => position.positionId !== 'another')).toEqual(before.skipped)
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

  it('lists trades in closing order, each with its last closing deal', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        const places = foldPositions(deals).closed.map(({ trade: { positionId, closedAt }, closingDealId: id }) => {
          const isClosing = (deal: Deal): boolean => isTrading(deal) && deal.positionId === positionId && deal.entry === 'out'
          expect(deals.filter(isClosing)).toContainEqual(expect.objectContaining({ id, time: closedAt }))
          return [closedAt, id.length, id] as const
        })
        expect(places).toEqual(places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || (a[2] === b[2] ? 0 : a[2] < b[2] ? -1 : 1)))
      }),
      runs,
    )
  })

  it('says of an open position what its deals say, and nothing else', () => {
    fc.assert(
      fc.property(dealHistory, (deals) => {
        for (const position of foldPositions(deals).open) {
          const own = deals.filter((deal) => isTrading(deal) && deal.positionId === position.positionId)
          const opening = own.filter(({ entry, volume = 0 }) => entry === 'in' && volume > 0 && Number.isFinite(volume))
          const isPriced = opening.every(({ price = 0 }) => price !== 0 && Number.isFinite(price))
          expect(position.volume).toBeGreaterThan(0)
          expect(position.entryPrice !== undefined).toBe(isPriced)
          if (!own.some(({ symbol }) => symbol)) expect(position.symbol).toBeUndefined()
          if (own.every(({ time }) => time === undefined || Number.isNaN(time))) expect(position.openedAt).toBeUndefined()
          expect(foldPosition(position.positionId, own.toReversed())).toEqual({ status: 'open', position })
        }
      }),
      runs,
    )
  })

  it('takes part in histories that reach every outcome', () => {
    const seen = new Set<string>()
    for (const deals of fc.sample(dealHistory, { numRuns: 2_000, seed: 7 })) {
      const { closed, skipped, open } = foldPositions(deals)
      for (const { reason } of skipped) seen.add(reason)
      for (const {
        trade: { volumeEstimated = false },
      } of closed)
        seen.add(volumeEstimated ? 'estimated' : 'trade')
      if (open.length > 0) seen.add('open')
    }
    expect([...seen].toSorted()).toEqual([...skipReasons, 'estimated', 'open', 'trade'].toSorted())
  })
})
