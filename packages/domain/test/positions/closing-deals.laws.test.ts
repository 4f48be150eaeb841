// Laws of the deals of one close: they are found among others, and tell its price, profit and time (2.4; decision 32).
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closingDealKey, closingFillOf, oldestFillOf, partialFillOf } from '../../src/positions/closing-deals.ts'
import type { ClosingDeal, ClosingFill, SentClose } from '../../src/positions/closing-deals.ts'
import type { Ticket } from '../../src/primitives/ids.ts'

const sent: SentClose = { ticket: '42' as Ticket, orderId: '99', sentAt: 1_000_000 }

const deal = (fields: Partial<ClosingDeal> = {}): ClosingDeal => ({
  id: '1',
  orderId: '99',
  volume: 0.1,
  price: 1.2,
  profit: 10,
  at: 1_000_100,
  ...fields,
})
const without = (name: keyof ClosingDeal, fields: Partial<ClosingDeal> = {}): ClosingDeal => {
  const { [name]: _, ...rest } = deal(fields)
  return rest as ClosingDeal
}
const fill: ClosingFill = { deals: expect.any(Array), orderId: '99', price: 1.2, profit: 10, at: 1_000_100 }

describe('the deals of one close', () => {
  it('have a price weighted by volume, a profit that is their exact sum, and the time of the last', () => {
    const parts = fc.array(
      fc.record({
        cents: fc.integer({ min: 1, max: 500 }),
        points: fc.integer({ min: 1, max: 200_000 }),
        money: fc.integer({ min: -100_000, max: 100_000 }),
        at: fc.integer({ min: 0, max: 5_000 }),
      }),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(parts, (all) => {
        const deals = all.map(({ cents, points, money, at }, index) =>
          deal({ id: String(index), volume: cents / 100, price: points / 100_000, profit: money / 100, at: 1_000_000 + at }),
        )
        const lots = all.reduce((sum, part) => sum + part.cents, 0)
        const worth = all.reduce((sum, part) => sum + part.cents * part.points, 0)
        const found = closingFillOf(deals, sent, lots / 100)
        expect(found?.profit).toBe(all.reduce((sum, part) => sum + part.money, 0) / 100 + 0)
        expect(found?.at).toBe(1_000_000 + Math.max(...all.map(({ at }) => at)))
        const price = worth / (lots * 100_000)
        expect(Math.abs((found?.price ?? Number.NaN) - price)).toBeLessThanOrEqual(price * Number.EPSILON)
        // One that is missing makes the profit of the others only a part of the answer.
        expect(closingFillOf(deals.slice(1), sent, lots / 100)).toBeUndefined()
      }),
    )
  })

  it('weigh the prices of parts: 0.1 at 1.2 and 0.3 at 1.21 are 0.4 at 1.2075', () => {
    const found = closingFillOf([deal(), deal({ id: '2', volume: 0.3, price: 1.21, profit: 0.2 })], sent, 0.4)
    expect(found).toEqual({ ...fill, price: 1.2075, profit: 10.2 })
  })

  it.each<[what: string, deals: readonly ClosingDeal[], sent: Partial<SentClose>, found: ClosingFill | undefined]>([
    ['not there', [], {}, undefined],
    ['of the order, whatever their time', [deal({ at: 0 })], {}, { ...fill, at: 0 }],
    ['of the order and no other', [deal({ id: '0', orderId: '98', profit: 5 }), deal()], {}, fill],
    ['not those of another order, however new', [deal({ orderId: '98' })], {}, undefined],
    ['less than was closed', [deal({ volume: 0.05 })], {}, undefined],
    ['more than was closed', [deal(), deal({ id: '2' })], {}, undefined],
    ['without a volume, which is then all of it', [without('volume')], {}, fill],
    ['without a price', [without('price')], {}, { ...fill, price: null }],
    ['without a time', [without('at')], {}, { ...fill, at: null }],
    ['without an order, by their time', [without('orderId')], {}, fill],
    ['not those without an order that are too old', [without('orderId', { at: 989_999 })], {}, undefined],
    ['new, where the broker named no order', [deal()], { orderId: null }, fill],
    ['new, and tell no order either', [without('orderId')], { orderId: null }, { ...fill, orderId: null }],
    ['a little older than the close, by another clock', [deal({ at: 990_000 })], { orderId: null }, { ...fill, at: 990_000 }],
    ['too old', [deal({ at: 989_999 })], { orderId: null }, undefined],
    ['of no known time, where only the time could tell', [without('at')], { orderId: null }, undefined],
    [
      'new, where the order has the number of the position',
      [deal({ orderId: '42', at: 1 }), deal({ orderId: '42' })],
      { orderId: '42' },
      { ...fill, orderId: '42' },
    ],
  ])('are %s', (_, deals, parts, found) => {
    expect(closingFillOf(deals, { ...sent, ...parts }, 0.1)).toEqual(found)
  })

  it('that do not all tell their volume are not known to be all', () => {
    expect(closingFillOf([without('volume'), deal({ id: '2' })], sent, 0.1)).toBeUndefined()
    expect(closingFillOf([deal(), without('volume', { id: '2' })], { ...sent, orderId: null }, 0.1)).toBeUndefined()
  })

  it('that do not all tell their price have none together', () => {
    expect(closingFillOf([without('price'), deal({ id: '2' })], sent, 0.2)).toMatchObject({ price: null, profit: 20 })
  })

  it('are the newest of just its volume where only their times can tell', () => {
    const before = deal({ id: '0', orderId: '98', volume: 0.2, profit: 5, at: 999_000 })
    const parts = [deal({ volume: 0.04, profit: 1 }), deal({ id: '2', volume: 0.06, profit: 2 })]
    expect(closingFillOf([before, ...parts], { ...sent, orderId: null }, 0.1)).toEqual({ ...fill, profit: 3 })
    expect(closingFillOf([before, deal({ volume: 0.04 })], { ...sent, orderId: null }, 0.1)).toBeUndefined()
    expect(closingFillOf([before], { ...sent, orderId: null }, 0.1)).toBeUndefined()
  })

  it.each<[what: string, deals: readonly ClosingDeal[], sent: Partial<SentClose>, found: readonly string[] | undefined]>([
    ['those of its order', [deal({ id: '0', orderId: '98' }), deal()], {}, ['1']],
    ['the oldest of just its volume, where several could be', [deal(), deal({ id: '2', orderId: '100' })], { orderId: null }, ['1']],
    ['all of one order', [deal({ volume: 0.04 }), deal({ id: '2', volume: 0.06 })], { orderId: null }, ['1', '2']],
    [
      'none of two orders together',
      [deal({ volume: 0.04 }), deal({ id: '2', volume: 0.06, orderId: '100' })],
      { orderId: null },
      undefined,
    ],
    [
      'those that tell no order, together',
      [without('orderId', { volume: 0.04 }), without('orderId', { id: '2', volume: 0.06 })],
      { orderId: null },
      ['1', '2'],
    ],
    ['none that is too old', [deal({ at: 989_999 })], { orderId: null }, undefined],
    ['the one that does not tell its volume, which is then all of it', [without('volume')], {}, ['1']],
    ['none of several that do not tell their volumes', [without('volume'), without('volume', { id: '2' })], {}, undefined],
    ['none of another volume, though it is alone', [deal({ volume: 0.05 })], {}, undefined],
    [
      'those of its order with those that tell none, together',
      [deal({ volume: 0.04 }), without('orderId', { id: '2', volume: 0.06 })],
      {},
      ['1', '2'],
    ],
    ['the oldest that tells no order, by itself', [without('orderId'), without('orderId', { id: '2' })], { orderId: null }, ['1']],
    [
      'the oldest of those that have the number of the position, by itself',
      [deal({ orderId: '42' }), deal({ id: '2', orderId: '42' })],
      { orderId: '42' },
      ['1'],
    ],
    [
      'those that have the number of the position and those that tell no order, together',
      [deal({ orderId: '42', volume: 0.04 }), without('orderId', { id: '2', volume: 0.06 })],
      { orderId: '42' },
      ['1', '2'],
    ],
  ])('are, when they are looked for later, %s', (_, deals, parts, found) => {
    const fill = oldestFillOf(deals, { ...sent, ...parts }, 0.1)
    expect(fill?.deals.map((key) => key.split(' ')[0])).toEqual(found)
  })

  it('may be fewer lots than were sent, and never more or of an unknown volume', () => {
    const later = { ...sent, orderId: null }
    expect(partialFillOf([deal({ volume: 0.04 })], later, 0.1)).toMatchObject({ volume: 0.04, fill: { profit: 10 } })
    for (const one of [deal(), deal({ volume: 0.2 }), without('volume')]) expect(partialFillOf([one], later, 0.1)).toBeUndefined()
    expect(partialFillOf([deal({ volume: 0.04 }), without('volume', { id: '2' })], later, 0.1)).toBeUndefined()
  })

  it('may not be those of another order, or too old, for want of its own', () => {
    const little = deal({ volume: 0.04 })
    expect(partialFillOf([{ ...little, orderId: '98' }], sent, 0.1)).toBeUndefined()
    expect(partialFillOf([{ ...little, at: 989_999 }], { ...sent, orderId: null }, 0.1)).toBeUndefined()
  })

  it('are told from all others of the account by id and time, as they were written down before', () => {
    expect(closingDealKey({ id: '7', at: 120 })).toBe('7 120')
    expect(closingDealKey({ id: '7' })).toBe('7 ')
    expect(closingFillOf([deal({ id: '7', at: 1_000_120 })], sent, 0.1)?.deals).toEqual(['7 1000120'])
  })
})
