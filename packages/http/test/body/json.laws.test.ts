// The scan of a body counts what JSON.parse would make of it, and two bodies have one hash exactly
// when they are the same JSON value.
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { hashJson } from '../../src/idempotency.ts'
import { createJsonScan, type JsonSize } from '../../src/json-scan.ts'

const textBytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0)

const sizeOf = (value: unknown): JsonSize => {
  if (typeof value !== 'object' || value === null)
    return {
      values: 1,
      depth: 0,
      members: 0,
      textBytes: typeof value === 'string' ? textBytesOf(value) : 0,
    }
  const inner = Object.values(value).map(sizeOf)
  const keys = Array.isArray(value) ? [] : Object.keys(value)
  return {
    values: 1 + sumOf(inner.map(({ values }) => values)),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    members: keys.length + sumOf(inner.map(({ members }) => members)),
    textBytes: sumOf([...keys.map(textBytesOf), ...inner.map(({ textBytes }) => textBytes)]),
  }
}

const jsonOf = (...leaves: readonly fc.Arbitrary<unknown>[]) =>
  fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      ...leaves,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(awkwardText, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value
// Escapes, quotes and brackets inside strings, and characters of several bytes.
const awkwardText = fc.string({
  unit: fc.constantFrom('"', '\\', '[', '}', ':', ',', 'a', 'é', '😀', '\n', '\u0000'),
  maxLength: 4,
})

it('the scan measures any JSON as its value is, however the bytes are cut, and a fault hides nothing that precedes it', () => {
  const cutAt = fc.array(fc.integer({ min: 1, max: 20 }))
  fc.assert(
    fc.property(
      jsonOf(fc.jsonValue({ maxDepth: 3 }), awkwardText),
      fc.constantFrom(undefined, 1, '\t'),
      cutAt,
      (value, indent, cuts) => {
        const text = JSON.stringify(value, undefined, indent)
        const bytes = Buffer.from(text)
        const scan = createJsonScan()
        let at = 0
        for (const cut of cuts) scan(bytes.subarray(at, (at += cut)))
        // Not of JSON.parse(text): in Node 24.21 a name of one escaped character may be read as a
        // backslash, when an object with such a name was parsed before.
        const size = sizeOf(value)
        expect(scan(bytes.subarray(at))).toEqual(size)
        const { values, depth } = createJsonScan()(Buffer.from(`${text}]"x,:}`))
        expect([values >= size.values, depth >= size.depth]).toEqual([true, true])
      },
    ),
    { numRuns: 300 },
  )
})

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  )
}

it('two values have one hash exactly when they are equal, whatever the order of their members', () => {
  // Of few leaves, of which many read alike once written, so that equal values and near misses are
  // common.
  const near = jsonOf(
    fc.constantFrom<unknown>(
      0,
      1,
      '0',
      '',
      null,
      'null',
      true,
      '"',
      ',',
      '"a":1',
      '[]',
      '\\"',
      '\ud800',
      '\udc00',
    ),
  )
  fc.assert(
    fc.property(near, near, (one, other) => {
      expect(hashJson({ value: reversed(one) })).toBe(hashJson({ value: one }))
      expect(hashJson({ value: one }) === hashJson({ value: other })).toBe(
        isDeepStrictEqual(one, other),
      )
    }),
    { numRuns: 1_000 },
  )
})

it.each([
  [1, ['{"a":1,"b":"A"}', '{ "b" : "\\u0041",\n\t"a" : 1.0 }', '{"a":0.1E+1,"b":"A"}']],
  [1, ['{"a":-0}', '{"a":0}']],
  [2, ['{"a":[1,2]}', '{"a":[2,1]}']],
])('there are %i hashes of %j', (count, texts) => {
  expect(
    new Set(texts.map((text) => hashJson(JSON.parse(text) as Record<string, unknown>))).size,
  ).toBe(count)
})
