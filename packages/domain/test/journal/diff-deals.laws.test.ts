// The difference between the deals that are kept and those that the broker shows.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dealKey, type BrokerDeal } from '@tradeport/domain/journal'
import { compareDeals, renamedDeals } from '../../src/journal/broker-deal.ts'

const deal = fc.record({
  id: fc.constantFrom('1', '2', '3', '10'),
  kind: fc.constant('buy'),
  side: fc.constant('buy'),
  entry: fc.constantFrom('in', 'out'),
  time: fc.constantFrom(100, 200, 300, Number.NaN),
  profit: fc.constantFrom(0, 1.5),
  commission: fc.constant(-0.1),
  swap: fc.constant(0),
})
const unique = (deals: readonly BrokerDeal[]): readonly BrokerDeal[] => [
  ...new Map(deals.map((one) => [dealKey(one), one])).values(),
]
const kept = fc.array(deal, { maxLength: 12 }).map(unique)
const profitsOf = (deals: readonly BrokerDeal[]) =>
  deals.map(({ profit }) => profit).toSorted((a, b) => a - b)
const keysOf = (deals: readonly BrokerDeal[]) => deals.map(dealKey).toSorted()

/** Of the whole history, shown in two pages. */
const differences = (held: readonly BrokerDeal[], shown: readonly BrokerDeal[]) => {
  const { addPage, takeDifferences } = compareDeals(held, { isFull: true, haveUniqueIds: false })
  for (const page of [shown.slice(0, 5), shown.slice(5)]) addPage(page)
  return takeDifferences(true)
}

const before: BrokerDeal = {
  id: '9',
  kind: 'buy',
  side: 'buy',
  entry: 'in',
  time: 1,
  profit: 0,
  commission: 0,
  swap: 0,
}

describe('the difference between kept and shown deals', () => {
  it('makes what is kept what is shown, when it is applied', () => {
    fc.assert(
      fc.property(kept, fc.array(deal, { maxLength: 12 }), (held, shown) => {
        const { inserted, changed, vanished } = differences(held, shown)
        const after = new Map(held.map((one) => [dealKey(one), one]))
        for (const one of [...vanished, ...changed.map(({ was }) => was)])
          after.delete(dealKey(one))
        for (const one of [...inserted, ...changed.map((change) => change.deal)])
          after.set(dealKey(one), one)
        expect(keysOf([...after.values()])).toEqual(keysOf(unique(shown)))
        expect(profitsOf([...after.values()])).toEqual(profitsOf(firstOfEach(shown)))
      }),
    )
  })

  it('is nothing where both are the same, in whatever order and however often a deal is shown', () => {
    fc.assert(
      fc.property(kept, (held) => {
        expect(differences(held, [...held.toReversed(), ...held])).toEqual({
          inserted: [],
          changed: [],
          vanished: [],
        })
      }),
    )
  })

  it('does not miss an undated deal in a part of the history, which may be in another part', () => {
    const undated: BrokerDeal = { id: '9', kind: 'balance', profit: 1, commission: 0, swap: 0 }
    for (const [isFull, vanished] of [
      [false, []],
      [true, [undated]],
    ] as const)
      expect(
        compareDeals([undated], { isFull, haveUniqueIds: false }).takeDifferences(true).vanished,
      ).toEqual(vanished)
  })

  it('finds an undated deal again that has a time now, also in a part of the history', () => {
    const undated = { ...before, time: Number.NaN }
    const comparison = compareDeals([undated], { isFull: false, haveUniqueIds: false })
    comparison.addPage([before])
    expect(comparison.takeDifferences(true)).toEqual({
      inserted: [],
      changed: [{ was: undated, deal: before }],
      vanished: [],
    })
  })

  it.each([
    { kind: 'sell' },
    { positionId: '2' },
    { symbol: 'XAUUSD' },
    { volume: 2 },
    { price: 1.2 },
    { profit: 1 },
    { commission: -1 },
    { swap: -1 },
    { reason: 'stop_loss' },
    { orderId: '2' },
  ] as const)('finds a deal that changed to %o', (change) => {
    const after = { ...before, ...change }
    expect(differences([before], [after])).toEqual({
      inserted: [],
      changed: [{ was: before, deal: after }],
      vanished: [],
    })
  })

  it.each([true, false])(
    'finds a deal again whose time and reason changed, where ids are unique: %s',
    (haveUniqueIds) => {
      const after: BrokerDeal = { ...before, time: 1_500, reason: 'expert' }
      const { addPage, takeDifferences } = compareDeals([before], { isFull: true, haveUniqueIds })
      addPage([after])
      expect(takeDifferences(true)).toEqual(
        haveUniqueIds
          ? { inserted: [], changed: [{ was: before, deal: after }], vanished: [] }
          : { inserted: [after], changed: [], vanished: [before] },
      )
    },
  )

  it('finds a deal again that came without its entry', () => {
    const { entry: _, ...was } = before
    expect(differences([was], [before])).toEqual({
      inserted: [],
      changed: [{ was, deal: before }],
      vanished: [],
    })
  })

  it('finds each of two like deals that were renumbered', () => {
    const [held, shown] = [
      ['1', '2'],
      ['3', '4'],
    ].map((ids) => ids.map((id) => ({ ...before, id })))
    expect([...renamedDeals(held!, shown!, false).keys()]).toEqual(shown)
  })

  it('ignores levels, which brokers go on changing', () => {
    const moved = { ...before, stopLoss: 2, takeProfit: 3 }
    expect(differences([{ ...before, stopLoss: 1 }], [moved]).changed).toEqual([])
  })
})

// The first of several with one key counts.
const firstOfEach = (deals: readonly BrokerDeal[]): readonly BrokerDeal[] =>
  unique(deals.toReversed())
