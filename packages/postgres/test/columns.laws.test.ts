// Laws of the columns' text: a number and an instant read back as they were.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { numeric, toTimestamptz } from '../src/connection/columns.ts'

it('every finite number reads back as it was', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(numeric.decode(numeric.encode(value))).toStrictEqual(E.right(value + 0))
    }),
  )
})

it.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [-62_135_596_800_001, '0001-12-31T23:59:59.999Z BC'],
  [-62_135_596_800_000, '0001-01-01T00:00:00.000Z'],
  [253_402_300_800_000, '10000-01-01T00:00:00.000Z'],
])('the instant %d is written as %s', (instant, text) => {
  expect(toTimestamptz(instant)).toBe(text)
})

it.each(['NaN', 'Infinity', '', ' ', null, 1, '1e400'])('no number is read from %j', (text) => {
  expect(E.isLeft(numeric.decode(text))).toBe(true)
})
