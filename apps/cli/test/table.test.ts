// Tables: columns stand under one another, and nothing that a name holds breaks a line.
import * as fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { tableOf } from '../src/table.ts'

const columns = { ID: 'id', NAME: 'of.name' }

it('a table has a line for each row, whose columns begin at the same width', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 })
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (rows) => {
      const lines = tableOf(
        columns,
        rows.map(([id, name]) => ({ id, of: { name: `|${name}` } })),
      )
      const [titles = '', ...rest] = lines
      const width = titles.indexOf('NAME')
      expect(rest).toHaveLength(rows.length)
      for (const line of rest)
        expect(
          line
            .split('|')
            .some((_, at, parts) => stringWidth(parts.slice(0, at + 1).join('|')) === width),
        ).toBe(true)
      expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    }),
  )
})

it.each([
  [null, '-'],
  [true, 'yes'],
  [[], 'none'],
  [['a', 'b'], 'a b'],
  ['b\n\u001b[31m', 'b  [31m'],
  ['日本', '日本'],
])('%j is shown as %j', (id, shown) => {
  expect(tableOf({ ID: 'id' }, [{ id }])[1]).toBe(shown)
})

it.each([
  ['2020-01-31T00:00:00.000Z', '2020-01-31T00:00:00.000Z (past)'],
  ['9999-01-31T00:00:00.000Z', '9999-01-31T00:00:00.000Z'],
])('the expiry %s is shown as %s', (expiresAt, shown) => {
  expect(tableOf({ EXPIRES: 'expiresAt' }, [{ expiresAt }])[1]).toBe(shown)
})
