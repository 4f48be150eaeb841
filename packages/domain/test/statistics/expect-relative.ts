// How a test says that a number is right to so many digits.
import { expect } from 'vitest'

/**
 * Fails unless `actual` is within `tolerance` of `expected`, as a share of it; an expected 0 must
 * be met exactly.
 */
export const expectRelative = (actual: number, expected: number, tolerance: number) => {
  const error = actual === expected ? 0 : Math.abs(actual - expected) / Math.abs(expected)
  expect(error, `${actual} instead of ${expected}`).toBeLessThanOrEqual(tolerance)
}
