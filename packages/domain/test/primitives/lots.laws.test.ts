// Laws of lots, against whole numbers of the smallest units.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareLots, lotsWithout, roundLots } from '../../src/index.ts'

const cents = fc.integer({ min: 1, max: 1_000 })

describe('lots', () => {
  it('compare and subtract as decimals', () => {
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(Math.sign(compareLots(a / 100, b / 100))).toBe(Math.sign(a - b))
        expect(lotsWithout(a / 100, b / 100)).toBe((a - b) / 100 + 0)
      }),
    )
    expect(lotsWithout(0.3, 0.1)).toBe(0.2)
    expect(compareLots(0.1 + 0.2, 0.3)).toBeGreaterThan(0)
  })

  it('lose what binary fractions leave of a sum, and nothing else', () => {
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(roundLots(a / 100)).toBe(a / 100)
        expect(roundLots(a / 100 + b / 100)).toBe((a + b) / 100)
      }),
    )
  })

  it('of up to eight decimals stay as they are, however many they are', () => {
    const digits = fc.nat({ max: 99_999_999 })
    fc.assert(
      fc.property(fc.maxSafeNat(), digits, (whole, fraction) => {
        const volume = Number(`${whole}.${String(fraction).padStart(8, '0')}`)
        expect(roundLots(volume)).toBe(volume)
      }),
    )
  })

  it('are within half of the eighth decimal of what they were, and rounding again changes nothing', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), (volume) => {
        const rounded = roundLots(volume)
        expect(Math.abs(rounded - volume)).toBeLessThanOrEqual(0.5e-8 + Number.EPSILON * volume)
        expect(roundLots(rounded)).toBe(rounded)
      }),
    )
  })

  it.each([
    [33_554_432.02, 33_554_432.02],
    [1e9, 1e9],
    [1e21, 1e21],
    [1.5e300, 1.5e300],
    [Number.MAX_VALUE, Number.MAX_VALUE],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [0.1 + 0.2, 0.3],
    [0.7 - 0.6, 0.1],
    [5e-9, 1e-8],
    [4.9e-9, 0],
    [Number.MIN_VALUE, 0],
  ])('%d are rounded to %d', (volume, rounded) => {
    expect(roundLots(volume)).toBe(rounded)
  })
})
