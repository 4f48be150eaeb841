// The rounding of lots.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { roundAmount } from '../../src/primitives/index.ts'

it('leaves lots of up to eight decimals as they are, however many they are', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat({ max: 99_999_999 }), (whole, fraction) => {
      const volume = Number(`${whole}.${String(fraction).padStart(8, '0')}`)
      expect(roundAmount(volume)).toBe(volume)
    }),
  )
})

it.each([
  [Number.MAX_VALUE, Number.MAX_VALUE],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [0.7 - 0.6, 0.1],
  [5e-9, 1e-8],
  [4.9e-9, 0],
])('rounds %d lots to %d', (volume, rounded) => {
  expect(roundAmount(volume)).toBe(rounded)
})
