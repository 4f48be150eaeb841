// Laws of levels: which side of the price they belong on, and when a read shows them as they were
// requested.
import { openPosition } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decideLevels,
  hasRequestedLevels,
  showsOldLevel,
  withConfirmedLevels,
} from '../../src/positions/levels.ts'
import type { Levels } from '../../src/primitives/prices.ts'

const price = fc.integer({ min: 1, max: 300_000 }).map((point) => point / 100_000)
const side = fc.constantFrom('buy', 'sell')
const heldLevels = fc.record({ stopLoss: price, takeProfit: price }, { requiredKeys: [] })

const at = (currentPrice: number, levels: object = {}) => openPosition({ currentPrice, ...levels })

it('moves a level on its side of the price, and never to the price itself, and keeps the other', () => {
  fc.assert(
    fc.property(side, price, price, heldLevels, (side, currentPrice, value, held) => {
      const position = openPosition({ side, currentPrice, ...held })
      for (const level of ['stopLoss', 'takeProfit']) {
        const mustBeLower =
          (level === 'stopLoss' && side === 'buy') || (level === 'takeProfit' && side === 'sell')
        const isAllowed = mustBeLower ? value < currentPrice : value > currentPrice
        expect(decideLevels(position, { [level]: value })).toEqual(
          isAllowed
            ? E.right({ ...held, [level]: value })
            : E.left({ _tag: 'InvalidPrice', level, side, value, currentPrice }),
        )
      }
    }),
  )
})

it('removes both levels at once, and checks each of two', () => {
  const position = openPosition({ side: 'buy', currentPrice: 1.2, stopLoss: 1.1, takeProfit: 1.3 })
  expect(decideLevels(position, { stopLoss: null, takeProfit: null })).toEqual(E.right({}))
  expect(decideLevels(position, { stopLoss: 1.15, takeProfit: 1.1 })).toMatchObject(
    E.left({ _tag: 'InvalidPrice', level: 'takeProfit', value: 1.1 }),
  )
})

describe('levels after a change that nobody confirmed', () => {
  const [low, high] = [{ stopLoss: 1.10001 }, { takeProfit: 1.5 }]
  it.each<[string, boolean, Levels, Levels, Levels]>([
    ['there, where it was to be removed', false, { stopLoss: 1.2 }, {}, { stopLoss: 1.1 }],
    ['the very one', true, low, low, {}],
    ['half a unit of the last decimal off', true, low, { stopLoss: 1.100015 }, {}],
    ['half of it below', true, { stopLoss: 1.10002 }, { stopLoss: 1.100015 }, {}],
    ['more than half of it off', false, low, { stopLoss: 1.100016 }, {}],
    ['more than half of a price’s off', false, { stopLoss: 1.1 }, { stopLoss: 1.11 }, {}],
    ['where it was, however near that is', false, low, { stopLoss: 1.100012 }, low],
    ['there, but the other is gone', false, low, { ...low, ...high }, high],
    ['there, but the other moved', false, { ...low, takeProfit: 1.6 }, { ...low, ...high }, high],
    ['not there', false, {}, { stopLoss: 1.1 }, {}],
    ['binary residue off', true, { takeProfit: 1.1 + 2.2 }, { takeProfit: 3.3 }, {}],
  ])('where one is %s, are as requested: %s', (_, isAsRequested, shown, requested, before) => {
    const current = shown.takeProfit === 1.1 + 2.2 ? 1.2 : 1.20003
    expect(hasRequestedLevels(at(current, shown), requested, at(1.2, before))).toBe(isAsRequested)
  })

  it('do not count the decimals of an entry price, which may be an average', () => {
    const averaged = openPosition({ entryPrice: 1.100_033_333_3, currentPrice: 1.20003 })
    expect(
      hasRequestedLevels({ ...averaged, takeProfit: 1.30001 }, { takeProfit: 1.300_012 }, averaged),
    ).toBe(true)
  })
})

describe('a position after a change that the broker confirmed', () => {
  it('has the requested level where the read still shows the one of before', () => {
    fc.assert(
      fc.property(price, heldLevels, heldLevels, (stopLoss, before, after) => {
        const { takeProfit } = before
        const read = at(1.3, after)
        const confirmed = withConfirmedLevels(read, { stopLoss, takeProfit }, at(1.2, before))
        expect(confirmed).toStrictEqual({
          ...read,
          ...(after.stopLoss === before.stopLoss && { stopLoss }),
        })
      }),
    )
  })

  it('has no level that was removed, although the read still shows it', () => {
    const before = at(1.2, { stopLoss: 1.1, takeProfit: 1.3 })
    expect(withConfirmedLevels(before, { takeProfit: 1.3 }, before)).toStrictEqual(
      at(1.2, { takeProfit: 1.3 }),
    )
  })

  it('is read again as long as a level that was to change is what it was', () => {
    const requested = { stopLoss: 1.05, takeProfit: 1.5 }
    const before = at(1.2, { takeProfit: 1.5 })
    expect(showsOldLevel(before, requested, before)).toBe(true)
    expect(showsOldLevel(at(1.2, requested), requested, before)).toBe(false)
    expect(showsOldLevel(at(1.2, { ...requested, stopLoss: 1.06 }), requested, before)).toBe(false)
    // A change that changes nothing has nothing to show.
    expect(showsOldLevel(before, { takeProfit: 1.5 }, before)).toBe(false)
  })
})
