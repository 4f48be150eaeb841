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

  it.each([Number.MIN_VALUE, 1e-9, 1e9, 1e300, Number.MAX_VALUE])('of %d stay as they are', (volume) => {
    expect(roundLots(volume)).toBe(volume)
  })
})
