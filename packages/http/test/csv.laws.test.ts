// Whatever a cell holds, a reader of RFC 4180 gets it back, and a number to the last bit.
import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvRow, plainDecimal } from '../src/routes/csv.ts'

const anyNumber = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ min: -1e-5, max: 1e-5, noNaN: true }),
    fc.constantFrom(1e-7, -1e-7, 1e21, -1.5e300, 1e-80, 1.7976931348623157e308, 123456789012345680000, 0.1 + 0.2, -0, 0),
  )
  // Smaller ones have digits beyond the hundredth decimal place.
  .filter((value) => value === 0 || Math.abs(value) > 1e-81)

describe('a row of CSV', () => {
  it('holds numbers as plain decimals that read back as the same number', () => {
    fc.assert(
      fc.property(anyNumber, (value) => {
        const text = plainDecimal(value)
        expect(text).toMatch(/^-?\d+(\.\d+)?$/)
        expect(Number(text) === value).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it('reads back as the cells that were written, text that a spreadsheet would run behind an apostrophe', () => {
    const text = fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', "'", 'a', '1', ' ', 'ü', '😀') })
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 5 }), (cells) => {
        const [row] = parse(csvRow(cells), { record_delimiter: '\r\n' })
        expect(row).toEqual(cells.map((cell) => (/^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell)))
      }),
      { numRuns: 2_000 },
    )
  })

  it('leaves a cell empty for a number that is not finite', () => {
    expect([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(plainDecimal)).toEqual(['', '', ''])
  })
})
