// Tables: no line is wider than the terminal where that can be, columns stand under one another,
// and nothing that a name holds breaks a line.
import * as fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { fitted, tableOf } from '../src/table.ts'

const columns = {
  ID: ([id = '']: readonly string[]) => id,
  NAME: ([, name = '']: readonly string[]) => name,
  REST: ([, , rest = '']: readonly string[]) => rest,
}
const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const rows = fc.array(fc.tuple(text, text, text), { maxLength: 8 })
const heading = (line: string): string => line

describe('a table', () => {
  it('has a line for each row, none wider than the terminal', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 22, max: 100 }), (all, width) => {
        const lines = tableOf(columns, all, { width, heading }).split('\n')
        expect(lines).toHaveLength(all.length + 1)
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('cuts nothing where there is no terminal', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,40}$/), fc.stringMatching(/^[a-z]{1,40}$/)), {
          maxLength: 5,
        }),
        (all) => {
          const lines = tableOf(columns, all, { width: null, heading }).split('\n').slice(1)
          expect(lines.map((line) => line.split(/ +/))).toStrictEqual(all)
        },
      ),
    )
  })

  it('gives columns what they need where there is room, and takes from the widest where there is none', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        (natural, room) => {
          const widths = fitted(natural, room)
          const total = widths.reduce((sum, one) => sum + one, 0)
          if (natural.reduce((sum, one) => sum + one, 0) <= room) {
            expect(widths).toStrictEqual(natural)
            return
          }
          for (const [index, width] of widths.entries())
            expect(width).toBeLessThanOrEqual(natural[index] ?? 0)
          expect(total <= room || Math.max(...widths) <= 6).toBe(true)
        },
      ),
    )
  })

  it('aligns what is wider than its length', () => {
    expect(
      tableOf(
        columns,
        [
          ['日本', 'a', 'x'],
          ['e', 'b\n\u001b[31m', 'y'],
        ],
        { width: null, heading },
      ),
    ).toBe(['ID    NAME     REST', '日本  a        x', 'e     b  [31m  y'].join('\n'))
  })
})
