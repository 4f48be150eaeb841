// The scan of a body counts what JSON.parse would make of it, however the bytes are cut.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createJsonScan } from '../../src/body/json-scan.ts'

const sizeOf = (value: unknown): { readonly values: number; readonly depth: number } => {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 }
  const inner = Object.values(value).map(sizeOf)
  return { values: 1 + inner.reduce((sum, { values }) => sum + values, 0), depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)) }
}

const longestName = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Math.max(
        0,
        ...Object.entries(value).map(([name, inner]) =>
          Math.max(Array.isArray(value) ? 0 : Buffer.byteLength(JSON.stringify(name)) - 2, longestName(inner)),
        ),
      )

// Escapes, quotes and brackets inside strings, and characters of several bytes.
const awkwardText = fc.string({ unit: fc.constantFrom('"', '\\', '[', '}', ':', ',', 'a', 'é', '😀', '\n', '\u0000') })
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.jsonValue({ maxDepth: 3 }),
    awkwardText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(awkwardText, tie('value'), { maxKeys: 4 }),
  ),
})).value

it('the size of any JSON is that of its value', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), fc.array(fc.integer({ min: 1, max: 20 })), (value, indent, cuts) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, indent))
      const scan = createJsonScan()
      let at = 0
      for (const cut of cuts) scan(bytes.subarray(at, (at += cut)))
      expect(scan(bytes.subarray(at))).toEqual({ ...sizeOf(JSON.parse(bytes.toString())), name: longestName(JSON.parse(bytes.toString())) })
    }),
    { numRuns: 1_000 },
  )
})

it('a fault does not hide the size of what precedes it', () => {
  fc.assert(
    fc.property(json, fc.string({ unit: fc.constantFrom(':', ']', '}', '"', ',', 'x') }), (value, rest) => {
      const text = JSON.stringify(value)
      const { values, depth } = createJsonScan()(Buffer.from(text + rest))
      const size = sizeOf(JSON.parse(text))
      expect([values >= size.values, depth >= size.depth]).toEqual([true, true])
    }),
  )
})
