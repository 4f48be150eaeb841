// The generated history is what the benchmark says it is: a broker's, with everything that makes folding work.
import { foldDeals, type Deal } from '@tradeport/domain'
import { describe, expect, it } from 'vitest'
import { brokerDeals } from '../src/broker-deals.ts'

const deals = brokerDeals(20_000)
const byPosition = Map.groupBy(deals, (deal) => deal.positionId)
const countOf = (entry: Deal['entry'], list: readonly Deal[]): number => list.filter((deal) => deal.entry === entry).length

describe('the generated history', () => {
  it('has the number of deals asked for, in time order, the same for the same seed', () => {
    expect(deals).toHaveLength(20_000)
    expect(deals.map((deal) => deal.time)).toEqual(deals.map((deal) => deal.time).toSorted((a = 0, b = 0) => a - b))
    expect(brokerDeals(20_000)).toEqual(deals)
    expect(brokerDeals(20_000, 3)).not.toEqual(deals)
  })

  it('has scale-ins, partial closes and positions of earlier orders', () => {
    const positions = [...byPosition.values()]
    expect(positions.filter((list) => countOf('in', list) > 1).length).toBeGreaterThan(positions.length / 20)
    expect(positions.filter((list) => countOf('out', list) > 1).length).toBeGreaterThan(positions.length / 20)
    const ids = [...byPosition.keys()].map(Number)
    expect(ids.filter((id, i) => i > 0 && id < (ids[i - 1] ?? 0)).length).toBeGreaterThan(ids.length / 50)
  })

  it('has some fifty positions open at once, and all others fold', () => {
    const { trades, skipped } = foldDeals(deals)
    expect(skipped).toEqual([])
    expect(byPosition.size - trades.length).toBeGreaterThan(30)
    expect(byPosition.size - trades.length).toBeLessThanOrEqual(50)
  })
})
