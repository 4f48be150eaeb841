// Laws of levels: which side of the price they belong on, and when a read shows them as they were
// asked for.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  hasLevelsAsAsked,
  levelsOf,
  requireStopLossSide,
  requireTakeProfitSide,
  showsOldLevel,
  withConfirmedLevels,
} from '../../src/positions/levels.ts'
import type { Levels } from '../../src/positions/levels.ts'
import { openPosition } from '../../src/testing/open-position.ts'

const points = fc.integer({ min: 1, max: 300_000 })
const price = points.map((point) => point / 100_000)
const side = fc.constantFrom('buy' as const, 'sell' as const)
const opposite = { buy: 'sell', sell: 'buy' } as const
const maybePrice = fc.option(price, { nil: undefined })
const heldLevels = fc.record({ stopLoss: price, takeProfit: price }, { requiredKeys: [] })

const at = (currentPrice: number, levels: object = {}) => openPosition({ currentPrice, ...levels })

describe('the side of a level', () => {
  it('is below the price for the stop loss of a buy, and never the price itself', () => {
    fc.assert(
      fc.property(price, price, (currentPrice, level) => {
        const stop = requireStopLossSide(openPosition({ currentPrice }), level)
        expect(E.isRight(stop)).toBe(level < currentPrice)
        if (E.isLeft(stop))
          expect(stop.left).toEqual({
            _tag: 'InvalidPrice',
            level: 'stopLoss',
            side: 'buy',
            value: level,
            currentPrice,
          })
      }),
    )
  })

  it('is for a take profit what it is for the stop loss of the opposite side', () => {
    fc.assert(
      fc.property(side, price, price, (side, currentPrice, level) => {
        const target = requireTakeProfitSide(openPosition({ side, currentPrice }), level)
        const stop = requireStopLossSide(
          openPosition({ side: opposite[side], currentPrice }),
          level,
        )
        expect(E.isRight(target)).toBe(E.isRight(stop))
        if (E.isLeft(target))
          expect(target.left).toMatchObject({
            level: 'takeProfit',
            side,
            value: level,
            currentPrice,
          })
      }),
    )
  })

  it('is never right for both levels of a position, or for one level of both sides', () => {
    fc.assert(
      fc.property(side, price, price, (side, currentPrice, level) => {
        const position = openPosition({ side, currentPrice })
        const [stop, target] = [
          E.isRight(requireStopLossSide(position, level)),
          E.isRight(requireTakeProfitSide(position, level)),
        ]
        expect(stop && target).toBe(false)
        expect(stop || target).toBe(level !== currentPrice)
      }),
    )
  })
})

describe('levels after a change that nobody confirmed', () => {
  it('are as asked when they are the very ones, whatever was before', () => {
    fc.assert(
      fc.property(price, heldLevels, heldLevels, (currentPrice, asked, before) => {
        expect(hasLevelsAsAsked(at(currentPrice, asked), asked, at(currentPrice, before))).toBe(
          true,
        )
      }),
    )
  })

  it('are not as asked when they are what they were, unless that was asked for', () => {
    fc.assert(
      fc.property(price, heldLevels, price, (currentPrice, before, stopLoss) => {
        const asked = { ...levelsOf(at(currentPrice, before)), stopLoss }
        expect(hasLevelsAsAsked(at(currentPrice, before), asked, at(currentPrice, before))).toBe(
          before.stopLoss === stopLoss,
        )
      }),
    )
  })

  it('are as asked when the broker rounded them to the digits that it shows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100_001, max: 300_000 }),
        fc.integer({ min: -50, max: 50 }),
        (point, hundredths) => {
          // Prices of five digits, of which the last is not 0.
          const current = (Math.floor(point / 10) * 10 + 7) / 100_000
          const asked = { stopLoss: Number(`${point * 100 + hundredths}e-7`) }
          const shown = { stopLoss: point / 100_000 }
          expect(hasLevelsAsAsked(at(current, shown), asked, at(current))).toBe(true)
        },
      ),
    )
  })

  it.each<[what: string, isAsAsked: boolean, shown: Levels, asked: Levels, before: Levels]>([
    ['another one, where it was to be taken off', false, { stopLoss: 1.2 }, {}, { stopLoss: 1.1 }],
    [
      'half a unit of the last decimal off',
      true,
      { stopLoss: 1.10001 },
      { stopLoss: 1.100015 },
      {},
    ],
    ['more than half of it off', false, { stopLoss: 1.10001 }, { stopLoss: 1.100016 }, {}],
    ['one unit off', false, { stopLoss: 1.10001 }, { stopLoss: 1.10002 }, {}],
    [
      'where it was, however near that is',
      false,
      { stopLoss: 1.10001 },
      { stopLoss: 1.100012 },
      { stopLoss: 1.10001 },
    ],
    [
      'there, but the held one is gone',
      false,
      { stopLoss: 1.10001 },
      { stopLoss: 1.10001, takeProfit: 1.5 },
      { takeProfit: 1.5 },
    ],
    [
      'there, but the held one was moved',
      false,
      { stopLoss: 1.1, takeProfit: 1.6 },
      { stopLoss: 1.1, takeProfit: 1.5 },
      { takeProfit: 1.5 },
    ],
    ['not there', false, {}, { stopLoss: 1.1 }, {}],
  ])(
    'are judged by both levels: one that is %s is as asked: %s',
    (_, isAsAsked, shown, asked, before) => {
      expect(hasLevelsAsAsked(at(1.20003, shown), asked, at(1.2, before))).toBe(isAsAsked)
    },
  )

  it('are as asked when only binary residue is between them', () => {
    expect(hasLevelsAsAsked(at(1.2, { takeProfit: 1.1 + 2.2 }), { takeProfit: 3.3 }, at(1.2))).toBe(
      true,
    )
  })

  it('do not count the decimals of an entry price, which may be an average', () => {
    const averaged = openPosition({ entryPrice: 1.100_033_333_3, currentPrice: 1.20003 })
    expect(
      hasLevelsAsAsked({ ...averaged, takeProfit: 1.30001 }, { takeProfit: 1.300_012 }, averaged),
    ).toBe(true)
  })
})

describe('a position after a change that the broker confirmed', () => {
  it('has the asked level where the read still shows the one of before, and else what the read shows', () => {
    fc.assert(
      fc.property(
        price,
        maybePrice,
        maybePrice,
        maybePrice,
        (stopLoss, takeProfit, before, after) => {
          const held = at(1.2, {
            ...(before && { stopLoss: before }),
            ...(takeProfit && { takeProfit }),
          })
          const read = at(1.3, {
            ...(after && { stopLoss: after }),
            ...(takeProfit && { takeProfit }),
          })
          const confirmed = withConfirmedLevels(read, { stopLoss, takeProfit }, held)
          expect(confirmed).toEqual({ ...read, ...(after === before ? { stopLoss } : {}) })
          expect(Object.hasOwn(confirmed, 'takeProfit')).toBe(takeProfit !== undefined)
        },
      ),
    )
  })

  it('is still to be seen as long as a level that was to change stands where it stood', () => {
    const asked = { stopLoss: 1.05, takeProfit: 1.5 }
    const before = at(1.2, { takeProfit: 1.5 })
    expect(showsOldLevel(before, asked, before)).toBe(true)
    expect(showsOldLevel(at(1.2, asked), asked, before)).toBe(false)
    expect(showsOldLevel(at(1.2, { stopLoss: 1.06, takeProfit: 1.5 }), asked, before)).toBe(false)
    // A change that changes nothing has nothing to show.
    expect(showsOldLevel(before, levelsOf(before), before)).toBe(false)
  })
})
